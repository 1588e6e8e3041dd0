"""A build takes the place of a build, and of nothing else; whatever stops it, the old one stays as it was."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

import build
from microgpt.errors import UserError
from tools import build_lesson
from tools.server import serving

MANIFEST = "microgpt-kv-sha256.txt"
OLD = {"index.html": "1", "style.css": "1", "runtime-1/runtime.json": "1", "es/gone/x.html": "1", "s": "s"}
NEW = {"index.html": "2", "style.css": "2", "runtime-2/runtime.json": "2", "es/y.html": "2", "s": "s"}


def site(files: dict[str, str]) -> Callable[[Path], None]:
    """What writes these files, as the whole of a site."""
    return lambda out: put(out, files)


def put(out: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)


def tree(folder: Path) -> dict[str, str]:
    """Every file but the list of what was built; a link as what it says."""
    paths = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    found = {path.relative_to(folder).as_posix(): path for path in paths if path.name != MANIFEST}
    return {name: os.readlink(p) if p.is_symlink() else p.read_text() for name, p in found.items()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A site that was built."""
    build.build(tmp_path / "site", write=site(OLD))
    return tmp_path / "site"


def test_a_build_replaces_a_build_whole_and_leaves_nothing_beside_it(out: Path) -> None:
    assert tree(out) == OLD
    (out / ".DS_Store").write_text("a system's")
    build.build(out, write=site(NEW))
    assert tree(out) == NEW and not (out / "es" / "gone").exists()
    assert [path.name for path in out.parent.iterdir()] == ["site"]
    (out.parent / "empty").mkdir()
    build.build(out.parent / "empty", write=site(NEW))
    assert tree(out.parent / "empty") == NEW


def test_the_list_verifies_a_copy_by_sha256sum_alone(out: Path) -> None:
    build.build(out, write=site(NEW))
    command = ["sha256sum", "--check", "--strict", "--quiet", MANIFEST]
    assert subprocess.run(command, cwd=out, capture_output=True).returncode == 0
    names = [line.split("  ")[1] for line in (out / MANIFEST).read_text().splitlines()]
    assert names == sorted(NEW)
    (out / "index.html").write_text("damaged")
    done = subprocess.run(command, cwd=out, capture_output=True, text=True)
    assert done.returncode and done.stdout == "index.html: FAILED\n"


@pytest.mark.parametrize(
    ("theirs", "named"),
    [
        ({"es/own.html": "mine"}, "es/own.html"),
        ({"es/gone/x.html": "changed since"}, "es/gone/x.html"),
        ({".git/HEAD": "ref", "CNAME": "example.org"}, ".git/, CNAME"),
        ({MANIFEST: "", "a": ""}, "a, es/, index.html ..."),
        ({MANIFEST: f"{'0' * 64}  index.html\n{'0' * 64}  ../thesis.txt\n"}, "es/, runtime-1/, s ..."),
    ],
    ids=["never written", "changed since", "of a checkout", "not in the list", "another list"],
)
def test_a_build_leaves_what_it_did_not_write(out: Path, theirs: dict[str, str], named: str) -> None:
    put(out.parent, {"thesis.txt": "years of work"})
    put(out, theirs)
    before = {**tree(out.parent), MANIFEST: (out / MANIFEST).read_text()}
    with pytest.raises(UserError) as error:
        build.build(out, write=site(NEW))
    assert f": {named}. Nothing was changed. Move it away and copy it back after the build" in str(error.value)
    assert {**tree(out.parent), MANIFEST: (out / MANIFEST).read_text()} == before


def test_what_comes_while_it_is_built_stays_too(out: Path) -> None:
    def write(new: Path) -> None:
        put(new, NEW)
        put(out, {"late.html": "mine"})

    with pytest.raises(UserError, match="holds what no build wrote.*: late.html"):
        build.build(out, write=write)
    assert tree(out) == OLD | {"late.html": "mine"}


