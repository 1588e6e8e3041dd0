"""The list of what a build wrote: a line for each file, its sha256 and its name, in the order of the names.

It lies beside the files, in the form of sha256sum, so that a copy can be verified without anything of ours:

    sha256sum --check microgpt-kv-sha256.txt

While a build moves its files into place, it names what was there as well as what comes: a name may then stand in it
twice, and whichever of the two a killed build has left is known.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from microgpt.errors import N_, UserError

MANIFEST = "microgpt-kv-sha256.txt"
LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
OTHER = "no file"  # stands where a sha256 would: a link, a folder, or something below one of them


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Name -> sha256 of every file in `folder`, but for the list itself."""
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: digest(paths[name]) for name in sorted(paths) if name != MANIFEST}


def as_text(files: Mapping[str, Collection[str]]) -> str:
    """The list: name -> each sha256 that the file may have."""
    return "".join(f"{sha}  {name}\n" for name in sorted(files) for sha in sorted(files[name]))


def written(folder: Path) -> dict[str, set[str]]:
    """What the list in `folder` names; nothing where there is none. Raises UserError when it is damaged."""
    found: dict[str, set[str]] = {}
    path = folder / MANIFEST
    lines = path.read_bytes().decode("utf-8", "replace").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        entry = LINE.fullmatch(line)
        if not entry or not inside(entry[2]):
            raise UserError(
                N_(
                    "Line %(number)s of %(file)s is not what a build writes, so it cannot be told what is whose. "
                    "Put the list back as it was, or choose another --out."
                ),
                number=number, file=path,
            )  # fmt: skip
        found.setdefault(entry[2], set()).add(entry[1])
    return found


def inside(name: str) -> bool:
    """Whether the name leads into the folder and not out of it."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name and ":" not in name


def standing(folder: Path, name: str) -> str:
    """The sha256 of the file of that name in `folder`; "" when there is nothing; OTHER when no build can have made it.

    Links are not followed: what is behind one is not in the folder.
    """
    path = folder
    *above, _ = parts = PurePosixPath(name).parts
    for number, part in enumerate(parts):
        path /= part
        if path.is_symlink() or (path.exists() and path.is_dir() != (number < len(above))):
            return OTHER
    if not path.exists():
        return ""
    return digest(path) if path.is_file() else OTHER
