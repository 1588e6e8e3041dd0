"""The style that all pages share, the rules that one page alone needs, and the colours of the heat scale.

Reads what else pages load; writes no file.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from microgpt.experiments.journey import MOST_SWAPS
from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.drawing.phases import PHASES, RUN
from microgpt.viz.drawing.picture import MOST_TOKENS
from microgpt.viz.lesson import added
from microgpt.viz.page import Page
from microgpt.viz.rendering.assets import STYLE
from microgpt.viz.rendering.render import render, where
from microgpt.viz.text.place import ROOT
from microgpt.weights import SHIPPED, shipped

LARGE = "large"  # the folder of templates/ with what only a large model needs
MOST_OPEN = 12  # heads that a page of a large model opens: its size and its pace depend on them
PAUSE = 1.0  # beats after the last stage of a step that plays
# The pieces of the machine by their class, and the stages from and to which they change; before and after these a piece
# looks the same, so that nothing is to be done for it. In a step of many tokens this is what makes it play smoothly.
SPANS = {
    "enter": (0, 1), "vector": (0, 1), "dial": (0, 1), "c-k": (0, 2), "c-v": (0, 2), "c-pos": (1, 2), "c-q": (2, 3),
    "ask-q": (0, 6), "meets": (2, 5), "mix": (4, 5), "door": (5, 6), "lift": (6, 7), "guesses": (6, 7), "fly": (6, 7),
    **{f"P{p}": (p - 1, min(p + 1, len(PHASES))) for p in range(1, len(PHASES) + 1)},
}  # fmt: skip
CASES = 32  # the most cases that one choice on a page may have


@cache
def style() -> str:
    """All of site/css in the order of its file names, then the rules for all pages that only differ by a number."""
    paths = sorted((ROOT / "site" / "css").glob("[0-9]-*.css"))
    text = "".join(path.read_text("utf-8") for path in paths if path.is_file() and not path.is_symlink())
    return bare(text + render("states.css", cases=CASES, levels=LEVELS, steps=MOST_TOKENS))


@cache
def own_style(page: Page, big: bool = False) -> str:
    """The rules that pages like this one alone need: style.css beside its templates, and states.css, which writes rules
    that only differ by a number.

    What a large model needs, where the page draws one, comes along with `big`.
    """
    if lesson := added(page.widget):
        return lesson.style
    folders = dict.fromkeys([page.folder, *page.styles, *[LARGE] * big])
    found, numbers = [], counts(big=LARGE in folders)
    for folder in folders:
        written, states = (where(f"{folder}/{name}") for name in ("style.css", "states.css"))
        if written.is_file():
            found.append(written.read_text("utf-8"))
        if states.is_file():
            found.append(render(f"{folder}/states.css", **numbers))
    return bare("".join(found))


@cache
def counts(big: bool) -> dict[str, Any]:
    """How many there are at most of what rules are written for: more steps, and chosen heads, for a `big` model."""
    configs = [shipped(name).config for name in SHIPPED]
    tokens = max(config.n_ctx for config in configs)
    return {
        "steps": MOST_TOKENS if big else tokens,
        "layers": max(config.n_layer for config in configs),
        "heads": max(config.n_head for config in configs),
        "phases": len(PHASES),
        "spans": spans(),
        "over": [round(100 * end, 2) for end in pace()],
        "levels": LEVELS,
        "runs": RUN,
        "tokens": tokens,
        "swaps": MOST_SWAPS,
        "opened": MOST_OPEN if big else 0,
    }


def bare(text: str) -> str:
    """Style without what it says to those who write it."""
    return re.sub(r"/\*.*?\*/\n?", "", text, flags=re.DOTALL)


class Span(NamedTuple):
    """Stages in which some pieces of the machine move, with `start` and `share` of the time that a step takes."""

    pieces: tuple[str, ...]  # classes
    first: int  # the stage that is over when they start; 0 is none
    last: int
    start: float
    share: float
    between: list[tuple[float, int]]  # percent of the span's own time -> the stage that is over then


def pace() -> list[float]:
    """When each stage of a step that plays is over, from 0 before the first, as a share of the time of the step."""
    ends = list(accumulate((phase.beats for phase in PHASES), initial=0.0))
    return [end / (ends[-1] + PAUSE) for end in ends]


def spans() -> list[Span]:
    """The pieces that move in the same stages, together."""
    found, over = [], pace()
    for first, last in sorted(set(SPANS.values())):
        start, share = over[first], over[last] - over[first]
        between = [(round(100 * (over[k] - start) / share, 2), k) for k in range(first + 1, last)]
        pieces = tuple(piece for piece, span in SPANS.items() if span == (first, last))
        found.append(Span(pieces, first, last, round(start, 4), round(share, 4), between))
    return found


def read(name: str) -> str:
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
