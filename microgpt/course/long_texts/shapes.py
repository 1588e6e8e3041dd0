"""What layers keep of a long text and what a step reads, by formula: models in use, and ways to share rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

from microgpt.architectures import Architecture, parameters
from microgpt.architectures.known import PRESETS, alternate
from microgpt.serving.hardware import PROCESSORS, SIZE

H100 = PROCESSORS["H100"]
TEXT_LENGTHS = tuple(8192 << i for i in range(8))  # tokens: 8k to 1M
LONGEST_TEXT = TEXT_LENGTHS[-1]
BASE, PAIRS = "Llama-3.1-8B", 2  # the model whose neighbouring layers may share their rows, so many each
GEMMA_3N = alternate(35, 5, 512)  # windows of Gemma 3n E4B,
KEPT_3N, ROW_3N, CTX_3N = 20, 2 * 2 * 256, 32768  # of whose layers the first so many keep rows; a row, and its context
YOCO_WINDOW = 1024
# of DeepSeek-V3.2: rows that a token reads; a key of the indexer, in 8 bits, and its scale
TOP_K, INDEX_BYTES = 2048, 128 + 4


@dataclass(frozen=True)
class Shape:
    """A model; of its layers, those in `readers` keep no rows and read those of the layer before."""

    model: Architecture
    readers: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def windows(self) -> list[int]:
        """The windows of the layers that keep rows; 0 is all."""
        return [window for layer, window in enumerate(self.model.windows) if layer not in self.readers]

    @property
    def full(self) -> int:
        """Layers that keep every row."""
        return self.windows.count(0)

    @property
    def near(self) -> int:
        return len(self.windows) - self.full

    @cached_property
    def weights(self) -> int:
        """Bytes that a step reads of them. A layer that keeps no rows has no matrices to make them."""
        shapes = parameters(self.model)
        missing = sum(prod(shapes[f"layer{layer}.{name}"]) for layer in self.readers for name in ("wk", "wv"))
        return self.model.weight_bytes_read(SIZE) - SIZE * missing

    def cache(self, tokens: int) -> int:
        """Bytes that are kept."""
        return SIZE * self.model.row * sum(min(tokens, window or tokens) for window in self.windows)

    def read(self, tokens: int) -> int:
        """Bytes of rows that a step reads: each layer reads, whoever keeps them."""
        return self.model.cache_bytes(tokens, 1, SIZE)

    def milliseconds(self, tokens: int) -> float:
        """A step takes at least as long as reading does."""
        return 1000 * (self.weights + self.read(tokens)) / H100.bandwidth

    @property
    def room(self) -> int:
        """Bytes beside the weights on one GPU; below 0 where not even these fit."""
        return H100.memory - self.model.weight_bytes(SIZE)

    @property
    def most(self) -> int:
        """Tokens of one text with which the GPU is full, or LONGEST_TEXT; 0 where the weights alone do not fit."""
        return 0 if self.room < 0 else bisect_right(range(LONGEST_TEXT + 1), self.room, key=self.cache) - 1


def shapes() -> list[Shape]:
    """Those that are drawn."""
    names = (BASE, "Gemma-3-4B", "gpt-oss-20b", "Llama-4-Scout", "DeepSeek-V3")
    readers = frozenset(range(1, PRESETS[BASE].config.n_layer, PAIRS))
    return [*(Shape(PRESETS[name]) for name in names), Shape(PRESETS[BASE], readers)]


class Way(NamedTuple):
    """What of a text is kept and what a step reads of it, in bytes."""

    kind: str
    kept: int
    read: int


def ways(tokens: int) -> list[Way]:
    """A model with all rows, with those of pairs, with those of one layer for half of them; and one that reads few."""
    _, *_, latent, shared = shapes()
    row, half = SIZE * shared.model.row, shared.model.config.n_layer // 2
    one, near = tokens * row, half * min(YOCO_WINDOW, tokens) * row
    layers = latent.model.config.n_layer
    index, chosen = layers * tokens * INDEX_BYTES, latent.read(min(TOP_K, tokens))
    return [
        Way("all", shared.read(tokens), shared.read(tokens)),
        Way("cla", shared.cache(tokens), shared.read(tokens)),
        Way("yoco", near + one, near + half * one),
        Way("latent", latent.cache(tokens), latent.read(tokens)),
        Way("indexer", latent.cache(tokens) + index, chosen + index),
    ]


def count_rows(windows: Sequence[int], tokens: int) -> int:
    return sum(min(tokens, window or tokens) for window in windows)
