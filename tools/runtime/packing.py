"""Pack the runtime for a site: what the browser loads, as small as it is simple to make it, always the same bytes.

NumPy and the standard library are trimmed and compiled to bytecode; Jinja2, MarkupSafe and our own code
become wheels; pyodide-lock.json names them for Pyodide; worker.js is ours and Pyodide's two scripts in one; and
runtime.json carries size and hash of every file for the bridge. Fetches nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zipfile
from collections.abc import Collection, Mapping
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath

from pyodide_lock import PyodideLockSpec
from pyodide_lock.spec import InfoSpec, PackageSpec
from pyodide_lock.utils import update_package_sha256

from microgpt import __version__
from microgpt.viz.rendering.style import read
from tools.runtime.bytecode import compiled
from tools.runtime.pinned import ABI, CORE, PLATFORM, PYODIDE, PYTHON, TAG

EPOCH = (1980, 1, 1, 0, 0, 0)  # the date of every file in every archive
INFO = InfoSpec(arch="wasm32", platform=PLATFORM, version=PYODIDE, python=PYTHON)
PACKAGES = ("jinja2", "markupsafe", "microgpt", "numpy")
SCRIPTS = ("pyodide.mjs", "pyodide.asm.js")  # of the core: they become part of the worker
DEPENDS = {"jinja2": ["markupsafe"], "microgpt": ["numpy", "jinja2"]}

# What of NumPy and of the standard library the pages load; `python -m tools.runtime.used` finds it, a test runs on it.
USED = Path(__file__).with_name("used.txt")


def pack_runtime(
    fetched: Mapping[str, Path], site: Path, own: Mapping[str, bytes], cache: Path, all_of_it: bool = False
) -> str:
    """Write a folder into `site`: the core, the worker, the wheels, pyodide-lock.json and runtime.json.

    Its name, which is returned, changes with what is in it: a host may let browsers keep it for ever, and a page that
    knows the name knows what must be there. `all_of_it` leaves nothing out.
    """
    out = site / "runtime"
    out.mkdir(parents=True)
    core = {name: path for name, path in fetched.items() if name in CORE}
    used = set(USED.read_text("utf-8").split()) if not all_of_it else None

    def bytecode(files: Mapping[str, bytes]) -> dict[str, bytes]:  # instead of the sources, without their docstrings
        rest = {name: data for name, data in files.items() if not name.endswith(".py")}
        return rest | compiled(files, core, cache, bare=True)

    for name, path in fetched.items():
        if name.endswith((".whl", ".zip")):
            write_zip(out / name, bytecode({n: data for n, data in read_zip(path).items() if needed(n, used)}))
        elif name not in SCRIPTS:
            shutil.copyfile(path, out / name)
    (out / "worker.js").write_bytes(worker(*(fetched[name].read_text("utf-8") for name in SCRIPTS)).encode())
    for package in ("jinja2", "markupsafe"):
        write_wheel(out, package, distribution(package).version, bytecode(installed(package)))
    beside = {cached_name(n): data for n, data in compiled(own, core, cache).items()}
    write_wheel(out, "microgpt", __version__, {**own, **beside})  # with its source, which the pages show
    wheels = sorted(out.glob("*.whl"))
    (out / "pyodide-lock.json").write_bytes(lock(wheels))
    files = {
        path.name: {"size": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in sorted(out.iterdir())
    }
    manifest = json.dumps({"packages": list(PACKAGES), "files": files}, indent=1, sort_keys=True).encode()
    (out / "runtime.json").write_bytes(manifest)
    return out.rename(site / folder_name(manifest)).name


def folder_name(manifest: bytes) -> str:
    """The folder of a runtime with that runtime.json; boot.js compares the hash in it with what it is sent."""
    return f"runtime-{hashlib.sha256(manifest).hexdigest()[:32]}"


def worker(main: str, core: str) -> str:
    """Our worker with pyodide.mjs and pyodide.asm.js in it: all code that runs is checked, and none is imported.

    A page without an origin can import nothing in WebKit.
    """
    main, exports = re.subn(r"export\{(\w+) as loadPyodide\b[^}]*\};?", r"self.loadPyodide=\1;", main)
    if exports != 1:
        raise ValueError("pyodide.mjs exports no loadPyodide")
    return f"{read('worker.js')}\n{core}\n(() => {{ {main}\n}})();\n"


def needed(name: str, used: Collection[str] | None) -> bool:
    """Whether a file of an archive goes into the pack; licences always do."""
    return used is None or ".dist-info/" in name or (name.endswith((".py", ".so")) and name.split(".")[0] in used)


def cached_name(pyc: str) -> str:
    """a/b.pyc -> a/__pycache__/b.cpython-3xx.pyc: where Python looks when the source is there too."""
    path = PurePosixPath(pyc)
    return str(path.parent / "__pycache__" / f"{path.stem}.cpython-{TAG}.pyc")


def read_zip(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def installed(package: str) -> dict[str, bytes]:
    """The pure-Python files of a package of this environment, its licence among them."""
    found = distribution(package)
    paths = [f for f in found.files or [] if f.suffix in (".py", ".typed") or "licenses/" in str(f)]
    return {f.as_posix(): Path(str(f.locate())).read_bytes() for f in paths if not f.as_posix().startswith("..")}


def write_wheel(out: Path, name: str, version: str, files: Mapping[str, bytes]) -> None:
    """A pure-Python wheel, as small as Pyodide takes it."""
    info = f"{name}-{version}.dist-info"
    about = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: microgpt\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "".join(f"{n},,\n" for n in sorted(files)).encode(),
    }
    mine = {n: data for n, data in files.items() if not re.search(r"/(METADATA|WHEEL|RECORD|INSTALLER)$", n)}
    write_zip(out / f"{name}-{version}-py3-none-any.whl", {**mine, **about})


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """A zip whose bytes depend on nothing but the files: order, dates and rights are fixed."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr, entry.compress_type, entry.create_system = 0o644 << 16, zipfile.ZIP_DEFLATED, 3
            archive.writestr(entry, files[name], compresslevel=9)


def lock(wheels: list[Path]) -> bytes:
    """pyodide-lock.json for these wheels, hashes included, in the schema of pyodide-lock."""
    spec = PyodideLockSpec(info=INFO, packages={})
    for wheel in wheels:
        name, version = wheel.name.split("-")[:2]
        package = PackageSpec(
            name=name, version=version, file_name=wheel.name, install_dir="site", package_type="package",
            imports=[name], depends=DEPENDS.get(name, []),
        )  # fmt: skip
        update_package_sha256(package, wheel)
        spec.packages[name] = package
    data = json.loads(spec.json())
    data["info"]["abi_version"] = ABI  # newer than pyodide-lock's schema; Pyodide insists on it
    return json.dumps(data, indent=1, sort_keys=True).encode()
