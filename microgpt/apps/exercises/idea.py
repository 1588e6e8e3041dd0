"""Exercises of the first part: the loop, attention by hand, the cache, and what it saves. Knows no HTML."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from microgpt.apps.exercises.sheet import Calc, Task, calc, chain, listing, triangle, unlike
from microgpt.config import Array, Config
from microgpt.cost import kv_bytes, pass_macs
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import shipped

TASKS = (
    Task("rows", "compute", 10, 7, ("next-token",)),
    Task("odds", "compute", 10, 7, ("next-token",)),
    Task("by-hand", "compute", 20, 14, ("attention",)),
    Task("shift", "explain", 10, 8, ("attention",)),
    Task("grown", "compute", 10, 8, ("kv-cache", "kv-cache-words")),
    Task("alias", "bug", 10, 7, ("kv-cache",)),
    Task("work", "compute", 20, 12, ("with-and-without",)),
)
RUN = Settings("names", "oli")
WORDS = Settings("stories", "The sun is")
LAYER, HEAD, STEP = 0, 0, 2  # of what is computed by hand
LONG = (1000, 500)  # a prompt, and passes
COOL = 0.5  # a temperature
T = 7  # steps of the cache that is counted


class Rows(NamedTuple):
    """The loop without a cache: a prompt of p tokens, n passes."""

    p: int
    n: int
    runs: Calc
    first: Calc
    long: tuple[int, int]
    long_runs: Calc
    long_first: Calc
    times: float
    each: str = "p + i − 1"
    total: str = "n × p + n × (n − 1) ÷ 2"
    new: str = "p + n − 1"


class Odds(NamedTuple):
    """The three largest logits after a prompt."""

    prompt: str
    best: str
    second: str
    logits: list[tuple[str, float]]
    apart: Calc
    ratio: int
    temperature: float
    cooled: Calc
    cooled_ratio: int
    rule: str = "e^(a − b)"


class Key(NamedTuple):
    """A row of the cache, and what a query makes of it; all numbers begin with those that are printed."""

    token: str
    k: list[float]
    v: list[float]
    dot: Calc
    score: Calc
    raised: float
    weight: Calc


class ByHand(NamedTuple):
    """One query and the keys that it may read, and the answer."""

    q: list[float]
    keys: list[Key]
    root: int
    total: Calc
    answer: list[float]
    first: Calc  # of the answer
    by: Calc  # how much every score moves when all numbers of all keys grow by one


class Grown(NamedTuple):
    """The cache of `stories` after some steps."""

    t: int
    config: Config
    row: Calc
    held: Calc
    half: Calc
    read: Calc
    own: Calc


class Work(NamedTuple):
    """Multiply-adds of a whole text: in the layers per token, in the output head per step, per pair of q and k."""

    t: int
    token: int
    head: int
    pair: int
    pairs: Calc
    cached: Calc
    runs: Calc
    meets: Calc
    naive: Calc
    times: Calc
    limit: str = "(T + 2) ÷ 3"
    both: str = "T × (T + 1) × (T + 2) ÷ 6"


class Numbers(NamedTuple):
    rows: Rows
    odds: Odds
    hand: ByHand
    grown: Grown
    alias: str
    work: Work


def numbers() -> Numbers:
    return Numbers(rows(), odds(), by_hand(), grown(), listing("alias"), work())


def rows() -> Rows:
    run = WORDS.run()
    p, n = run.n_prompt, len(run.trace.about["tokens"]) - run.n_prompt + 1
    long_p, long_n = LONG
    long_total, long_first = long_n * long_p + triangle(long_n - 1), long_p + long_n - 1
    unlike(long_total, long_first)
    form = "{} × {} + {} × {} ÷ {} = {}"
    return Rows(
        p, n,
        runs=chain([p + i for i in range(n)], "+", n * p + triangle(n - 1)),
        first=calc("{} + {} − {} = {}", p, n, 1, p + n - 1),
        long=LONG,
        long_runs=calc(form, long_n, long_p, long_n, long_n - 1, 2, long_total),
        long_first=calc("{} + {} − {} = {}", long_p, long_n, 1, long_first),
        times=long_total / long_first,
    )  # fmt: skip


def odds() -> Odds:
    run = WORDS.run()
    logits = run.trace["logits", run.n_prompt - 1, -1][0]
    likeliest = np.argsort(-logits)[:3]
    words = [(show(run.model.tokenizer.decode([int(i)])), round(float(logits[i]), 2)) for i in likeliest]
    (best, first), (second, next_one), _ = words
    apart = first - next_one
    return Odds(
        " ".join(run.trace.about["tokens"][1 : run.n_prompt]), best, second, words,
        calc("{} − {} = {}", first, next_one, apart), round(math.exp(apart)), COOL,
        calc("{} ÷ {} = {}", apart, COOL, apart / COOL), round(math.exp(apart / COOL)),
    )  # fmt: skip


def of_head(row: Array, config: Config) -> list[float]:
    """The numbers of one head in a row, as they are printed."""
    return [round(float(x), 2) for x in row.reshape(-1, config.head_dim)[HEAD]]


def by_hand() -> ByHand:
    trace, config = RUN.trace(), shipped(RUN.model).config
    q = of_head(trace["q", STEP, LAYER], config)
    root = math.isqrt(config.head_dim)
    kept = [[of_head(trace[kind, j, LAYER], config) for kind in "kv"] for j in range(STEP + 1)]
    dots = [sum(a * b for a, b in zip(q, k, strict=True)) for k, _ in kept]
    raised = [math.exp(dot / root) for dot in dots]
    weights = [one / sum(raised) for one in raised]
    form = " + ".join(["{} × {}"] * config.head_dim) + " = {}"
    keys = [
        Key(
            show(trace.about["tokens"][j]), k, v,
            calc(form, *[x for pair in zip(q, k, strict=True) for x in pair], dots[j]),
            calc("{} ÷ {} = {}", dots[j], root, dots[j] / root), raised[j],
            calc("{} ÷ {} = {}", raised[j], sum(raised), weights[j]),
        )
        for j, (k, v) in enumerate(kept)
    ]  # fmt: skip
    answer = [sum(w * v[x] for w, (_, v) in zip(weights, kept, strict=True)) for x in range(config.head_dim)]
    pairs = [x for w, (_, v) in zip(weights, kept, strict=True) for x in (w, v[0])]
    return ByHand(
        q, keys, root, chain(raised, "+", sum(raised)), answer,
        calc(" + ".join(["{} × {}"] * len(keys)) + " = {}", *pairs, answer[0]),
        calc("(" + " + ".join(["{}"] * len(q)) + ") ÷ {} = {}", *q, root, sum(q) / root),
    )  # fmt: skip


def grown() -> Grown:
    c = shipped(WORDS.model).config
    row = 2 * c.n_kv_head * c.head_dim
    held = kv_bytes(c, T, 1)
    return Grown(
        T, c,
        row=chain([2, c.n_kv_head, c.head_dim], "×", row),
        held=chain([T, c.n_layer, row], "×", held),
        half=chain([held, 2], "×", kv_bytes(c, T, 2)),
        read=calc("{} × {} ÷ {} = {}; {} × {} × {} = {}", T, T + 1, 2, triangle(T), triangle(T), c.n_layer, row,
                  triangle(T) * c.n_layer * row),
        own=calc("{} ÷ {} = {}", T, triangle(T), T / triangle(T)),
    )  # fmt: skip


def work() -> Work:
    c = shipped(RUN.model).config
    t, pairs, runs = c.n_ctx, triangle(c.n_ctx), triangle(c.n_ctx)
    token = int(pass_macs(c, 1, 0, 0).sum())
    head = int(pass_macs(c, 0, 0, 1).sum())
    pair = int(pass_macs(c, 0, 1, 0).sum())
    meets = t * (t + 1) * (t + 2) // 6
    cached = t * token + t * head + pairs * pair
    naive = runs * token + t * head + meets * pair
    unlike(cached, naive)
    form = "{} × {} + {} × {} + {} × {} = {}"
    return Work(
        t, token, head, pair,
        pairs=calc("{} × {} ÷ {} = {}", t, t + 1, 2, pairs),
        cached=calc(form, t, token, t, head, pairs, pair, cached),
        runs=calc("{} × {} ÷ {} = {}", t, t + 1, 2, runs),
        meets=calc("{} × {} × {} ÷ {} = {}", t, t + 1, t + 2, 6, meets),
        naive=calc(form, runs, token, t, head, meets, pair, naive),
        times=calc("{} ÷ {} = {}", naive, cached, naive / cached),
    )  # fmt: skip
