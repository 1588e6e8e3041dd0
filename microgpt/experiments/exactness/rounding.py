"""Arrays that round after every operation, and add in a stated order: float16 and bfloat16 in plain NumPy.

Such an array goes through `forward` like any other. Every result (a product of matrices, a sum, a difference, a
quotient, e^x, a root) is rounded to its format before anything else sees it. Inside a product of matrices and a sum,
the terms are added in float32 where the format is shorter, as most processors do it, or in the format itself ("sums").
There the order of the terms counts, and the array says which it takes. Knows arrays; knows no model.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from microgpt.config import Array

LANES = 4


def as_it_is(x: Array) -> Array:
    return x


def to_float16(x: Array) -> Array:
    """The nearest number of 16 bits with 11 digits (binary), as a float32."""
    return x.astype(np.float16).astype(np.float32)


def to_bfloat16(x: Array) -> Array:
    """The nearest number that is the upper half of a float32, 8 digits (binary), of two equally near the even one."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    even = (bits >> 16) & 1
    rounded = ((bits + np.uint32(0x7FFF) + even) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isnan(x), np.float32(np.nan), rounded)


class Format(NamedTuple):
    """How numbers are kept: NumPy computes in `dtype`, `nearest` rounds what came out, `within` what a sum holds."""

    dtype: type[np.floating[Any]]
    nearest: Callable[[Array], Array] = as_it_is
    within: Callable[[Array], Array] = as_it_is


FORMATS = {
    "float64": Format(np.float64),
    "float32": Format(np.float32),
    "float16": Format(np.float32, to_float16),
    "bfloat16": Format(np.float32, to_bfloat16),
    "float16 sums": Format(np.float32, to_float16, to_float16),
    "bfloat16 sums": Format(np.float32, to_bfloat16, to_bfloat16),
}


def one_by_one(terms: Array, within: Callable[[Array], Array]) -> Array:
    """The sum over the first axis: each term is added to the sum of those before it."""
    return functools.reduce(lambda total, term: within(total + within(term)), terms[1:], within(terms[0]))


def in_lanes(terms: Array, within: Callable[[Array], Array]) -> Array:
    """The sum over the first axis: every fourth term into the same of four sums, which are added in pairs then."""
    missing = -len(terms) % LANES
    filled = np.concatenate([terms, np.zeros((missing, *terms.shape[1:]), terms.dtype)])
    a, b, c, d = one_by_one(filled.reshape(-1, LANES, *terms.shape[1:]), within)
    return within(within(a + b) + within(c + d))


Sum = Callable[[Array, Callable[[Array], Array]], Array]
ORDERS: dict[str, Sum] = {"one by one": one_by_one, "in lanes": in_lanes}


class Rounded(np.ndarray[Any, np.dtype[Any]]):
    """An array of numbers of one format; `kind_of` makes the class for a format and an order."""

    format: Format
    order: Sum

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        """What NumPy calls for every operation that such an array takes part in."""
        plain = [np.asarray(x) if isinstance(x, Rounded) else x for x in inputs]
        value = self.nearest(self.compute(ufunc, method, plain, options))
        if out is None:
            return value.view(type(self))
        np.asarray(out[0])[...] = value
        return out[0]

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        """The same for functions that compute nothing: what is joined of such arrays is one."""
        if function is not np.concatenate:
            return super().__array_function__(function, types, inputs, options)
        return np.concatenate([np.asarray(x) for x in inputs[0]], **options).view(type(self))

    @classmethod
    def nearest(cls, x: Any) -> Array:
        return cls.format.nearest(np.asarray(x, cls.format.dtype))

    @classmethod
    def compute(cls, ufunc: np.ufunc, method: str, plain: list[Any], options: dict[str, Any]) -> Any:
        if ufunc is np.matmul:
            a, b = plain  # [..., n, inner], [..., inner, m]
            return cls.order(np.moveaxis(a[..., :, :, None] * b[..., None, :, :], -2, 0), cls.format.within)
        if ufunc is np.add and method == "reduce":  # the sum of a softmax, over the last axis
            return cls.order(np.moveaxis(plain[0], -1, 0), cls.format.within)[..., None]
        if ufunc is np.exp:  # in float64: in float32 processors do not agree on its last bit
            return np.exp(np.asarray(plain[0], np.float64))
        return getattr(ufunc, method)(*plain, **options)

    def dot(self, other: Any, out: Any = None) -> Any:
        return self @ other


@functools.cache
def kind_of(format: str, order: str) -> type[Rounded]:
    return type("Rounded", (Rounded,), {"format": FORMATS[format], "order": staticmethod(ORDERS[order])})


def round_to(x: Array, format: str, order: str) -> Rounded:
    """The numbers of x in that format; what is computed with them adds in that order."""
    kind = kind_of(format, order)
    return kind.nearest(x).view(kind)
