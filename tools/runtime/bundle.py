"""The browser's Python, fetched and packed: in a folder beside a page, or as bytes for a page that carries it.

A lesson of the course that carries it takes along what it can use, and no more: the modules that are imported for it,
directly or not, the templates that are named there, its models, its language, and those libraries of NumPy that its
modules name.
"""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

import deflate

from microgpt.viz.rendering.assets import MODULE
from microgpt.viz.rendering.render import COMPILED, key
from microgpt.viz.request import Request
from tools.output.sources import LISTINGS, our_files
from tools.output.templates import TEMPLATES, file_of, name_of
from tools.runtime.fetch import default_cache, fetch_runtime
from tools.runtime.packing import pack_runtime

# Libraries, and what names them in our code; the norm of a row needs none.
LIBRARIES = {"numpy/random/": r"np\.random\.", "numpy/linalg/_umath_linalg.": r"np\.linalg\.(?!norm\b)"}
COURSE = "microgpt/course/"
ALL_MODELS = {
    "microgpt/weights.py",
    "microgpt/recipes.py",
    "microgpt/apps/exercises/__init__.py",
}  # name those of other lessons
NOTEBOOK = "microgpt.viz.notebook"  # no page asks for it


def pack_beside(out: Path, more: Mapping[str, bytes], wanted: Callable[[str], bool] = lambda name: True) -> str:
    """Make the runtime folder of a site in `out`, and say its name; `more` goes along with our own Python."""
    cache = default_cache()
    return pack_runtime(fetch_runtime(cache), out, {**our_files(), **more}, cache, wanted=wanted)


def runtime(more: Mapping[str, bytes] | None = None, asked: Request | None = None) -> dict[str, bytes]:
    """What such a folder holds, by name: all of it, or what the lesson can use that is asked for. Nothing stays but
    the cache."""
    wanted = (files_for(asked),) if asked else ()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / pack_beside(Path(folder), more or {}, *wanted)
        return {path.name: path.read_bytes() for path in sorted(made.iterdir())}


def files_for(asked: Request) -> Callable[[str], bool]:
    """Whether a lesson of the course can use a file of the archives, which is told by its path there."""
    ours, widget = our_files(), asked.page.widget
    texts = {path: data.decode() for path, data in ours.items() if path.endswith((".py", *TEMPLATES))}
    pages = {path for path in texts if re.fullmatch(r"microgpt/(course|apps)/\w+/__init__\.py", path)}  # for the map
    own = {path for path in texts if path.startswith(f"{COURSE}{widget}/")}
    found = reachable(texts, own | pages, widget)
    code = "".join(texts[path] for path in found - ALL_MODELS - pages)
    found |= {f"locale/{asked.lang}/LC_MESSAGES/messages.mo"}
    for path in ours:
        model = PurePosixPath(path).stem
        if path.endswith(".npz") and (model in asked.page.models or f'"{model}"' in code):
            found.add(path)
    left_out = {archive_path(path) for path in ours if path in texts or path.endswith((".npz", ".mo"))}
    left_out -= {archive_path(path) for path in found}
    unnamed = tuple(place for place, name in LIBRARIES.items() if not re.search(name, code))
    return lambda name: name not in left_out and not name.startswith(unnamed)


def reachable(texts: Mapping[str, str], own: set[str], widget: str) -> set[str]:
    """The modules and templates that a lesson with these templates of its own can come to."""
    found, waiting = set[str](), [*own, *module(MODULE, texts), *module(f"microgpt.course.{widget}.lesson", texts)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += templates_in(texts[path], texts)
            if path.endswith(".py") and LISTINGS not in path:
                waiting += (file for name in imports(texts[path]) for file in module(name, texts))
    return found


def templates_in(text: str, texts: Mapping[str, str]) -> set[str]:
    """The templates whose names stand in a text in quotes."""
    return {file_of(name) for name in re.findall(r'"([\w/]+\.\w+)"', text)} & {*texts}


def imports(code: str) -> Iterator[str]:
    """What code imports when it runs, wherever in it: modules, and names in them, which may be modules too."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body.clear()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module(name: str, texts: Mapping[str, str]) -> Iterator[str]:
    """The files of a module of ours, and of the packages that it is in."""
    steps = name.split(".") if not name.startswith(NOTEBOOK) else []
    for n in range(1, len(steps) + 1):
        place = "/".join(steps[:n])
        yield from {f"{place}.py", f"{place}/__init__.py"} & {*texts}


@cache
def gzip(data: bytes) -> bytes:
    """gzip by libdeflate, about a twentieth smaller than by zlib, always the same bytes. Two pages carry the same: it
    is done once."""
    return bytes(deflate.gzip_compress(data, 12))


def archive_path(path: str) -> str:
    """Where a file of ours lies in the archives: a template is a module there."""
    return f"{COMPILED}/{key(name)}.py" if (name := name_of(path)) else path
