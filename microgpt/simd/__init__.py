"""Products and means, as NumPy does them fastest; without BLAS, which is in a browser, four numbers at a time.

A matrix of 32-bit floats is read as it is; one that a checkpoint has in bfloat16 stays so (`Halves`), in half the
memory, and is widened as it is read: the sums are the same, to the last bit.
times.so is times.wat, assembled; a test does it again, and compares the two and their answers with NumPy's. Without it,
NumPy's `einsum` gives the same, in twice the time, and its `dot` in four times that. Knows arrays alone.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
BLAS = "emscripten" not in sys.platform
TURN = 16  # numbers that times.wat takes at once: of rows that are no multiple of it, it computes nothing
WIDEN_ROWS = 256  # rows that are widened at once where times.wat does not do it
TILE, FEW, LARGE_MATRIX = 16, 16, 1 << 16  # rows of a matrix, rows of x, numbers of a matrix: see `times`


class Halves:
    """A matrix in bfloat16 that is one of float32 to whoever multiplies by it, or looks up a row.

    `bits` [out, in] are the upper 16 of each number's 32; what they mean in full is made when it is asked for.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, bits: Array) -> None:
        self.bits, self.shape, self.flags = bits, bits.shape, bits.flags

    def take(self, rows: Sequence[int], axis: int) -> Array:
        """As NumPy's."""
        return widen(self.bits.take(rows, axis))

    def __getitem__(self, rows: slice) -> Array:
        return widen(self.bits[rows])

    @property
    def T(self) -> Array:
        return widen(self.bits).T


def widen(bits: Array) -> Array:
    """Numbers in bfloat16, given as uint16, as float32: the same numbers."""
    wide = bits.astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


@functools.cache
def library() -> ctypes.CDLL | None:
    """times.so; None where there is no WebAssembly, or a browser without its SIMD."""
    if BLAS:
        return None
    try:
        return ctypes.CDLL(str(Path(__file__).with_name("times.so")))
    except OSError:
        return None


@functools.cache
def averaging(d: int, dtype: np.dtype[Any]) -> Array:
    """A column of 1/d."""
    return np.full((d, 1), 1 / d, dtype)


def mean(x: Array) -> Array:
    """The mean of each row, [n, d] -> [n, 1]: on rows as short as ours, NumPy's own `mean` takes 9 times as long."""
    return x.dot(averaging(x.shape[-1], x.dtype))  # type: ignore[no-any-return]


def times(x: Array, matrix: Array | Halves) -> Array:
    """x @ matrix.T, [n, in] x [out, in] -> [n, out]. On matrices as small as ours, `@` takes twice as long as `dot`.

    For a few rows BLAS first copies a large matrix into an order of its own, which takes longer than the product. Of
    TILE rows it needs no copy: with GPT-2's matrices eight rows then take 1.5 times as long as one, and not 3.5 times.
    """
    n = len(x)
    if BLAS and not 1 < n <= FEW:
        return x.dot(matrix.T)  # type: ignore[no-any-return]
    out, width = matrix.shape
    if out * width < LARGE_MATRIX or not matrix.flags.c_contiguous:
        return x.dot(matrix.T)  # type: ignore[no-any-return]
    if not BLAS:
        return without_blas(x, matrix)
    y, tiled, x = np.empty((n, out), np.result_type(x, matrix)), out - out % TILE, np.ascontiguousarray(x)
    np.matmul(matrix[:tiled].reshape(-1, TILE, width), x.T, y.T[:tiled].reshape(-1, TILE, n))
    y[:, tiled:] = x.dot(matrix[tiled:].T)
    return y


def without_blas(x: Array, matrix: Array | Halves) -> Array:
    """x @ matrix.T, [n, in] x [out, in] -> [n, out]. The rows of `matrix` lie in one piece."""
    n, (out, width) = len(x), matrix.shape
    found = library() if width % TURN == 0 and x.dtype == matrix.dtype == np.float32 else None
    if found is None:
        y = np.empty((n, out), np.result_type(x.dtype, matrix.dtype))
        for at in range(0, out, WIDEN_ROWS):
            np.einsum("ij,kj->ik", matrix[at : at + WIDEN_ROWS], x, out=y.T[at : at + WIDEN_ROWS])
        return y
    half = isinstance(matrix, Halves)
    x, y = np.ascontiguousarray(x), np.empty((n, out), np.float32)
    rows = matrix.bits if isinstance(matrix, Halves) else matrix
    found.times(*(ctypes.c_void_p(array.ctypes.data) for array in (x, rows, y)), n, out, width, half)
    return y
