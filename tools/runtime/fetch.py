"""The browser runtime: Pyodide and NumPy, pinned by hash (pins.py), fetched once into a cache folder.

Three sources, the first that answers: a folder that the user names ($MICROGPT_RUNTIME_DIR), npm packages
by the npm client, and Pyodide's own release on its public CDN ($MICROGPT_RUNTIME_URL for a mirror). Every
file is checked before it enters the cache. How the files are packed for a site is packing.py's business.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import urllib.request
from collections.abc import Callable, Iterable
from http.client import HTTPException
from pathlib import Path

from microgpt.errors import UserError
from tools.output.folder import digest
from tools.runtime import npm
from tools.runtime.npm import Unavailable
from tools.runtime.pins import CDN, CDN_NUMPY, CORE, NPM, PYODIDE, WHEELS

Source = Callable[[Path], None]  # puts the files into a folder, or raises Unavailable


def default_cache() -> Path:
    """Where fetched files stay between builds."""
    folder = os.environ.get("MICROGPT_CACHE")
    return Path(folder) if folder else Path.home() / ".cache" / "microgpt-kv"


def fetch_runtime(cache: Path) -> dict[str, Path]:
    """The runtime's files by name, out of `cache` or, the first time, from the first source that answers.

    Raises UserError when no source answers, or when a file is not the pinned one.
    """
    home = cache / f"pyodide-{PYODIDE}"
    found = files_in_cache(home)
    reasons = []
    for source in [] if found else sources():
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home) as work:
            folder = Path(work)
            try:
                source(folder)
            except Unavailable as reason:
                reasons.append(str(reason))
                continue
            for name in core_names(folder):
                verify(folder / name)
                os.replace(folder / name, home / name)
        found = files_in_cache(home)
        break
    if not found:
        raise UserError(
            "The browser runtime could not be fetched: %(reasons)s. Connect to the network and build again, or put "
            "%(files)s into a folder and name it in MICROGPT_RUNTIME_DIR.",
            reasons="; ".join(reasons),
            files=", ".join([*CORE, CDN_NUMPY]),
        )
    return found


def files_in_cache(home: Path) -> dict[str, Path]:
    """The cached files, checked again; empty when one is missing or no longer what it was."""
    names = core_names(home)
    good = [name for name in names if (home / name).exists() and digest(home / name) == sha256_of(name)]
    return {name: home / name for name in names} if len(good) == len(names) == len(CORE) + 1 else {}


def core_names(folder: Path) -> list[str]:
    """The core files and whichever NumPy is there."""
    return [*CORE, *(name for name in WHEELS if (folder / name).exists())][: len(CORE) + 1]


def sha256_of(name: str) -> str:
    return CORE.get(name) or WHEELS[name]


def verify(path: Path) -> None:
    """Raise UserError unless `path` is the pinned file of its name."""
    got = digest(path) if path.exists() else "missing"
    if got != sha256_of(path.name):
        raise UserError(
            "%(file)s is not the file that this version is made for: its sha256 is %(got)s, it must be %(want)s. "
            "Nothing was built. Try another network, or another MICROGPT_RUNTIME_DIR.",
            file=path.name,
            got=got,
            want=sha256_of(path.name),
        )


# ---- sources -----------------------------------------------------------------------------------------


def sources() -> Iterable[Source]:
    """In the order in which they are asked. A mirror that the user names is asked before npm."""
    if os.environ.get("MICROGPT_RUNTIME_DIR"):
        return [from_folder]
    return [from_release] if os.environ.get("MICROGPT_RUNTIME_URL") else [from_npm, from_release]


def from_folder(out: Path) -> None:
    """A folder that the user names in MICROGPT_RUNTIME_DIR."""
    folder = Path(os.environ["MICROGPT_RUNTIME_DIR"])
    for name in core_names(folder):
        if not (folder / name).is_file():
            raise Unavailable(f"{folder} holds no {name}")
        shutil.copyfile(folder / name, out / name)
    if len(core_names(folder)) == len(CORE):
        raise Unavailable(f"{folder} holds neither {' nor '.join(WHEELS)}")


def from_npm(out: Path) -> None:
    """Packages of the npm registry."""
    for package, members in NPM.items():
        npm.fetch(package, members, out)


def from_release(out: Path) -> None:
    """Pyodide's own release: its CDN, or a mirror named in MICROGPT_RUNTIME_URL."""
    base = os.environ.get("MICROGPT_RUNTIME_URL", CDN).rstrip("/") + "/"
    for name in (*CORE, CDN_NUMPY):
        try:
            with urllib.request.urlopen(base + name, timeout=60) as answer, (out / name).open("wb") as file:
                shutil.copyfileobj(answer, file)
        except (OSError, ValueError, HTTPException) as error:  # no answer, no address, half an answer
            raise Unavailable(f"{base}{name} did not answer ({error})") from None
