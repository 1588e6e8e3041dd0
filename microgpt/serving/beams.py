"""Beam search, and several samples of one prompt: texts that share the rows of their beginning.

Beam search keeps the `width` best texts, and in each step goes on from whichever of them: two may come from one, and
one may end. The rows must follow the texts. With block tables that is cheap: a new beam is a fork of the cache of its
old one, which copies a table and no row; what is written later goes into blocks of its own (copy on write). Rows on
which a beam of another text would go on are rows of another text: the answer would be wrong.

The score of a text is the sum of the log probabilities of its tokens. A text that has ended keeps its score and its
place. Several samples of one prompt are forks that are drawn apart from each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgpt.caches.blocks import BlockPool
from microgpt.caches.paged import PagedCache
from microgpt.config import Array
from microgpt.decode import check_length, decode_step, prefill
from microgpt.errors import N_, UserError
from microgpt.model import softmax
from microgpt.weights import Model


@dataclass(eq=False, slots=True)
class Beam:
    """One text: its tokens, of which the newest has no row yet, and their score."""

    ids: list[int]
    score: float
    cache: PagedCache
    ended: bool = False


class BeamSearch:
    """The beams so far, the best first; `step` goes on by one token."""

    def __init__(self, model: Model, pool: BlockPool, token_ids: Sequence[int], width: int) -> None:
        if not 1 <= width <= model.config.vocab_size:
            sentence = N_("%(width)s beams cannot be told apart by one token; choose 1 to %(most)s.")
            raise UserError(sentence, width=width, most=model.config.vocab_size)
        self.model, self.width = model, width
        cache = PagedCache(pool)
        self._first: Array | None = prefill(model.params, model.config, token_ids, cache)
        self.beams = [Beam(list(token_ids), 0.0, cache)]

    def step(self) -> list[int]:
        """One token more for every beam that has not ended. Returns for each new beam the number of its old one."""
        found = list[tuple[float, int, int]]()  # score, old beam, token; -1: it has ended before
        for i, beam in enumerate(self.beams):
            if beam.ended:
                found.append((beam.score, i, -1))
                continue
            scores = beam.score + np.log(softmax(self._logits(beam)))
            found += [
                (float(scores[token]), i, int(token)) for token in np.argsort(-scores, kind="stable")[: self.width]
            ]
        best = sorted(found, key=lambda one: -one[0])[: self.width]  # of equals the first
        old, self.beams = self.beams, [self._follow(*one) for one in best]
        for beam in old:
            beam.cache.free()
        return [i for _, i, _ in best]

    @property
    def rows(self) -> tuple[int, int]:
        """Rows of all beams if each kept its own, and rows that are needed: one for each distinct beginning."""
        texts = [beam.ids[: len(beam.cache)] for beam in self.beams]
        return sum(map(len, texts)), distinct(texts)

    @property
    def blocks(self) -> tuple[int, int]:
        """Blocks of all tables, and blocks that are held."""
        tables = [beam.cache.table for beam in self.beams]
        return sum(map(len, tables)), len({block for table in tables for block in table})

    def _logits(self, beam: Beam) -> Array:
        if self._first is not None:  # the prompt has just been run
            logits, self._first = self._first, None
            return logits
        check_length(self.model.config, len(beam.ids))
        return decode_step(self.model.params, self.model.config, beam.ids[-1], beam.cache)

    def _follow(self, score: float, i: int, token: int) -> Beam:
        """What goes on from an old beam, on the same rows."""
        beam = self.beams[i]
        if token < 0:
            return Beam(beam.ids, score, beam.cache.fork(), ended=True)
        return Beam([*beam.ids, token], score, beam.cache.fork(), token in self.model.tokenizer.stops)


def distinct(texts: Sequence[Sequence[int]]) -> int:
    """How many different beginnings these texts have: as many rows do for all of them."""
    return len({tuple(text[:n]) for text in texts for n in range(1, len(text) + 1)})


def rows_of_samples(prompt: int, answer: int, samples: int) -> tuple[int, int]:
    """Rows that several samples of one prompt take, each with its own copy of it, and with one copy for all."""
    return samples * (prompt + answer), prompt + samples * answer
