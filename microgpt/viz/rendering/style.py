"""The style of all pages as one text, what else they load, and the colours of the heat scale. Writes no file."""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from microgpt.experiments.journey import MOST_SWAPS
from microgpt.viz.course import PAGES
from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.drawing.phases import PHASES, RUN
from microgpt.viz.drawing.picture import MOST_TOKENS
from microgpt.viz.rendering.assets import STYLE, STYLE_BIG
from microgpt.viz.rendering.render import render
from microgpt.viz.text.place import ROOT
from microgpt.weights import SHIPPED, shipped

BIG = "8-big.css"  # of site/css: for pages of a large model alone
MOST_OPEN = 12  # heads that a page of a large model opens: its size and its pace depend on them
PAUSE = 1.0  # beats after the last stage of a step that plays
# The pieces of the machine by their class, and the stages from and to which they change; before and after these a piece
# looks the same, so that nothing is to be done for it. In a step of many tokens this is what makes it play smoothly.
SPANS = {
    "enter": (0, 1), "vector": (0, 1), "dial": (0, 1), "c-k": (0, 2), "c-v": (0, 2), "c-pos": (1, 2), "c-q": (2, 3),
    "ask-q": (0, 6), "score": (2, 4), "meets b": (3, 4), "band": (3, 4), "pour": (4, 5), "mix": (4, 5), "door": (5, 6),
    "lift": (6, 7), "guesses": (6, 7), "fly": (6, 7),
    **{f"P{p}": (p - 1, min(p + 1, len(PHASES))) for p in range(1, len(PHASES) + 1)},
}  # fmt: skip
CASES = 32  # the most cases that one choice on a page may have


@cache
def style(big: bool = False) -> str:
    """All of site/css in the order of its file names, with the styles of lessons and apps before the last of them
    (9-), then the rules that only differ by a number; without what it says to those who write it.

    What only a large model needs goes along with `big`.
    """
    configs = [shipped(name).config for name in SHIPPED]
    states = render(
        "states.css",
        steps=MOST_TOKENS if big else max(c.n_ctx for c in configs),
        layers=max(c.n_layer for c in configs),
        heads=max(c.n_head for c in configs),
        phases=len(PHASES),
        spans=spans(),
        levels=LEVELS,
        runs=RUN,
        cases=CASES,
        tokens=max(c.n_ctx for c in configs),
        swaps=MOST_SWAPS,
        opened=MOST_OPEN if big else 0,
    )
    order = {path: path.name for path in (ROOT / "site" / "css").glob("[0-9]-*.css")}
    for page in PAGES:
        order[ROOT / page.folder / "style.css"] = f"8-{page.widget or page.app}"
    paths = [path for path in sorted(order, key=order.__getitem__) if path.is_file() and not path.is_symlink()]
    text = "".join(path.read_text("utf-8") for path in paths if big or path.name != BIG) + states
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
    if name in (STYLE, STYLE_BIG):
        return style(big=name == STYLE_BIG)
    return (ROOT / "site" / name).read_text("utf-8")


@cache
def heat_colours() -> dict[str, tuple[str, str]]:
    """Heat class -> its background and its ink in the light theme, read from the style: for places without one."""
    text = (ROOT / "site" / "css" / "5-heat.css").read_text("utf-8")
    rules = re.findall(r"^\.([znp]\d*) \{ background: light-dark\((#\w+), .*?; color: light-dark\((#\w+),", text, re.M)
    return {name: (background, ink) for name, background, ink in rules}
