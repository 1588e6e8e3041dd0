"""What a round of guesses was decided by: what both models give each token, and what is drawn after one that fell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.decode import recompute
from microgpt.serving.speculate import Round, acceptance, law, residual
from microgpt.viz.drawing.lens import as_printed, fewest, near
from microgpt.viz.text.formats import show
from microgpt.weights import Model

TEMPERATURE = 1.0
TOKENS_SHOWN = 6  # of a law
CHANCE = 2  # decimals of the chance to be kept


class GuessCase(NamedTuple):
    """A guessed token, and what becomes of it."""

    token: str
    p_target: float
    p_draft: float
    chance: float  # min(1, p_target / p_draft)
    kept: bool
    judged: bool  # those after the first that fell are not

    @property
    def digits(self) -> int:
        """Decimals of both with which the chance comes true as it is printed."""
        return fewest(self.true)

    def true(self, digits: int) -> bool:
        target, draft = as_printed(self.p_target, digits), as_printed(self.p_draft, digits)
        return draft > 0 and near(min(1.0, target / draft), self.chance, CHANCE)


class RoundShown:
    """A round: its guesses, and the token that the target adds."""

    def __init__(self, target: Model, draft: Model, text: Sequence[int], one: Round) -> None:
        vocabulary, n = names(target), len(one.drafted)
        texts = [[*text, *one.drafted[:i]] for i in range(n + 1)]
        laws = [(law_of(target, ids), law_of(draft, ids)) for ids in texts[:n]]
        self.guesses = [
            GuessCase(
                vocabulary[token],
                float(mine[token]),
                float(theirs[token]),
                float(acceptance(mine, theirs)[token]),
                i < one.accepted,
                i <= one.accepted,
            )
            for i, (token, (mine, theirs)) in enumerate(zip(one.drafted, laws, strict=True))
        ]
        fell = one.accepted < n
        if fell or one.chosen < 0:
            p_target, p_draft = laws[min(one.accepted, n - 1)]
        else:  # all are kept: the next token is drawn from what the target gives
            p_target = p_draft = law_of(target, texts[n])
        left = residual(p_target, p_draft) if fell else p_target
        order = np.argsort(-np.maximum(p_target, p_draft), kind="stable")[:TOKENS_SHOWN]
        self.first = len(text)  # the column of the first guess
        self.chosen = vocabulary[one.chosen] if one.chosen >= 0 else ""  # "" where a kept one ends the text
        self.accepted = one.accepted
        self.shares = [
            (vocabulary[i], float(p_target[i]), float(p_draft[i]) if fell else 0.0, float(left[i]))
            for i in order.tolist()
        ]
        self.before = len(text) - 1  # rows in the target's cache
        self.rows = 1 + n  # that the pass appends
        self.after = len(text) + len(one.tokens) - 1

    @property
    def fell(self) -> bool:
        return self.accepted < len(self.guesses)


def names(model: Model) -> list[str]:
    return [show(token) for token in model.tokenizer.vocabulary]


def law_of(model: Model, ids: Sequence[int]) -> Array:
    found: Array = law(recompute(model.params, model.config, ids)[None], TEMPERATURE, 0)[0]
    return found
