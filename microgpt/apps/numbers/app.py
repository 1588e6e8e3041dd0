"""The numbers of the pages with a trained model, from the same traces, as their strips would list them."""

from __future__ import annotations

from typing import NamedTuple

from microgpt.apps.model_that_talks.app import CHAT_TEXT, DAY, picture
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.lens import Lines, Score, Share
from microgpt.viz.drawing.picture import Listed
from microgpt.viz.large.from_trace import ExcerptPicture
from microgpt.viz.large.heads import Open
from microgpt.viz.settings import Settings

PAGES_OF = {"model-that-talks": DAY, "chat-turn": CHAT_TEXT}


class Made(NamedTuple):
    """How a step comes to the score and the weight of a row; None where that cannot be said in few decimals."""

    row: int
    score: Score | None
    weight: Share | None


def by_row(lines: Lines) -> list[Made]:
    """The lines of a head, row by row."""
    scores, weights = dict(lines.scores), dict(lines.weights)
    return [Made(row, scores.get(row), weights.get(row)) for row in sorted(scores.keys() | weights.keys())]


class Numbers(NamedTuple):
    """A page that has strips, by its name, and what it draws."""

    name: str
    picture: ExcerptPicture

    def sums(self, i: int) -> list[tuple[Open, list[Made]]]:
        """How the scores and weights of step i come about, of the open heads of which the picture does not say it."""
        shown = self.picture
        others = [at for at in range(len(shown.heads)) if at not in shown.heads_with_lines]
        return [(shown.heads[at], by_row(shown.lines_at(i, at))) for at in others]

    def heads(self, row: Listed) -> list[str]:
        """The open heads whose row this is, each as layer and head: those that share a key share its row."""
        return [one.value for at, one in enumerate(self.picture.open_heads) if f"O{at}" in row.where.split()]


class View:
    """All of these pages: each takes its own."""

    choices: tuple[Choice, ...] = ()

    def __init__(self, _: Settings) -> None:
        self.numbers = {f"{name}-numbers": Numbers(name, picture(text)) for name, text in PAGES_OF.items()}


view = View
