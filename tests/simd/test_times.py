"""times.wat: its bytes are those in the repository, and it multiplies as NumPy does, in any engine."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import wasmtime
from hypothesis import given
from hypothesis import strategies as st

from microgpt import simd
from microgpt.config import Array
from tools.runtime import used

PLACE = Path(simd.__file__).parent
EDGE = 64  # bytes before and behind the answer


@cache
def engine() -> tuple[wasmtime.Store, wasmtime.Memory, wasmtime.Func]:
    store = wasmtime.Store()
    memory = wasmtime.Memory(store, wasmtime.MemoryType(wasmtime.Limits(16, None)))
    module = wasmtime.Module(store.engine, (PLACE / "times.so").read_bytes())
    function = wasmtime.Instance(store, module, [memory]).exports(store)["times"]
    assert isinstance(function, wasmtime.Func)
    return store, memory, function


def product(x: Array, matrix: Array, shift: int) -> Array:
    """What times.so makes of them, from a place that need not be a multiple of 16; it must not write beside it."""
    store, memory, function = engine()
    (n, width), out = x.shape, len(matrix)
    at = [shift, shift + x.nbytes, shift + x.nbytes + matrix.nbytes + EDGE]
    size = 4 * n * out
    memory.write(store, x.tobytes(), at[0])
    memory.write(store, matrix.tobytes(), at[1])
    memory.write(store, b"\xff" * (size + 2 * EDGE), at[2] - EDGE)
    function(store, *at, n, out, width)
    around = memory.read(store, at[2] - EDGE, at[2]) + memory.read(store, at[2] + size, at[2] + size + EDGE)
    assert {*around} == {255}
    return np.frombuffer(memory.read(store, at[2], at[2] + size), np.float32).reshape(n, out)


def test_the_bytes_are_the_source_assembled() -> None:
    assert wasmtime.wat2wasm((PLACE / "times.wat").read_text("utf-8")) == (PLACE / "times.so").read_bytes()


@given(st.integers(1, 20), st.integers(1, 40), st.integers(1, 12), st.integers(0, 5))
def test_it_multiplies_as_numpy_does(n: int, out: int, turns: int, shift: int) -> None:
    rng = np.random.default_rng([n, out, turns])
    width = simd.TURN * turns
    x = rng.standard_normal((n, width), np.float32)
    matrix = rng.standard_normal((out, width), np.float32)
    expected = x.astype(np.float64) @ matrix.T.astype(np.float64)
    bound = np.abs(x).astype(np.float64) @ np.abs(matrix).T * (width * np.finfo(np.float32).eps)
    assert (np.abs(product(x, matrix, 4 * shift) - expected) <= bound).all()


IN_PYODIDE = """
import numpy as np
from microgpt import model, simd
library, rng, said = simd.library, np.random.default_rng(0), []
assert library() is not None and not simd.BLAS
for n, out, width, dtype in [(1, 300, 256, "f4"), (5, 300, 256, "f4"), (2, 300, 250, "f4"), (2, 300, 256, "f8")]:
    x, matrix = rng.standard_normal((n, width)).astype(dtype), rng.standard_normal((out, width)).astype(dtype)
    for simd.library in (library, lambda: None):
        for rows in (x, np.asfortranarray(x)):
            for found in (model.times(rows, matrix), model.linear(rows, {"w": matrix}, "w")):
                assert found.shape == (n, out) and found.dtype == dtype
                said.append(float(np.abs(found - x.dot(matrix.T)).max()))
"""


@pytest.mark.slow("packs the browser's Python")
def test_it_is_loaded_where_there_is_no_blas(tmp_path: Path) -> None:
    """And where it cannot be, or does not fit, NumPy gives the same."""
    apart = used.run(tmp_path / "site", IN_PYODIDE)["answers"]
    assert len(apart) == 32 and max(map(float, apart)) < 1e-4
