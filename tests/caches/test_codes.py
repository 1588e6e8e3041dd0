"""Numbers in fewer bits: worked examples, bounds, and tables of floats that others have published."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.caches.codes import BITS, Codes, Float8, Grid, values_of
from microgpt.model import softmax

FLOATS = (np.float16, np.float32, np.float64)


@st.composite
def groups(draw: st.DrawFn) -> np.ndarray:
    seed, size = draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from((4, 8, 32)))
    rng = np.random.default_rng(seed)
    return rng.normal(draw(st.sampled_from((0.0, 5.0, -300.0))), draw(st.sampled_from((0.0, 1.0, 50.0))), (3, size))


def test_four_numbers_in_four_bits() -> None:
    codes = Grid(4).encode(np.array([-1, 0, 0.4, 2]))
    assert Grid(4).unpack(codes.packed).tolist() == [0, 5, 7, 15]
    assert codes.packed.tolist() == [0 + 16 * 5, 7 + 16 * 15] and codes.scale.tolist() == pytest.approx([0.2])
    assert Grid(4).decode(codes) == pytest.approx([-1, 0, 0.4, 2], abs=1e-15)


def test_the_same_in_eight_bits_around_zero() -> None:
    x = np.array([-1, 0, 0.4, 2])
    codes = Grid(8, symmetric=True).encode(x)
    assert codes.scale.tolist() == [2 / 127] and codes.low.size == 0
    assert np.abs(Grid(8, symmetric=True).decode(codes) - x).max() == pytest.approx(0.0079, abs=5e-5)


@given(groups(), st.sampled_from(BITS), st.booleans(), st.sampled_from(FLOATS))
def test_no_number_moves_by_more_than_half_a_scale(x: np.ndarray, bits: int, symmetric: bool, scales: type) -> None:
    """Whatever float keeps the scale, for it is rounded outwards."""
    grid = Grid(bits, symmetric, scales)
    codes = grid.encode(x)
    assert symmetric or (codes.low.astype(float) <= x.min(axis=-1, keepdims=True)).all()
    bound = codes.scale.astype(float) / 2 + 1e-12 * np.abs(x).max()
    assert (np.abs(grid.decode(codes) - x) <= bound).all()
    assert codes.nbytes == 3 * grid.bytes_of(x.shape[-1])


@given(groups(), st.sampled_from(BITS), st.booleans())
def test_twice_is_once(x: np.ndarray, bits: int, symmetric: bool) -> None:
    grid = Grid(bits, symmetric)
    once = grid.decode(grid.encode(x))
    assert np.abs(grid.decode(grid.encode(once)) - once).max() <= 1e-14 * max(1, np.abs(x).max())


@given(st.integers(0, 2**32 - 1), st.sampled_from(BITS))
def test_how_far_scores_and_weights_can_be_off(seed: int, bits: int) -> None:
    """A score is off by at most |q|_1 scale / 2 / sqrt d; if none is off by more than e, the weights by tanh(e / 2)."""
    rng = np.random.default_rng(seed)
    q, keys = rng.normal(size=8), rng.normal(size=(6, 8))
    codes = Grid(bits).encode(keys)
    before, after = (k @ q / 8**0.5 for k in (keys, Grid(bits).decode(codes)))
    off = np.abs(after - before)
    assert (off <= np.abs(q).sum() * codes.scale[:, 0] / 2 / 8**0.5 + 1e-12).all()
    assert variation(before, after) <= np.tanh(off.max() / 2) + 1e-12


def variation(before: np.ndarray, after: np.ndarray) -> float:
    """The total variation of the attention weights."""
    return float(np.abs(softmax(before) - softmax(after)).sum() / 2)


@pytest.mark.parametrize(
    ("bits", "group", "symmetric", "expected"),
    [(2, 32, False, 3.0), (4, 64, False, 4.5), (4, 32, False, 5.0), (8, 32, True, 8.5), (4, 32, True, 4.5)],
)
def test_bits_a_number_with_scales_of_sixteen_bits(bits: int, group: int, symmetric: bool, expected: float) -> None:
    """The last two are llama.cpp's q8_0 and q4_0: 34 and 18 bytes for 32 numbers."""
    assert Grid(bits, symmetric, np.float16).bytes_of(group) * 8 / group == expected


@pytest.mark.parametrize(
    ("code", "e4m3", "e5m2"),
    [
        (0x00, 0.0, 0.0),
        (0x01, 2.0**-9, 2.0**-16),  # the smallest
        (0x38, 1.0, 0.5),
        (0x3C, 1.5, 1.0),
        (0x7B, 352.0, 57344.0),
        (0x7E, 448.0, np.nan),
        (0x7F, np.nan, np.nan),
        (0xB8, -1.0, -0.5),
    ],
)
def test_floats_of_eight_bits_by_the_published_table(code: int, e4m3: float, e5m2: float) -> None:
    """Table 2 of "FP8 formats for deep learning" (Micikevicius et al., 2022)."""
    codes = Codes(np.array([code], np.uint8), np.empty(0), np.empty(0))
    for kind, expected in (("e4m3", e4m3), ("e5m2", e5m2)):
        np.testing.assert_equal(Float8(kind).decode(codes)[0], expected)  # type: ignore[arg-type]


@given(st.floats(-600, 600), st.sampled_from(("e4m3", "e5m2")))
def test_a_float_of_eight_bits_is_the_nearest(x: float, kind: str) -> None:
    values = values_of(kind)
    every = np.concatenate([values, -values])
    float8 = Float8(kind)  # type: ignore[arg-type]
    found = float(float8.decode(float8.encode(np.array([x])))[0])
    assert abs(found - x) == np.abs(every - x).min() and (found == 0 or np.sign(found) == np.sign(x))
    smallest_normal = 2.0**-6 if kind == "e4m3" else 2.0**-14
    if smallest_normal <= abs(x) <= float8.largest:
        assert abs(found - x) <= abs(x) * (2**-4 if kind == "e4m3" else 2**-3)


def test_of_two_equally_near_the_even_one_and_beyond_the_largest_the_largest() -> None:
    """Between 1 and 1.125 is 1.0625; between 1.125 and 1.25 is 1.1875."""
    x = np.array([1.0625, 1.1875, 1e9, -np.inf])
    assert Float8().decode(Float8().encode(x)).tolist() == [1.0, 1.25, 448.0, -448.0]
    for kind in ("e4m3", "e5m2"):
        assert np.isnan(Float8(kind).decode(Float8(kind).encode(np.array([np.nan])))).all()
    assert Float8(scale=100.0).decode(Float8(scale=100.0).encode(np.array([1000.0]))).tolist() == [1000.0]
