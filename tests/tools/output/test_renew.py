"""A build replaces and removes what a build wrote, and nothing else; whatever stops it, no file is lost or half."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import build
from microgpt.errors import UserError
from tools import bake

ROOT = Path(__file__).resolve().parents[3]
MANIFEST = "microgpt-kv-sha256.txt"
OLD = {
    "index.html": "1",
    "a.html": "1",
    "style.css": "1",
    "runtime-1/runtime.json": "1",
    "es/gone/x.html": "1",
    "s": "s",
}
NEW = {"index.html": "2", "a.html": "2", "style.css": "2", "runtime-2/runtime.json": "2", "es/y.html": "2", "s": "s"}
USERS = {".git/HEAD": "ref", "CNAME": "example.org", ".nojekyll": "", "own.html": "mine", "es/own.html": "mine"}


def site(files: dict[str, str]) -> Callable[[Path], None]:
    """What writes these files, as the whole of a site."""

    def write(out: Path) -> None:
        put(out, files)

    return write


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
    """A site that was built, and what its user keeps beside it."""
    build.build(tmp_path / "site", write=site(OLD))
    put(tmp_path / "site", USERS)
    return tmp_path / "site"


def test_a_build_leaves_what_it_did_not_write(out: Path) -> None:
    assert tree(out) == OLD | USERS
    build.build(out, write=site(NEW))
    assert tree(out) == NEW | USERS
    assert not (out / "es" / "gone").exists() and not (out / "runtime-1").exists()  # nor are empty folders left
    assert [path.name for path in out.parent.iterdir()] == ["site"]


def test_the_list_verifies_a_copy_by_sha256sum_alone(out: Path) -> None:
    build.build(out, write=site(NEW))
    command = ["sha256sum", "--check", "--strict", "--quiet", MANIFEST]
    assert subprocess.run(command, cwd=out, capture_output=True).returncode == 0
    names = [line.split("  ")[1] for line in (out / MANIFEST).read_text().splitlines()]
    assert names == sorted(NEW)
    (out / "a.html").write_text("damaged")
    done = subprocess.run(command, cwd=out, capture_output=True, text=True)
    assert done.returncode and done.stdout == "a.html: FAILED\n"


def test_building_the_same_again_touches_no_file(out: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file() and path.name != MANIFEST}
    build.build(out, write=site(OLD))
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize("name", ["es/y.html", "a.html"], ids=["never written", "changed since"])
def test_what_no_build_wrote_is_never_overwritten(out: Path, name: str) -> None:
    put(out, {name: "my own work"})
    before = tree(out)
    with pytest.raises(UserError, match=f"{name}. Nothing was changed. Move it away, or choose another --out"):
        build.build(out, write=site(NEW))
    assert tree(out) == before
    (out / name).unlink()
    build.build(out, write=site(NEW))
    assert tree(out) == NEW | USERS


def test_what_was_changed_and_is_not_built_any_more_is_kept_and_said(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(out, {"es/gone/x.html": "my own work"})
    build.build(out, write=site(NEW))
    assert tree(out) == NEW | USERS | {"es/gone/x.html": "my own work"}
    assert "kept: es/gone/x.html" in capsys.readouterr().err


def test_a_link_as_out_stays_one_and_its_target_is_renewed(out: Path) -> None:
    link = out.parent / "link"
    link.symlink_to("site")
    build.build(link, write=site(NEW))
    assert link.is_symlink() and tree(out) == NEW | USERS
    (out.parent / "loop").symlink_to("loop")
    assert build.main(["--prompt", "emma", "--single-file", "--out", str(out.parent / "loop")]) == 1


@pytest.mark.parametrize("name", ["a.html", "es", "runtime-2"])
def test_nothing_is_written_through_a_link_in_the_folder(out: Path, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    put(elsewhere, {"y.html": "far away", "runtime.json": "far away"})
    if (out / name).exists():
        (out / name).rename(tmp_path / "away")
    (out / name).symlink_to(elsewhere / "y.html" if name == "a.html" else elsewhere)
    before = tree(out)
    with pytest.raises(UserError, match="Nothing was changed"):
        build.build(out, write=site(NEW))
    assert tree(out) == before
    assert tree(elsewhere) == {"y.html": "far away", "runtime.json": "far away"}


@pytest.mark.parametrize(
    "there",
    [
        {"runtime-x/runtime.json": "a stranger's"},
        {"index.html": "a stranger's", "embed.html": "", "style.css": ""},
        {"thesis.txt": "years of work"},
        {"index.html": "of a build that wrote no list", "runtime-1/runtime.json": ""},
    ],
)
def test_a_folder_without_a_list_is_not_built_into(there: dict[str, str], tmp_path: Path) -> None:
    put(tmp_path / "folder", there)
    with pytest.raises(UserError, match=f"is not empty and has no {MANIFEST}.*put an empty file of that name into it"):
        build.build(tmp_path / "folder", write=site(NEW))
    assert tree(tmp_path / "folder") == there


def test_an_empty_list_is_leave_to_build_beside_what_is_there(tmp_path: Path) -> None:
    put(tmp_path, {"own.html": "mine", "es/own.html": "mine", MANIFEST: ""})
    build.build(tmp_path, write=site(NEW))
    assert tree(tmp_path) == NEW | {"own.html": "mine", "es/own.html": "mine"}


def test_an_empty_checkout_is_built_into(tmp_path: Path) -> None:
    put(tmp_path, {".git/HEAD": "ref", ".nojekyll": ""})
    build.build(tmp_path, write=site(NEW))
    assert tree(tmp_path) == NEW | {".git/HEAD": "ref", ".nojekyll": ""}


@pytest.mark.parametrize("name", ["../thesis.txt", "/etc/passwd", "a/../../thesis.txt", "C:\\x", ""])
def test_a_list_that_leads_out_of_the_folder_is_refused(out: Path, name: str) -> None:
    """Whoever gives you a checkout does not choose what is removed."""
    put(out.parent, {"thesis.txt": "1"})
    with (out / MANIFEST).open("a") as file:
        file.write(f"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b  {name}\n")
    with pytest.raises(UserError, match="Line 7 of"):
        build.build(out, write=site(NEW))
    assert (out.parent / "thesis.txt").read_text() == "1" and tree(out) == OLD | USERS


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied"), KeyboardInterrupt()], ids=["error", "Ctrl-C"]
)
def test_a_failure_at_any_moment_brings_everything_back(
    out: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """A file that somebody holds open is enough for that on Windows."""
    before, listed = tree(out), (out / MANIFEST).read_bytes()
    move = os.replace
    for fails_at in range(100):
        calls = iter(range(1000))

        def failing(*places: Path, fails_at: int = fails_at, calls: object = calls) -> None:
            if next(calls) == fails_at:  # type: ignore[call-overload]
                raise error
            move(*places)

        monkeypatch.setattr(os, "replace", failing)
        try:
            build.build(out, write=site(NEW))
        except (OSError, KeyboardInterrupt):
            assert tree(out) == before and (out / MANIFEST).read_bytes() == listed
            assert not list(out.glob(".microgpt*")) and not (out / "runtime-2").exists()
        else:
            break
    assert fails_at > 10 and tree(out) == NEW | USERS


KILLED = """
import os, sys
from pathlib import Path
from tools.output.renew import renew
from tools.output.scratch import scratch
out, new, last = Path(sys.argv[1]), eval(sys.argv[2]), int(sys.argv[3])
move, moved = os.replace, []
def until(*places):
    if len(moved) == last:
        os._exit(9)
    moved.append(places)
    move(*places)
