"""Speculative decoding: a cheap draft guesses some tokens, the target checks all of them in one pass.

A pass of a few tokens takes a large model hardly longer than a pass of one, since it is the reading of its weights that
takes the time. So a *draft* proposes up to `gamma` tokens, the target runs them after the newest token, and each is
kept with the probability min(1, p_target / p_draft), by what the target gives it and what the draft gave it. At the
first one that is not kept, a token is drawn from what the draft has given too little: max(p_target - p_draft, 0),
scaled to sum 1. If all are kept, the pass has one more token to give. The tokens follow the target's law *exactly*
(Leviathan et al., arXiv 2211.17192, who write p and q); the rows of those that were not kept are cropped.

Greedy decoding is the same rule with probabilities that are 1 for the likeliest token. What both are after a
temperature and top-k is settled before they meet here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array, Hook
from microgpt.decode import check_sampling, prefill, probabilities
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.weights import Model

# ---- the rule ---------------------------------------------------------------------------------------


def acceptance(p_target: Array, p_draft: Array) -> Array:
    """With what probability a drafted token is kept, for each token of the vocabulary; all are [vocab_size]."""
    return np.array([min(1, a / b) if b else 1 for a, b in zip(p_target, p_draft, strict=True)], p_target.dtype)


def residual(p_target: Array, p_draft: Array) -> Array:
    """What is drawn from after a rejection [vocab_size]. Where both are the same nothing can be rejected: p_target."""
    left: Array = np.maximum(p_target - p_draft, 0)
    if not left.any():
        return p_target
    left /= left.sum()
    return left


def verify(p_target: Array, p_draft: Array, drafted: Sequence[int], rng: Random) -> tuple[int, int]:
    """How many of the drafted tokens are kept, and the token after them: p_target is [n + 1, vocab_size], p_draft
    [n, vocab_size]."""
    for i, token in enumerate(drafted):
        if rng.random() >= acceptance(p_target[i], p_draft[i])[token]:
            return i, draw(residual(p_target[i], p_draft[i]), rng)
    return len(drafted), draw(p_target[len(drafted)], rng)


def draw(p: Array, rng: Random) -> int:
    return rng.choices(range(len(p)), weights=p.tolist())[0]


def law(logits: Array, temperature: float, top_k: int) -> Array:
    """The probabilities that sampling uses, [n, vocab_size]; at temperature 0 they are 0 and 1."""
    if temperature == 0:
        greedy: Array = np.eye(logits.shape[1])[logits.argmax(axis=1)]
        return greedy
    return np.array([probabilities(row, temperature, top_k) for row in logits])


# ---- drafts -----------------------------------------------------------------------------------------


class SmallModel:
    """A smaller model with the same vocabulary, and a cache of its own.

    Its random numbers are a stream of their own, for the same seed too: if the number that drew a guess also decided
    whether it is kept, the law would not be the target's. Once the text is longer than its context, it guesses nothing,
    and the target writes on alone.
    """

    def __init__(self, model: Model, temperature: float = 0.0, top_k: int = 0, seed: int = 0) -> None:
        check_sampling(temperature, top_k, seed)
        self.model, self.cache = model, KVCache(model.config, model.params["wte"].dtype)
        self._sampling, self._rng = (temperature, top_k), Random(f"draft {seed}")

    def propose(self, token_ids: Sequence[int], n: int) -> tuple[list[int], Array]:
        drafted, laws, stops = list[int](), list[Array](), self.model.tokenizer.stops
        most = min(n, self.model.config.n_ctx - len(token_ids) + 1)
        while len(drafted) < most and not (drafted and drafted[-1] in stops):  # nothing comes after the end
            new = [*token_ids, *drafted][len(self.cache) :]
            logits = prefill(self.model.params, self.model.config, new, self.cache)
            laws.append(law(logits[None], *self._sampling)[0])
            drafted.append(draw(laws[-1], self._rng))
        return drafted, np.array(laws).reshape(-1, self.model.config.vocab_size)

    def crop(self, n: int) -> None:
        self.cache.crop(min(n, len(self.cache)))


# ---- rounds -----------------------------------------------------------------------------------------


class Round(NamedTuple):
    """One draft and one pass of the target."""

    drafted: list[int]
    accepted: int  # of them
    chosen: int  # the token that the target adds; -1 where an accepted one ends the text

    @property
    def tokens(self) -> list[int]:
        """What the text has gained."""
        return self.drafted[: self.accepted] + ([self.chosen] if self.chosen >= 0 else [])


class Speculation:
    """A text that is written by a target and a draft; `cache` has a row for each of its tokens but the newest."""

    def __init__(
        self,
        target: Model,
        draft: SmallModel,
        token_ids: Sequence[int],
        gamma: int,
        temperature: float = 0.0,
        top_k: int = 0,
        seed: int = 0,
        hook: Hook | None = None,
    ) -> None:
        check_sampling(temperature, top_k, seed)
        if gamma < 1:
            raise UserError("A draft of %(gamma)s tokens guesses nothing; choose 1 or more.", gamma=gamma)
        check_vocabulary(target, draft.model)
        self.target, self.draft, self.gamma, self.hook = target, draft, gamma, hook
        self.ids, self.cache = list(token_ids), KVCache(target.config, target.params["wte"].dtype)
        self._sampling, self._rng = (temperature, top_k), Random(seed)
        prefill(target.params, target.config, token_ids, self.cache)  # checks them
        self.cache.crop(len(token_ids) - 1)  # the newest token waits for the first round

    def round(self, most: int) -> Round:
        """Draft, verify, keep and crop. The text gains 1 to `most` tokens."""
        config, known = self.target.config, len(self.cache)
        room = min(self.gamma, most - 1, config.n_ctx - len(self.ids))
        drafted, p_draft = self.draft.propose(self.ids, room)
        logits = forward(self.target.params, config, self.ids[-1:] + drafted, self.cache)
        accepted, chosen = verify(law(logits, *self._sampling), p_draft, drafted, self._rng)
        ends = [i for i, token in enumerate(drafted[:accepted]) if token in self.target.tokenizer.stops]
        if ends:
            accepted, chosen = ends[0] + 1, -1
        found = Round(drafted, accepted, chosen)
        self._tell(found, known)
        self.ids += found.tokens
        self.cache.crop(len(self.ids) - 1)
        self.draft.crop(len(self.ids) - 1)
        return found

    def run(self, max_tokens: int) -> Iterator[Round]:
        """Rounds, until there are so many new tokens, or the text or the context ends."""
        left = max_tokens
        while left > 0 and len(self.ids) <= self.target.config.n_ctx:
            found = self.round(left)
            yield found
            left -= len(found.tokens)
            if self.ids[-1] in self.target.tokenizer.stops:
                return

    def _tell(self, found: Round, known: int) -> None:
        if self.hook:
            for i, token in enumerate(found.drafted):
                self.hook(("draft", token, known + 1 + i, -1))
            self.hook(("verify", len(found.drafted) + 1, known, -1))
            for i, token in enumerate(found.drafted):
                self.hook(("accept" if i < found.accepted else "reject", token, known + 1 + i, -1))


def check_vocabulary(target: Model, draft: Model) -> None:
    """Raise UserError unless a token is the same for both."""
    ours, theirs = target.tokenizer.vocabulary, draft.tokenizer.vocabulary
    if list(ours) != list(theirs):
        raise UserError(
            "The draft has a vocabulary of %(theirs)s tokens and the model one of %(ours)s, or other ones: "
            "its guesses would be other words. Choose a draft with the same tokenizer.",
            theirs=len(theirs),
            ours=len(ours),
        )


# ---- when it pays -----------------------------------------------------------------------------------


def tokens_per_pass(alpha: float, gamma: int) -> float:
    """Expected tokens of a round, where each draft is kept with probability alpha, whatever came before."""
    return gamma + 1 if alpha == 1 else (1 - alpha ** (gamma + 1)) / (1 - alpha)


def speed_up(alpha: float, gamma: int, c: float) -> float:
    """Times faster than without a draft; a pass of the draft takes c of a pass of the target."""
    return tokens_per_pass(alpha, gamma) / (gamma * c + 1)


def best_gamma(alpha: float, c: float, most: int = 64) -> int:
    """The length of the draft that is fastest; 0 where none is faster than no draft."""
    return max(range(most + 1), key=lambda gamma: speed_up(alpha, gamma, c))
