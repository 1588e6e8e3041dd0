"""The machine of the front page: a name written letter by letter, and what the same letters take without a cache.

Everything is looked up in the trace of one run. Knows no HTML.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

from microgpt.apps.index import PAGE
from microgpt.errors import UserError
from microgpt.viz.drawing.heat import Strip
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.settings import Settings, model

FEWEST = 5  # rows that there is room for: above the first two, the words of the slow step
SLOW = 1  # the step that is told in words: the first letter's


class Count(NamedTuple):
    """How many times a token has been run through the model when a step is over."""

    cached: int
    uncached: int


class PileRow:
    """A row of the piles: its token, k and v.

    `writer` is the step that has written its token, -1 where it was given; `redone` the first that makes the row again,
    where there is no cache.
    """

    def __init__(self, picture: Picture, i: int) -> None:
        row = picture.row(i)
        self.i, self.token, self.redone = i, row.token, i + 1
        self.writer = i - 1 if i >= picture.about["n_prompt"] else -1
        self.k = of_head(picture, row.k)
        self.v = of_head(picture, row.v)


class RunStep:
    """A step of the run: what moves in it."""

    def __init__(self, picture: Picture, i: int) -> None:
        step = picture.step(i)
        self.i, self.token, self.meetings = i, step.token, picture.of(step.meetings)
        self.q = of_head(picture, step.q)
        self.answer = of_head(picture, step.mixed)


class Hero:
    """The run of one name. Its first row, of the start token, lies there from the start."""

    def __init__(self, settings: Settings) -> None:
        picture = Picture(settings.trace())
        self.prompt = settings.prompt
        self.n = picture.n
        self.last = picture.n - 1
        self.lines = max(picture.n, FEWEST)
        self.rows = [PileRow(picture, i) for i in range(picture.n)]
        self.steps = [RunStep(picture, i) for i in range(SLOW, picture.n)]
        self.counts = counts(picture)
        self.total = self.counts[-1]
        self.times = self.total.uncached / self.total.cached
        self.digits = 0 if self.total.uncached % self.total.cached == 0 else 1


def counts(picture: Picture) -> list[Count]:
    """The token runs up to each step: with a cache the rows that are added, without it all rows that there are."""
    steps = [picture.step(i) for i in range(picture.n)]
    added, held = (accumulate(numbers) for numbers in ([step.added for step in steps], [step.rows for step in steps]))
    return [Count(*pair) for pair in zip(added, held, strict=True)]


def of_head(picture: Picture, strips: list[Any]) -> Strip:
    """The strip of the head whose weights differ most, without its numbers: they have no room here."""
    found: Strip = picture.of(strips)
    return found._replace(where="", digits=None)


def longest_name() -> int:
    """How many letters a name may have: the start token takes a place of the model's context."""
    return model(PAGE.model).config.n_ctx - 1


def of_reader(name: str) -> Hero:
    """The run of a reader's name. Raises UserError for one that the model cannot read."""
    letters = name.strip().lower()
    if not letters:
        raise UserError("Type a name first.")
    if len(letters) > longest_name():
        raise UserError(
            "“%(name)s” has %(n)s letters; this model reads names of at most %(most)s.",
            name=letters[:40],
            n=len(letters),
            most=longest_name(),
        )
    return Hero(Settings(PAGE.model, letters))
