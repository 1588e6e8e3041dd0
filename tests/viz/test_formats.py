"""Bytes as text: one function for pages, one for the limits in sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.files import megabytes
from microgpt.viz.text.formats import UNITS, size_text


@pytest.mark.parametrize(
    ("n", "by_thousands", "by_1024"),
    [
        (0, "0 B", "0 B"),
        (999, "999 B", "999 B"),
        (1000, "1.0 kB", "1000 B"),
        (1024, "1.0 kB", "1.0 KiB"),
        (269_060_552, "269.1 MB", "256.6 MiB"),
        (24 * 2**30, "25.8 GB", "24.0 GiB"),
        (2 * 10**12, "2000.0 GB", "1.8 TiB"),
        (2**50, "1125899.9 GB", "1024.0 TiB"),
    ],
)
def test_bytes_come_in_the_unit_that_suits_them(n: int, by_thousands: str, by_1024: str) -> None:
    assert (size_text(n), size_text(n, 1024)) == (by_thousands, by_1024)


@given(st.integers(0, 10**15), st.sampled_from(sorted(UNITS)))
def test_what_is_said_is_what_is_meant(n: int, step: int) -> None:
    figure, unit = size_text(n, step).split()
    power = ["B", *UNITS[step]].index(unit)
    assert abs(float(figure) * step**power - n) <= 0.0500001 * step**power
    assert float(figure) >= 1 or n == 0 or unit == "B"


@pytest.mark.parametrize(
    ("n", "said"), [(0, "0"), (1, "1"), (1_000_000, "1"), (1_000_001, "2"), (1_500_000_000, "1,500")]
)
def test_limits_are_in_whole_megabytes_and_never_too_few(n: int, said: str) -> None:
    assert megabytes(n) == said
