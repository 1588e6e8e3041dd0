"""Exercises of the second part: windows, what else could be kept, parameters, what a change reaches, a loss by hand.

Knows no HTML.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from microgpt.apps.exercises.sheet import Calc, Task, calc, chain, listing, triangle, unlike
from microgpt.architectures.known import PRESETS
from microgpt.config import Config, n_params, param_shapes
from microgpt.decode import probabilities
from microgpt.tokenizer import START
from microgpt.trace import Trace
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import shipped

TASKS = (
    Task("window", "compute", 15, 9, ("why-q",)),
    Task("instead", "compute", 15, 9, ("why-q", "inside")),
    Task("count", "compute", 15, 10, ("inside",)),
    Task("swap", "predict", 10, 5, ("inside", "old-rows")),
    Task("order", "plan", 15, 9, ("old-rows",)),
    Task("places", "bug", 10, 7, ("old-rows",)),
    Task("edits", "compute", 10, 6, ("edited-text",)),
    Task("loss", "compute", 15, 9, ("training",)),
)
T, WINDOW = 12, 4
KEPT = ("GPT-2 124M", "Gemma-2B", "Llama-3-8B")  # models that could keep x
LONG = 1000  # rows of the cache, for what x costs
SMALL = Config(n_layer=2, n_embd=32, n_head=4, n_kv_head=2, head_dim=8, n_mlp=128, n_ctx=64, vocab_size=50)
BEFORE, AFTER = Settings("names-deep", "leo"), Settings("names-deep", "mio")  # up to the last letter, which is the same
STOPS = (("embed", -1), ("q", 0), ("k", 0), ("attn_scores", 0), ("head_out", 0), ("q", 1), ("k", 1), ("logits", -1))
PROMPT = (900, 10, 1500, 60)  # tokens: instructions, date, examples, question
FILE, EDITS = 4000, (3900, 2000, 3000)  # tokens of a file, and the positions at which it is edited, one after the other
NAME, SPLIT = Settings("names", "iva"), 3  # digits of the probabilities


class Window(NamedTuple):
    """How often the rows of a text are read when a token sees its last w rows alone."""

    t: int
    w: int
    reads: list[int]
    total: Calc
    whole: Calc
    rule: str = "min(w, T − j)"
    missing: str = "w × (w − 1) ÷ 2"
    sum: str = "w × T − w × (w − 1) ÷ 2"


class Kept(NamedTuple):
    """What a model keeps per token and layer, and what it would keep of x."""

    name: str
    x: int
    heads: int
    head_dim: int
    row: Calc
    times: Calc


class Instead(NamedTuple):
    models: list[Kept]
    long: int
    again: Calc
    own: Calc


class Counted(NamedTuple):
    """The parameters of a small model, by their tensors."""

    config: Config
    tables: list[tuple[str, Calc]]
    layer: Calc
    total: Calc
    cached: Calc


class Stop(NamedTuple):
    name: str
    layer: int
    changes: bool


class Swap(NamedTuple):
    """Two texts with the same last token, and the stops at which it differs."""

    before: list[str]
    after: list[str]
    stops: list[Stop]


class Order(NamedTuple):
    """A prompt in four parts, of which the second and the last change every day."""

    told: int
    date: int
    examples: int
    question: int
    total: Calc
    again: Calc
    best: Calc
    times: Calc
    layers: int
    stale: Calc
    rows: int


class Guess(NamedTuple):
    read: str
    comes: str
    p: float
    loss: float


class Loss(NamedTuple):
    """A text as training reads it: the probability of each token that really comes next."""

    guesses: list[Guess]
    mean: Calc
    even: Calc
    scores: Calc
    masked: Calc
    vocab: int
    kept: str = "T × (T + 1) ÷ 2"


class Places(NamedTuple):
    code: str
    window: int
    positions: list[int]  # that the first steps take
    first: int  # step whose position is wrong, counted from 1


class Edits(NamedTuple):
    """A file that is edited in several places: tokens to run if the model is asked after each, or once."""

    length: int
    at: tuple[int, ...]
    each: Calc
    once: Calc
    between: Calc  # rows from the first edited token to the next, without it


class Numbers(NamedTuple):
    window: Window
    instead: Instead
    counted: Counted
    swap: Swap
    order: Order
    places: Places
    edits: Edits
    loss: Loss


def numbers() -> Numbers:
    return Numbers(window(), instead(), counted(), swap(), order(), places(), edits(), loss())


def window() -> Window:
    reads = [min(WINDOW, T - j) for j in range(T)]
    unlike(sum(reads), triangle(T))
    form = "{} × {} − {} × {} ÷ {} = {}"
    return Window(
        T, WINDOW, reads,
        total=calc(form, WINDOW, T, WINDOW, WINDOW - 1, 2, sum(reads)),
        whole=calc("{} × {} ÷ {} = {}", T, T + 1, 2, triangle(T)),
    )  # fmt: skip


def instead() -> Instead:
    configs = {name: PRESETS[name].config for name in KEPT}
    models = [
        Kept(
            name, c.n_embd, c.n_kv_head, c.head_dim, chain([2, c.n_kv_head, c.head_dim], "×", row_of(c)),
            calc("{} ÷ {} = {}", c.n_embd, row_of(c), c.n_embd / row_of(c)),
        )
        for name, c in configs.items()
    ]  # fmt: skip
    last = configs[KEPT[-1]]
    return Instead(
        models, LONG,
        again=chain([LONG, last.n_embd, row_of(last)], "×", LONG * last.n_embd * row_of(last)),
        own=chain([last.n_embd, row_of(last)], "×", last.n_embd * row_of(last)),
    )  # fmt: skip


def row_of(c: Config) -> int:
    """Numbers of K and V, per token and layer."""
    return 2 * c.n_kv_head * c.head_dim


def counted() -> Counted:
    shapes = param_shapes(SMALL)
    own = {name.removeprefix("layer0."): shape for name, shape in shapes.items() if not name.startswith("layer1.")}
    tables = [(name, chain(shape, "×", math.prod(shape))) for name, shape in own.items()]
    layer = [math.prod(shape) for name, shape in shapes.items() if name.startswith("layer0.")]
    rest = [math.prod(shape) for name, shape in shapes.items() if not name.startswith("layer")]
    return Counted(
        SMALL, tables, chain(layer, "+", sum(layer)),
        calc(" + ".join(["{}"] * len(rest)) + " + {} × {} = {}", *rest, SMALL.n_layer, sum(layer), n_params(SMALL)),
        chain([SMALL.n_layer, row_of(SMALL)], "×", SMALL.n_layer * row_of(SMALL)),
    )  # fmt: skip


def swap() -> Swap:
    one, other = BEFORE.trace(), AFTER.trace()
    last = len(BEFORE.prompt)
    texts = [[show(token) for token in trace.about["tokens"][: last + 1]] for trace in (one, other)]
    stops = [
        Stop(name, layer, not np.array_equal(one[name, last, layer], other[name, last, layer])) for name, layer in STOPS
    ]
    return Swap(texts[0], texts[1], stops)


def order() -> Order:
    told, date, examples, question = PROMPT
    total, layers = sum(PROMPT), PRESETS["Llama-3-8B"].config.n_layer
    again, best = total - told, date + question
    unlike(again, best)
    later = examples + question
    stale = date * layers + later * (layers - 1)
    return Order(
        *PROMPT, chain(PROMPT, "+", total), chain(PROMPT[1:], "+", again), chain([date, question], "+", best),
        calc("{} ÷ {} = {}", again, best, again / best), layers,
        calc("{} × {} + {} × {} = {}", date, layers, later, layers - 1, stale), total * layers,
    )  # fmt: skip


def places() -> Places:
    taken = [min(step, WINDOW) for step in range(2 * WINDOW)]
    return Places(listing("window"), WINDOW, taken, next(i for i, p in enumerate(taken) if i != p) + 1)


def edits() -> Edits:
    each, once = sum(FILE - at for at in EDITS), FILE - min(EDITS)
    unlike(each, once)
    first, second, _ = sorted(EDITS)
    return Edits(
        FILE, EDITS, chain([FILE - at for at in EDITS], "+", each), calc("{} − {} = {}", FILE, first, once),
        calc("{} − {} − 1 = {}", second, first, second - first - 1),
    )  # fmt: skip


def loss() -> Loss:
    trace, config = NAME.trace(), shipped(NAME.model).config
    guesses = [guess(trace, i) for i in range(len(trace.about["tokens"]))]
    losses, n = [one.loss for one in guesses], len(guesses)
    return Loss(
        guesses, calc("(" + " + ".join(["{}"] * n) + ") ÷ {} = {}", *losses, n, sum(losses) / n),
        calc("ln {} = {}", config.vocab_size, math.log(config.vocab_size)),
        scores=calc("{} × {} ÷ {} = {}", n, n + 1, 2, triangle(n)),
        masked=calc("{} × {} − {} = {}", n, n, triangle(n), n * n - triangle(n)),
        vocab=config.vocab_size,
    )  # fmt: skip


def guess(trace: Trace, i: int) -> Guess:
    """What the model gave the token that comes after position i: the text's next one, or its end."""
    tokens, ids = trace.about["tokens"], shipped(NAME.model).tokenizer.encode("".join(trace.about["tokens"][1:]))
    comes = [*tokens[1:], START][i]
    id_ = [*ids[1:], ids[0]][i]
    p = round(float(probabilities(trace["logits", i, -1][0])[id_]), SPLIT)
    return Guess(show(tokens[i]), show(comes), p, -math.log(p))
