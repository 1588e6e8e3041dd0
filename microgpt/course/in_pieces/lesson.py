"""In pieces: softmax over tiles of the keys, parts that are joined, and the numbers that are moved. Knows no HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.attention import tiles
from microgpt.attention.tiles import Part, State
from microgpt.config import Array
from microgpt.course.in_pieces.questions import asks
from microgpt.trace import Reads, Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.heat import scale_for
from microgpt.viz.drawing.lens import Share, settle
from microgpt.viz.drawing.picture import MOST_TOKENS
from microgpt.viz.settings import Settings

MOST_TILES = 6
FACTOR, SHARE = 3, 2  # decimals of what the sums of before are multiplied by, and of what a bar counts
LARGE_SCORES, LARGE_VALUES = (900.0, 1000.0, 999.0), (1.0, 2.0, 3.0)  # scores whose e^s no computer can hold
HEAD_WIDTH, LONG_TEXT = 128, 4096  # numbers of a head's row, and tokens, of which the traffic is counted
PROCESSORS = 108  # of an A100
LOADS = ((8, 1024), (8, 8192), (8, 65536), (32, 8192), (256, 8192))  # texts times heads, keys
# the attention of GPT-2 medium on the card, forward and backward: table 2 of FlashAttention's paper
# GFLOPs, GB and milliseconds, step by step and in tiles
PUBLISHED = ((66.6, 40.3, 41.7), (75.2, 4.4, 7.3))
GPU, SOFTWARE = "A100", "flash-attention 2"


class TiledKey(NamedTuple):
    """A key: its token, its score, and after each tile e^(score - m), 0 where it has not been seen yet."""

    name: str  # by which it is asked
    token: str
    score: float
    shares: list[float]

    @property
    def was(self) -> list[float]:
        """The same one tile before."""
        return [0.0, *self.shares[:-1]]


class Tile(NamedTuple):
    """A tile of keys, and what is known after it."""

    keys: list[TiledKey]
    before: State | None
    state: State
    added: float  # to l
    added_o: Array

    @property
    def rose(self) -> bool:
        """The largest score is in this tile, so all that was before is made smaller."""
        return self.before is not None and self.state.factor < 1


class Moved(NamedTuple):
    """The numbers that a head moves for so many queries: with scores stored and without."""

    queries: int
    apart: int
    once: int

    @property
    def times(self) -> float:
        return self.apart / self.once

    @property
    def share(self) -> float:
        return self.once / self.apart


class View:
    """One query over its keys."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.recording()
        recording.run_prompt()
        trace, config, n = recording.trace, recording.model.config, recording.n_prompt
        reads = {
            (layer, head): read_head(trace, config.n_head // config.n_kv_head, n, layer, head)
            for layer in range(config.n_layer)
            for head in range(config.n_head)
        }
        size = max(2, math.ceil(n / MOST_TILES))
        layer, head = max(reads, key=lambda at: risen(reads[at][0], size))
        scores, values = reads[layer, head]
        words = [str(token) for token in trace.about["tokens"][:n]]
        found = tiles_of(scores, values, words, size)
        off = {at: np.abs(tiles.attend(*one, size).out - answer_of(trace, n, *at)).max() for at, one in reads.items()}
        parts = tiles.split(scores, values, 2, size)
        mean = np.mean([part.out for part in parts], axis=0)
        self.trace, self.layer, self.head, self.mean = trace, layer, head, mean
        self.choices = (Choice("tile", range(len(found)), next((i for i, t in enumerate(found) if t.rose), 0)),)
        self.fields = (Choice("lens", ("", *ask_names(n)), "", in_figure=False),)
        self.token = words[-1]
        self.tiles = found
        self.everywhere = float(max(off.values()))  # the largest over all heads and layers
        self.scale = scale_for(
            *(o for tile in found for o in (tile.state.o, tile.added_o)),
            values,
            *(tile.state.part.out for tile in found),
        )
        self.splits = halves(words, parts)
        self.joined = tiles.join(parts)
        self.off = float(np.abs(mean - found[-1].state.part.out).max())  # of the plain mean of the parts
        self.large_out = float(tiles.attend(np.array(LARGE_SCORES), np.array(LARGE_VALUES)[:, None], 1).out[0])
        self.moved = [
            Moved(q, tiles.separate_traffic(q, LONG_TEXT, HEAD_WIDTH), tiles.once(q, LONG_TEXT, HEAD_WIDTH))
            for q in (LONG_TEXT, 1)
        ]
        # texts times heads, keys, splits
        self.loads = [(heads, keys, tiles.n_splits(heads, keys, PROCESSORS)) for heads, keys in LOADS]
        self.asks = asks(scores, size)

    def lines(self, i: int) -> list[tuple[TiledKey, Share | None]]:
        """The keys that have been read with tile i, and where their bars come from."""
        m = self.tiles[i].state.m
        return [(key, power(key.score, m)) for tile in self.tiles[: i + 1] for key in tile.keys]

    def factor(self, i: int) -> Share | None:
        """Where the factor of tile i comes from; there is none of the first."""
        before = self.tiles[i].before
        return power(before.m, self.tiles[i].state.m, FACTOR) if before else None

    @property
    def rises(self) -> list[int]:
        """The tiles that bring a larger score."""
        return [i for i, tile in enumerate(self.tiles) if tile.rose]


view = View


def ask_names(n: int) -> list[str]:
    """What can be asked of n keys: ["f", "k0", "k1"]."""
    return ["f", *(f"k{at}" for at in range(n))]


def can_be_asked() -> list[str]:
    """Of as many as a page steps through."""
    return ask_names(MOST_TOKENS)


def power(score: float, m: float, digits: int = SHARE) -> Share | None:
    """The line of e^(score - m), with so many decimals in the end."""
    return settle(Share(score, m, 1.0, 1.0, math.exp(score - m), 0, 0, digits))


def halves(words: Sequence[str], parts: Sequence[Part]) -> list[tuple[list[str], Part, float]]:
    """The parts with their tokens, and the weight of each among them."""
    whole, cuts = tiles.join(parts), np.array_split(np.arange(len(words)), 2)
    return [
        ([words[j] for j in cut], part, math.exp(part.lse - whole.lse)) for cut, part in zip(cuts, parts, strict=False)
    ]


def read_head(trace: Trace, group: int, n: int, layer: int, head: int) -> tuple[Array, Array]:
    """The scores of the last query over all keys [n], and their values [n, head_dim]."""
    reads = Reads(trace)
    values = np.stack([reads.row("v", i, layer, n - 1)[head // group] for i in range(n)])
    return trace["attn_scores", n - 1, layer][head, 0], values


def answer_of(trace: Trace, n: int, layer: int, head: int) -> Array:
    """What the model itself has mixed for the last query, [head_dim]."""
    heads = len(trace["attn_scores", n - 1, layer])
    found: Array = trace["head_out", n - 1, layer][0].reshape(heads, -1)[head]
    return found


def risen(scores: Array, size: int) -> tuple[int, float]:
    """How often a tile brings a larger score, and how much smaller that makes what was before, at most half a unit."""
    largest = np.maximum.accumulate([scores[at : at + size].max() for at in range(0, len(scores), size)])
    rises = np.diff(largest)
    return int((rises > 0.2).sum()), float(rises.max(initial=0))


def tiles_of(scores: Array, values: Array, words: Sequence[str], size: int) -> list[Tile]:
    states = list(tiles.online(scores, values, size))
    found = []
    for i, state in enumerate(states):
        at = slice(i * size, (i + 1) * size)
        e = np.exp(scores[at] - state.m)
        keys = [
            TiledKey(
                f"k{j}", words[j], float(scores[j]), [0.0] * i + [float(np.exp(scores[j] - s.m)) for s in states[i:]]
            )
            for j in range(at.start, min(at.stop, len(scores)))
        ]
        found.append(Tile(keys, states[i - 1] if i else None, state, float(e.sum()), e @ values[at]))
    return found
