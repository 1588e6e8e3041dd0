"""Pack the runtime for a site: what the browser loads, as small as it is simple to make it, always the same bytes.

NumPy, the standard library, Jinja2 and our own code are trimmed, compiled to bytecode and put into two archives: FIRST
has what a first step needs, MORE the rest, which comes while the reader looks at that step. finder.py finds modules in
them. Each is an archive and a WebAssembly module at once, with the archive as a section that no engine runs: hosts
compress that type, and no other that bytes may have. NumPy's library is a file of its own, which the browser compiles
beside Pyodide's. worker.js is ours and Pyodide's two scripts in one; runtime.json carries size and hash of every file
for the bridge. Fetches nothing.
"""

from __future__ import annotations

import hashlib
import io
import json
import marshal
import re
import shutil
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath

from microgpt.viz.drawing.phases import of_forward
from microgpt.viz.lesson import TRAVELLED
from microgpt.viz.rendering.style import read_site
from tools.output.sources import LISTINGS
from tools.output.templates import as_python
from tools.runtime import finder
from tools.runtime.bytecode import HEADER, LOCK, compile_files
from tools.runtime.finder import FILES, MODULES
from tools.runtime.pins import CORE, MINOR, TAG

EPOCH = (1980, 1, 1, 0, 0, 0)  # the date of every file in every archive
SCRIPTS = ("pyodide.mjs", "pyodide.asm.js")  # of the core: they become part of the worker
WASM = "pyodide.asm.wasm"
FIRST, MORE = "first.wasm", "more.wasm"  # the two archives
NUMPY = "numpy.wasm"  # its library, which the browser compiles while the archives still arrive
# What Python imports before it finds modules in them.
START_FILES = ("__future__", "encodings/__init__", "encodings/aliases", "encodings/utf_8", "sitecustomize")
SAID = "microgpt/viz/drawing/forward.json"  # phases.KEPT: what the pages show of model.py, whose source stays here
LATE = ["numpy.linalg._umath_linalg"]  # which NumPy imports at its start, and a first step does not use: see finder.py
LIBRARY = f"numpy/_core/_multiarray_umath.cpython-{TAG}-wasm32-emscripten.so"
PLACE = f"/lib/python{MINOR}/site-packages"  # in the browser

# What of NumPy and of the standard library the pages load, and what of that, and of the rest, a first step loads;
# `python -m tools.runtime.usage` finds both, tests run on them.
USED, USED_FIRST = (Path(__file__).with_name(name) for name in ("used.txt", "first.txt"))


