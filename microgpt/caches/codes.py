"""Numbers in fewer bits: whole numbers with a scale for each group of them, and floats of eight bits.

A group of numbers is laid on a grid of 2^bits points, and of each number only the place of the nearest point is kept:

    asymmetric   scale = (max - min) / (2^bits - 1)      code = round((x - min) / scale)
    symmetric    scale = max|x| / (2^(bits - 1) - 1)     no minimum to keep: 0 is always a point

so that no number moves by more than half a scale. One large number widens the grid of its whole group; which numbers
make a group is therefore what matters (`microgpt.caches.quantised`). Scales and minima are kept in a float of their
own, rounded outwards: the grid never ends before the group does.

A float of eight bits brings its grid with it: e4m3 has 4 bits of exponent and 3 of mantissa, e5m2 has 5 and 2. Their
error goes by the size of the number itself, and numbers beyond the largest become the largest.

Knows numbers; knows neither keys nor values.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from microgpt.config import Array, DType
from microgpt.errors import N_, UserError

BITS = (2, 4, 8)


class Codes(NamedTuple):
    """Groups in few bits: whole bytes of codes [..., group * bits / 8], and what brings each group back [..., 1]."""

    packed: Array  # uint8, 8 / bits codes in a byte, the first in the lowest bits
    scale: Array
    low: Array  # the first point of the grid; empty where the grid is symmetric

    @property
    def nbytes(self) -> int:
        return self.packed.nbytes + self.scale.nbytes + self.low.nbytes


@dataclass(frozen=True)
class Grid:
    """Codes of `bits` bits; the last axis of an array is a group.

    >>> grid = Grid(bits=4)
    >>> grid.unpack(grid.encode(np.array([-1, 0, 0.4, 2])).packed).tolist()
    [0, 5, 7, 15]
    """

    bits: int = 8
    symmetric: bool = False
    scales: DType = np.float64  # what a scale and a minimum are kept in; engines take np.float16

    def __post_init__(self) -> None:
        if self.bits not in BITS:
            raise UserError("Codes of %(bits)s bits: choose 2, 4 or 8.", bits=self.bits)

    def encode(self, x: Array) -> Codes:
        """The nearest points of the grid of each group."""
        largest = np.abs(x).max(axis=-1, keepdims=True)
        if largest.size and not largest.max() <= np.finfo(self.scales).max:
            raise UserError(
                "A number of %(largest)s has no code: a scale reaches %(most)s at most. Keep scales of more bits.",
                largest=format(largest.max(), ".3g"),
                most=format(np.finfo(self.scales).max, ".3g"),
            )
        steps = 2**self.bits - 1
        if self.symmetric:
            steps = 2 ** (self.bits - 1) - 1
            scale = outwards(largest / steps, self.scales, np.inf)
            low, first = scale[..., :0], -scale.astype(x.dtype) * steps
            steps *= 2
        else:
            low = outwards(x.min(axis=-1, keepdims=True), self.scales, -np.inf)
            first = low.astype(x.dtype)
            scale = outwards((x.max(axis=-1, keepdims=True) - first) / steps, self.scales, np.inf)
        divisor = np.where(scale > 0, scale, 1).astype(x.dtype)  # all numbers of a group equal: code 0, exact
        return Codes(self.pack(np.rint((x - first) / divisor).clip(0, steps).astype(np.uint8)), scale, low)

    def decode(self, codes: Codes, dtype: DType = np.float64) -> Array:
        """The points of the grid that were nearest."""
        scale = codes.scale.astype(dtype)
        first = -scale * (2 ** (self.bits - 1) - 1) if self.symmetric else codes.low.astype(dtype)
        x: Array = self.unpack(codes.packed).astype(dtype)
        x *= scale
        x += first
        return x

    def pack(self, codes: Array) -> Array:
        """8 / bits codes to a byte."""
        a_byte = 8 // self.bits
        if codes.shape[-1] % a_byte:
            sentence = N_("Groups of %(group)s codes of %(bits)s bits fill no whole bytes; choose a multiple of %(n)s.")
            raise UserError(sentence, group=codes.shape[-1], bits=self.bits, n=a_byte)
        packed: Array = codes[..., ::a_byte].copy()
        for i in range(1, a_byte):
            packed |= codes[..., i::a_byte] << (i * self.bits)
        return packed

    def unpack(self, packed: Array) -> Array:
        """The codes, one a byte."""
        if self.bits == 8:
            return packed
        a_byte = 8 // self.bits
        shifts = (np.arange(a_byte) * self.bits).astype(np.uint8)
        codes = (packed[..., None] >> shifts) & np.uint8(2**self.bits - 1)
        return codes.reshape(*packed.shape[:-1], packed.shape[-1] * a_byte)

    def bytes_of(self, group: int) -> int:
        """What a group takes: its codes, its scale, and its minimum where it has one."""
        return group * self.bits // 8 + np.dtype(self.scales).itemsize * (1 if self.symmetric else 2)


def outwards(x: Array, dtype: DType, towards: float) -> Array:
    """x in another float, never rounded away from `towards`."""
    near = x.astype(dtype)
    short = near < x if towards > 0 else near > x
    further: Array = np.where(short, np.nextafter(near, np.array(towards, dtype)), near)
    return further


@dataclass(frozen=True)
class Float8:
    """Floats of eight bits, of x / scale. NumPy has none: the table of their values is computed here.

    >>> Float8("e4m3").largest, Float8("e5m2").largest
    (448.0, 57344.0)
    """

    kind: Literal["e4m3", "e5m2"] = "e4m3"
    scale: float = 1.0  # one for all; engines keep one a tensor or a head

    def __post_init__(self) -> None:
        if self.kind not in MANTISSA:
            raise UserError("There is no float of eight bits %(kind)s; choose e4m3 or e5m2.", kind=self.kind)
        if not 0 < self.scale < np.inf:
            raise UserError("A scale of %(scale)s: choose a positive number.", scale=self.scale)

    @property
    def largest(self) -> float:
        return float(values_of(self.kind)[-1])

    def encode(self, x: Array) -> Codes:
        """The nearest value, of two equally near the one with an even code.

        Beyond the largest it is the largest; what is not a number stays so.
        """
        values = values_of(self.kind)
        between = (values[1:] + values[:-1]) / 2
        size = np.abs(x) / self.scale
        code = np.searchsorted(between, size)  # of two equally near the lower
        tie = (code < len(between)) & (size == between[np.minimum(code, len(between) - 1)])
        code = np.where(np.isnan(x), 127, code + (tie & (code % 2 == 1)))
        return Codes((code | np.where(np.signbit(x), 128, 0)).astype(np.uint8), np.empty(0), np.empty(0))

    def decode(self, codes: Codes, dtype: DType = np.float64) -> Array:
        values = values_of(self.kind)
        signed = np.concatenate([values, np.full(128 - len(values), np.nan)])
        both = (np.concatenate([signed, -signed]) * self.scale).astype(dtype)
        return both[codes.packed]

    def bytes_of(self, group: int) -> int:
        return group


MANTISSA = {"e4m3": 3, "e5m2": 2}
N_FINITE = {"e4m3": 127, "e5m2": 124}  # e4m3 gives one code up for "not a number", e5m2 four for it and for infinity


@functools.cache
def values_of(kind: str) -> Array:
    """What codes 0, 1, 2, ... stand for: all values from 0 to the largest, in order."""
    m = MANTISSA[kind]
    codes = np.arange(N_FINITE[kind])
    exponent, mantissa = codes >> m, (codes & (2**m - 1)) / 2**m
    bias = 2 ** (6 - m) - 1
    values: Array = np.where(exponent > 0, (1 + mantissa) * 2.0 ** (exponent - bias), mantissa * 2.0 ** (1 - bias))
    return values
