"""Numbers, shares and bytes as text: what is not nothing never reads as nothing."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.viz.rendering.render import environment
from microgpt.viz.text.formats import (
    areas,
    at_least,
    at_most,
    coordinate,
    difference,
    heat,
    in_lines,
    megabytes,
    number,
    path,
    points,
    shape_text,
    share_text,
    short,
    show,
    size_text,
    span,
    upper_bound,
    whole,
)
from microgpt.viz.text.language import language

TABLE: dict[Callable[[Any], str], dict[Any, str]] = {
    number: {0.416: "0.42", -0.001: "0.00", 1228.8: "1,228.80", -12345.678: "−12,345.68"},
    difference: {0: "0.00", 1e-9: "< 0.01", 0.0049: "< 0.01", 0.005: "0.01", 1.234: "1.23"},
    share_text: {0: "0", 0.0001: "< 0.1", 0.5934: "59.3", 1: "100.0"},
    short: {0: "0", 0.5: "0.50", 1000: "1,000", 2_500_000: "2.5 M", 3e9: "3 G"},
    size_text: {0: "0 B", 999: "999 B", 1000: "1.0 kB", 269_060_552: "269.1 MB", 24 * 2**30: "25.8 GB", 2e12: "2.0 TB"},
    megabytes: {0: "0", 1: "1", 1_000_000: "1", 1_000_001: "2", 1_500_000_000: "1,500"},  # whole, and never too few
    whole: {352.83: "353", 352.4: "352", 3664: "3,664", -1234.6: "-1,235"},  # rounded and not cut off
    heat: {-12: "n12", -1: "n1", 0: "z", 1: "p1", 12: "p12"},
    shape_text: {(128256, 4096): "[128256, 4096]"},
    span: {(1, 1): "1", (12, 13): "12–13", (1000, 1000): "1,000"},
    # white space in a token is drawn by a mark of its own
    show: {" a": "␣a", "\n": "↵", "\t": "␣9", "a\u00a0b": "a␣a0b", "\x00": "␣0"},
}


@pytest.mark.parametrize("text_of", TABLE, ids=lambda one: one.__name__)
def test_what_a_value_is_as_text(text_of: Callable[[Any], str]) -> None:
    assert {value: text_of(value) for value in TABLE[text_of]} == TABLE[text_of]
    assert [difference(0.04, 1), difference(0.06, 1)] == ["< 0.1", "0.1"]


@given(st.floats(0, 1e6, exclude_min=True), st.integers(0, 4))
def test_a_difference_that_is_not_nothing_never_reads_as_nothing(value: float, digits: int) -> None:
    assert difference(value, digits) != number(0, digits)


@given(st.floats(0, 1e6), st.integers(0, 4), st.booleans())
def test_bounds_are_rounded_to_the_side_on_which_they_hold(value: float, digits: int, percent: bool) -> None:
    """Never by a whole unit of the last place, and not at all where only the order of adding is in question."""
    low, high = (float(one(value, digits, percent).replace(",", "")) for one in (at_least, at_most))
    told = value * (100 if percent else 1)
    noise = 1e-8 * max(1, told)
    assert low - noise <= told <= high + noise
    assert told - low < 10.0**-digits + noise and high - told < 10.0**-digits + noise


def test_bounds_of_the_lessons() -> None:
    """Up to 85.66 tokens is not up to 86; what is off by 0.4712 is off by no more than 0.48."""
    assert [at_least(85.66, 0), at_least(1476.9, 0), at_least(3.0046, 1)] == ["85", "1,476", "3.0"]
    assert [at_most(0.4712), at_most(0.0625, 1, True), at_most(0.5, 0, True)] == ["0.48", "6.3", "50"]
    assert [at_most(0.1 + 0.2, 1), at_least(0.3 - 1e-16, 1), at_most(0), at_least(2)] == ["0.3", "0.3", "0.00", "2.00"]


@given(st.floats(-15, -0.001))
def test_a_bound_is_above_what_it_bounds(exponent: float) -> None:
    """As many of each size: of values drawn evenly few lie where a bound could be too small."""
    assert 10**exponent < float(upper_bound(10**exponent))
    assert [upper_bound(value) for value in (5e-4, 0.0605, 0.605, 1.2, 123, math.inf)] == (
        "1e-3 0.061 0.61 1.3 130 ∞"
    ).split()


def in_both() -> list[str]:
    numbers = [whole(3664), whole(60_416), whole(-1_234_567), number(-0.25), number(12, 0), short(2_500_000)]
    shares = [difference(0.001), difference(0.5), size_text(15_009_857_536), megabytes(12_345_000_000)]
    return [*numbers, *shares, share_text(0.5934), in_lines([1.0, -10.25], 1)]


def test_each_language_has_its_marks() -> None:
    english = ["3,664", "60,416", "-1,234,567", "−0.25", "12", "2.5 M", "< 0.01", "0.50", "15.0 GB", "12,345"]
    spanish = ["3664", "60_416", "-1_234_567", "−0,25", "12", "2,5 M", "< 0,01", "0,50", "15,0 GB", "12_345"]
    assert in_both() == [*english, "59.3", "   0    1.0 −10.2"]
    with language("es"):  # of four digits no three are set apart
        assert in_both() == [*(one.replace("_", "\u202f") for one in spanish), "59,3", "   0    1,0 −10,2"]


def test_what_drawings_are_made_of_is_the_same_in_all_languages() -> None:
    made = [[points([(12, 3.46)]), path([(2, 0.5, 3)]), coordinate(2.5), areas([(1, 2, 3, 4)])]]
    with language("es"):
        made += [[points([(12, 3.46)]), path([(2, 0.5, 3)]), coordinate(2.5), areas([(1, 2, 3, 4)])]]
    assert made[0] == made[1]


def test_points_of_a_line_and_paths_from_run_to_run() -> None:
    assert points([(12, 3.46), (14.04, 4)]) == "12.0,3.5 14.0,4.0"
    assert path([(2, 4, 3), (7, 4, 1)]) == "M2 4h3m2 0h1"
    assert path([(2, 0.5, 3), (0, 1.5, 1), (4, 3.5, 2)]) == "M2 0.5h3m-5 1h1m3 2h2"
    assert path([(2.5, 4, 3), (2.5, 8, 1), (4.5, 0, 2)], down=True) == "M2.5 4v3m0 1v1m2 -9v2"
    assert path([]) == path([], down=True) == ""


def test_numbers_stand_under_each_other() -> None:
    assert in_lines([1.0, -10.25, 0.0, 3.125], 1, 3) == "   0    1.0 −10.2   0.0\n   3    3.1"


def test_templates_write_them() -> None:
    said = environment().from_string("{{ n|whole }} {{ x|number(1) }} {{ x|difference }} {{ [n]|map('whole')|first }}")
    assert said.render(n=3664, x=0.001) == "3,664 0.0 &lt; 0.01 3,664"


@given(st.integers(0, 10**15))
def test_what_is_said_is_what_is_meant(n: int) -> None:
    figure, unit = size_text(n).split()
    power = ["", "k", "M", "G", "T"].index(unit.rstrip("B"))
    value = float(figure.replace(",", ""))
    assert abs(value * 1000**power - n) <= 0.0500001 * 1000**power
    assert value >= 1 or n == 0 or unit == "B"
