"""Rows that are given back, and rows that are shared: speculative decoding and prefix reuse, on real caches.

In speculative decoding a small model, the draft, writes a few tokens one by one. The target runs them all in ONE
pass, keeps those that it would have chosen itself, and crops the rows of the others from its cache. In prefix reuse
a text takes over the rows of another one as far as both begin alike. Both give what plain decoding gives.
Knows models and caches; knows no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.decode import prefill
from microgpt.experiments.schedule import largest_difference
from microgpt.model import forward
from microgpt.weights import Model


class Round(NamedTuple):
    """One draft and its verification. Rows are the target's, in its cache."""

    drafted: list[int]  # token ids
    accepted: int  # how many of them the target would have chosen
    chosen: int | None  # the target's own next token, from the same pass; None when the accepted ones end the text
    draft_passes: int
    rows_before: int
    rows_appended: int  # in the target's one pass
    rows_kept: int


def speculate(
    target: Model, draft: Model, token_ids: Sequence[int], n_draft: int, max_new: int
) -> tuple[list[int], list[Round], KVCache]:
    """Greedy speculative decoding: the prompt and the new tokens, the rounds, and the target's cache."""
    ids, stop, n_ctx = list(token_ids), target.tokenizer.start, target.config.n_ctx
    cache, draft_cache = KVCache(target.config), KVCache(draft.config)
    prefill(target.params, target.config, ids[:-1], cache)  # the last token waits for the first round
    rounds: list[Round] = []
    while len(ids) < len(token_ids) + max_new and len(ids) < n_ctx and (not rounds or ids[-1] != stop):
        before, drafted = len(cache), list[int]()
        while len(drafted) < min(n_draft, n_ctx - len(ids)) and (not drafted or drafted[-1] != stop):
            known = ids + drafted
            logits = prefill(draft.params, draft.config, known[len(draft_cache) :], draft_cache)  # one by one
            drafted.append(int(logits.argmax()))
        said = forward(target.params, target.config, ids[-1:] + drafted, cache).argmax(axis=-1).tolist()
        agreed = [a == b for a, b in zip(drafted, said, strict=False)]
        accepted = agreed.index(False) if False in agreed else len(drafted)
        appended, ids = len(cache) - before, ids + drafted[:accepted]
        chosen = None if accepted and ids[-1] == stop else said[accepted]
        ids += [] if chosen is None else [chosen]
        cache.crop(len(ids) - 1)  # every token has a row but the newest
        draft_cache.crop(min(len(draft_cache), len(cache)))
        rounds.append(Round(drafted, accepted, chosen, len(drafted), before, appended, len(cache)))
    return ids, rounds, cache


class Undone(NamedTuple):
    """Rows appended and cropped again, and what that did to the next logits."""

    appended: int
    difference: float  # of the next logits, from those of a cache that never held the rows
    kept: float  # the same if the rows are not cropped; 0 where there is no room for them


def undo(model: Model, token_ids: Sequence[int], wrong_ids: Sequence[int]) -> Undone:
    """Run all but the last token, append rows of wrong tokens, crop them, and go on as if they had never been."""
    caches = KVCache(model.config), KVCache(model.config)
    for cache in caches:
        prefill(model.params, model.config, token_ids[:-1], cache)
    prefill(model.params, model.config, wrong_ids, caches[0])
    plain = forward(model.params, model.config, token_ids[-1:], caches[1])
    kept = plain
    if len(caches[0]) < model.config.n_ctx:
        kept = forward(model.params, model.config, token_ids[-1:], caches[0])
    caches[0].crop(len(token_ids) - 1)
    ours = forward(model.params, model.config, token_ids[-1:], caches[0])
    return Undone(len(wrong_ids), *(float(np.abs(logits - plain).max()) for logits in (ours, kept)))


class Shared(NamedTuple):
    """Two texts that begin alike."""

    rows: int  # that both share
    run: int  # tokens of the second text that were run
    rows_difference: float  # of the shared rows, each text run on its own
    logits_difference: float  # of the second text: on the taken-over rows, and on its own


def share(model: Model, first: Sequence[int], second: Sequence[int]) -> Shared:
    """Run `second` on the rows that `first` left behind, as far as both begin alike (its last token is always run)."""
    params, config = model.params, model.config
    ours, alone = KVCache(config), KVCache(config)
    prefill(params, config, first, ours)
    expected = prefill(params, config, second, alone)
    alike = [a == b for a, b in zip(first, second, strict=False)]
    rows = min(alike.index(False) if False in alike else len(alike), len(second) - 1)
    rows_difference = largest_difference(ours, alone, rows)
    ours.crop(rows)
    logits = prefill(params, config, second[rows:], ours)
    return Shared(rows, len(second) - rows, rows_difference, float(np.abs(logits - expected).max()))
