"""A folder to work in, inside the folder that the work is for: what is done is then moved into place by a rename.

A build that is killed leaves its folder behind, and the next one clears it away. Whether a build still lives is told by
a lock on a file in its folder, which the system gives up when the build ends, however it ends.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

PREFIX = ".microgpt-kv-"
HELD = "held-by-a-build"  # without this file, a folder with our prefix is a stranger's


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """A new, hidden folder in `parent`, which is made if need be; gone afterwards."""
    parent.mkdir(parents=True, exist_ok=True)
    clear(parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    try:
        with (folder / HELD).with_suffix(".new").open("wb") as file:
            if lock(file):
                Path(file.name).rename(folder / HELD)  # has its name only once it is locked
            yield folder
    finally:
        with suppress(OSError):
            remove(folder)


def remove(folder: Path) -> None:
    """What tells that it is ours goes last: a build that is killed meanwhile leaves a folder that is still known."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != HELD:
            path.unlink()
    (folder / HELD).unlink(missing_ok=True)
    folder.rmdir()


def clear(parent: Path) -> None:
    """Remove the folders of builds that were killed in `parent`; neither a living build's nor a stranger's."""
    for folder in parent.glob(f"{PREFIX}*"):
        if not folder.is_symlink() and (folder / HELD).is_file():
            with suppress(OSError), (folder / HELD).open("rb") as file:
                if lock(file):
                    remove(folder)


def lock(file: BinaryIO) -> bool:
    """Whether nobody else has locked it; now we have, for as long as it is open. False where there are no locks."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """While one build changes `folder`, another waits."""
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
