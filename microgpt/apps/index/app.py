"""The front page: the machine at its last steps, and the course in parts, each lesson with a small picture of its own.

All is taken from the views that the lessons' pages are built from.
"""

from __future__ import annotations

from itertools import groupby
from types import ModuleType
from typing import Any, NamedTuple

from microgpt.course import COURSE_PARTS, CoursePart, page
from microgpt.errors import N_
from microgpt.viz import views
from microgpt.viz.drawing.heat import Strip
from microgpt.viz.drawing.kit.sketch import Sketch
from microgpt.viz.drawing.phases import RUN
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.lesson import module_of
from microgpt.viz.page import Page
from microgpt.viz.rendering.draw import thumb
from microgpt.viz.settings import Settings


class Chip(NamedTuple):
    """A token of the text, and the step of the run that writes it; -1 where it stands there from the start."""

    i: int
    run: int
    token: str


class Card(NamedTuple):
    """A lesson on the front page; `others` are the pages that share its number, `view` and `module` are its own."""

    page: Page
    others: list[Page]
    view: Any
    module: ModuleType

    @property
    def thumb(self) -> Sketch:
        """Its small picture, which is drawn as the page is written."""
        return thumb(self.page, self.view)


TRAINED = {
    "model-that-talks": N_("Step through a sentence of its own, with some heads open and all heads at a glance."),
    "chat-turn": N_("A question, the marks around it, and the heads that repeat its words."),
    "who-is-she": N_(
        "He, she, it and they ask the same rows in turn. One head finds the noun of the first three; they has none of "
        "its own."
    ),
    "model-that-repeats": N_("The same words round after round, and what is left when their rows are gone."),
}  # what is there to see on each page of the trained model


class View:
    """What the page places."""

    def __init__(self, settings: Settings) -> None:
        picture = Picture(settings.trace())
        run = last_steps(picture)
        self.choices = ()
        self.n = run.stop  # rows
        self.chips = [Chip(i, max(-1, i - 1 - run.start), picture.row_token(i)) for i in range(run.stop + 1)]
        self.rows = [PileRow(picture, i, max(-1, i - run.start)) for i in range(run.stop)]
        self.steps = [RunStep(picture, i, i - run.start) for i in run]
        self.parts = card_parts()
        self.trained = [page(name) for name in TRAINED]


view = View


def last_steps(picture: Picture) -> range:
    """The last RUN steps that write a token."""
    end = max(i for i in range(picture.n) if picture.choice(i) and not picture.stops(i)) + 1
    return range(end - RUN, end)


class PileRow:
    """A row of the piles, and the step of the run that drops it; -1 where it lies there from the start."""

    def __init__(self, picture: Picture, i: int, run: int) -> None:
        row = picture.row(i)
        self.i, self.run = i, run
        self.token = row.token
        self.k = of_head(picture, row.k)
        self.v = of_head(picture, row.v)


class RunStep:
    """A step of the run: what moves in it."""

    def __init__(self, picture: Picture, i: int, run: int) -> None:
        step = picture.step(i)
        self.run, self.i, self.meetings = run, i, picture.of(step.meetings)
        self.q = of_head(picture, step.q)
        self.answer = of_head(picture, step.mixed)


def of_head(picture: Picture, strips: list[Any]) -> Strip:
    """The strip of the head whose weights differ most, without its numbers: they have no room here."""
    found: Strip = picture.of(strips)
    return found._replace(where="", digits=None)


def card_parts() -> list[tuple[CoursePart, list[Card]]]:
    """The course; a card for each number."""
    found = []
    for part in COURSE_PARTS:
        cards = []
        for _, pages in groupby(part.lessons, lambda lesson: lesson.number):
            page, *others = pages
            cards.append(Card(page, others, views.of(page), module_of(page.widget)))
        found.append((part, cards))
    return found
