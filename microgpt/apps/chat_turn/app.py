"""A model that answers: a turn of a chat, drawn from its trace, and what repeats in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgpt.apps.model_that_talks.app import CHAT_TEXT, picture
from microgpt.config import Array, n_params
from microgpt.cost import kv_bytes
from microgpt.viz.large.from_trace import ExcerptPicture
from microgpt.viz.large.heads import attention
from microgpt.viz.large.overview import HALF_WEIGHT
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show

WORD, SUBJECT = "assistant", " France"


class View:
    def __init__(self, _: Settings) -> None:
        shown = self.picture = picture(CHAT_TEXT)
        about, tokens = shown.about, shown.tokens
        self.choices, self.fields, self.params = shown.choices, shown.fields, n_params(shown.config)
        self.n = n = about["n_prompt"]  # tokens that it was given
        self.marks = start, end = [token for token in dict.fromkeys(tokens[:n]) if token.startswith("<|")]
        self.words = len(tokens[tokens.index("\n") + 1 : tokens.index(end)])  # of these, those of the question
        self.answer = "".join(tokens[n:])
        at = next(i for i in range(n) if "".join(tokens[i : i + 2]) == WORD)
        self.pieces = [show(token) for token in tokens[at : at + 2]]  # of the word
        self.cost = len(self.pieces) * kv_bytes(shown.config, 1, 2)  # bytes of its rows, in 16 bits
        weights, steps = attention(shown.trace, shown.config, shown.n), repeats(about["ids"], n)
        # at the steps whose token has come before, what came after it then; and of how many heads the weight there is
        # more than half, on average
        self.looks = [Look(shown, weights, i, j) for i, j in steps]
        self.heads = int((np.mean([weights[:, :, i, j] for i, j in steps], axis=0) > HALF_WEIGHT).sum())
        # as the answer is about to come, at what was asked for
        self.last = Look(shown, weights, shown.n - 2, tokens.index(SUBJECT))
        self.digits = about["cut"]["digits"]


view = View


def repeats(ids: Sequence[int], n: int) -> list[tuple[int, int]]:
    """Each step from n on whose token has come before and which goes on as the text did then, with that next place."""
    return [
        (i, j + 1)
        for i in range(n, len(ids) - 1)
        for j in range(i - 1)
        if ids[j] == ids[i] and ids[j + 1] == ids[i + 1]
    ]


class Look:
    """Of all heads, the one that gives the most weight to one key at one step."""

    def __init__(self, shown: ExcerptPicture, weights: Array, i: int, j: int) -> None:
        """weights [n_layer, n_head, n, n]."""
        at = weights[:, :, i, j]
        layer, head = (int(x) for x in np.unravel_index(at.argmax(), at.shape))
        self.layer, self.head = layer, head
        self.step = i + 1  # from one, as the stepper counts
        self.token = show(shown.tokens[i])  # of the step
        self.key = show(shown.tokens[j])
        self.weight = float(at[layer, head])
