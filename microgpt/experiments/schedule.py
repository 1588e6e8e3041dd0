"""Schedules: in which passes the tokens of a text are run, and what each pass computes and must read.

A pass is one call of `forward`. A prompt can be run in one pass, in chunks, or token by token; what follows is
decoded, one token a pass. Passes are counted from what a hook is told. `estimate` says the same of a model that is
too large to run here.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Config, Hook, Report, param_shapes
from microgpt.cost import Counter, formula_macs, kv_bytes, lookup_tables
from microgpt.decode import decode_step, prefill
from microgpt.errors import UserError
from microgpt.weights import Model


class SchedulePass(NamedTuple):
    """One forward pass: `n` tokens run behind `start` cached rows."""

    n: int
    start: int
    macs: int
    weight_bytes: int
    cache_bytes: int  # of the old rows, which must be read

    @property
    def end(self) -> int:
        return self.start + self.n

    @property
    def bytes_read(self) -> int:
        return self.weight_bytes + self.cache_bytes

    @property
    def intensity(self) -> float:
        """Multiply-adds per byte read."""
        return self.macs / self.bytes_read


class Passes:
    """A hook that counts passes: `passes.found`, from the shapes that the model reports."""

    def __init__(self, config: Config, then: Hook | None = None) -> None:
        self.config, self.then = config, then
        self.found: list[SchedulePass] = []
        self._counter = Counter(config)

    def __call__(self, report: Report) -> None:
        if self.then:
            self.then(report)
        name, value, _, layer = report
        if name == "embed":
            self._counter = Counter(self.config)
        self._counter(report)
        if name == "attn_scores" and layer == 0:
            _, self._n, self._t = np.shape(value)
        if name == "logits":
            macs = int(self._counter.macs.sum())
            self.found.append(pass_of(self.config, self._n, self._t - self._n, macs))


class ScheduleRun(NamedTuple):
    """A prompt and what follows, run by some schedule."""

    passes: list[SchedulePass]
    n_prefill: int  # of the passes
    cache: KVCache
    token_ids: list[int]  # the prompt and what the model added, greedily


def run_schedule(
    model: Model, token_ids: Sequence[int], chunk: int, max_new: int, hook: Hook | None = None
) -> ScheduleRun:
    """Run the prompt in passes of `chunk` tokens, then decode up to `max_new` tokens while there is room."""
    config, ids = model.config, list(token_ids)
    cache, passes = KVCache(config), Passes(config, hook)
    logits = prefill(model.params, config, ids, cache, passes, chunk)
    n_prefill = len(passes.found)
    for _ in range(max_new):
        ids.append(int(logits.argmax()))
        if ids[-1] == model.tokenizer.start or len(cache) == config.n_ctx:
            break
        logits = decode_step(model.params, config, ids[-1], cache, passes)
    return ScheduleRun(passes.found, n_prefill, cache, ids)


def largest_difference(one: KVCache, other: KVCache, rows: int) -> float:
    """Between the first `rows` rows of two caches, over all layers, K and V alike."""
    pairs = [(a.keys, b.keys) for a, b in zip(one.layers, other.layers, strict=True)]
    pairs += [(a.values, b.values) for a, b in zip(one.layers, other.layers, strict=True)]
    return max(float(np.abs(a[:, :rows] - b[:, :rows]).max(initial=0)) for a, b in pairs)


def full(model: Model) -> UserError:
    """What the model says to a token more than its context holds."""
    cache = KVCache(model.config)
    prefill(model.params, model.config, [model.tokenizer.start] * model.config.n_ctx, cache)
    try:
        decode_step(model.params, model.config, model.tokenizer.start, cache)
    except UserError as error:
        return error
    raise AssertionError("a full cache took another row")


# ---- closed forms ---------------------------------------------------------------------------------


def weights_read(config: Config, n: int) -> int:
    """Numbers of weights that a pass of n tokens reads: all, but of a table that is only looked up, n rows."""
    tables, shapes = lookup_tables(config), param_shapes(config)
    return sum(n * shape[1] if name in tables else math.prod(shape) for name, shape in shapes.items())


def pass_of(config: Config, n: int, start: int, macs: int) -> SchedulePass:
    """The pass of n tokens behind `start` rows, in 16-bit numbers: it reads all weights and old rows of K and V."""
    return SchedulePass(n, start, macs, 2 * weights_read(config, n), kv_bytes(config, start, 2))


def estimate(config: Config, n: int, start: int) -> SchedulePass:
    """The same for a model that is not run: multiply-adds by the closed form."""
    macs = formula_macs(config, n, start + n, range(config.n_layer), 1)
    return pass_of(config, n, start, int(macs.sum()))


def compute_bound_from(config: Config, balance: float) -> int | None:
    """The fewest tokens in a pass that does so many multiply-adds for each byte; None if its context has no room."""
    passes = range(1, config.n_ctx + 1)
    return next((n for n in passes if estimate(config, n, 0).intensity >= balance), None)
