"""The browser runtime: Pyodide and NumPy for it, pinned by sha256, fetched once, packed for the site.

`fetch_runtime` fills a cache folder from the first source that has the right file; `pack_runtime` writes
the site's runtime/ folder from it. Knows where files come from and what each must be; knows no page. What goes into an archive is
decided in wheels.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pyodide_lock import PyodideLockSpec
from pyodide_lock.spec import InfoSpec, PackageSpec

from microgpt.errors import UserError
from tools import wheels

PYODIDE = "0.29.5"
NUMPY = "2.2.5"
CDN = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
INFO = InfoSpec(arch="wasm32", platform="emscripten_4_0_9", version=PYODIDE, python="3.13.2")
DEPENDS = {"jinja2": ["markupsafe"], "microgpt": ["jinja2", "numpy"]}


class File(NamedTuple):
    """One file as one source has it. `member` is its path inside the npm package, if it is in one."""

    file_name: str
    sha256: str
    package: str = ""
    member: str = ""


def core(name: str, sha256: str) -> tuple[File, ...]:
    return (File(name, sha256, f"pyodide@{PYODIDE}", f"package/{name}"),)


# name -> the forms that it may have. NumPy's wheel was built twice, under two names; both run.
MANIFEST: dict[str, tuple[File, ...]] = {
    "pyodide.js": core("pyodide.js", "7f832a350240263d9946a9c3c877f7bcdab6c37d6dc65f72cd3be5905dca62dd"),
    "pyodide.asm.js": core("pyodide.asm.js", "356c42f69e1695397e9d8670bd3c2e678248cde76e18bdae1731e848537b47d7"),
    "pyodide.asm.wasm": core("pyodide.asm.wasm", "54309a5a2cfd757b1f0fdbc9093c92503f7b341500110329d932487183912718"),
    "python_stdlib.zip": core("python_stdlib.zip", "831fd1e535084b972f87c6a35275de3d236efd5166f5e77ce89497710635e73c"),
    "numpy": (
        File(
            f"numpy-{NUMPY}-cp313-cp313-pyodide_2025_0_wasm32.whl",
            "125230b4c3ecd08803e5c43f1162e017c0718d9f253146225a705a952b9c16c2",
            "@bentopdf/pymupdf-wasm@0.11.16",
            f"package/assets/numpy-{NUMPY}-cp313-cp313-pyodide_2025_0_wasm32.whl",
        ),
        File(
            f"numpy-{NUMPY}-cp313-cp313-pyemscripten_2025_0_wasm32.whl",
            "800c98edc0c864dfa49f07005680c699b4b42b84eae1f8cb19d35b3634e7f05c",
        ),
    ),
}

Source = Callable[[File, Path], bool]  # writes the file there, or answers that it cannot


def default_cache() -> Path:
    """$MICROGPT_CACHE, else ~/.cache/microgpt-kv."""
    return Path(os.environ.get("MICROGPT_CACHE") or Path.home() / ".cache" / "microgpt-kv")


def fetch_runtime(cache_dir: Path) -> dict[str, Path]:
    """Every file of the manifest, from the cache or else from the first source that has it."""
    folder = cache_dir / f"pyodide-{PYODIDE}"
    found = {name: cached(folder, forms) for name, forms in MANIFEST.items()}
    if all(found.values()):
        return {name: path for name, path in found.items() if path}
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as work:
        named = sources(Path(work))
        return {name: path or fetch(MANIFEST[name], named, folder, Path(work)) for name, path in found.items()}


def cached(folder: Path, forms: tuple[File, ...]) -> Path | None:
    """The first form that lies in the cache undamaged."""
    paths = ((folder / form.file_name, form.sha256) for form in forms)
    return next((path for path, sha256 in paths if path.is_file() and digest(path) == sha256), None)


def fetch(forms: tuple[File, ...], named: dict[str, Source], folder: Path, work: Path) -> Path:
    """One file from the first source that has one of its forms. A wrong hash ends the search: it is not an absence."""
    fresh = work / "fresh"
    for where, source in named.items():
        for form in forms:
            if not source(form, fresh):
                continue
            if (actual := digest(fresh)) != form.sha256:
                raise UserError(
                    "%(file)s from %(where)s has sha256 %(actual)s, but %(wanted)s is pinned; it was not used.",
                    file=form.file_name, where=where, actual=actual, wanted=form.sha256,
                )  # fmt: skip
            os.replace(fresh, folder / form.file_name)
            return folder / form.file_name
    raise UserError(
        "%(file)s was not found in: %(sources)s. Connect to the network once, or put it into a folder "
        "and set MICROGPT_RUNTIME_DIR to that folder.",
        file=" or ".join(form.file_name for form in forms), sources=", ".join(named),
    )  # fmt: skip


# ---- where files come from --------------------------------------------------------------------------


def sources(work: Path) -> dict[str, Source]:
    """Name -> source, in the order in which they are asked; what the user names comes first."""
    found: dict[str, Source] = {}
    if folder := os.environ.get("MICROGPT_RUNTIME_DIR"):
        found[folder] = lambda form, to: from_folder(Path(folder), form, to)
    url = os.environ.get("MICROGPT_RUNTIME_URL")
    if url:
        found[url] = lambda form, to: from_url(url, form, to)
    found["npm"] = npm_source(work)
    if not url:
        found[CDN] = lambda form, to: from_url(CDN, form, to)
    return found


def from_folder(folder: Path, form: File, to: Path) -> bool:
    if not (folder / form.file_name).is_file():
        return False
    shutil.copyfile(folder / form.file_name, to)
    return True


def from_url(base: str, form: File, to: Path) -> bool:
    try:
        with urllib.request.urlopen(base.rstrip("/") + "/" + form.file_name, timeout=30) as answer, to.open("wb") as file:
            shutil.copyfileobj(answer, file)
    except (OSError, urllib.error.URLError, ValueError):
        return False
    return True


def npm_source(work: Path) -> Source:
    """The npm client knows its registry by itself. Each package is packed once, however many files it has."""

    @cache
    def packed(package: str) -> Path | None:
        npm = shutil.which("npm")
        if not npm:
            return None
        command = [npm, "pack", "--silent", "--ignore-scripts", package]
        try:
            done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=600)
        except (OSError, subprocess.TimeoutExpired):
            return None
        lines = done.stdout.split()
        return work / lines[-1] if done.returncode == 0 and lines and (work / lines[-1]).is_file() else None

    def source(form: File, to: Path) -> bool:
        archive = packed(form.package) if form.package else None
        if not archive:
            return False
        try:
            with tarfile.open(archive) as tar:
                member = tar.extractfile(form.member)
                if member:
                    to.write_bytes(member.read())
                return member is not None
        except (tarfile.TarError, KeyError, OSError):
            return False

    return source


# ---- the site's runtime/ folder ---------------------------------------------------------------------


def pack_runtime(fetched: Mapping[str, Path], out_dir: Path, app_files: Mapping[str, bytes]) -> None:
    """Write the new folder `out_dir`: Pyodide's core, four wheels, the lock file, and runtime.json for boot.js."""
    files = {name: fetched[name].read_bytes() for name in ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm")}
    files["python_stdlib.zip"] = wheels.trimmed_stdlib(fetched["python_stdlib.zip"])
    made = {
        "numpy": wheels.trimmed_numpy(fetched["numpy"]),
        "jinja2": wheels.installed("jinja2"),
        "markupsafe": wheels.installed("markupsafe"),
        "microgpt": wheels.own(app_files),
    }
    packages = {}
    for name, wheel in made.items():
        files[wheel.file_name] = wheel.data
        packages[name] = PackageSpec(
            name=name, version=wheel.version, file_name=wheel.file_name, install_dir="site",
            sha256=hashlib.sha256(wheel.data).hexdigest(), imports=[name], depends=DEPENDS.get(name, []),
        )  # fmt: skip
    lock = PyodideLockSpec(info=INFO, packages=packages)
    lock.check_wheel_filenames()
    out_dir.mkdir(parents=True)
    lock.to_json(out_dir / "pyodide-lock.json", indent=1)
    files["pyodide-lock.json"] = (out_dir / "pyodide-lock.json").read_bytes()
    listed = {name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    files["runtime.json"] = json.dumps({"files": listed}, indent=1, sort_keys=True).encode()
    for name, data in files.items():
        (out_dir / name).write_bytes(data)


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
