"""Text to token ids and back: by character (the names models) or by word (the stories model).

Both have one special token at the end of the vocabulary that starts a text and stops it. They know the
vocabulary and nothing of the model; how many tokens fit is the model's business.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Protocol

from microgpt.errors import UserError

START = "<s>"  # how the special token (microgpt's BOS) is written


class Tokenizer(Protocol):
    """What a model's tokenizer can do."""

    joiner: str  # between the pieces of a text
    vocabulary: list[str]  # how each token is shown
    start: int  # the token that starts a text, where `encode` puts one there; -1: there is none
    stops: frozenset[int]  # the tokens after which a text ends

    def split(self, text: str) -> list[str]:
        """The pieces of `text`, without special tokens."""

    def encode(self, text: str) -> list[int]:
        """The ids that the model gets."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids` without special tokens."""


class CharTokenizer:
    """One token a character."""

    joiner = ""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = list(vocabulary)
        self.ids = {token: i for i, token in enumerate(self.vocabulary)}
        self.start = self.ids[START]
        self.stops = frozenset({self.start})

    def split(self, text: str) -> list[str]:
        return list(text.strip())

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, the start token first. Raises UserError for a piece that is not known."""
        pieces = self.split(text)
        for position, piece in enumerate(pieces, start=1):
            if piece not in self.ids or piece == START:
                raise self.unknown(piece, position)
        return [self.start, *(self.ids[piece] for piece in pieces)]

    def unknown(self, piece: str, position: int) -> UserError:
        return UserError(
            "This model does not know the character “%(piece)s” (number %(position)s of the text). It knows %(known)s.",
            piece=piece,
            position=position,
            known=ranges([t for t in self.vocabulary if t != START]),
        )

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids` without start tokens."""
        return self.joiner.join(self.vocabulary[i] for i in ids if i != self.start)


class WordTokenizer(CharTokenizer):
    """One token a word or a punctuation mark. Letters are compared in lower case."""

    joiner = " "

    def split(self, text: str) -> list[str]:
        return re.findall(r"[\w'’-]+|[^\w\s]", text.lower())

    def unknown(self, piece: str, position: int) -> UserError:
        words = [t for t in self.vocabulary if t != START]
        near = difflib.get_close_matches(piece, words, n=3, cutoff=0.6) or words[:6]
        return UserError(
            "This model does not know the word “%(piece)s” (number %(position)s of the text). "
            "It knows %(count)s words, among them %(near)s.",
            piece=piece,
            position=position,
            count=len(words),
            near=", ".join(near),
        )

    def decode(self, ids: Sequence[int]) -> str:
        return re.sub(r" ([.,!?])", r"\1", super().decode(ids))


TOKENIZERS: dict[str, type[CharTokenizer]] = {"char": CharTokenizer, "word": WordTokenizer}


def ranges(characters: Sequence[str]) -> str:
    """'a', 'b', 'c', 'x' -> 'a–c, x'."""
    runs: list[list[str]] = []
    for character in sorted(characters):
        if runs and ord(character) == ord(runs[-1][-1]) + 1:
            runs[-1].append(character)
        else:
            runs.append([character])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
