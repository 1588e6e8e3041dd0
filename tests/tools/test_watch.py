"""What is served is built again when a source has changed, from sources as they are; an error keeps the last site."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from build import ROOT, SOURCES
from tools.watch import LAST, Watch, snapshot, why

# Stands for a build: reads x.py before it is told to go on, and all else then.
BUILD = """
import sys
from pathlib import Path
early = Path("x.py").read_text()
Path("ready").touch()
if sys.stdin.readline():
    page = Path("x.html").read_text()
    if page == "bad":
        sys.exit("build.py: The page is bad.")
    while page == "endless":
        Path("endless").touch()
    Path("out").write_text(early + page)
"""
SECONDS = 60  # to wait for what comes at once, unless the machine is busy


def until(holds: Callable[[], bool], seconds: float = SECONDS) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sources").mkdir()
    for name, text in {"x.py": "py1 ", "x.html": "html1"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def watch(folder: Path) -> Iterator[Watch]:
    with Watch([sys.executable, "-c", BUILD], [folder / "x.py", folder / "x.html", folder / "sources"]) as watch:
        until((folder / "ready").exists)
        yield watch


def changed(watch: Watch, change: Callable[[], object]) -> None:
    """Change something, and wait for the build that comes of it."""
    before = watch.built
    change()
    until(lambda: watch.built != before)


def write(path: Path, text: str) -> None:
    """At once: no build sees half of it."""
    (path.parent / "to come").write_text(text)
    os.replace(path.parent / "to come", path)


def test_a_changed_page_is_built_by_the_build_that_waits_and_a_changed_module_by_a_new_one(
    watch: Watch, folder: Path
) -> None:
    waiting = watch.waiting.pid
    changed(watch, lambda: write(folder / "x.html", "html2"))
    assert (folder / "out").read_text() == "py1 html2"
    until(lambda: watch.waiting.pid != waiting)  # and there is a next one
    changed(watch, lambda: write(folder / "x.py", "py2 "))
    assert (folder / "out").read_text() == "py2 html2"


def test_what_comes_and_goes_is_a_change(watch: Watch, folder: Path) -> None:
    new = folder / "sources" / "new.html"
    changed(watch, lambda: new.write_text("1"))
    changed(watch, new.unlink)


def test_hidden_files_and_what_python_keeps_are_none(folder: Path) -> None:
    before = snapshot([folder / "sources"])
    (folder / "sources" / "__pycache__").mkdir()
    for name in (".x.html.swp", "__pycache__/x.pyc"):
        (folder / "sources" / name).write_text("x")
    assert snapshot([folder / "sources"]) == before == {}


def test_an_error_is_said_and_the_next_change_tries_again(
    watch: Watch, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, waiting = watch.built, watch.waiting.pid
    write(folder / "x.html", "bad")
    until(lambda: watch.waiting.pid != waiting)
    assert capsys.readouterr().err == "build.py: The page is bad. The last good site is still served.\n"
    assert watch.built == before and not (folder / "out").exists()
    write(folder / "x.html", "html3")
    until(lambda: watch.built != before)
    assert (folder / "out").read_text() == "py1 html3"


def test_a_build_that_never_ends_is_said_and_the_next_change_or_the_end_of_all_ends_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.watch.SLOW", 0.2)
    monkeypatch.setattr("tools.watch.GRACE", 1)  # as for a build that hears no Ctrl-C, in the background of a shell
    with Watch([sys.executable, "-c", BUILD], [folder / "x.html"]) as watch:
        for text in ("html2", "html3"):
            write(folder / "x.html", "endless")
            until((folder / "endless").exists)
            changed(watch, lambda text=text: write(folder / "x.html", text))  # type: ignore[misc]
            assert (folder / "out").read_text() == f"py1 {text}"
            (folder / "endless").unlink()
            said = r"(still building after \d s; a change starts anew\n)+built again"  # often on a busy machine
            assert re.match(said, capsys.readouterr().err)
        write(folder / "x.html", "endless")
        until((folder / "endless").exists)
    assert watch.waiting.returncode and not watch.thread.is_alive()


def test_a_build_that_waits_ends_with_what_watches(folder: Path) -> None:
    with Watch([sys.executable, "-c", BUILD], [folder / "x.html"]) as watch:
        until((folder / "ready").exists)
    assert watch.waiting.returncode and not (folder / "out").exists()


TRACEBACK = """page: index
Traceback (most recent call last):
  File "/p/build.py", line 9, in <module>
  File "/lib/jinja2/environment.py", line 942, in handle_exception
  File "/p/templates/live/x.html", line 3, in top-level template code
  File "/p/microgpt/viz/text/formats.py", line 28, in number
