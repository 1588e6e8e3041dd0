"""Real bugs: each fault of the shelf with what it does, which is computed as the page is built."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from microgpt.apps.bugs.evidence import ITSELF, WEIGHTS, Evidence, evidence
from microgpt.apps.bugs.picture import Panel, panels_of
from microgpt.apps.workbench.answer import SAYS
from microgpt.errors import N_
from microgpt.viz.controls import Choice
from microgpt.viz.lesson import page_named
from microgpt.viz.page import Page
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import shipped
from microgpt.workbench import shelf
from microgpt.workbench.examine import SIX
from microgpt.workbench.original import Hunk, hunks_of
from microgpt.workbench.shelf import Bug

__all__ = ["ITSELF", "SAYS", "WEIGHTS", "view"]  # and what the templates read

BUG_GROUPS = (
    (N_("The mask"), shelf.MASK_BUGS),
    (N_("Positions and rotation"), shelf.POSITION_BUGS),
    (N_("Rows of the cache"), shelf.ROW_BUGS),
    (N_("Heads and sums"), shelf.HEAD_BUGS),
    (N_("Going back"), shelf.CROP_BUGS),
    (N_("Several texts"), shelf.TEXT_BUGS),
)


class ShelfCard(NamedTuple):
    bug: Bug
    evidence: Evidence
    faces: list[str]  # the token of each row
    panels: tuple[Panel, Panel]  # as it is, as it should be

    @property
    def hunks(self) -> list[Hunk]:
        return list(hunks_of(self.bug.text()))

    @property
    def lesson(self) -> Page:
        """The page that explains what is broken."""
        return page_named(self.bug.lesson)

    def token(self, i: int) -> str:
        return token_of(self.evidence.model, i)


class View:
    def __init__(self, _: Settings) -> None:
        self.groups = [(title, list(map(card_of, bugs))) for title, bugs in BUG_GROUPS]
        self.cards = [card for _, cards in self.groups for card in cards]
        self.choices = tuple(Choice(one.bug.name, range(len(one.faces)), len(one.faces) - 1) for one in self.cards)
        found = [one.evidence for one in self.cards]
        self.n = len(found)
        self.by_itself = sum(ITSELF in one.findings for one in found)
        self.in_six_ways = sum(not {*SIX}.isdisjoint(one.findings) for one in found)
        self.quiet = sum(one.flip is None for one in found)  # whose likeliest tokens are all right
        self.least, self.most = (end(one.furthest for one in found) for end in (min, max))

    @cached_property
    def ways(self) -> list[tuple[str, Sequence[ShelfCard]]]:
        """Each of the six ways with the faults that it is the first to find."""
        return [(way, [one for one in self.cards if one.evidence.first == way]) for way in SIX]


view = View


def card_of(bug: Bug) -> ShelfCard:
    found = evidence(bug.name)
    faces = [token_of(found.model, row.token) for row in found.shown.rows]
    return ShelfCard(bug, found, faces, panels_of(found.shown, faces))


def token_of(model: str, i: int) -> str:
    return show(shipped(model).tokenizer.vocabulary[i])
