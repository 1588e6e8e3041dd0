"""Eight texts in one pass against one text: a decode step at GPT-2 124M's shape, which reads the weights once for all.

Random weights, float32, one thread. What a batch can share is the weights, not the rows, which each text has of its
own: so the goal is for short texts, of 16 tokens, and the same is told for texts of 256. Also against what it replaces,
eight steps one after the other. A process of its own: `python -m bench.batch` prints JSON.
"""

from __future__ import annotations

import json
from statistics import median

import numpy as np

from bench.gpt2 import GPT2, random_params, same, timed
from bench.measure import Result, at_most, in_one_thread, interleave, ratios, spread
from microgpt.cache import Batch, KVCache
from microgpt.config import Array, Params
from microgpt.decode import decode_step, prefill
from microgpt.model import forward

TEXTS, CONTEXTS, ROUNDS, GOAL = 8, (16, 256), 40, 1.6


def measure() -> list[Result]:
    return [result for context, took in in_one_thread("bench.batch") for result in results(context, took)]


def results(context: int, took: dict[str, list[float]]) -> list[Result]:
    what = f"a decode step of GPT-2's shape for {TEXTS} texts at once, context {context}"
    found, one = ratios(took["batch"], took["one"]), "the step of one text"
    scale = f"{median(took['batch']) * 1e3:.1f} ms, {median(took['one']) * 1e3:.1f} ms"
    short = context == CONTEXTS[0]
    return [
        at_most(what, found, GOAL, one, scale) if short else Result(what, spread(found), one, scale=scale),
        Result(
            what, spread(ratios(took["apart"], took["batch"]), ".1f"),
            f"{TEXTS} steps one after the other = 1, times faster",
        ),
    ]  # fmt: skip


def steps(params: Params, context: int) -> dict[str, list[float]]:
    """Seconds of a step, round by round."""
    draw = np.random.default_rng(1)
    caches = [KVCache(GPT2, np.float32) for _ in range(TEXTS)]
    for cache in caches:
        prefill(params, GPT2, draw.integers(GPT2.vocab_size, size=context - 1).tolist(), cache)
    tokens = draw.integers(GPT2.vocab_size, size=TEXTS).tolist()
    batch = Batch(caches, [1] * TEXTS)

    def apart() -> Array:
        return np.array([decode_step(params, GPT2, token, cache) for token, cache in zip(tokens, caches, strict=True)])

    def back() -> None:
        for cache in caches:
            cache.crop(context - 1)

    logits = forward(params, GPT2, tokens, batch)
    back()
    same(logits, apart())
    back()
    jobs = {
        "one": timed(lambda: decode_step(params, GPT2, tokens[0], caches[0]), back),
        "batch": timed(lambda: forward(params, GPT2, tokens, batch), back),
        "apart": timed(apart, back),
    }
    return interleave(ROUNDS, jobs)


if __name__ == "__main__":
    weights = random_params()
    print(json.dumps([(context, steps(weights, context)) for context in CONTEXTS]))
