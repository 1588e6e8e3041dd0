"""Our templates as Python, so that no reader's machine has to read Jinja's language at every start.

Jinja turns a template into Python before it runs it; here that is done when the site is built. render.py finds the
result as modules of COMPILED, each by its key.
"""

from __future__ import annotations

from collections.abc import Mapping

from microgpt.viz.rendering.render import COMPILED, environment, key

PLACE = "templates/"
TEMPLATES = (".html", ".svg")


def as_python(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same files, but each of our templates as a module."""
    templates = {name for name in files if name.startswith(PLACE) and name.endswith(TEMPLATES)}
    # What does not change is not computed beforehand: it may differ from language to language.
    env = environment().overlay(optimized=False)
    found = {name: data for name, data in files.items() if name not in templates}
    for path in sorted(templates):
        name = path.removeprefix(PLACE)
        place = f"{COMPILED}/{key(name)}.py"
        if place in found:
            raise ValueError(f"two templates would be called {place}; rename {path}")
        found[place] = env.compile(files[path].decode(), name, name, raw=True, defer_init=True).encode()
    return found