@pytest.mark.parametrize("name", ["index.html", "es"])
def test_a_link_in_the_folder_is_none_of_ours(out: Path, tmp_path: Path, name: str) -> None:
    (out / name).rename(tmp_path / "elsewhere")
    (out / name).symlink_to(tmp_path / "elsewhere")
    before = tree(tmp_path)
    with pytest.raises(UserError, match=f"{name}/?. Nothing was changed"):
        build.build(out, write=site(NEW))
    assert tree(tmp_path) == before


def test_a_link_as_out_stays_one_and_its_target_is_replaced(out: Path) -> None:
    link = out.parent / "link"
    link.symlink_to("site")
    build.build(link, write=site(NEW))
    assert link.is_symlink() and tree(out) == NEW
    (out.parent / "loop").symlink_to("loop")
    assert build.main(["--prompt", "emma", "--single-file", "--out", str(out.parent / "loop")]) == 1


def test_nobody_is_left_in_a_folder_that_is_gone(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(out / "es")
    with pytest.raises(UserError, match="You are in"):
        build.build(out, write=site(NEW))
    assert tree(out) == OLD


def test_a_second_build_is_told_of_the_first(out: Path) -> None:
    def write(new: Path) -> None:
        with pytest.raises(UserError, match="Another build is at work.*wait for its end, or choose another --out"):
            build.build(out, write=site(OLD))
        put(new, NEW)

    build.build(out, write=write)
    assert tree(out) == NEW


def test_a_file_system_without_locks_is_built_on(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", none)
    build.build(out, write=site(NEW))
    assert tree(out) == NEW


def test_a_site_is_served_before_and_after_it_is_replaced(out: Path) -> None:
    with serving(out) as url:
        assert urlopen(url).read() == b"1"
        build.build(out, write=site(NEW))
        assert urlopen(url).read() == b"2"


@pytest.mark.parametrize("error", [PermissionError(13, "denied"), KeyboardInterrupt()], ids=["error", "Ctrl-C"])
@pytest.mark.parametrize("fails_at", [0, 1])
def test_a_failure_at_any_moment_leaves_the_old_one(
    out: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, fails_at: int
) -> None:
    """A file that somebody holds open is enough for that on Windows."""
    rename, calls = Path.rename, iter(range(1000))

    def failing(path: Path, target: Path) -> Path:
        if next(calls) == fails_at:
            raise error
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(type(error)):
        build.build(out, write=site(NEW))
    assert tree(out) == OLD and [path.name for path in out.parent.iterdir()] == ["site"]


def killed(out: Path, last: int) -> None:
    """A build that is killed in place of its rename of that number, in a process of its own."""
    if child := os.fork():
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        return
    try:
        rename, calls = Path.rename, iter(range(1000))
        Path.rename = lambda path, to: os._exit(9) if next(calls) == last else rename(path, to)  # type: ignore[assignment, method-assign]
        build.build(out, write=site(NEW))
    finally:
        os._exit(1)


@pytest.mark.skipif(sys.platform == "win32", reason="processes do not fork there")
@pytest.mark.parametrize("last", [0, 1])
def test_a_build_killed_at_any_moment_loses_nothing_and_the_next_one_heals(out: Path, last: int) -> None:
    """Between the two renames the old site lies beside its place; even a build that fails brings it back."""
    killed(out, last)
    with pytest.raises(ZeroDivisionError):
        build.build(out, write=lambda new: put(new, {"half": str(1 // 0)}))
    assert tree(out.parent) == {f"site/{name}": text for name, text in OLD.items()}
    killed(out, last)
    build.build(out, write=site(NEW))
    assert tree(out.parent) == {f"site/{name}": text for name, text in NEW.items()}


def test_a_site_and_a_lesson_of_ones_own_replace_each_other(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_lesson, "pack_beside", lambda *_: "runtime-0")
    assert build.main(["--prompt", "emma", "--out", str(out)]) == 0
    assert {"index.html", "embed.html", "boot.js"} <= tree(out).keys() and not OLD.keys() & {*tree(out)} - {
        "index.html",
        "style.css",
    }
    build.build(out, write=site(OLD))
    assert tree(out) == OLD
