"""The style that all pages share, the rules that one page alone needs, and the colours of the heat scale.

Reads what else pages load; writes no file.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.drawing.picture import MOST_TOKENS
from microgpt.viz.lesson import find_added
from microgpt.viz.page import Page
from microgpt.viz.rendering.assets import STYLE
from microgpt.viz.rendering.render import render, where
from microgpt.viz.text.place import ROOT

LARGE_FOLDER = "large"  # the folder of templates/ with what only a large model needs
MOST_OPEN = 12  # heads that a page of a large model opens: its size and its pace depend on them
CASES = 32  # the most cases that one choice on a page may have


@cache
def style() -> str:
    """All of site/css in the order of its file names, then the rules for all pages that only differ by a number."""
    paths = sorted((ROOT / "site" / "css").glob("[0-9]-*.css"))
    text = "".join(path.read_text("utf-8") for path in paths if path.is_file() and not path.is_symlink())
    return minify(text + render("states.css", cases=CASES, levels=LEVELS, steps=MOST_TOKENS))


@cache
def own_style(page: Page, big: bool = False) -> str:
    """The rules that pages like this one alone need: style.css beside its templates, lens.css, where its numbers can be
    asked, and states.css, which writes rules that only differ by a number.

    What a large model needs, where the page draws one, comes along with `big`.
    """
    if lesson := find_added(page.widget):
        return lesson.style
    folders = dict.fromkeys([page.folder, *page.styles, *[LARGE_FOLDER] * big])
    found, drawn_large = [], LARGE_FOLDER in folders
    for folder in folders:
        *written, states = (where(f"{folder}/{name}") for name in ("style.css", "lens.css", "states.css"))
        found += [one.read_text("utf-8") for one in written if one.is_file()]
        if states.is_file():
            found.append(render(f"{folder}/states.css", **numbers_of(folder, drawn_large, page.drawn)))
    return minify("".join(found))


def numbers_of(folder: str, big: bool, drawn: tuple[int, ...] = ()) -> dict[str, Any]:
    """How many there are at most of what the rules of that states.css are written for, more for a `big` model:
    states.py beside it says so. Of a page that is as it was built there may be as many as are `drawn`. Where there is
    none, the rules are those of what can be asked where it comes from, as the lesson says."""
    package = f"microgpt.{folder.replace('/', '.')}"
    if not find_spec(f"{package}.states"):
        return {"asked": import_module(f"{package}.lesson").can_be_asked()}
    module = import_module(f"{package}.states")
    found: dict[str, Any] = module.states(big)
    return found | module.states_of_page(*drawn) if drawn else found


def minify(text: str) -> str:
    """Style without what it says to those who write it, and without the spaces that it is read by: every page carries
    it. A rule stays a line; no string of ours has any of these marks in it."""
    text = re.sub(r"/\*.*?\*/\n?", "", text, flags=re.DOTALL)
    text = re.sub(r"\s*\{\s*", "{", re.sub(r": (?=[^\s;}])", ":", re.sub(r";\s+", ";", text)))
    return re.sub(r"(?<=\n) +", "", re.sub(r";?[ \n]*\}(?: +(?=\S))?", "}", text))


def read_site(name: str) -> str:
    """A file of the site by its name, for a page that carries it."""
    if name == STYLE:
        return style()
    return (ROOT / "site" / name).read_text("utf-8")


@cache
def heat_colours() -> dict[str, tuple[str, str]]:
    """Heat class -> its background and its ink in the light theme, read from the style: for places without one."""
    text = (ROOT / "site" / "css" / "5-heat.css").read_text("utf-8")
    rules = re.findall(r"^\.([znp]\d*) \{ background: light-dark\((#\w+), .*?; color: light-dark\((#\w+),", text, re.M)
    return {name: (background, ink) for name, background, ink in rules}
