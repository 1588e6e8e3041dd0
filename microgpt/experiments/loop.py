"""The autoregressive loop as it is without a cache: every pass runs the whole text again to get one more token.

Each pass is `recompute` with a trace of its own as hook. The traces tell which rows an earlier pass had computed
already, and whether they came out the same. Knows models, decoding and traces; knows no page.
"""

from collections.abc import Iterable
from random import Random
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array, Config, Hook
from microgpt.decode import check_sampling, encode_prompt, generate, probabilities, recompute, sample
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.weights import Model


class LoopPass(NamedTuple):
    """One pass of the loop: all tokens so far went through the model, and one token was chosen."""

    token_ids: list[int]  # what ran
    again: int  # how many of these rows an earlier pass had computed from the same input
    difference: float  # the largest difference between their k and v now and then; 0 where there are none
    logits: Array  # [vocab_size], of the last position
    choice: int  # the token that is appended
    draw: int  # what a draw by chance would have taken here
    trace: Trace


def run_loop(
    model: Model, prompt: str, temperature: float = 0.0, top_k: int = 0, seed: int = 42, hook: Hook | None = None
) -> list[LoopPass]:
    """Write on from `prompt` until the model stops or its context is full; one Pass a token.

    `hook` gets what every pass reports, and each choice as "sample". Raises UserError for a prompt or a setting
    that the model cannot use.
    """
    ids, config = encode_prompt(model.tokenizer, model.config, prompt), model.config
    check_sampling(temperature, top_k, seed)
    chooser, drawer = Random(int(seed)), Random(int(seed))
    passes: list[LoopPass] = []
    while len(ids) <= config.n_ctx and (not passes or ids[-1] != model.tokenizer.start):
        trace = Trace()
        logits = recompute(model.params, config, ids, trace.keep)
        before = passes[-1].trace if passes else None
        choice = sample(logits, temperature, top_k, chooser)
        if hook:
            for report in (*(event.report for event in trace), ("sample", choice, len(ids) - 1, -1)):
                hook(report)
        passes.append(
            LoopPass(
                token_ids=list(ids),
                again=count_repeats(before, trace) if before else 0,
                difference=furthest(config, before, trace) if before else 0.0,
                logits=logits,
                choice=choice,
                draw=sample(logits, temperature or 1.0, top_k, drawer),
                trace=trace,
            )
        )
        ids.append(choice)
    return passes


def count_repeats(before: Trace, after: Trace) -> int:
    """How many rows enter both passes with the same numbers, to the last bit."""
    old, new = before["embed", 0], after["embed", 0]
    n = min(len(old), len(new))
    return int((old[:n] == new[:n]).all(axis=-1).sum())


def furthest(config: Config, before: Trace, after: Trace) -> float:
    """The largest difference between the k and v rows that both passes have computed, over all layers."""
    pairs = [(before[name, 0, layer], after[name, 0, layer]) for name in ("k", "v") for layer in range(config.n_layer)]
    return max(float(np.abs(new[: len(old)] - old).max()) for old, new in pairs)


def token_passes(passes: Iterable[LoopPass]) -> tuple[int, int]:
    """(rows that ran through the model, how many of them had run before), summed over the passes."""
    counts = [(len(one.trace["embed", 0]), one.again) for one in passes]
    return sum(n for n, _ in counts), sum(again for _, again in counts)


def most_open(passes: list[LoopPass]) -> int:
    """The pass whose choice was the most open: the one with the largest entropy."""

    def entropy(one: LoopPass) -> float:
        p = probabilities(one.logits)
        return float(-(p * np.log(p)).sum())

    return max(range(len(passes)), key=lambda i: entropy(passes[i]))


def complete(model: Model, token_ids: list[int], temperature: float = 0.0, seed: int = 42) -> list[int]:
    """`token_ids` and what the model writes behind them, until it stops or its context is full."""
    ids, room = list(token_ids), model.config.n_ctx - len(token_ids)
    if room < 1 or ids[-1] == model.tokenizer.start:
        return ids
    stop = model.tokenizer.start
    return ids + list(generate(model.params, model.config, ids, room, temperature, 0, Random(seed), stop))


def stuck(model: Model, token_ids: list[int], n: int) -> list[int]:
    """What n passes append, or as many as have room, if each chooses by the first row of logits, not by the last."""
    ids = list(token_ids)
    while len(ids) < len(token_ids) + n and len(ids) <= model.config.n_ctx:
        logits = forward(model.params, model.config, ids, KVCache(model.config, model.params["wte"].dtype))
        ids.append(int(logits[0].argmax()))
    return ids[len(token_ids) :]


def rotary_angles(config: Config, pos: int) -> list[float]:
    """By which angle, in radians, rotary positions turn each pair of numbers of q and k at `pos`."""
    half = config.head_dim // 2
    return [float(pos * config.rope_theta ** (-i / half)) for i in range(half)]
