"""Whose work what is built carries, and under which licences: a list made from the files that are there, and all texts.

A site and a lesson get both as one text that a person can read. The texts lie in tools/licences/, and in the packages
of this environment that go along. What of others lies in the repository itself, and so in the package, NOTICES says.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import distribution, version
from pathlib import Path
from typing import NamedTuple

from tools.editor.script import EDITOR, packages
from tools.output.sources import ROOT
from tools.runtime.pins import MINOR, NUMPY, PYODIDE

LICENCE_FOLDER = ROOT / "tools" / "licences"
PYTHON = ("first.wasm", "more.wasm")  # the two archives: see tools/runtime/packing.py
CORE = ("pyodide.asm.wasm", "worker.js")
RUNTIME = tuple(f"runtime-*/{name}" for name in (*CORE, "numpy.wasm", *PYTHON))  # of a page that carries it, too
NOTICE_HEAD = """\
What lies beside this text, or in this page, carries software of others. What the pages do not use of it is left out,
and Python's sources are replaced by their bytecode without docstrings; nothing else is changed. The originals lie
where “source” says. All texts of licences follow below.
"""


class LicenceWork(NamedTuple):
    """Somebody's, by the names of the files that it is in; a name that ends in / is that of a folder."""

    name: str
    files: tuple[str, ...]
    licence: str
    source: str
    texts: tuple[str, ...]  # names in tools/licences/, or of packages

    def among(self, names: Iterable[str]) -> list[str]:
        """Those of the names that hold it."""
        return sorted(name for name in names if name.startswith(self.files) or Path(name).name in self.files)


WORKS = (
    LicenceWork(f"Pyodide {PYODIDE}", CORE, "Mozilla Public License 2.0", "https://github.com/pyodide/pyodide",
         ("MPL-2.0.txt",)),
    LicenceWork(f"CPython {MINOR}", ("pyodide.asm.wasm", *PYTHON), "Python Software Foundation License 2",
         "https://github.com/python/cpython", (f"CPython-{MINOR}.txt",)),
    LicenceWork("Emscripten, musl, zlib, bzip2, libffi, Expat, libmpdec, HACL*", CORE, "MIT, zlib, BSD",
         "https://github.com/emscripten-core/emscripten and those of the others", ("compiled-in.txt",)),
    LicenceWork(f"NumPy {NUMPY}", ("numpy.wasm", *PYTHON), "BSD 3-Clause, and those of what it carries",
         "https://github.com/numpy/numpy", ("NumPy.txt",)),
    LicenceWork(f"Jinja2 {version('jinja2')}", PYTHON, "BSD 3-Clause", "https://github.com/pallets/jinja", ("jinja2",)),
    LicenceWork(f"MarkupSafe {version('markupsafe')}", PYTHON, "BSD 3-Clause", "https://github.com/pallets/markupsafe",
         ("markupsafe",)),
    LicenceWork("SmolLM2-135M-Instruct, numbers that it computed", ("traces/",), "Apache License 2.0",
         "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct", ("Apache-2.0.txt",)),
    LicenceWork(f"CodeMirror, in {len(packages())} packages", (EDITOR,), "MIT",
         "https://codemirror.net; of npm " + ", ".join(f"{name} {number}" for name, number in packages().items()),
         ("CodeMirror.txt",)),
)  # fmt: skip


def notices(names: Iterable[str] = RUNTIME) -> str:
    """Whose work is in files of these names, and all licences, ours first. Without names: what a page carries."""
    names = [*names]
    held = [(work, found) for work in WORKS if (found := work.among(names))]
    listed = [
        f"  {work.name}\n      in {', '.join(found)}\n      {work.licence}; source: {work.source}\n"
        for work, found in held
    ]
    texts = {title: text for work, _ in held for name in work.texts for title, text in texts_of(name)}
    parts = [
        "\n".join([NOTICE_HEAD, *listed]) if held else "",
        *((ROOT / name).read_text("utf-8") for name in ("NOTICES", "LICENSE")),
    ]
    parts += [f"{title}\n\n{text}" for title, text in texts.items()]
    return "\n\n----\n\n".join(part.strip() for part in parts if part) + "\n"


def texts_of(name: str) -> list[tuple[str, str]]:
    """Titles and texts: one of ours, or those of a package."""
    if name.endswith(".txt"):
        return [(name.removesuffix(".txt"), (LICENCE_FOLDER / name).read_text("utf-8"))]
    found = sorted((f for f in distribution(name).files or [] if "licenses/" in str(f)), key=str)
    return [(f"{name}, {f.name}", Path(str(f.locate())).read_text("utf-8")) for f in found]
