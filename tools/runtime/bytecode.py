"""Compile Python to bytecode for the browser, so that no reader's machine has to do it at every start.

The bytecode must come from the Python that will run it, so Pyodide itself compiles, at build time, under
the Node that Playwright's package carries. Results are kept in the cache folder, each by the hash of its
source, and checked when they are taken from there. Knows archives as {path: bytes}; does not know what they are for.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from microgpt.errors import UserError
from tools.runtime.pins import ABI, PLATFORM, PYTHON
from tools.runtime.process import finish, start

COMPILE_SECONDS = 900  # after which a compilation is given up; it takes some ten

# Runs in Node: start Pyodide from its folder, wait for the name of a work folder, run the Python below on it.
NODE = """
const [core, lockFileContents] = JSON.parse(process.argv[1]);
const { loadPyodide } = await import(pathToFileURL(core + "/pyodide.mjs"));
const pyodide = await loadPyodide({ indexURL: core + "/", lockFileContents });
let work = "";
for await (const part of process.stdin) work += part;
if (!work) process.exit(1);
pyodide.mountNodeFS("/work", work);
pyodide.runPython(require("fs").readFileSync(work + "/compile.py", "utf8"));
"""

# Runs in Pyodide: every .py below /work/in becomes a .pyc in /work/out that is never checked against its source. What
# nobody in a browser asks for is left out: docstrings, NumPy's calls that add some to what is compiled, annotations of
# functions, and the tables that say which line of the source an instruction comes from. Docstrings are blank, not gone:
# NumPy adds to some, and a dataclass that has none works out its signature to have one; and a decorator may read
# annotations. NumPy's ten modules of types, of which it takes one name for annotations, are never asked for.
COMPILE = """
import ast, marshal, pathlib
from importlib.util import MAGIC_NUMBER
from types import CodeType
NEVER_CHECKED = MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)
def bare(tree):
    tree.body = [one for one in tree.body if not documents(one)]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False):
                node.body[0].value = ast.copy_location(ast.Constant(" "), node.body[0].value)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.decorator_list:
            all = node.args
            node.returns = None
            for one in [*all.posonlyargs, *all.args, *all.kwonlyargs, all.vararg, all.kwarg]:
                if one:
                    one.annotation = None
        if isinstance(node, ast.ImportFrom) and node.module == "numpy._typing":
            node.module = "builtins"
            node.names = [ast.copy_location(ast.alias("list", one.asname or one.name), one) for one in node.names]
    return tree
def documents(one):
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and ast.unparse(one.value.func) == "add_newdoc"
def without_lines(code):
    rows, rest = divmod(len(code.co_code) // 2, 8)  # an entry says of up to eight instructions that they have no line
    table = bytes([0b11111111] * rows + [0b11111000 + rest - 1] * (rest > 0))
    kept = [without_lines(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    return code.replace(co_consts=tuple(kept), co_linetable=table)
for path in sorted(pathlib.Path("/work/in").rglob("*.py")):
    name = path.relative_to("/work/in")
    try:
        code = compile(bare(ast.parse(path.read_bytes())), str(name), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        pathlib.Path("/work/wrong").write_text(f"{name}{line}: {getattr(error, 'msg', error)}")
        raise
    pathlib.Path(f"/work/out/{name}c").write_bytes(NEVER_CHECKED + marshal.dumps(without_lines(code)))
"""
HEADER = 16  # bytes of a .pyc before its code
DIGEST = 32  # bytes of what is kept before it: its sha256
WASM = "pyodide.asm.wasm"  # the file of the core that is Python itself


WAITING: list[subprocess.Popen[str]] = []  # compilers that have been started beforehand


def compile_files(files: Mapping[str, bytes], core: Mapping[str, Path], cache: Path) -> dict[str, bytes]:
    """Every x.py of `files` as x.pyc: {path + "c": bytecode}. `core` are Pyodide's files by name.

    Raises UserError when Node or Pyodide does not do its part.
    """
    sources = {name: data for name, data in files.items() if name.endswith(".py")}
    kept = cache / "bytecode" / compiler(core)
    places = {name: kept / f"{key(name, data)}.pyc" for name, data in sources.items()}
    found = {name: code for name, place in places.items() if (code := read_kept(place))}
    if new := {name: data for name, data in sources.items() if name not in found}:
        kept.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept) as work:
            folder = Path(work)
            compile_in_node(new, core, folder)
            for name in new:
                fresh = folder / "out" / f"{name}c"
                if not fresh.is_file():
                    raise UserError(
                        "Compiling for the browser failed: %(why)s", why="a file is missing; is the disk full?"
                    )
                found[name] = fresh.read_bytes()
                keep(found[name], fresh, places[name])
    return {f"{name}c": found[name] for name in sources}


def keep(data: bytes, beside: Path, place: Path) -> None:
    """Write it, with its hash before it, beside its place, and move it there."""
    beside.write_bytes(hashlib.sha256(data).digest() + data)
    os.replace(beside, place)


def read_kept(place: Path) -> bytes:
    """What is kept there, if it is as it was; else nothing."""
    try:
        data = place.read_bytes()
    except OSError:
        return b""
    code = data[DIGEST:]
    return code if hashlib.sha256(code).digest() == data[:DIGEST] else b""


def compiler(core: Mapping[str, Path]) -> str:
    """What all bytecode depends on: the Pyodide that compiles, and how it is told to."""
    return hashlib.sha256(f"{DIGEST}{COMPILE}".encode() + core[WASM].read_bytes()).hexdigest()


def key(name: str, source: bytes) -> str:
    return hashlib.sha256(f"{name}\0".encode() + source).hexdigest()


def compile_in_node(sources: Mapping[str, bytes], core: Mapping[str, Path], folder: Path) -> None:
    """Fill folder/out with the bytecode of `sources`."""
    for name, data in sources.items():
        for tree in ("in", "out"):
            (folder / tree / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_bytes(data)
    (folder / "compile.py").write_text(COMPILE)
    if not WAITING:
        get_ready(core)
    try:
        done = finish(WAITING.pop(), COMPILE_SECONDS, str(folder.resolve()))
    except subprocess.TimeoutExpired:
        raise UserError(
            "Compiling for the browser failed: %(why)s", why=f"no end in {COMPILE_SECONDS} seconds"
        ) from None
    if (wrong := folder / "wrong").is_file():
        raise UserError("Compiling for the browser failed: %(why)s", why=wrong.read_text("utf-8"))
    if done.returncode:
        why = next((line for line in reversed(done.stderr.splitlines()) if "Error" in line), done.stderr)[:300]
        raise UserError("Compiling for the browser failed: %(why)s", why=why)


def get_ready(core: Mapping[str, Path]) -> None:
    """Start a compiler, which waits until `compile_in_node` has work for it."""
    argument = json.dumps([str(core[WASM].parent.resolve()), json.dumps(LOCK)])
    WAITING.append(start([node(), "--input-type=module", "--eval", IMPORTS + NODE, argument]))


IMPORTS = """
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const require = createRequire(import.meta.url);
"""
LOCK = {  # an empty one: nothing is loaded beyond the core
    "info": {"abi_version": ABI, "arch": "wasm32", "platform": PLATFORM, "python": PYTHON, "version": ""},
    "packages": {},
}


def node() -> str:
    """The Node binary inside Playwright's package."""
    try:
        from playwright._impl._driver import compute_driver_executable
    except ImportError:
        raise UserError("Playwright is missing; its package carries the Node that compiles. Run: make build") from None
    return str(compute_driver_executable()[0])
