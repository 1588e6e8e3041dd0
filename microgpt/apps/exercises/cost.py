"""Exercises of the third part: what a model must be, what fits on a card, the least times, drafts, and one key less.

Knows no HTML.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from microgpt.apps.exercises.sheet import Calc, Task, calc, chain, listing, unlike
from microgpt.architectures import Architecture
from microgpt.architectures.known import PRESETS
from microgpt.config import Config
from microgpt.cost import kv_bytes
from microgpt.experiments.schedule import A100, Machine, weights_read
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import shipped

TASKS = (
    Task("backwards", "compute", 10, 7, ("memory", "fewer-heads")),
    Task("card", "plan", 20, 11, ("memory", "fewer-heads")),
    Task("times", "compute", 20, 11, ("prefill-and-decode",)),
    Task("drafts", "compute", 15, 9, ("prefill-and-decode",)),
    Task("halves", "predict", 10, 6, ("memory", "fewer-heads")),
    Task("groups", "bug", 10, 7, ("fewer-heads",)),
    Task("dropped", "compute", 20, 12, ("most-read",)),
)
GB = 10**9
SECOND = 1000  # ms
LARGE, PLANNED, LATENT = "Llama-3-70B", "Llama-3-8B", "DeepSeek-V3"
ROOM = 10 * GB
CARD, RESERVED, MEAN = 80 * GB, 8192, 2000  # bytes; tokens that are reserved for a text, and that it has on average
PROMPT, ANSWER, BATCH = 6000, 400, 16
DRAFTED, ACCEPTED, CHEAP = 4, (4, 2, 0, 3, 4), 10  # tokens per round, of which the target accepts; passes of the draft
HALVED = ("n_head", "n_kv_head", "n_layer", "head_dim", "n_mlp", "n_ctx")  # factors of a config that are halved
STORY, LAYER, HEAD, ROWS = Settings("stories", "The sun is"), 0, 1, 4


class Backwards(NamedTuple):
    """A model of which the cache is known, and one of its factors is not."""

    config: Config
    per_token: int
    row: Calc
    heads: Calc
    group: Calc
    room: int
    tokens: Calc
    latent: str  # a model that keeps one short row
    short: int
    same: Calc


class Fit(NamedTuple):
    """How many texts fit beside the weights."""

    per_text: Calc
    texts: Calc


class Card(NamedTuple):
    """A deployment: bytes of a card, tokens that are reserved for each text."""

    name: str
    config: Config
    memory: int
    reserved: int
    mean: int
    weights: int
    left: Calc
    per_token: Calc
    plain: Fit
    halved: Fit
    unshared: Fit
    pages: Fit
    unused: Calc


class Times(NamedTuple):
    """The least times of a chat on one machine, in ms. `weights` and `read` are numbers and bytes that a pass reads."""

    machine: Machine
    macs: int  # per ms
    carried: int  # bytes per ms
    prompt: int
    answer: int
    batch: int
    weights: int
    read: int
    per_token: int
    prefill: Calc
    cache: Calc
    step: Calc
    total: Calc
    together: Calc
    rate: Calc
    rate_together: Calc


class Round(NamedTuple):
    accepted: int
    written: int
    appended: int
    cropped: int


class Drafts(NamedTuple):
    """Speculative decoding, round by round."""

    drafted: int
    cheap: int
    rounds: list[Round]
    written: Calc
    cropped: Calc
    price: Calc
    saved: Calc


class Half(NamedTuple):
    field: str
    changed: bool


class Groups(NamedTuple):
    code: str
    n_head: int
    n_kv_head: int
    read: list[int]  # by the heads, one after the other
    right: list[int]
    wrong: list[int]  # heads


class Given(NamedTuple):
    """The weight that a row has received, all queries together."""

    token: str
    received: Calc
    even: Calc
    times: Calc


class Dropped(NamedTuple):
    """A triangle of weights, and the last row of it once one key is gone."""

    tokens: list[str]
    weights: list[list[float]]
    rows: list[Given]
    most: str  # what has received most, compared with an even share
    gone: int  # the row that got least from the last query, without that query's own
    left: Calc
    again: list[Calc]


class Numbers(NamedTuple):
    backwards: Backwards
    card: Card
    times: Times
    drafts: Drafts
    halves: list[Half]
    groups: Groups
    dropped: Dropped


def numbers() -> Numbers:
    return Numbers(backwards(), card(), times(), drafts(), halves(), groups(), dropped())


def backwards() -> Backwards:
    a = PRESETS[LARGE]
    c, per_token = a.config, a.bytes_per_token()
    row, short = per_token // (c.n_layer * 2), PRESETS[LATENT].row
    return Backwards(
        c, per_token,
        calc("{} ÷ ({} × {}) = {}", per_token, c.n_layer, 2, row),
        calc("{} ÷ ({} × {}) = {}", row, 2, c.head_dim, row // (2 * c.head_dim)),
        calc("{} ÷ {} = {}", c.n_head, c.n_kv_head, c.n_head // c.n_kv_head),
        ROOM, calc("{} ÷ {} = {}", ROOM, per_token, ROOM // per_token),
        LATENT, short, calc("{} ÷ ({} × {}) = {}", short, 2, c.head_dim, short / (2 * c.head_dim)),
    )  # fmt: skip


def card() -> Card:
    a = PRESETS[PLANNED]
    c = a.config
    left = CARD - a.weight_bytes()
    per_token = a.bytes_per_token()
    plain, halved = fit(left, per_token, RESERVED), fit(left, a.bytes_per_token(1), RESERVED)
    unshared, pages = fit(left, a.bytes_if_mha(), RESERVED), fit(left, per_token, MEAN)
    used = MEAN / RESERVED
    unlike(*(one.texts.values[-1] for one in (plain, halved, unshared, pages)))
    return Card(
        PLANNED, c, CARD, RESERVED, MEAN, a.weight_bytes(),
        left=calc("{} − {} = {}", CARD, a.weight_bytes(), left),
        per_token=chain([2, c.n_layer, c.n_kv_head, c.head_dim, 2], "×", per_token),
        plain=plain, halved=halved, unshared=unshared,
        pages=pages, unused=calc("{} − {} ÷ {} = {}", 1, MEAN, RESERVED, 1 - used),
    )  # fmt: skip


def fit(left: int, per_token: int, tokens: int) -> Fit:
    per_text = per_token * tokens
    return Fit(chain([per_token, tokens], "×", per_text), calc("{} ÷ {} = {}", left, per_text, left // per_text))


def times() -> Times:
    a: Architecture = PRESETS[PLANNED]
    weights, per_token = weights_read(a.config, 1), a.bytes_per_token()
    macs, carried = round(A100.macs / SECOND), round(A100.bytes / SECOND)
    read, cache = 2 * weights, PROMPT * per_token
    prefill, step = round(PROMPT * weights / macs, 2), round((read + cache) / carried, 2)
    together = round((read + BATCH * cache) / carried, 2)
    unlike(round(SECOND / step), round(BATCH * SECOND / together))
    return Times(
        A100, macs, carried, PROMPT, ANSWER, BATCH, weights, read, per_token,
        prefill=calc("{} × {} ÷ {} = {}", PROMPT, weights, macs, prefill),
        cache=chain([PROMPT, per_token], "×", cache),
        step=calc("({} + {}) ÷ {} = {}", read, cache, carried, step),
        total=calc("{} + {} × {} = {}", prefill, ANSWER, step, prefill + ANSWER * step),
        together=calc("({} + {} × {}) ÷ {} = {}", read, BATCH, cache, carried, together),
        rate=calc("{} ÷ {} = {}", SECOND, step, round(SECOND / step)),
        rate_together=calc("{} × {} ÷ {} = {}", BATCH, SECOND, together, round(BATCH * SECOND / together)),
    )  # fmt: skip


def drafts() -> Drafts:
    rounds = [Round(n, n + 1, DRAFTED + 1, DRAFTED - n) for n in ACCEPTED]
    written, n = sum(one.written for one in rounds), len(rounds)
    price = n * (1 + DRAFTED / CHEAP)
    unlike(written / price, 1)
    return Drafts(
        DRAFTED, CHEAP, rounds,
        written=chain([one.written for one in rounds], "+", written),
        cropped=chain([one.cropped for one in rounds], "+", sum(one.cropped for one in rounds)),
        price=calc("{} × ({} + {} ÷ {}) = {}", n, 1, DRAFTED, CHEAP, price),
        saved=calc("{} ÷ {} = {}", written, price, written / price),
    )  # fmt: skip


def halves() -> list[Half]:
    whole = PRESETS[PLANNED].config
    return [
        Half(name, kv_bytes(replace(whole, **{name: getattr(whole, name) // 2}), 1, 2) != kv_bytes(whole, 1, 2))
        for name in HALVED
    ]


def groups() -> Groups:
    c = shipped("stories").config
    read = [head % c.n_kv_head for head in range(c.n_head)]
    right = [head // (c.n_head // c.n_kv_head) for head in range(c.n_head)]
    wrong = [head for head in range(c.n_head) if read[head] != right[head]]
    unlike(tuple(read), tuple(right))
    return Groups(listing("groups"), c.n_head, c.n_kv_head, read, right, wrong)


def dropped() -> Dropped:
    trace = STORY.trace()
    weights = [[round(float(w), 2) for w in trace["attn_weights", i, LAYER][HEAD, 0]] for i in range(ROWS)]
    tokens = [show(token) for token in trace.about["tokens"][:ROWS]]
    rows = [given(tokens[j], j, weights) for j in range(ROWS - 1)]  # the newest has been read once
    most = max(rows, key=lambda one: one.times.values[-1]).token
    last = weights[-1]
    gone = int(np.argmin(last[:-1]))
    stay = [w for j, w in enumerate(last) if j != gone]
    again = [calc("{} ÷ {} = {}", w, sum(stay), w / sum(stay)) for w in stay]
    return Dropped(tokens, weights, rows, most, gone, chain(stay, "+", sum(stay)), again)


def given(token: str, j: int, weights: list[list[float]]) -> Given:
    received = [row[j] for row in weights[j:]]
    even = [1 / (i + 1) for i in range(j, len(weights))]
    counts = [x for i in range(j, len(weights)) for x in (1, i + 1)]
    return Given(
        token, chain(received, "+", sum(received)),
        calc(" + ".join(["{} ÷ {}"] * len(even)) + " = {}", *counts, sum(even)),
        calc("{} ÷ {} = {}", sum(received), sum(even), sum(received) / sum(even)),
    )  # fmt: skip