TypeError: unsupported format
"""


def test_why_is_one_sentence_with_the_place() -> None:
    places = [Path("/p/build.py"), Path("/p/templates"), Path("/p/microgpt")]
    for said, sentence in (
        ("page: index\nbuild.py: Something is missing.\n", "build.py: Something is missing."),
        (TRACEBACK, "/p/templates/live/x.html, line 3: TypeError: unsupported format."),
        (
            TRACEBACK.replace("x.html", "x.py"),
            "/p/microgpt/viz/text/formats.py, line 28: TypeError: unsupported format.",
        ),
        (TRACEBACK.replace("/p/", "/q/"), "TypeError: unsupported format"),
        ("", "The build has failed."),
    ):
        assert why(said, places) == sentence


READ = """
import json, os, sys
read = set()
sys.addaudithook(lambda event, given: read.add(str(given[0])) if event == "open" else None)
import build
for page in build.PAGES[:: 1 if os.environ.get("EVERYTHING") else 3]:
    build.views.of(page)
print(json.dumps(sorted(read)))
"""


@pytest.mark.thorough("makes every view in a process of its own; a site that is built says the rest")
def test_views_need_no_file_that_may_change_while_a_build_waits() -> None:
    """Templates are read early too, but by their text: one that has changed is another one."""
    done = subprocess.run([sys.executable, "-c", READ], cwd=ROOT, capture_output=True, text=True, check=True)
    read = [Path(name) for name in json.loads(done.stdout)]
    ours = {path.suffix for path in read if any(path.is_relative_to(ROOT / name) for name in SOURCES)}
    assert {".json", ".npz"} <= ours  # so it is seen what is read
    assert not ours & {*LAST}


@pytest.mark.thorough("builds the site five times")
@pytest.mark.timeout(600)
def test_the_site_is_built_again_as_a_new_build_would(tmp_path: Path) -> None:
    """A template, a module and an error in one, in a copy of the sources."""
    root, out = tmp_path / "root", tmp_path / "site"
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, root / name)
    command = [sys.executable, "build.py", "--out", str(out), "--serve", "0"]
    log = tmp_path / "log"
    with log.open("w") as file:
        process = subprocess.Popen(command, cwd=root, stdout=file, stderr=subprocess.STDOUT)
    try:
        until(lambda: "Serving" in log.read_text(), 300)
        found = re.search(r"at (http://\S+)", log.read_text())
        assert found
        url = found[1]
        template = next(path for path in (root / "microgpt").rglob("prose.html") if "kv_cache" in path.parts)

        def built(change: Callable[[], object]) -> str:
            before = urlopen(url + ".built").read()
            change()
            until(lambda: urlopen(url + ".built").read() != before, 300)
            return (out / "kv-cache.html").read_text("utf-8")

        text = template.read_text("utf-8")
        assert "<p>New words.</p>" in built(lambda: write(template, "<p>New words.</p>\n" + text))
        assert b".reload.js" in urlopen(url + "kv-cache.html").read()
        assert not [path for path in out.rglob("*") if path.is_file() and b".reload.js" in path.read_bytes()]
        write(template, text + "\n{{ nothing.there }}\n")
        until(lambda: "last good site" in log.read_text(), 300)
        last = log.read_text().splitlines()[-1]
        assert f"{template}, line {len(text.splitlines()) + 2}: " in last and "'nothing' is undefined" in last
        assert "Traceback" not in log.read_text()
        assert "<p>New words.</p>" in (out / "kv-cache.html").read_text("utf-8")
        module = root / "microgpt" / "viz" / "text" / "language.py"
        changed = module.read_text("utf-8").replace("Español", "Castellano")
        write(template, text)
        assert "Castellano" in built(lambda: write(module, changed))
    finally:
        process.terminate()
        process.wait()
    subprocess.run([*command[:-2], "--check"], cwd=root, check=True, capture_output=True)
