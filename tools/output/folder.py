"""The folder that a build fills: all of it is a build's, and the next build puts another one in its place.

What a build wrote stands in a list beside it, a line for each file: its sha256 and its name, in the order of the names
and in the form of sha256sum, so that a copy can be verified without anything of ours:

    sha256sum --check microgpt-kv-sha256.txt

A folder that holds anything else, or what was changed since, is not built into, so nothing that is somebody's own is
ever removed. The new folder is made beside the old one, and takes its place by two renames.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from microgpt.errors import UserError

if sys.platform != "win32":
    import fcntl

MANIFEST = "microgpt-kv-sha256.txt"
LITTER = {".DS_Store", "Thumbs.db", "desktop.ini"}  # what systems leave in folders that are looked at
NAMES_SHOWN = 3  # of what is in the way, so many are named

Write = Callable[[Path], object]  # fills a new folder


def replace(out: Path, write: Write) -> None:
    """Put what `write` makes in the place of `out`: all of it, or nothing.

    Raises UserError when `out` holds anything that no build wrote, or another build is at work on it.
    """
    place = Path(os.path.realpath(out))  # a link to a folder stays one
    refuse_others(place)
    new_parents = [folder for folder in place.parents if not folder.exists()]
    try:
        with folder_beside(place) as beside:
            new, old = beside / "new", beside / "old"
            write(new)
            (new / MANIFEST).write_text(as_text(digests(new)), "utf-8", newline="\n")
            refuse_others(place)  # what has come meanwhile
            try:
                if place.exists():
                    place.rename(old)
                new.rename(place)
            except BaseException:
                put_back(old, place)
                raise
    except BaseException:
        for folder in new_parents:
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def folder_beside(place: Path) -> Iterator[Path]:
    """A hidden folder beside `place`, this build's alone; gone afterwards. Brings back what a killed build left."""
    beside = place.with_name(f".{place.name}.build")
    beside.mkdir(parents=True, exist_ok=True)
    handle = lock(beside)
    try:
        put_back(beside / "old", place)
        clear(beside)
        yield beside
    finally:
        clear(beside)
        with suppress(OSError):  # somebody else's file is in it
            beside.rmdir()
        if handle is not None:
            os.close(handle)


def lock(beside: Path) -> int | None:
    """A lock that the system gives up when the build ends, however it ends; None where there are none."""
    if sys.platform == "win32":
        return None
    handle = os.open(beside, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UserError(
            "Another build is at work in %(folder)s; wait for its end, or choose another --out.", folder=beside
        ) from None
    except OSError:  # a file system without locks
        pass
    return handle


def put_back(old: Path, place: Path) -> None:
    if old.exists() and not place.exists():
        old.rename(place)


def clear(beside: Path) -> None:
    for name in ("new", "old"):
        shutil.rmtree(beside / name, ignore_errors=True)


def refuse_others(place: Path) -> None:
    """Raise UserError for a place that is no folder, or holds what no build wrote, or what was changed since."""
    if os.path.lexists(place) and not place.is_dir():
        raise UserError("%(out)s is no folder, and a build writes one. Choose another --out.", out=place)
    if Path.cwd().is_relative_to(place):
        raise UserError("You are in %(out)s, which a build replaces; go to another folder first.", out=place)
    if others := others_in(place):
        raise UserError(
            "%(out)s holds what no build wrote, or what was changed since: %(files)s. Nothing was changed. Move it "
            "away and copy it back after the build, or choose another --out.",
            out=place,
            files=", ".join(others[:NAMES_SHOWN]) + (" ..." if len(others) > NAMES_SHOWN else ""),
        )


def others_in(place: Path) -> list[str]:
    """Names of what in a folder is not as the list there says; a folder without any file of a build is one name."""
    if not place.exists():
        return []
    path = place / MANIFEST
    lines = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
    listed = {name: sha for sha, _, name in (line.partition("  ") for line in lines)}
    changed = [name for name in sorted(listed) if (place / name).is_file() and digest(place / name) != listed[name]]
    return [name for name in besides(place, {*listed, MANIFEST}) if Path(name).name not in LITTER] + changed


def besides(place: Path, names: Collection[str]) -> Iterator[str]:
    """What in `place` has none of the names; of a folder with nothing else in it, only its own."""
    folders = {parent.as_posix() for name in names for parent in Path(name).parents}

    def among(folder: Path) -> Iterator[str]:
        for path in sorted(folder.iterdir()):
            name, is_folder = path.relative_to(place).as_posix(), path.is_dir()
            if is_folder and not path.is_symlink() and name in folders:
                yield from among(path)
            elif name not in names or is_folder or path.is_symlink():
                yield f"{name}/" if is_folder else name

    yield from among(place)


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Name -> sha256 of every file in `folder`, but for the list itself."""
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: digest(paths[name]) for name in sorted(paths) if name != MANIFEST}


def as_text(files: dict[str, str]) -> str:
    """The list of files: name -> sha256."""
    return "".join(f"{sha}  {name}\n" for name, sha in files.items())
