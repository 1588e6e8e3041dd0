"""The front page: the machine with a name in it, a road of core lessons, and the other lessons in their parts.

All is taken from the views that the lessons' pages are built from.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from microgpt.apps.index.hero import Hero, longest_name, of_reader
from microgpt.course import COURSE_PARTS, ROAD, CoursePart, page
from microgpt.errors import N_
from microgpt.viz import views
from microgpt.viz.lesson import module_of
from microgpt.viz.page import Page
from microgpt.viz.patches import Patch, State, patch
from microgpt.viz.rendering import render
from microgpt.viz.rendering.minutes import minutes
from microgpt.viz.settings import Settings

if TYPE_CHECKING:
    from microgpt.viz.drawing.kit.sketch import Sketch


class Card(NamedTuple):
    """A lesson on the front page; `others` are the pages that share its number, `view` and `module` are its own."""

    page: Page
    others: list[Page]
    view: Any
    module: ModuleType

    @property
    def thumb(self) -> Sketch:
        """Its small picture, which is drawn as the page is written."""
        from microgpt.viz.rendering.draw import thumb  # what is dropped in needs no small pictures

        return thumb(self.page, self.view)

    @property
    def minutes(self) -> int:
        """How long it takes, as its own page says."""
        prose = render.prose(self.page.widget, self.view, self.page)
        return minutes(prose, len(self.view.choices[0].values))


class Shelf(NamedTuple):
    """The lessons of a part that are not on the road, IN_A_LINE at most side by side."""

    part: CoursePart
    cards: list[Card]

    @property
    def wide(self) -> int:
        """How many columns it takes: few lessons take half of them."""
        return IN_A_LINE if len(self.cards) >= IN_A_LINE // 2 else IN_A_LINE // 2

    @property
    def head(self) -> int:
        """How many of them its heading takes: what the lessons leave of a line, or all of a line."""
        return -len(self.cards) % self.wide or self.wide


IN_A_LINE = 6  # of small cards, on a wide screen
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
    def __init__(self, settings: Settings) -> None:
        self.choices = ()
        self.hero = Hero(settings)
        self.longest = longest_name()
        cards = [(part, card) for part in COURSE_PARTS for card in cards_of(part)]
        self.road = [card for _, card in cards if card.page.name in ROAD]
        beside = [(part, card) for part, card in cards if card.page.name not in ROAD]
        self.shelves = [
            Shelf(part, [card for _, card in pairs]) for part, pairs in groupby(beside, lambda pair: pair[0])
        ]
        shelved = [shelf.part for shelf in self.shelves]
        self.sheets = [page(part.sheet) for part in COURSE_PARTS if part not in shelved]
        self.trained = [page(name) for name in TRAINED]

    @property
    def road_minutes(self) -> int:
        """How long the road takes, in the language that is set: its words are counted."""
        return sum(card.minutes for card in self.road)


view = View


def cards_of(part: CoursePart) -> list[Card]:
    """A card for each number of the part."""
    found = []
    for _, pages in groupby(part.lessons, lambda lesson: lesson.number):
        page, *others = pages
        found.append(Card(page, others, views.of(page), module_of(page.widget)))
    return found


def drop(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The machine with the reader's name in it."""
    hero = of_reader(fields.get("prompt", ""))
    return state, [patch("#hero", render.render("apps/index/_machine.html", hero=hero, dropped=True))]


HOOKS = {"drop": drop}
