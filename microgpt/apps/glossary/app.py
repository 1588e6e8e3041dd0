"""The glossary: a small picture for each word, drawn from a run of `names`, or from `stories` for what only that has.

All are WIDTH x HEIGHT units, so that a row, a box and a letter are as large in each. What is new, kept, recomputed,
q, k and v look as they do in the lessons. Knows no HTML.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from microgpt.caches.blocks import BlockPool
from microgpt.caches.prefix import begin, publish
from microgpt.config import Array, param_shapes
from microgpt.decode import prefill
from microgpt.experiments import placing
from microgpt.experiments.credit import gradients, losses
from microgpt.experiments.loop import turns
from microgpt.experiments.trainer import Trainer
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.heat import LEVELS, Strip, scale_for
from microgpt.viz.drawing.picture import Meeting, Picture
from microgpt.viz.drawing.thumbs import HEIGHT, WIDTH, Cell, Shape, boxes, heat_row, thumb
from microgpt.viz.settings import Settings
from microgpt.weights import shipped

ROWS = 4  # of a pile: the prompt's
PITCH = HEIGHT // ROWS
HIGH = PITCH - 4  # of a row
MIDDLE = HEIGHT // 2
STEPS = 5  # of what grows step by step


class Letter(NamedTuple):
    """A token, a number or a sign in a picture; x and y are its middle."""

    kind: str
    x: int
    y: int
    text: str | float


Piece: TypeAlias = Cell | Shape | Letter


class Drawn(NamedTuple):
    """A picture: boxes and lines by their kind, then the letters on them."""

    shapes: list[Shape]
    letters: list[Letter]


class View(NamedTuple):
    """The page as it is built."""

    choices: tuple[Choice, ...]
    pictures: dict[str, Drawn]  # by the slug of the word
    wide: int = WIDTH
    high: int = HEIGHT


def view(settings: Settings) -> View:
    run = Run(settings)
    return View((), {slug: drawn(draw(run)) for slug, draw in PICTURES.items()})


def drawn(pieces: Iterable[Piece]) -> Drawn:
    """Boxes of a kind are one path; they lie below what has a path of its own."""
    every = list(pieces)
    boxed = thumb(one for one in every if not isinstance(one, Shape | Letter))
    own = [one for one in every if isinstance(one, Shape)]
    return Drawn([*boxed.shapes, *own], [one for one in every if isinstance(one, Letter)])


class Run:
    """What the pictures are drawn from: the prompt's last step, in the head whose weights differ most."""

    def __init__(self, settings: Settings) -> None:
        self.recording = settings.run()
        self.picture = Picture(self.recording.trace)
        self.i = self.recording.n_prompt - 1
        self.rows = range(max(0, self.i + 1 - ROWS), self.i + 1)  # the newest of the pile
        self.tokens = [self.picture.row_token(i) for i in range(self.picture.n)]

    @cached_property
    def meetings(self) -> list[Meeting]:
        """q of this step with each row of the pile."""
        where = self.picture.of_head(*self.picture.clearest)
        found = next(meets for at, meets in self.picture.meetings(self.i) if at == where)
        return [meet for meet in found if meet.row in self.rows]

    def value(self, name: str, i: int | None = None) -> Array:
        """What was reported at a step: one row of numbers."""
        layer = -1 if name in ("embed", "resid_final", "logits") else 0
        found = self.recording.trace[name, self.i if i is None else i, layer]
        return np.asarray(found).reshape(-1)

    def head(self, name: str, i: int) -> Strip:
        """The row of the head, as cells."""
        return self.picture.of_clearest(self.picture.per_head(name, i))

    def y(self, row: int) -> int:
        """Where a row of the pile lies: the newest on top."""
        return (self.rows.stop - 1 - row) * PITCH

    def pile(self, owner: str, x: int, width: int) -> Iterator[Cell]:
        for row in self.rows:
            yield from filled(owner, self.head(owner, row), x, self.y(row), width, HIGH)


