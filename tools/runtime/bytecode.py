"""Compile Python to bytecode for the browser, so that no reader's machine has to do it at every start.

The bytecode must come from the Python that will run it, so Pyodide itself compiles, at build time, under
the Node that Playwright's package carries. Results are kept in the cache folder by the hash of their
input, and checked when they are taken from there. Knows archives as {path: bytes}; does not know what they are for.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from microgpt.errors import N_, UserError
from tools.output.manifest import MANIFEST, as_text, digests, written
from tools.output.scratch import scratch
from tools.runtime.pinned import ABI, PLATFORM, PYTHON
from tools.runtime.process import finished

SECONDS = 900  # after which a compilation is given up; it takes some ten

# Runs in Node: start Pyodide from its folder, give it the work folder, run the Python below.
NODE = """
const [core, work] = JSON.parse(process.argv[1]);
const { loadPyodide } = await import(pathToFileURL(core + "/pyodide.mjs"));
const pyodide = await loadPyodide({ indexURL: core + "/" });
pyodide.mountNodeFS("/work", work);
pyodide.runPython(require("fs").readFileSync(work + "/compile.py", "utf8"));
"""

# Runs in Pyodide: every .py below /work/in becomes a .pyc in /work/out that is never checked against its source. What
# nobody in a browser asks for is left out: docstrings, NumPy's calls that add some to what is compiled, annotations of
# functions, and the tables that say which line of the source an instruction comes from. Docstrings are empty, not gone:
# NumPy adds to some; and a decorator may read annotations.
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
                node.body[0].value = ast.copy_location(ast.Constant(""), node.body[0].value)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.decorator_list:
            all = node.args
            node.returns = None
            for one in [*all.posonlyargs, *all.args, *all.kwonlyargs, all.vararg, all.kwarg]:
                if one:
                    one.annotation = None
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
    code = compile(bare(ast.parse(path.read_bytes())), str(name), "exec", dont_inherit=True)
    pathlib.Path(f"/work/out/{name}c").write_bytes(NEVER_CHECKED + marshal.dumps(without_lines(code)))
"""
HEADER = 16  # bytes of a .pyc before its code


def compiled(files: Mapping[str, bytes], core: Mapping[str, Path], cache: Path) -> dict[str, bytes]:
    """Every x.py of `files` as x.pyc: {path + "c": bytecode}. `core` are Pyodide's files by name.

    Raises UserError when Node or Pyodide does not do its part.
    """
    sources = {name: data for name, data in files.items() if name.endswith(".py")}
    kept = cache / "bytecode" / key(sources, core)
    found = complete(kept, sources)
    if found is None:
        with scratch(kept.parent) as folder:
            run(sources, core, folder)
            (folder / "out" / MANIFEST).write_text(
                as_text({name: [sha] for name, sha in digests(folder / "out").items()})
            )
            found = complete(folder / "out", sources)
            if found is None:
                raise UserError(
                    N_("Compiling for the browser failed: %(why)s"), why="a file is missing; is the disk full?"
                )
            with suppress(OSError):  # not there; or another build has been quicker
                kept.rename(folder / "damaged")
            with suppress(OSError):
                (folder / "out").rename(kept)
    return found


def complete(folder: Path, sources: Iterable[str]) -> dict[str, bytes] | None:
    """The bytecode of `sources` out of `folder`, if all of it is there and as it was compiled."""
    try:
        listed = written(folder)
        found = {name + "c": (folder / (name + "c")).read_bytes() for name in sources}
    except (OSError, UserError):
        return None
    same = all(listed.get(name) == {hashlib.sha256(data).hexdigest()} for name, data in found.items())
    return found if same else None


def key(sources: Mapping[str, bytes], core: Mapping[str, Path]) -> str:
    """What the bytecode depends on: the sources, the Pyodide that compiles, and how it is told to."""
    digest = hashlib.sha256(f"{MANIFEST}{COMPILE}".encode() + core["pyodide.asm.wasm"].read_bytes())
    for name in sorted(sources):
        digest.update(f"{name}\0{len(sources[name])}\0".encode() + sources[name])
    return digest.hexdigest()


def run(sources: Mapping[str, bytes], core: Mapping[str, Path], folder: Path) -> None:
    """Fill folder/out with the bytecode of `sources`."""
    (folder / "core").mkdir()
    for name, path in core.items():
        shutil.copyfile(path, folder / "core" / name)
    (folder / "core" / "pyodide-lock.json").write_text(json.dumps(LOCK))
    for name, data in sources.items():
        for tree in ("in", "out"):
            (folder / tree / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_bytes(data)
    (folder / "compile.py").write_text(COMPILE)
    argument = json.dumps([str((folder / "core").resolve()), str(folder.resolve())])
    command = [node(), "--input-type=module", "--eval", IMPORTS + NODE, argument]
    try:
        done = finished(command, SECONDS)
    except subprocess.TimeoutExpired:
        raise UserError(N_("Compiling for the browser failed: %(why)s"), why=f"no end in {SECONDS} seconds") from None
    if done.returncode:
        why = next((line for line in reversed(done.stderr.splitlines()) if "Error" in line), done.stderr)[:300]
        raise UserError(N_("Compiling for the browser failed: %(why)s"), why=why)


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
        raise UserError(
            N_("Playwright is missing; its package carries the Node that compiles. Run: make build")
        ) from None
    return str(compute_driver_executable()[0])
