"""What each line of the loop with a cache does in a pass, in shapes and bytes. Knows no HTML."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from microgpt.config import Config
from microgpt.trace import Trace
from microgpt.viz.text.formats import show

LINES = {  # name -> what the line has that no other of the listing has
    "feed": "input_ids = ",
    "run": "out = model(",
    "keep": "past = out",
    "choose": "fed, new = ",
}
ID_BYTES, NUMBER_BYTES = 8, 4  # of what PyTorch makes by itself: int64 and float32


class Size(NamedTuple):
    """The shape of an array, how many such arrays there are as factors, and the bytes of all together."""

    shape: list[int]
    factors: list[int]

    @property
    def n_bytes(self) -> int:
        return prod(self.factors)

    @property
    def product(self) -> str:
        """The factors; no line ends within the product."""
        return "\u00a0×\u00a0".join(map(str, self.factors))


class PassLines(NamedTuple):
    """Of one pass, an array that each line makes; and the largest of its last logits."""

    fed: Size
    without: Size  # a cache
    new: Size
    before: Size
    after: Size
    logits: Size
    largest: float
    token: str


def rows(config: Config, n: int) -> Size:
    """The keys of a layer, and the values, with n rows; all layers together in bytes."""
    shape = [1, config.n_kv_head, n, config.head_dim]
    return Size(shape, [config.n_layer, 2, *shape[1:], NUMBER_BYTES])


def ids(n: int) -> Size:
    return Size([1, n], [n, ID_BYTES])


def pass_lines(trace: Trace, config: Config, n: int, length: int) -> PassLines:
    """The pass that has taken n ids in, after which the cache has so many rows."""
    logits = trace["logits", length - 1].ravel()
    best = int(logits.argmax())
    return PassLines(
        ids(n),
        ids(length),
        rows(config, n),
        rows(config, length - n),
        rows(config, length),
        Size([1, n, config.vocab_size], [n, config.vocab_size, NUMBER_BYTES]),
        float(logits[best]),
        show(trace.about["vocabulary"][best]),
    )


def code_of(lines: Sequence[str]) -> dict[str, str]:
    """The lines that can be asked, by their names, as the listing has them."""
    return {name: next(line.strip() for line in lines if piece in line) for name, piece in LINES.items()}
