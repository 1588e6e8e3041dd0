"""The numbers of the pages with a trained model, from the same traces, as their strips would list them."""

from __future__ import annotations

from typing import NamedTuple

from microgpt.apps.model_that_talks.app import CHAT_TEXT, DAY, picture
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.picture import Listed
from microgpt.viz.large.from_trace import ExcerptPicture
from microgpt.viz.settings import Settings

PAGES_OF = {"model-that-talks": DAY, "chat-turn": CHAT_TEXT}


class Numbers(NamedTuple):
    """A page that has strips, by its name, and what it draws."""

    name: str
    picture: ExcerptPicture

    def heads(self, row: Listed) -> list[str]:
        """The open heads whose row this is, each as layer and head: those that share a key share its row."""
        return [one.value for at, one in enumerate(self.picture.open_heads) if f"O{at}" in row.where.split()]


class View:
    """All of these pages: each takes its own."""

    choices: tuple[Choice, ...] = ()

    def __init__(self, _: Settings) -> None:
        self.numbers = {f"{name}-numbers": Numbers(name, picture(text)) for name, text in PAGES_OF.items()}


view = View
