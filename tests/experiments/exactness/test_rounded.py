"""Rounding is to the nearest number of the format, after every operation; sums go in the order that is asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.experiments.exactness.rounding import FORMATS, ORDERS, Rounded, kind_of, round_to, to_bfloat16, to_float16

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**100), max_value=2.0**100)


@given(FLOATS)
def test_bfloat16_is_the_nearest_of_its_two_neighbours_and_of_two_equals_the_even_one(x: float) -> None:
    bits = int(np.float32(x).view(np.uint32))
    below, above = (np.uint32(bits & 0xFFFF0000), np.uint32((bits & 0xFFFF0000) + 0x10000))
    a, b = (float(one.view(np.float32)) for one in (below, above))
    got = float(to_bfloat16(np.array([x], np.float32))[0])
    if abs(x - a) == abs(b - x):
        assert got == (a if not int(below) >> 16 & 1 else b)
    else:
        assert got == (a if abs(x - a) < abs(b - x) else b)


@given(FLOATS)
def test_what_fits_stays_and_rounding_twice_changes_nothing(x: float) -> None:
    for nearest in (to_float16, to_bfloat16):
        once = nearest(np.clip(np.array([x], np.float32), -60000, 60000))
        assert np.array_equal(nearest(once), once)
        assert np.array_equal(nearest(-once), -once)


def test_infinities_and_what_is_no_number_stay_what_they_are() -> None:
    odd = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], np.float32)
    for nearest in (to_float16, to_bfloat16):
        assert np.array_equal(nearest(odd), odd, equal_nan=True)


def test_sums_go_in_their_order() -> None:
    """In float32, 1e8 + 1 is 1e8."""
    terms, within = np.array([1e8, 1, -1e8, 1, 1, 1], np.float32), FORMATS["float32"].within
    one_by_one, in_lanes = (kind_of("float32", order).order for order in ORDERS)
    assert one_by_one(terms, within) == 3  # ((((1e8 + 1) - 1e8) + 1) + 1) + 1
    assert in_lanes(terms, within) == 0  # ((1e8 + 1) + (1 + 1)) + (-1e8 + 1)


@pytest.mark.parametrize("format", FORMATS)
def test_every_operation_rounds_and_keeps_its_kind(format: str) -> None:
    x = np.linspace(-2, 3, 24).reshape(4, 6)
    for order in ORDERS:
        a = round_to(x, format, order)
        results = [
            a + 0.1,
            0.1 * a,
            a / 3.0,
            np.exp(a),
            np.sqrt(np.maximum(a, 0)),
            a @ a.T,
            a.dot(a.T),
            a.max(axis=-1),
            a.sum(axis=-1, keepdims=True),
            np.concatenate([a, a], axis=-1) / 3,
            a.take([1, 2], axis=0) * 0.3,
            -a,
        ]
        a /= 7.0
        for result in [*results, a]:
            assert type(result) is kind_of(format, order) and isinstance(result, Rounded)
            plain = np.asarray(result)
            assert plain.dtype == FORMATS[format].dtype
            assert np.array_equal(FORMATS[format].nearest(plain), plain)


@pytest.mark.parametrize("order", ORDERS)
def test_in_float64_the_results_are_numpys(order: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(3, 5, 7)), rng.normal(size=(3, 7, 2))
    np.testing.assert_allclose(np.asarray(round_to(a, "float64", order) @ b), a @ b, rtol=1e-13, atol=1e-14)
    total = np.asarray(round_to(a, "float64", order).sum(axis=-1, keepdims=True))
    np.testing.assert_allclose(total, a.sum(axis=-1, keepdims=True), rtol=1e-13, atol=1e-14)


def test_sums_of_sixteen_bits_are_rounded_at_every_term() -> None:
    ones = np.ones((1, 300))
    kept, short = (round_to(ones, format, "one by one") @ ones.T for format in ("bfloat16", "bfloat16 sums"))
    assert float(kept[0, 0]) == 300 and float(short[0, 0]) == 256  # 256 + 1 is 256 in eight digits
