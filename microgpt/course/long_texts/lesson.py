"""What long texts cost models in use, by formula, and a window at work in a model of ours. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from microgpt.architectures import Architecture
from microgpt.architectures.known import PRESETS
from microgpt.course.long_texts import windowed
from microgpt.course.long_texts.questions import asks
from microgpt.course.long_texts.shapes import (
    CTX_3N,
    GEMMA_3N,
    H100,
    INDEX_BYTES,
    KEPT_3N,
    LONGEST_TEXT,
    ROW_3N,
    TEXT_LENGTHS,
    TOP_K,
    YOCO_WINDOW,
    Shape,
    count_rows,
    shapes,
    ways,
)
from microgpt.serving.hardware import SIZE
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.viz.text.sources import SOURCES

__all__ = ["H100", "INDEX_BYTES", "LONGEST_TEXT", "TOP_K", "YOCO_WINDOW"]  # what the templates read

TERABYTES = H100.bandwidth / 10**12  # per second
SHOWN = TEXT_LENGTHS.index(131_072)  # the length on show
IN_TABLE = (8192, 32_768, 131_072, 1_048_576)
LEAST_CTX = 32_768  # of the models in the table
UNITS = 1024  # how high and how wide the picture is, in its own units
GAP = 0.14  # of a column
NUMBER_BITS = 8 * SIZE  # of a number
OTHERS_WORK = {  # what of others the words name, and when it came
    "cla": ("CLA", SOURCES["cla"].year),
    "yoco": ("YOCO", SOURCES["yoco"].year),
    "reader": ("Gemma 3n E4B", SOURCES["gemma3n"].year),
    "sparse": ("DeepSeek-V3.2", SOURCES["deepseek-v3.2"].year),
    "thinker": ("Qwen3", SOURCES["qwen3"].year),
}
THINKER = "Qwen3-8B"
BEFORE, THINKING, ANSWER = 2000, 10_000, 500  # tokens of a turn
K = 1024  # as lengths are called: 8k is 8 × 1,024


Box: TypeAlias = tuple[float, float, float, float]


class Cost(NamedTuple):
    """A model at a length, in bytes."""

    cache: int
    rows: int  # that a step reads
    milliseconds: float
    share: float  # of the rows in what is read
    fits: int  # texts of that length on one GPU beside the weights
    beyond: bool  # longer than the model sees


class Strip(NamedTuple):
    """Halves of columns that look alike: where each is, from the top down; their width, kind and window."""

    runs: list[tuple[float, float, int]]
    width: float
    side: str
    window: int


class Drawn(NamedTuple):
    """A model as columns."""

    at: int  # its number
    shape: Shape
    strips: list[Strip]
    costs: list[Cost]
    line: float  # how far down it lies at which the GPU is full
    limit: list[tuple[float, float, int]]  # that line; none where the weights do not fit, or every text does


class Thought(NamedTuple):
    """A turn of a model that thinks before it answers."""

    first: float  # milliseconds of the first of these tokens, and of the last
    last: float
    seconds: float  # of all
    rows: int  # bytes
    again: int  # tokens that the next turn has to run again


class View:
    """Models in use by length; and one of ours, of which half the layers have a window."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.recording()
        recording.run_prompt()
        model, ids = recording.model, recording.ids[: recording.n_prompt]
        known = shapes()
        wide = max(one.model.row * one.model.config.n_layer for one in known)
        self.trace, self.n = recording.trace, len(ids)
        self.models = [columns_of(i, one, wide) for i, one in enumerate(known)]
        self.lengths = [(tokens, name_of(tokens)) for tokens in TEXT_LENGTHS]
        self.run = windowed.run_both(model, ids, [show(token) for token in model.tokenizer.vocabulary])
        self.choices = (
            Choice("length", range(len(TEXT_LENGTHS)), SHOWN),
            Choice("known", range(len(known)), 0),
            Choice("step", range(len(ids)), len(ids) - 1, in_figure=False),
        )
        self.model, self.shown = model.name, TEXT_LENGTHS[SHOWN]
        self.columns = [name_of(tokens) for tokens in IN_TABLE]
        self.held = self.run.moments[-1].held  # by layer
        self.ways = [(way, way.kept / most(), way.read / most()) for way in ways(TEXT_LENGTHS[SHOWN])]
        self.way = {way.kind: way for way, *_ in self.ways}
        self.table = [line(one) for one in sorted(PRESETS.values(), key=by_long_cache) if one.config.n_ctx >= LEAST_CTX]
        (self.cheapest, *_), *_, (self.dearest, *_) = [
            row for row in self.table if row[0].config.n_ctx >= TEXT_LENGTHS[SHOWN]
        ]
        self.least, self.largest = by_long_cache(self.cheapest), by_long_cache(self.dearest)
        self.base, self.gemma, self.oss, _, self.latent, self.shared = self.models
        self.least_share = self.oss.shape.full / self.oss.shape.model.config.n_layer
        self.if_full = {
            one.shape.name: one.shape.model.bytes_per_token(SIZE) * TEXT_LENGTHS[SHOWN] for one in self.models
        }
        kept, every = GEMMA_3N[:KEPT_3N], GEMMA_3N
        self.gemma_3n = (len(every), KEPT_3N, *(SIZE * ROW_3N * count_rows(part, CTX_3N) for part in (kept, every)))
        self.thought = think(Shape(PRESETS[THINKER]))
        self.asks = asks()

    def boxes(self, strip: Strip, length: int, x: float, y: float, w: float, h: float) -> list[Box]:
        """Where the columns of a strip lie in a figure: x, y, width and height, at least a hair."""
        tokens = min(TEXT_LENGTHS[length], strip.window or LONGEST_TEXT)
        high, wide = max(1, h * tokens / LONGEST_TEXT), w * strip.width / UNITS
        return [(x + w * mid / UNITS - wide / 2, y + h - high, wide, high) for mid, *_ in strip.runs]


