"""A model that answers: a turn of a chat, drawn from its trace as talks.py draws a sentence, and what repeats in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microgpt.viz.apps.talks import CHAT, picture
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.counters import Facts, facts
from microgpt.viz.large.from_trace import ExcerptPicture
from microgpt.viz.large.heads import attention
from microgpt.viz.large.overview import HALF
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show

WORD, SUBJECT = "assistant", " France"


class Look(NamedTuple):
    """A step whose token has come before: the head that gives the most weight to what came after it then."""

    token: str
    after: str
    layer: int
    head: int
    weight: float


class View(NamedTuple):
    """The page as it is built."""

    choices: tuple[Choice, ...]
    fields: tuple[Choice, ...]
    picture: ExcerptPicture
    facts: Facts
    n: int  # tokens that it was given
    words: int  # of these, those of the question
    answer: str
    marks: list[str]
    word: str
    pieces: list[str]  # of the word
    cost: int  # bytes of its rows, in 16 bits
    looks: list[Look]
    heads: int  # of which the weight there is more than half, on average over these steps
    half: float
    last: Look  # the head that looks back most at what was asked for, as the answer is about to come
    file: str
    digits: int


def view(_: Settings) -> View:
    shown = picture(CHAT)
    about, tokens, own = shown.about, shown.tokens, facts(shown.config)
    n = about["n_prompt"]
    ends = [i for i, token in enumerate(tokens[:n]) if token.startswith("<|")]
    at = next(i for i in range(n) if "".join(tokens[i : i + 2]) == WORD)
    looks, heads = repeats(shown)
    return View(
        shown.choices, shown.fields, shown, own, n, ends[1] - ends[0] - 3, "".join(tokens[n:]),
        list(dict.fromkeys(tokens[i] for i in ends)), WORD, [show(token) for token in tokens[at : at + 2]],
        2 * own.bytes,
        looks, heads, HALF, back_to(shown), CHAT.file, about["cut"]["digits"],
    )  # fmt: skip


def repeats(shown: ExcerptPicture) -> tuple[list[Look], int]:
    """The steps in which the model goes on as the text went on at this token before, and how many heads do it."""
    weights, ids, n = attention(shown.trace, shown.config, shown.n), shown.about["ids"], shown.about["n_prompt"]
    steps = [
        (i, j + 1) for i in range(n, shown.n - 1) for j in range(i - 1) if ids[j] == ids[i] and ids[j + 1] == ids[i + 1]
    ]
    looks = [look(shown, weights[:, :, i, j], i, j) for i, j in steps]
    mean = np.mean([weights[:, :, i, j] for i, j in steps], axis=0)
    return looks, int((mean > HALF).sum())


def back_to(shown: ExcerptPicture) -> Look:
    """As the last step but one is about to name the answer: who looks at what the question asked about."""
    weights, tokens, i = attention(shown.trace, shown.config, shown.n), shown.tokens, shown.n - 2
    return look(shown, weights[:, :, i, tokens.index(SUBJECT)], i, tokens.index(SUBJECT))


def look(shown: ExcerptPicture, weights: np.ndarray, i: int, j: int) -> Look:
    layer, head = (int(x) for x in np.unravel_index(weights.argmax(), weights.shape))
    return Look(show(shown.tokens[i]), show(shown.tokens[j]), layer, head, float(weights[layer, head]))
