"""Products of matrices where NumPy has no BLAS, which is in a browser: four numbers at a time, if it can.

times.so is times.wat, assembled; a test does it again, and compares the two and their answers with NumPy's. Without it,
NumPy's `einsum` gives the same, in twice the time, and its `dot` in four times that. Knows arrays alone.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
BLAS = "emscripten" not in sys.platform
TURN = 16  # numbers that times.wat takes at once: of rows that are no multiple of it, it computes nothing


@functools.cache
def library() -> ctypes.CDLL | None:
    """times.so; None where there is no WebAssembly, or a browser without its SIMD."""
    if BLAS:
        return None
    try:
        return ctypes.CDLL(str(Path(__file__).with_name("times.so")))
    except OSError:
        return None


def times(x: Array, matrix: Array) -> Array:
    """x @ matrix.T, [n, in] x [out, in] -> [n, out]. The rows of `matrix` lie in one piece."""
    n, (out, width) = len(x), matrix.shape
    found = library() if width % TURN == 0 and x.dtype == matrix.dtype == np.float32 else None
    if found is None:
        return np.einsum("ij,kj->ik", matrix, x).T  # type: ignore[no-any-return]
    x, y = np.ascontiguousarray(x), np.empty((n, out), np.float32)
    found.times(*(ctypes.c_void_p(array.ctypes.data) for array in (x, matrix, y)), n, out, width)
    return y
