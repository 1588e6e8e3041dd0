"""Our templates as Python, so that no reader's machine has to read Jinja's language at every start.

Jinja turns a template into Python before it runs it; here that is done when the site is built. render.py finds the
result as modules of COMPILED, each by its key.
"""

from __future__ import annotations

from collections.abc import Mapping

from microgpt.viz.rendering import render
from microgpt.viz.rendering.render import COMPILED, key

PLACE = "templates/"
TEMPLATES = (".html", ".svg")


def templates(files: Mapping[str, bytes]) -> dict[str, str]:
    """Our templates among the files: name -> text."""
    found = [path for path in sorted(files) if path.startswith(PLACE) and path.endswith(TEMPLATES)]
    return {path.removeprefix(PLACE): files[path].decode() for path in found}


def as_python(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same files, but each of our templates as a module."""
    texts = templates(files)
    found = {
        name: data for name, data in files.items() if not name.startswith(PLACE) or name[len(PLACE) :] not in texts
    }
    for name, text in texts.items():
        place = f"{COMPILED}/{key(name)}.py"
        if place in found:
            raise ValueError(f"two templates would be called {place}; rename {PLACE}{name}")
        found[place] = render.as_python(name, text).encode()
    return found
