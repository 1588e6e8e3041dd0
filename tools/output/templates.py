"""Our templates as Python, so that no reader's machine has to read Jinja's language at every start.

Jinja turns a template into Python before it runs it; here that is done when the site is built. render.py finds the
result as modules of COMPILED, each by its key.
"""

from __future__ import annotations

from collections.abc import Mapping

from microgpt.viz.rendering import render
from microgpt.viz.rendering.render import BESIDE_IT, COMPILED, key

TEMPLATE_PATHS = ("templates/", *(f"microgpt/{name}" for name in BESIDE_IT))
TEMPLATES = (".html", ".svg")


def name_of(path: str) -> str:
    """The name of our template in that file, "" where there is none."""
    ours = path.startswith(TEMPLATE_PATHS) and path.endswith(TEMPLATES)
    return path.removeprefix(TEMPLATE_PATHS[0]).removeprefix("microgpt/") if ours else ""


def file_of(name: str) -> str:
    """The file that the template of that name lies in."""
    return f"microgpt/{name}" if name.startswith(BESIDE_IT) else TEMPLATE_PATHS[0] + name


def templates(files: Mapping[str, bytes]) -> dict[str, str]:
    """Our templates among the files: name -> text."""
    return {name: files[path].decode() for path in sorted(files) if (name := name_of(path))}


def as_python(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same files, but each of our templates as a module."""
    found = {path: data for path, data in files.items() if not name_of(path)}
    for name, text in templates(files).items():
        place = f"{COMPILED}/{key(name)}.py"
        if place in found:
            raise ValueError(f"two templates would be called {place}; rename {file_of(name)}")
        found[place] = render.as_python(name, text).encode()
    return found