def pack_runtime(
    fetched: Mapping[str, Path],
    site: Path,
    own: Mapping[str, bytes],
    cache: Path,
    all_of_it: bool = False,
    wanted: Callable[[str], bool] = lambda name: True,
) -> str:
    """Write a folder into `site`: Pyodide's core, NumPy's library, the worker, the two archives and runtime.json.

    Its name, which is returned, changes with what is in it: a host may let browsers keep it for ever, and a page that
    knows the name knows what must be there. `all_of_it` leaves nothing out; of MORE, what is not `wanted` is left out.
    """
    out = site / "runtime"
    out.mkdir(parents=True)
    files = all_files(fetched, own, all_of_it)
    sources = {name: data for name, data in files.items() if LISTINGS not in name}
    sources["sitecustomize.py"] = Path(finder.__file__).read_bytes()
    code = compile_files(sources, {name: path for name, path in fetched.items() if name in CORE}, cache)
    (out / NUMPY).write_bytes(files[LIBRARY])
    files[LIBRARY] = b""  # Python looks whether it is there, and finds it loaded
    first = set(USED_FIRST.read_text("utf-8").split())
    in_first = {name for name in files if all_of_it or stem(name) in first or name.startswith(f"{TRAVELLED}/")}
    start = {f"{name}.pyc": code[f"{name}.pyc"] for name in START_FILES}
    (out / FIRST).write_bytes(as_wasm(archive_of(index_part(in_first, files, code, LATE) | start)))
    in_more = {*filter(wanted, files)} - in_first
    (out / MORE).write_bytes(as_wasm(archive_of(index_part(in_more, files, code, []))))
    (out / "worker.js").write_bytes(worker(*(fetched[name].read_text("utf-8") for name in SCRIPTS)).encode())
    shutil.copyfile(fetched[WASM], out / WASM)
    told = {}
    for name in (WASM, "worker.js", NUMPY, FIRST, MORE):  # as they are needed
        data = (out / name).read_bytes()
        told[name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        if name == MORE:
            told[name]["later"] = True
    manifest = json.dumps({"files": told}, indent=1).encode()
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
    told = f"const LOCK = {json.dumps(json.dumps(LOCK))}, LIBRARY = {json.dumps(f'{PLACE}/{LIBRARY}')};"
    return f"{told}\n{read_site('worker.js')}\n{core}\n(() => {{ {main}\n}})();\n"


def all_files(fetched: Mapping[str, Path], own: Mapping[str, bytes], all_of_it: bool) -> dict[str, bytes]:
    """All files of the archives by their paths, sources where they have some."""
    used = set(USED.read_text("utf-8").split()) if not all_of_it else None
    archives = [read_zip(path) for path in fetched.values() if path.suffix in (".whl", ".zip")]
    found = {name: data for one in archives for name, data in one.items() if is_needed(name, used)}
    for package in ("jinja2", "markupsafe"):
        found |= package_files(package)
    return found | as_python(own) | {SAID: json.dumps(of_forward()).encode("utf-8")}


def is_needed(name: str, used: Collection[str] | None) -> bool:
    """Whether a file of an archive goes into the pack; licences are to be read beside it: tools/output/licences.py."""
    if ".dist-info/" in name:  # Pyodide would take it for a package of its own
        return False
    return used is None or (name.endswith((".py", ".so")) and stem(name) in used)


def stem(name: str) -> str:
    """A file as the two lists name it: a module by its path, without the suffix."""
    return name.split(".")[0] if name.endswith((".py", ".so")) else name


def index_part(
    names: Iterable[str], files: Mapping[str, bytes], code: Mapping[str, bytes], late: Sequence[str]
) -> dict[str, bytes]:
    """The entries that finder.py reads; the same for the same files."""
    modules: dict[str, tuple[bool, bytes]] = {}
    kept: dict[str, bytes] = {}
    for name in sorted(names):
        if f"{name}c" not in code:
            kept[name] = files[name]
        else:
            path = PurePosixPath(stem(name))
            steps = path.parts[:-1] if path.name == "__init__" else path.parts
            for n in range(1, len(steps)):
                if f"{'/'.join(steps[:n])}/__init__.py" not in files:  # a package that has no code of its own
                    modules[".".join(steps[:n])] = (True, b"")
            modules[".".join(steps)] = (path.name == "__init__", code[f"{name}c"][HEADER:])
    # format 2: nothing in it is shared
    return {MODULES: marshal.dumps({"modules": modules, "late": late}, 2), FILES: marshal.dumps(kept, 2)}


def as_wasm(archive: bytes) -> bytes:
    """A WebAssembly module that has the archive as a section of its own; an archive may begin with other bytes."""
    name = b"archive"
    size = 1 + len(name) + len(archive)
    length = bytes([*(size >> 7 * i & 127 | 128 for i in range(4)), size >> 28])
    return b"\0asm\1\0\0\0" + b"\0" + length + bytes([len(name)]) + name + archive


def read_zip(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def package_files(package: str) -> dict[str, bytes]:
    """The pure-Python files of a package of this environment."""
    found = distribution(package)
    paths = [f for f in found.files or [] if f.suffix == ".py"]
    return {f.as_posix(): Path(str(f.locate())).read_bytes() for f in paths if not f.as_posix().startswith("..")}


def archive_of(files: Mapping[str, bytes]) -> bytes:
    """An archive whose bytes depend on nothing but the files: order, dates and rights are fixed. Not compressed, for
    what is sent is compressed as a whole."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr, entry.create_system = 0o644 << 16, 3
            archive.writestr(entry, files[name])
    return whole.getvalue()
