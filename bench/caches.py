"""Other caches than the plain one: a decode step with blocks, a ring and sinks, and the bytes that fewer bits read.

The shape is GPT-2 124M's with random weights, float32, and rotary positions, so that a text can go on for ever; every
step sees 1,000 rows. The yardstick is the plain cache with 1,000 rows, cropped after each step, off the clock. The ring
and the sinks have dropped rows before, and drop one before each step, on the clock. Blocks lie one after the other, as
a text that runs alone gets them, or anywhere in a pool of twice the size, where they must be gathered.

A process of its own, in one thread: `python -m bench.caches` prints JSON. Bytes are those of the used rows.
"""

from __future__ import annotations

import json
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from bench.gpt2 import GPT2, random_params, timed
from bench.measure import Result, at_most, in_one_thread, interleave, ratios
from microgpt.cache import KVCache
from microgpt.caches.blocks import BlockPool
from microgpt.caches.codes import Grid
from microgpt.caches.paged import PagedCache
from microgpt.caches.quantised import QuantisedCache, Rows
from microgpt.caches.ring import RingCache
from microgpt.caches.sinks import SinkCache
from microgpt.decode import decode_step
from microgpt.model import forward

CONTEXT, SINKS, ROUNDS = 1000, 4, 60
STEP_GOAL, BYTES_GOAL = 1.05, 0.60
CONFIG = replace(GPT2, position="rope")
BLOCK, BLOCKS = 16, 126  # rows; twice as many blocks as the text needs
WHAT = {
    "run": f"blocks of {BLOCK} that follow each other",
    "scattered": f"blocks of {BLOCK} anywhere",
    "ring": "a ring",
    "sinks": f"{SINKS} sinks and a ring",
}


def measure() -> list[Result]:
    took = in_one_thread("bench.caches")
    plain, results = took["plain"], []
    for job, what in WHAT.items():
        found = ratios(took[job], plain)
        scale = f"{median(took[job]) * 1e3:.1f} ms, {median(plain) * 1e3:.1f} ms"
        name = f"a decode step of GPT-2's shape, {what}, context {CONTEXT:,}"
        results.append(at_most(name, found, STEP_GOAL, "the plain cache with as many rows", scale))
    return [*results, fewer_bytes()]


def steps() -> dict[str, list[float]]:
    """Seconds of a step, round by round."""
    params = random_params()
    del params["wpe"]
    windowed = replace(CONFIG, window=CONTEXT)
    plain, ring = KVCache(CONFIG, np.float32), RingCache(windowed, np.float32)
    sinks = SinkCache(CONFIG, SINKS, CONTEXT - SINKS, np.float32)
    run, scattered = (PagedCache(BlockPool(CONFIG, BLOCKS, BLOCK, np.float32)) for _ in range(2))
    scattered.pool.free_queue = dict.fromkeys(np.random.default_rng(3).permutation(BLOCKS).tolist())
    *before, token = np.random.default_rng(1).integers(GPT2.vocab_size, size=CONTEXT).tolist()
    for at in range(0, len(before), 111):
        for config, cache in ((CONFIG, plain), (windowed, ring), (CONFIG, sinks), (CONFIG, run), (CONFIG, scattered)):
            forward(params, config, before[at : at + 111], cache, None, slice(-1, None))
    assert (len(plain), len(ring[0]), len(sinks)) == (CONTEXT - 1,) * 3

    def with_sinks() -> Any:
        sinks.make_room()
        return decode_step(params, CONFIG, token, sinks)

    jobs = {
        "plain": timed(lambda: decode_step(params, CONFIG, token, plain), lambda: plain.crop(CONTEXT - 1)),
        "run": timed(lambda: decode_step(params, CONFIG, token, run), lambda: run.crop(CONTEXT - 1)),
        "scattered": timed(lambda: decode_step(params, CONFIG, token, scattered), lambda: scattered.crop(CONTEXT - 1)),
        "ring": timed(lambda: decode_step(params, windowed, token, ring)),
        "sinks": timed(with_sinks),
    }
    return interleave(ROUNDS, jobs)


def fewer_bytes() -> Result:
    """Rows of eight bits, a scale and a minimum of sixteen bits a row and head, against rows of sixteen bits."""
    rows = np.random.default_rng(2).normal(size=(CONTEXT, GPT2.n_kv_head, GPT2.head_dim)).astype(np.float16)
    one = Rows(Grid(8, scales=np.float16))
    ours, plain = QuantisedCache(GPT2, one, one, np.float16), KVCache(GPT2, np.float16)
    for cache in (ours, plain):
        for layer in cache.layers:
            layer.append(rows, rows)
    scale = f"{ours.nbytes / 1e6:.1f} MB, {plain.nbytes / 1e6:.1f} MB"
    what = f"bytes of the rows that a step of GPT-2's shape reads, int8, context {CONTEXT:,}"
    return at_most(what, [ours.nbytes / plain.nbytes], BYTES_GOAL, "rows of sixteen bits", scale)


if __name__ == "__main__":
    print(json.dumps(steps()))