os.replace = until
with scratch(out) as folder:
    for name, text in new.items():
        (folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "site" / name).write_text(text)
    renew(folder / "site", out, folder / "old")
"""


def test_a_build_killed_at_any_moment_leaves_whole_files_and_the_next_one_heals(tmp_path: Path) -> None:
    third = {**NEW, "index.html": "3", "z.html": "3"}  # the next one is of other sources again
    for last in range(100):
        out = tmp_path / str(last)
        build.build(out, write=site(OLD))
        put(out, USERS)
        command = [sys.executable, "-c", KILLED, str(out), repr(NEW), str(last)]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        if not code:
            break
        assert code == 9
        left = {name: text for name, text in tree(out).items() if not name.startswith(".microgpt")}
        assert USERS.items() <= left.items()
        assert all(text in (OLD.get(name), NEW.get(name), USERS.get(name)) for name, text in left.items())
        assert left["index.html"] == "1" or "runtime-2/runtime.json" in left  # what pages load is there before them
        build.build(out, write=site(third))
        assert tree(out) == third | USERS
        assert not list(out.glob(".microgpt*"))
    assert last > 10


def test_a_site_and_a_lesson_of_ones_own_replace_each_other(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bake, "packed", lambda *_: "runtime-0")
    assert build.main(["--prompt", "emma", "--out", str(out)]) == 0
    there = tree(out)
    assert {"index.html", "embed.html", "boot.js"} <= there.keys() and not {"a.html", "es/gone/x.html"} & there.keys()
    assert USERS.items() <= there.items()
    build.build(out, write=site(OLD))
    assert tree(out) == OLD | USERS
