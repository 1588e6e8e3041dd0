"""Two builds are the same, byte for byte; a failure leaves the old one; bad input gets a sentence.

On another processor the pages are the same bytes, and the numbers of the traces are within 1e-12 of each other.
"""

import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
import zipfile
from html import unescape
from pathlib import Path
from typing import Any

import numpy
import pytest

import build
from microgpt.course import PAGES
from tests.support.sampled import sampled
from tests.tools.built import leads, tree
from tools.editor.script import EDITOR
from tools.output.compare import close, compare
from tools.output.folder import MANIFEST
from tools.output.licences import LICENCE_FOLDER, WORKS, texts_of
from tools.output.sources import SITE
from tools.runtime.fetch import default_cache, fetch_runtime

ROOT = Path(__file__).resolve().parents[1]


def refused(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(options) == 1
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error


def elsewhere(out: Path, each: int = 1, **more: str) -> subprocess.CompletedProcess[str]:
    """A build in another process, time zone, locale, hash seed, umask and folder; and without assertions. Of so many
    pages, one, and those with an editor."""
    environment = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7", "PYTHONPATH": f"{ROOT}"}
    environment |= more
    chosen = f"[page for at, page in enumerate(build.PAGES) if page.editor or at % {each} == {each} - 1]"
    code = f"import build, sys; build.PAGES = {chosen}; sys.exit(build.main())"
    command = [sys.executable, "-O", "-c", code, "--out", str(out)]
    return subprocess.run(command, cwd=out.parent, env=environment, umask=0o077, capture_output=True, text=True)


@pytest.mark.slow("builds the site once more")
@pytest.mark.parametrize("each", sampled([1, 9], [9], "of all pages, not of one in nine"))
def test_two_builds_are_the_same_bytes(each: int, site: Path, tmp_path: Path) -> None:
    """On another processor too, but for the last digits of traces: OpenBLAS has a kernel for each kind, and each adds
    in an order of its own."""
    kernel = "Nehalem"  # which computes otherwise than any processor of these years
    known_as: Any = numpy.show_config(mode="dicts")
    several = "openblas" in known_as["Build Dependencies"]["blas"]["name"] and "x86" in platform.machine().lower()
    other = {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_VERBOSE": "2", "OPENBLAS_NUM_THREADS": "1"} if several else {}
    out = tmp_path / "else where"
    done = elsewhere(out, each, **other)
    if done.returncode == -signal.SIGILL:  # this processor does not know what that one did
        done = elsewhere(out, each)
    assert done.returncode == 0, done.stderr
    one, more = tree(site), tree(out)
    assert one.keys() == more.keys() if each == 1 else one.keys() > more.keys()
    assert len([name for name in more if name.endswith(".html")]) > 2 * len(PAGES[each - 1 :: each])
    unlike = {name for name in more if one[name] != more[name]} - {MANIFEST}
    if f"Core: {kernel}" in done.stderr:
        assert unlike and {name for name in unlike if not name.startswith("trace/")} == set()
        assert all(close(site / name, out / name) for name in unlike)
        assert each > 1 or compare(site, out) == ([], [])
    else:
        assert unlike == set() and (each > 1 or one == more)


@pytest.mark.thorough("what differs on the same processor alone is the last digits of a sum over a set")
def test_two_builds_on_one_processor_are_the_same_to_the_last_digit(site: Path, tmp_path: Path) -> None:
    done = elsewhere(tmp_path / "else where")
    assert done.returncode == 0, done.stderr
    assert tree(site) == tree(tmp_path / "else where")


def test_check_tells_what_differs(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One page that was changed, and of all other files nothing. What is built is the site once more, see above."""
    changed = Path(shutil.copytree(site, tmp_path / "site"))
    with (changed / "kv-cache.html").open("ab") as page:
        page.write(b" ")
    monkeypatch.setattr(build, "write_site", lambda out, address: shutil.copytree(site, out))
    assert build.main(["--out", str(changed), "--check"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said == ["differs: kv-cache.html", f"{changed} is not what would be built."]


def test_ctrl_c_leaves_the_old_site_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(out: Path, address: str) -> None:
        out.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "write_site", interrupted)
    assert build.main(["--out", str(tmp_path / "site")]) == 130
    assert "stopped" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written_get_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.chdir(tmp_path)
    refused(["--out", str(tmp_path / "file" / "site")], "cannot be read or written", capsys)
    refused(["--out", "."], "You are in", capsys)
    refused(["--out", "file"], "is no folder, and a build writes one", capsys)
    monkeypatch.setenv("MICROGPT_CACHE", str(tmp_path / "file"))
    refused(["--out", str(tmp_path / "site")], "MICROGPT_CACHE", capsys)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_busy_port_is_said_before_anything_is_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(["--out", str(tmp_path / "site"), "--serve", str(port)], f"Port {port} cannot be used", capsys)
    assert not list(tmp_path.iterdir())


def test_every_script_has_a_name_that_servers_know(site: Path) -> None:
    """Not all know .mjs; a script of another type does not run."""
    known = {".html", ".css", ".js", ".json", ".svg", ".png", ".txt", ".wasm"}
    exercises = site / "exercises"  # to download
    assert {path.suffix for path in site.rglob("*") if path.is_file() and path.parent != exercises} <= known


def test_every_stage_of_a_build_says_a_line(site: Path) -> None:
    lines = Path(f"{site.parent}.said").read_text("utf-8").splitlines()
    assert [line.partition(":")[2].strip() for line in lines if line.startswith("page:")] == [p.name for p in PAGES]
    assert lines[0].startswith("runtime: fetching") and lines[-1].startswith(f"done: {site} (")


def test_every_link_leads_somewhere(site: Path) -> None:
    wrong = []
    for page in site.rglob("*.html"):
        found = {re.split("[#?]", unescape(link))[0] for link in leads(page.read_text("utf-8"))}
        assert "icon.svg" in {Path(link).name for link in found}
        wrong += [f"{page}: {target}" for target in found - {""} if not (page.parent / target).is_file()]
    assert wrong == []


def test_dist_carries_the_licences_of_what_it_carries(site: Path) -> None:
    """The list is that of the files that are there: each of the runtime has an owner, and no owner has none."""
    text = (site / "NOTICES.txt").read_text("utf-8")
    names = [path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()]
    works = [work for work in WORKS if EDITOR in names or EDITOR not in work.files]  # it is there where npm was
    listed = {name for work in works for name in work.among(names)}
    assert {name for name in names if name.startswith("runtime-")} - listed == {
        name for name in names if name.endswith("/runtime.json")
    }
    assert listed <= {*re.findall(r"[\w./-]+", text)} and all(work.among(names) for work in works)
    for work in works:
        assert f"  {work.name}\n" in text and all(words in text for name in work.texts for _, words in texts_of(name))
    assert {path.name for path in LICENCE_FOLDER.iterdir()} <= {name for work in WORKS for name in work.texts}
    wheel = next(path for name, path in fetch_runtime(default_cache()).items() if name.startswith("numpy"))
    with zipfile.ZipFile(wheel) as archive:
        for name in (name for name in archive.namelist() if "LICENSE" in name):
            assert archive.read(name).decode().strip() in text, name
    assert (ROOT / "LICENSE").read_text("utf-8").strip() in text


def test_the_package_carries_the_licences_of_what_it_carries() -> None:
    named = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["license-files"]
    assert [(ROOT / name).is_file() for name in named] == [True] * 3 and {"LICENSE", "NOTICES"} < {*named}
    traces = next(work for work in WORKS if work.among(["traces/smollm2.json"]))  # of others, the package has these
    assert {f"tools/licences/{name}" for name in traces.texts} <= {*named} and "traces/*.json" in SITE


def test_an_address_is_named_in_policy_and_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = next(p for p in PAGES if p.widget)
    monkeypatch.setattr(build, "PAGES", [page])
    build.build(tmp_path / "site", "https://example.org/course/")
    for name in (f"{page.name}.html", f"embed/{page.name}.html", f"es/{page.name}.html"):
        text = (tmp_path / "site" / name).read_text("utf-8")
        assert "style-src 'self' https://example.org" in unescape(text)
        assert f"https://example.org/course/cards/{page.name}.png" in text


def test_a_bad_address_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for text in ("example.org", "https://", "https://a b/", "javascript:alert(1)", "https://x/?a=1"):
        refused(["--out", str(tmp_path / "site"), "--base-url", text], text, capsys)
    assert not (tmp_path / "site").exists()