view = View


def name_of(tokens: int) -> str:
    """As it is called: 8k, 1M."""
    return f"{tokens // K}k" if tokens < K * K else f"{tokens // K**2}M"


def cost(one: Shape, tokens: int) -> Cost:
    cache, rows = one.cache(tokens), one.read(tokens)
    fits = max(0, one.room) // cache
    beyond = tokens > one.model.config.n_ctx
    return Cost(cache, rows, one.milliseconds(tokens), rows / (rows + one.weights), fits, beyond)


def columns_of(at: int, one: Shape, wide: int) -> Drawn:
    """Columns as wide as their rows, one a layer; what a strip has to be cut to is told by its window."""
    column = UNITS * one.model.row / wide
    sides = ("any",) if one.model.latent else ("k", "v")
    width = column * (1 - GAP) / len(sides)
    strips = []
    for window in sorted({*one.windows}):
        for half, side in enumerate(sides):
            own = [i for i, each in enumerate(one.model.windows) if each == window and i not in one.readers]
            strips.append(Strip([(i * column + (half + 0.5) * width, 0, UNITS) for i in own], width, side, window))
    if one.readers:
        width *= len(sides)
        strips.append(Strip([(i * column + width / 2, 0, UNITS) for i in sorted(one.readers)], width, "none", 0))
    line = UNITS * (1 - one.most / LONGEST_TEXT)
    costs = [cost(one, tokens) for tokens in TEXT_LENGTHS]
    return Drawn(at, one, strips, costs, line, [(0, line, UNITS)] if one.most and line else [])


def most() -> int:
    """Bytes of the longest bar."""
    return max(max(way.kept, way.read) for way in ways(TEXT_LENGTHS[SHOWN]))


def by_long_cache(one: Architecture) -> int:
    return one.cache_bytes(TEXT_LENGTHS[SHOWN])


def line(one: Architecture) -> tuple[Architecture, list[tuple[int, bool]], float]:
    """A line of the table: bytes by length, and whether that is longer than the model sees; and milliseconds."""
    caches = [(one.cache_bytes(n), n > one.config.n_ctx) for n in IN_TABLE]
    return one, caches, Shape(one).milliseconds(TEXT_LENGTHS[SHOWN])


def think(one: Shape) -> Thought:
    """What is thought comes after the prompt; the next turn begins without it."""
    times = [one.milliseconds(BEFORE + i) for i in range(1, THINKING + 1)]
    return Thought(times[0], times[-1], sum(times) / 1000, one.cache(THINKING), ANSWER)
