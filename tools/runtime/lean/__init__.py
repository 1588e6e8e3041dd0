"""What Pyodide, the standard library and Jinja2 load at their start, though no first step uses it: made to come later.

Three means, each as small as it can be. LATE: a stand-in for the module, until something of it is used (finder.py).
INSTEAD: a file of ours in place of one of Pyodide's. LINES: a line of a file left out or changed. The names of the
files are those of the archives; a file that is no longer as it was raises ValueError, for then somebody must look.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# Module -> what other modules take of it when they are loaded, and only call, or compare kinds with. The real one is
# loaded when they do, or when anything else of it is wanted; a first step loads none of them.
LATE: dict[str, tuple[str, ...]] = {
    "asyncio": (),
    "jinja2.bccache": ("BytecodeCache", "FileSystemBytecodeCache", "MemcachedBytecodeCache"),
    "jinja2.compiler": ("CodeGenerator", "generate"),
    "jinja2.lexer": ("Lexer", "TokenStream", "get_lexer"),
    "jinja2.parser": ("Parser",),
    "linecache": (),
    "microgpt.viz.figures": (),
    "numpy.linalg._umath_linalg": (),
    "textwrap": (),
    "traceback": ("print_exception",),
}
HERE = Path(__file__).parent
INSTEAD = {
    "_pyodide/_base.py": "base.py",
    "_pyodide/docstring.py": "docstring.py",
    "pyodide/_package_loader.py": "package_loader.py",
    "pyodide/code.py": "base.py",
}
# The event loop comes with asyncio (finder.py). No importer needs the resources of packages. A memory of Python must
# hold the objects of JavaScript that Pyodide expects in it, in its order: scheduleCallback, then loadedPackages.
LINES: dict[str, dict[str, str]] = {
    "importlib/abc.py": {"from .resources import abc as _resources_abc\n": "_resources_abc = None\n"},
    "pyodide/__init__.py": {
        "from .webloop import _initialize_event_loop\n": "from pyodide_js._api import scheduleCallback\n",
        "_initialize_event_loop()\n": "",
        "del _initialize_event_loop\n": "",
    },
}


def lean(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same files, with those of INSTEAD and LINES."""
    changed = {name: (HERE / ours).read_bytes() for name, ours in INSTEAD.items()}
    for name, lines in LINES.items():
        text = files[name].decode("utf-8")
        for old, new in lines.items():
            before, found, after = text.partition(f"\n{old}")
            if not found:
                raise ValueError(f"{name} has no line {old.strip()!r}")
            text = f"{before}\n{new}{after}"
        changed[name] = text.encode("utf-8")
    return {**files, **changed}
