"""One text under every policy: how far its logits are off when only so many rows are held.

The text is what the model writes with all rows. Each policy runs the same tokens, one by one, so that every step is
compared with the same step; the first step behind the prompt whose likeliest token is another is where this policy, by
itself, would have begun to write another text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from microgpt.cache import Cache, KVCache
from microgpt.caches.evict import ChoosingCache, H2OCache, SnapKVCache
from microgpt.caches.ring import RingCache
from microgpt.caches.shift import ShiftCache
from microgpt.caches.sinks import SinkCache
from microgpt.config import Array, Config
from microgpt.decode import generate
from microgpt.errors import UserError
from microgpt.model import forward, softmax
from microgpt.viz.text.formats import show
from microgpt.weights import Model

SAME_SHARE = 1e-9  # a bar of what is only rounding would stand in one browser and not in another
MakesRoom: TypeAlias = SinkCache | ShiftCache | ChoosingCache


@dataclass(frozen=True)
class Outcome:
    """A text under one policy, step by step. Step i runs token i."""

    policy: str
    held: list[int]  # rows in the last layer that the step could read, its own included
    reads: Array  # [n, n], step by row: the share of all heads of K and V that still hold it
    first_head: list[list[int]]  # the positions of the rows that the first head of the first layer reads
    scores: list[dict[int, float]]  # where that head chooses: what it judges the older rows by before the step
    writes: list[str]  # the likeliest token of each step
    off: list[float]  # the largest difference of a logit from the one with all rows
    variation: list[float]  # how much of the chance of the next token has gone to others: 0, where it rounds off, to 1
    first: int | None  # the step that would be the first to write another token

    @property
    def mean(self) -> float:
        """Of the variation, over all steps."""
        return float(np.mean(self.variation))


def policies(config: Config, room: int, n_prompt: int) -> dict[str, Callable[[], tuple[Config, Cache]]]:
    """By name: the model as this policy runs it, and an empty cache of `room` rows.

    Shift needs keys that turn. SnapKV keeps half of the prompt, and all that is written after it.
    """
    window, half = replace(config, window=room, window_from=0), room // 2
    of_prompt = min(room, max(2, n_prompt // 2))
    found: dict[str, Callable[[], tuple[Config, Cache]]] = {
        "all": lambda: (config, KVCache(config)),
        "window": lambda: (window, KVCache(window)),
        "ring": lambda: (window, RingCache(window)),
        "sinks": lambda: (config, SinkCache(config, 1, room - 1)),
        "shift": lambda: (config, ShiftCache(config, 1, room)),
        "h2o": lambda: (config, H2OCache(config, half, room - half)),
        "snapkv": lambda: (config, SnapKVCache(config, of_prompt, 2, 3)),
    }
    if config.position != "rope":
        del found["shift"]
    return found


def text_of(model: Model, prompt: str) -> tuple[list[int], int]:
    """The prompt and what the model writes with all rows, until its context is full; and the prompt's length."""
    ids = model.tokenizer.encode(prompt)
    return [*ids, *generate(model.params, model.config, ids, max(0, model.config.n_ctx - len(ids)))], len(ids)


def compare(model: Model, token_ids: Sequence[int], n_prompt: int, room: int) -> list[Outcome]:
    """Every policy with `room` rows, on this text."""
    if not 3 <= room <= model.config.n_ctx:
        raise UserError("Room for %(room)s rows: choose 3 to %(n_ctx)s.", room=room, n_ctx=model.config.n_ctx)
    full = forward(model.params, model.config, token_ids, KVCache(model.config))
    return [
        run_policy(name, model, *make(), token_ids, n_prompt, full)
        for name, make in policies(model.config, room, n_prompt).items()
    ]


def run_policy(
    policy: str, model: Model, config: Config, cache: Cache, token_ids: Sequence[int], n_prompt: int, full: Array
) -> Outcome:
    """The text under one policy, against the logits with all rows. SnapKV gives up rows when the prompt ends."""
    steps, held, reads = list[Array](), list[int](), np.zeros((len(token_ids), len(token_ids)))
    first_head, scores = list[list[int]](), list[dict[int, float]]()
    for at, token in enumerate(token_ids):
        scores.append(scores_of(cache, at == n_prompt))
        if isinstance(cache, MakesRoom) and (at >= n_prompt or not isinstance(cache, SnapKVCache)):
            cache.make_room()
        hook = cache.watch() if isinstance(cache, ChoosingCache) else None
        steps.append(forward(model.params, config, [token], cache, hook)[0])
        held.append(min(at + 1, config.window) if config.window else len(cache))  # type: ignore[arg-type]
        read = rows_read(config, cache, at)
        for positions in read:
            reads[at, positions] += 1
        reads[at] /= reads[at, at]  # every head holds the newest
        first_head.append(sorted(read[0]))
    logits = np.array(steps)
    likeliest, variation = logits.argmax(axis=1), np.abs(softmax(full) - softmax(logits)).sum(axis=1) / 2
    other = [at for at in np.flatnonzero(full.argmax(axis=1) != likeliest).tolist() if at >= n_prompt - 1]
    return Outcome(
        policy,
        held,
        reads,
        first_head,
        scores,
        [show(model.tokenizer.vocabulary[i]) for i in likeliest],
        np.abs(full - logits).max(axis=1).tolist(),
        np.where(variation > SAME_SHARE, variation, 0).tolist(),
        other[0] if other else None,
    )


def scores_of(cache: Cache, prompt_ends: bool) -> dict[int, float]:
    """By position, what the first head of the first layer judges its older rows by; empty where none of them leaves."""
    if not isinstance(cache, H2OCache | SnapKVCache) or not (prompt_ends or isinstance(cache, H2OCache)):
        return {}
    if cache.choose(0, 1) is None:
        return {}
    return dict(zip(cache.layers[0].positions[0].tolist(), cache.scores(0, 1)[0].tolist(), strict=False))


def rows_read(config: Config, cache: Cache, at: int) -> list[list[int]]:
    """The positions of the rows that the step of the newest token, at `at`, has read: one list a head that chooses."""
    if isinstance(cache, ChoosingCache):
        return [head.tolist() for layer in cache.layers for head in layer.positions]
    if isinstance(cache, SinkCache):
        return [cache.positions]
    if isinstance(cache, ShiftCache):
        return [[*(position for position in cache.positions if position < at), at]]
    return [list(range(max(0, at + 1 - config.window) if config.window else 0, at + 1))]


def after_shift(model: Model, token_ids: Sequence[int], n_keep: int) -> list[tuple[float, float]]:
    """A shifted cache of this text against a run of the text that is left: by layer, the largest difference of K, V."""
    cache, fresh = ShiftCache(model.config, n_keep), KVCache(model.config)
    forward(model.params, model.config, token_ids, cache)
    cache.shift((len(token_ids) - n_keep) // 2)
    forward(model.params, model.config, [token_ids[i] for i in cache.positions], fresh)
    return [
        (float(np.abs(a.keys - b.keys).max()), float(np.abs(a.values - b.values).max()))
        for a, b in zip(cache.layers, fresh.layers, strict=True)
    ]
