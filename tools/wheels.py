"""Archives for the browser, the same bytes from the same input: fixed order, times and modes.

Knows what of NumPy, Jinja2 and the standard library the site needs; knows no network and no page.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import microgpt

EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can tell

# Of NumPy: what `import numpy` and array arithmetic do not touch. np.random, np.fft, np.ma and so on are
# imported on first use, so without them the rest works and their use is an ImportError.
NUMPY_DROPS = (
    "numpy/_core/include/", "numpy/_core/lib/", "numpy/_pyinstaller/", "numpy/compat/", "numpy/core/", "numpy/doc/",
    "numpy/f2py/", "numpy/fft/", "numpy/ma/", "numpy/polynomial/", "numpy/random/", "numpy/testing/", "numpy/typing/",
    "numpy/linalg/lapack_lite", "numpy/conftest.py", "numpy/_configtool.py", "numpy/ctypeslib.py", "numpy/matlib.py",
)  # fmt: skip

# Of the standard library: what neither Pyodide, NumPy, Jinja2 nor we import.
STDLIB_DROPS = (
    "_android_support.py", "_apple_support.py", "_ios_support.py", "_pyrepl/", "antigravity.py", "bdb.py", "cProfile.py",
    "cmd.py", "compileall.py", "distutils/", "doctest.py", "ensurepip/", "ftplib.py", "idlelib/", "imaplib.py",
    "lib2to3/", "mailbox.py", "modulefinder.py", "nturl2path.py", "pdb.py", "pickletools.py", "plistlib.py", "poplib.py",
    "profile.py", "pstats.py", "pty.py", "pyclbr.py", "pydoc.py", "pydoc_data/", "rlcompleter.py", "sched.py", "smtplib.py",
    "socketserver.py", "tabnanny.py", "test/", "this.py", "timeit.py", "tkinter/", "trace.py", "turtledemo/", "unittest/",
    "venv/", "wave.py", "wsgiref/", "xmlrpc/", "zipapp.py",
)  # fmt: skip


class Wheel(NamedTuple):
    file_name: str
    version: str
    data: bytes


def archive(files: Mapping[str, bytes]) -> bytes:
    """A zip file, stored: the web server's compression does better than zip's, and unpacking is quicker."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = 3  # else it differs on Windows
            info.external_attr = 0o644 << 16
            file.writestr(info, files[name])
    return out.getvalue()


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist() if not name.endswith("/")}


def trimmed_stdlib(path: Path) -> bytes:
    return archive({name: data for name, data in contents(path).items() if not name.startswith(STDLIB_DROPS)})


def trimmed_numpy(path: Path) -> Wheel:
    """NumPy's wheel without what the site does not use. The licence stays; RECORD, which lists every file, goes."""
    kept = {name: data for name, data in contents(path).items() if keep_of_numpy(name)}
    return Wheel(path.name, path.name.split("-")[1], archive(kept))


def keep_of_numpy(name: str) -> bool:
    return not (
        name.startswith(NUMPY_DROPS)
        or "/tests/" in name
        or name.endswith((".pyi", ".pxd", ".h", ".c", ".a", ".typed", "RECORD", "entry_points.txt"))
    )


def installed(name: str) -> Wheel:
    """A wheel of an installed package's Python files and licences. markupsafe does without its C code by itself."""
    found = distribution(name)
    files = {}
    for path in found.files or []:
        path_name = path.as_posix()
        if path_name.startswith(f"{name}/") and path.suffix == ".py" or "/licenses/" in path_name:
            files[path_name] = Path(str(path.locate())).read_bytes()
    info = next(path for path in files if "/licenses/" in path).split("/")[0]
    return pure(name, found.version, files, info)


def own(app_files: Mapping[str, bytes]) -> Wheel:
    """Our own package with its templates and weights."""
    version = microgpt.__version__
    return pure("microgpt", version, app_files, f"microgpt-{version}.dist-info")


def pure(name: str, version: str, files: Mapping[str, bytes], info: str) -> Wheel:
    added = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: microgpt\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    return Wheel(f"{name}-{version}-py3-none-any.whl", version, archive({**files, **added}))
