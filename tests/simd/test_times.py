"""times.wat: its bytes are those in the repository, and it multiplies as NumPy does, in any engine."""

import struct
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import wasmtime
from hypothesis import given
from hypothesis import strategies as st

from microgpt import model, simd
from microgpt.config import Array
from tools.runtime import usage

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
    """What times.so makes of them, from a place that need not be a multiple of 16; it must not write beside it.

    The matrix is in float32, or in bfloat16 as uint16.
    """
    store, memory, function = engine()
    (n, width), out = x.shape, len(matrix)
    at = [shift, shift + x.nbytes, shift + x.nbytes + matrix.nbytes + EDGE]
    size = 4 * n * out
    memory.write(store, x.tobytes(), at[0])
    memory.write(store, matrix.tobytes(), at[1])
    memory.write(store, b"\xff" * (size + 2 * EDGE), at[2] - EDGE)
    function(store, *at, n, out, width, matrix.dtype == np.uint16)
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


def drawn(rng: np.random.Generator, *shape: int) -> Array:
    """Numbers in bfloat16: the upper half of float32."""
    return (rng.standard_normal(shape, np.float32).view(np.uint32) >> 16).astype(np.uint16)


@given(st.integers(1, 20), st.integers(1, 40), st.integers(1, 12), st.integers(0, 5))
def test_bfloat16_gives_what_float32_gives_to_the_last_bit(n: int, out: int, turns: int, shift: int) -> None:
    rng = np.random.default_rng([n, out, turns])
    x = rng.standard_normal((n, simd.TURN * turns), np.float32)
    bits = drawn(rng, out, simd.TURN * turns)
    bits.flat[:4] = (0x8000, 0x0001, 0x7F7F, 0x8080)  # minus zero, the least, the largest, the least normal one
    found, expected = product(x, bits, 2 * shift), product(x, simd.widen(bits), 4 * shift)
    assert np.array_equal(found.view(np.uint32), expected.view(np.uint32))


@given(st.integers(1, 5), st.integers(1, 600), st.integers(1, 40), st.sampled_from((np.float32, np.float64)))
def test_without_the_library_it_does_too(n: int, out: int, width: int, dtype: type) -> None:
    """As `linear` asks for it, with a bias; and bfloat16 gives what its numbers in float32 give."""
    rng = np.random.default_rng([n, out, width])
    x: Array = rng.standard_normal((n, width)).astype(dtype)
    bits = drawn(rng, out, width)
    matrix: Array = simd.widen(bits).astype(dtype)
    with pytest.MonkeyPatch.context() as patched:
        for name, value in (("LARGE_MATRIX", 1), ("BLAS", False), ("library", lambda: None)):
            patched.setattr(simd, name, value)
        found = model.linear(x, {"w": matrix, "w.bias": matrix[:, 0]}, "w")
        halves = simd.without_blas(x, simd.Halves(bits))
        assert np.array_equal(halves, simd.without_blas(x, simd.widen(bits)))
    exact = x.astype(np.float64) @ matrix.T.astype(np.float64) + matrix[:, 0]
    assert found.shape == (n, out) and found.dtype == dtype
    assert np.abs(found - exact).max() <= width * np.finfo(dtype).eps * 40


def test_a_matrix_in_bfloat16_is_one_of_float32_to_whoever_asks() -> None:
    bits = np.arange(2**16, dtype=np.uint16).reshape(256, 256)  # all there are
    numbers = np.array([struct.unpack("<f", bytes(2) + struct.pack("<H", one))[0] for one in bits.flat], np.float32)
    expected, kept = numbers.reshape(256, 256), simd.Halves(bits)
    assert kept.shape == expected.shape and kept.dtype == expected.dtype and kept.flags.c_contiguous
    for found, same in (
        (kept.take([3, 200, 3], axis=0), expected[[3, 200, 3]]),
        (kept[5:7], expected[5:7]),
        (kept.T, expected.T),
    ):
        assert found.dtype == np.float32 and np.array_equal(found, same, equal_nan=True)


IN_PYODIDE = """
import numpy as np
from microgpt import model, simd
library, rng, said = simd.library, np.random.default_rng(0), []
assert library() is not None and not simd.BLAS
for n, out, width, dtype in [(1, 300, 256, "f4"), (5, 300, 256, "f4"), (2, 300, 250, "f4"), (2, 300, 256, "f8")]:
    x, matrix = rng.standard_normal((n, width)).astype(dtype), rng.standard_normal((out, width)).astype(dtype)
    for simd.library in (library, lambda: None):
        for rows in (x, np.asfortranarray(x)):
            for found in (simd.times(rows, matrix), model.linear(rows, {"w": matrix}, "w")):
                assert found.shape == (n, out) and found.dtype == dtype
                said.append(float(np.abs(found - x.dot(matrix.T)).max()))
        if dtype == "f4":
            bits = (matrix.view("u4") >> 16).astype("u2")
            found, same = (simd.times(x, one) for one in (simd.Halves(bits), simd.widen(bits)))
            said.append(float((found != same).sum()))
"""


@pytest.mark.slow("packs the browser's Python")
def test_it_is_loaded_where_there_is_no_blas(tmp_path: Path) -> None:
    """And where it cannot be, or does not fit, NumPy gives the same."""
    apart = usage.run_in_pyodide(tmp_path / "site", IN_PYODIDE)["answers"]
    assert len(apart) == 32 + 6 and max(map(float, apart)) < 1e-4