# ---- pieces that several have ---------------------------------------------------------------------


def line(kind: str, *points: tuple[float, float]) -> Shape:
    """A line through these points."""
    return Shape(kind, "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points))


def framed(kind: str, x: int, y: int, width: int, height: int) -> Shape:
    return Shape(kind, f"M{x} {y}h{width}v{height}h{-width}z")


def filled(owner: str, strip: Strip, x: int, y: int, width: int, height: int) -> Iterator[Cell]:
    """A row that has an owner: a cell is filled as far as its number says, from the top where that is below zero."""
    each = width // len(strip.cells)
    yield f"{owner} f0", x, y, each * len(strip.cells), height
    for at, cell in enumerate(strip.cells):
        high = round(height * abs(cell.level) / LEVELS)
        if high:
            yield f"{owner} f2", x + at * each, y + height - high if cell.level > 0 else y, each, high


def heat(values: Array, x: int, y: int, width: int, height: int) -> Iterable[Cell]:
    """A row that has no owner."""
    return heat_row("any", scale_for(values).strip(values), x, y, width, height)


def bars(values: Iterable[float], unit: float, x: int, zero: int, pitch: int, kinds: Iterable[str]) -> Iterator[Cell]:
    """A bar a number, up from `zero` or down; 1 is `unit` high, and nothing is so low that it cannot be seen."""
    for at, (value, kind) in enumerate(zip(values, kinds, strict=False)):
        high = max(1, round(abs(value) * unit))
        yield kind, x + at * pitch, zero - high if value > 0 else zero, max(2, pitch - 4), high


def chip(x: int, width: int, token: str, y: int = MIDDLE, kind: str = "chip") -> Iterator[Piece]:
    yield kind, x, y - 18, width, 36
    yield Letter("any" if len(token) == 1 else "tight", x + width // 2, y, token)


def sharing(n_head: int, n_kv_head: int) -> Iterator[Cell]:
    """The query heads, and below them the keys and values that they share."""
    size = WIDTH // n_head
    across = WIDTH // n_kv_head
    yield from boxes(["q f3"] * n_head, 4, 0, size, 24, 8)
    for group in range(n_kv_head):
        middle = group * across + across // 2
        if across > size:
            yield "line", group * across + size // 2, 33, across - size, 2
        for head in range(n_head // n_kv_head):
            yield "line", group * across + head * size + size // 2 - 1, 24, 2, 10
        yield "line", middle - 1, 33, 2, 11
        yield "k f3", middle - size // 2 + 4, 44, size - 8, 26
        yield "v f3", middle - size // 2 + 4, 74, size - 8, 26


def passes(run: Run, prefill: bool) -> Iterator[Cell]:
    """The prompt's pass, and those of the next tokens; those that are not meant are pale."""
    n, width = run.recording.n_prompt, WIDTH // (run.recording.n_prompt + ROWS - 1)
    for at in range(ROWS):
        meant = prefill == (at == 0)
        new, old = ("new", "kept") if meant else ("pale", "pale")
        cells = [new] * n if at == 0 else [old] * (n + at - 1) + [new]
        yield from boxes(cells, 0, at * PITCH, width, HIGH, 4)


def texts(run: Run, padded: bool) -> Iterator[Cell]:
    """Texts of a batch, one below the other; the shorter ones filled up on the left."""
    width = WIDTH // STEPS
    for at in range(ROWS):
        empty = at if padded else 0
        yield from boxes(["empty"] * empty + ["new"] * (STEPS - empty), 0, at * PITCH, width, HIGH, 4)


# ---- the pictures ---------------------------------------------------------------------------------


def block_table(run: Run) -> Iterator[Piece]:
    """Which block of the pool holds each row of the text, if another one takes turns with it."""
    ids = run.recording.ids[:ROWS]
    steps = placing.take_turns(run.recording.model, [ids, ids], 1, Trace())
    mine, other = max((step.tables for step in steps), key=lambda tables: sum(map(len, tables)))
    high = HEIGHT // (len(mine) + len(other))
    for at, block in enumerate(mine):
        yield "chip", 0, at * PITCH, 36, HIGH
        yield Letter("any", 18, at * PITCH + HIGH // 2, str(block))
        yield line("line", (40, at * PITCH + HIGH // 2), (124, block * high + high // 2))
        yield "new", 128, block * high, 72, high - 3
    yield from (("kept", 128, block * high, 72, high - 3) for block in other)


def prefix_cache(run: Run) -> Iterator[Piece]:
    """The same text twice: the second time its rows are found, but for the last."""
    model, ids = run.recording.model, run.recording.ids[:ROWS]
    pool, wide = BlockPool(model.config, 2 * ROWS, 1), WIDTH // ROWS
    for y in (0, MIDDLE):
        found = len(cache := begin(pool, ids))
        prefill(model.params, model.config, ids[found:], cache)
        publish(cache, ids)
        yield from boxes(["kept"] * found + ["new"] * (len(ids) - found), 0, y, wide, MIDDLE - 6, 6)


def attention(run: Run) -> Iterator[Piece]:
    """Bands from the keys to the values, as thick as the weights: a whole row is 1."""
    yield from run.pile("k", 0, 72)
    yield from run.pile("v", 128, 72)
    for meet in run.meetings:
        thick = max(1, round(meet.weight * HIGH))
        yield "q f3", 76, run.y(meet.row) + (HIGH - thick) // 2, 48, thick


def weight(run: Run) -> Iterator[Piece]:
    """Of each value row the part that is taken."""
    for meet in run.meetings:
        y, thick = run.y(meet.row), max(1, round(meet.weight * HIGH))
        yield "v f0", 72, y, 128, HIGH
        yield "v f3", 72, y + HIGH - thick, 128, thick
        yield Letter("any", 30, y + HIGH // 2, meet.weight)


def score(run: Run) -> Iterator[Piece]:
    best = max(run.meetings, key=lambda meet: meet.weight)
    yield from filled("q", run.head("q", run.i), 0, 18, 112, 28)
    yield from filled("k", run.head("k", best.row), 0, 54, 112, 28)
    yield framed("line", 132, 32, 68, 36)
    yield line("line", (116, MIDDLE), (132, MIDDLE))
    yield Letter("any", 166, MIDDLE, best.score)


def dot_product(run: Run) -> Iterator[Piece]:
    """q and k number by number; below them their products, either way of zero."""
    best = max(run.meetings, key=lambda meet: meet.weight)
    q, k = run.head("q", run.i), run.head("k", best.row)
    yield from filled("q", q, 0, 0, WIDTH, 24)
    yield from filled("k", k, 0, 28, WIDTH, 24)
    products = [one.value * other.value for one, other in zip(q.cells, k.cells, strict=True)]
    each, most = WIDTH // len(products), max(abs(x) for x in products)
    zero = 78
    for kind, x, y, width, high in bars(products, 22 / most, 0, zero, each, ["any f2"] * len(products)):
        yield kind, x + width // 4, y, width // 2, high
    yield "line", 0, zero, WIDTH, 1


def softmax_bars(run: Run) -> Iterator[Piece]:
    """Scores, either way of zero; their weights, none below it."""
    scores, weights = [meet.score for meet in run.meetings], [meet.weight for meet in run.meetings]
    up, down = max(0.0, *scores), max(0.0, *(-x for x in scores))
    unit = HEIGHT / (up + down)
    zero = round(up * unit)
    yield from bars(scores, unit, 0, zero, 20, ["q f1"] * len(scores))
    yield "line", 0, zero, 76, 1
    yield from bars(weights, HEIGHT, 124, HEIGHT - 1, 20, ["q f3"] * len(weights))
    yield "line", 124, HEIGHT - 1, 76, 1
    yield line("line", (88, MIDDLE), (110, MIDDLE), (104, MIDDLE - 5), (110, MIDDLE), (104, MIDDLE + 5))


def own_row(owner: str) -> Callable[[Run], Iterator[Piece]]:
    """A pile of keys or of values: what is kept, the newest framed."""

    def draw(run: Run) -> Iterator[Piece]:
        yield Letter(owner, 24, MIDDLE, owner)
        yield from run.pile(owner, 56, 144)
        yield framed("lit", 54, run.y(run.i) - 1, 148, HIGH + 2)

    return draw


def query(run: Run) -> Iterator[Piece]:
    """The q of this step, and no other: theirs are gone."""
    yield Letter("q", 24, MIDDLE, "q")
    yield from filled("q", run.head("q", run.i), 56, run.y(run.i), 144, HIGH)
    yield framed("lit", 54, run.y(run.i) - 1, 148, HIGH + 2)
    for row in run.rows[:-1]:
        yield "none", 56, run.y(row), 144, HIGH


def kv_cache(run: Run) -> Iterator[Piece]:
    yield from run.pile("k", 0, 96)
    yield from run.pile("v", 104, 96)
    yield framed("lit", -1, run.y(run.i) - 1, 202, HIGH + 2)


def past_key_values(run: Run) -> Iterator[Piece]:
    """The keys and the values of two layers."""
    for left in (0, WIDTH // 2 + 4):
        yield from run.pile("k", left, 44)
        yield from run.pile("v", left + 50, 44)


def head(run: Run) -> Iterator[Piece]:
    """The keys of all heads: each has its own slice of a row."""
    _, at = run.picture.clearest
    n = run.picture.config.n_head
    across = WIDTH // n
    for row in run.rows:
        for one, strip in enumerate(run.picture.per_head("k", row)[:n]):
            yield from filled("k" if one == at else "any", strip, one * across, run.y(row), across - 6, HIGH)


def embedding(run: Run) -> Iterator[Piece]:
    yield from chip(0, 36, run.tokens[run.i])
    yield line("line", (36, MIDDLE), (52, MIDDLE))
    yield from heat(run.value("embed"), 54, MIDDLE - 18, WIDTH - 54, 36)


def residual_stream(run: Run) -> Iterator[Piece]:
    """One row, to which attention and the MLP add theirs."""
    for y, name in ((0, "resid_pre"), (40, "resid_mid"), (80, "resid_final")):
        yield from heat(run.value(name), 0, y, 96, 20)
    for y, name in ((20, "attn_out"), (60, "mlp_out")):
        yield "line", 47, y + 2, 2, 16
        yield line("line", (48, y + 10), (108, y + 10))
        yield from heat(run.value(name), 108, y, 92, 20)


def mlp(run: Run) -> Iterator[Piece]:
    """As wide as they are: what comes in, the inside, what goes out."""
    rows = [run.value(name) for name in ("mlp_norm", "mlp_hidden", "mlp_out")]
    cell = WIDTH // len(rows[1])
    ends = []
    for values, y in zip(rows, (0, 38, 76), strict=True):
        wide = cell * len(values)
        left = (WIDTH - wide) // 2
        yield from heat(values, left, y, wide, 24)
        ends.append((left, left + wide))
    for at, y in enumerate((24, 62)):
        for side in range(2):
            yield line("line", (ends[at][side], y), (ends[at + 1][side], y + 14))


def layer(run: Run) -> Iterator[Piece]:
    """The layers of a deeper model, each as wide as its numbers are many: q, k, v, out; then the MLP."""
    config = shipped("names-deep").config
    shapes = param_shapes(config)
    owners = {"wq": "q f3", "wk": "k f3", "wv": "v f3", "wo": "any f2", "fc1": "any f1", "fc2": "any f1"}
    for at in range(config.n_layer):
        sizes = {name: math.prod(shapes[f"layer{at}.{name}"]) for name in owners}
        x, unit = 0, WIDTH / sum(sizes.values())
        for name, kind in owners.items():
            width = round(sizes[name] * unit)
            yield kind, x, (config.n_layer - 1 - at) * PITCH, width - 2, HIGH
            x += width


def norm(run: Run) -> Iterator[Piece]:
    """How long the rows of the text are, before and after."""
    before = [float(np.linalg.norm(run.value("embed", i))) for i in range(run.i + 1)]
    after = [float(np.linalg.norm(run.value("resid_pre", i))) for i in range(run.i + 1)]
    unit = HEIGHT / max(*before, *after)
    for x, lengths, kind in ((0, before, "any f1"), (124, after, "any f3")):
        yield from bars(lengths, unit, x, HEIGHT - 1, 20, [kind] * len(lengths))
        yield "line", x, HEIGHT - 1, 76, 1
    yield line("line", (88, MIDDLE), (110, MIDDLE), (104, MIDDLE - 5), (110, MIDDLE), (104, MIDDLE + 5))


def logits(run: Run) -> Iterator[Piece]:
    values = run.value("logits")
    top, bottom = float(values.max()), float(values.min())
    unit = HEIGHT / (max(top, 0) - min(bottom, 0))
    zero = round(max(top, 0) * unit)
    pitch = WIDTH // len(values)
    kinds = ["any f3" if at == values.argmax() else "any f1" for at in range(len(values))]
    yield from ((k, x, y, pitch - 2, h) for k, x, y, _, h in bars(values.tolist(), unit, 0, zero, pitch, kinds))
    yield "line", 0, zero, pitch * len(values), 1


def sampling(run: Run) -> Iterator[Piece]:
    """The likeliest tokens, and the one that was taken."""
    found = run.picture.step(run.i).guesses[:ROWS]
    most = max(one.probability for one in found)
    for at, one in enumerate(found):
        y = at * PITCH
        yield Letter("any", 14, y + HIGH // 2, one.token)
        yield "new" if one.chosen else "any f1", 36, y, max(2, round(160 * one.probability / most)), HIGH


def token(run: Run) -> Iterator[Piece]:
    width = WIDTH // (len(run.tokens) - 1)
    for at, one in enumerate(run.tokens[1:]):
        yield from chip(at * width + 2, width - 4, one)


def position(run: Run) -> Iterator[Piece]:
    width = WIDTH // len(run.tokens[:STEPS])
    for at, one in enumerate(run.tokens[:STEPS]):
        yield from chip(at * width + 2, width - 4, one, 30)
        yield Letter("soft", at * width + width // 2, 78, str(at))


def multiply_add(run: Run) -> Iterator[Piece]:
    """A number of q times one of k, and onto the sum."""
    q, k = (run.head(name, run.i).cells[0] for name in "qk")
    for x, kind, cell in ((0, "q", q), (70, "k", k)):
        strip = Strip("", [cell], None)
        yield from filled(kind, strip, x, MIDDLE - 22, 44, 44)
    yield framed("line", 150, MIDDLE - 22, 44, 44)
    yield Letter("any", 57, MIDDLE, "×")
    yield Letter("any", 132, MIDDLE, "+")


def n_ctx(run: Run) -> Iterator[Piece]:
    """All places that there are; some are taken."""
    places = run.picture.config.n_ctx
    across, taken = places // 2, run.picture.n
    kinds = ["kept"] * (taken - 1) + ["new"] + ["empty"] * (places - taken)
    for at in range(2):
        yield from boxes(kinds[at * across : (at + 1) * across], 0, 6 + at * 46, WIDTH // across, 42, 4)


def recompute(run: Run) -> Iterator[Piece]:
    for at in range(STEPS):
        yield from boxes(["again"] * at + ["new"], 30, at * 20, 28, 16, 4)


def mask(run: Run) -> Iterator[Piece]:
    """The weights of a whole text: what comes later has none."""
    layer, head = run.picture.clearest
    for at in range(STEPS):
        weights = run.recording.trace["attn_weights", at, layer][head, 0].tolist()
        kinds = [f"q f{max(1, round(3 * x))}" for x in weights] + ["none"] * (STEPS - len(weights))
        yield from boxes(kinds, 44, at * 20, 22, 16, 4)


def rope(run: Run) -> Iterator[Piece]:
    """The first two pairs of a key at the first positions: one turns fast, the next slowly."""
    config = shipped("stories").config
    for pair, x in enumerate((48, 152)):
        yield Shape("ring", f"M{x - 46} {MIDDLE}a46 46 0 1 1 92 0a46 46 0 1 1 -92 0z")
        for at in range(STEPS):
            angle = turns(config, at)[pair]
            end = x + 44 * math.cos(angle), MIDDLE - 44 * math.sin(angle)
            yield line("ray last" if at == STEPS - 1 else "ray", (x, MIDDLE), end)


def gqa(run: Run) -> Iterator[Piece]:
    config = shipped("stories").config
    return sharing(config.n_head, config.n_kv_head)


def mqa(run: Run) -> Iterator[Piece]:
    return sharing(shipped("stories").config.n_head, 1)


def mla(run: Run) -> Iterator[Piece]:
    """The short row that is kept, and what is made of it."""
    n = run.picture.config.n_head
    size = WIDTH // n
    yield from boxes(["k f0"] * n, 4, 0, size, 24, 8)
    yield from boxes(["v f0"] * n, 4, 28, size, 24, 8)
    for at in range(n):
        yield line("line", (WIDTH / 2, 76), (at * size + size / 2, 54))
    yield "any f3", WIDTH // 4, 76, WIDTH // 2, 24


def gradient(run: Run) -> Iterator[Piece]:
    """Of the numbers of one token's embedding: up or down, little or much."""
    model, ids = run.recording.model, learnt(run)
    found = gradients(model.params, model.config, ids)["wte"][ids[1]]
    values = found / np.abs(found).max()
    pitch = WIDTH // len(values)
    yield from bars(values.tolist(), MIDDLE - 2, 0, MIDDLE, pitch, ["any f2"] * len(values))
    yield "line", 0, MIDDLE, pitch * len(values), 1


def training(run: Run) -> Iterator[Piece]:
    """How likely the right next tokens are, before and after."""
    begun, done, ids = Trainer().model(), run.recording.model, learnt(run)
    chances = [np.exp(-losses(one.params, one.config, ids)).tolist() for one in (begun, done)]
    unit = HEIGHT / max(*chances[0], *chances[1])
    pitch = WIDTH // len(chances[0])
    for at, pair in enumerate(zip(*chances, strict=True)):
        for side, (chance, kind) in enumerate(zip(pair, ("any f1", "new"), strict=True)):
            high = max(1, round(chance * unit))
            yield kind, at * pitch + side * (pitch // 2 - 3), HEIGHT - high, pitch // 2 - 6, high


def learnt(run: Run) -> list[int]:
    """The prompt, as a text to learn."""
    return [*run.recording.ids[: run.recording.n_prompt], run.recording.stop]


PICTURES: dict[str, Callable[[Run], Iterator[Piece]]] = {
    "attention": attention,
    "batch": lambda run: texts(run, padded=False),
    "block-table": block_table,
    "decode": lambda run: passes(run, prefill=False),
    "dot-product": dot_product,
    "embedding": embedding,
    "gqa": gqa,
    "gradient": gradient,
    "head": head,
    "key": own_row("k"),
    "kv-cache": kv_cache,
    "layer": layer,
    "left-padding": lambda run: texts(run, padded=True),
    "logits": logits,
    "mask": mask,
    "mla": mla,
    "mlp": mlp,
    "mqa": mqa,
    "multiply-add": multiply_add,
    "n-ctx": n_ctx,
    "norm": norm,
    "past-key-values": past_key_values,
    "position": position,
    "prefill": lambda run: passes(run, prefill=True),
    "prefix-cache": prefix_cache,
    "query": query,
    "recompute": recompute,
    "residual-stream": residual_stream,
    "rope": rope,
    "sampling": sampling,
    "score": score,
    "softmax": softmax_bars,
    "token": token,
    "training": training,
    "value": own_row("v"),
    "weight": weight,
}
