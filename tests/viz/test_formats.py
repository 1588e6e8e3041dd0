"""Numbers, shares and bytes as text: what is not nothing never reads as nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.viz.rendering.render import environment
from microgpt.viz.text.formats import (
    areas,
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
    whole,
)
from microgpt.viz.text.language import language


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (0, 2, "0.00"), (1e-9, 2, "< 0.01"), (0.0049, 2, "< 0.01"), (0.005, 2, "0.01"), (1.234, 2, "1.23"),
        (0.04, 1, "< 0.1"), (0.06, 1, "0.1"),
    ],
)  # fmt: skip
def test_a_difference(value: float, digits: int, said: str) -> None:
    assert difference(value, digits) == said


@given(st.floats(0, 1e6, exclude_min=True), st.integers(0, 4))
def test_a_difference_that_is_not_nothing_never_reads_as_nothing(value: float, digits: int) -> None:
    assert difference(value, digits) != number(0, digits)


def test_shares_sizes_and_shapes() -> None:
    assert [share_text(x) for x in (0, 0.0001, 0.5934, 1)] == ["0", "< 0.1", "59.3", "100.0"]
    assert [size_text(n) for n in (999, 1500, 2_500_000, 16_060_522_496)] == ["999 B", "1.5 kB", "2.5 MB", "16.1 GB"]
    assert shape_text((128256, 4096)) == "[128256, 4096]"


FIGURES = [(0, "0"), (0.5, "0.50"), (1000, "1,000"), (2_500_000, "2.5 M"), (3e9, "3 G")]


@pytest.mark.parametrize(("value", "text"), FIGURES)
def test_figures_with_little_room(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize(
    ("said", "in_english", "in_spanish"),
    [
        (lambda: whole(3664), "3,664", "3664"),  # of four digits no three are set apart
        (lambda: whole(60_416), "60,416", "60\u202f416"),
        (lambda: whole(-1_234_567), "-1,234,567", "-1\u202f234\u202f567"),
        (lambda: number(-0.25), "−0.25", "−0,25"),
        (lambda: number(12, 0), "12", "12"),
        (lambda: short(2_500_000), "2.5 M", "2,5 M"),
        (lambda: difference(0.001), "< 0.01", "< 0,01"),
        (lambda: difference(0.5), "0.50", "0,50"),
        (lambda: size_text(15_009_857_536), "15.0 GB", "15,0 GB"),
        (lambda: megabytes(12_345_000_000), "12,345", "12\u202f345"),
        (lambda: share_text(0.5934), "59.3", "59,3"),
        (lambda: in_lines([1.0, -10.25], 1), "   0    1.0 −10.2", "   0    1,0 −10,2"),
    ],
)
def test_each_language_has_its_marks(said: Callable[[], str], in_english: str, in_spanish: str) -> None:
    assert said() == in_english
    with language("es"):
        assert said() == in_spanish


def test_what_drawings_are_made_of_is_the_same_in_all_languages() -> None:
    made = [points([(12, 3.46)]), path([(2, 0.5, 3)]), coordinate(2.5), areas([(1, 2, 3, 4)])]
    with language("es"):
        assert made == [points([(12, 3.46)]), path([(2, 0.5, 3)]), coordinate(2.5), areas([(1, 2, 3, 4)])]


def test_points_of_a_line() -> None:
    assert points([(12, 3.46), (14.04, 4)]) == "12.0,3.5 14.0,4.0"


def test_a_path_goes_from_run_to_run() -> None:
    assert path([(2, 4, 3), (7, 4, 1)]) == "M2 4h3m2 0h1"
    assert path([(2, 0.5, 3), (0, 1.5, 1), (4, 3.5, 2)]) == "M2 0.5h3m-5 1h1m3 2h2"
    assert path([]) == ""


def test_spans() -> None:
    assert [span(ends) for ends in ((1, 1), (12, 13), (1000, 1000))] == ["1", "12–13", "1,000"]


def test_levels_of_heat() -> None:
    assert [heat(level) for level in (-12, -1, 0, 1, 12)] == ["n12", "n1", "z", "p1", "p12"]


def test_numbers_stand_under_each_other() -> None:
    assert in_lines([1.0, -10.25, 0.0, 3.125], 1, 3) == "   0    1.0 −10.2   0.0\n   3    3.1"


def test_templates_write_them() -> None:
    said = environment().from_string("{{ n|whole }} {{ x|number(1) }} {{ x|difference }} {{ [n]|map('whole')|first }}")
    assert said.render(n=3664, x=0.001) == "3,664 0.0 &lt; 0.01 3,664"


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (269_060_552, "269.1 MB"),
        (24 * 2**30, "25.8 GB"),
        (2 * 10**12, "2.0 TB"),
    ],
)
def test_bytes_come_in_the_unit_that_suits_them(n: int, said: str) -> None:
    assert size_text(n) == said


@given(st.integers(0, 10**15))
def test_what_is_said_is_what_is_meant(n: int) -> None:
    figure, unit = size_text(n).split()
    power = ["", "k", "M", "G", "T"].index(unit.rstrip("B"))
    assert abs(float(figure) * 1000**power - n) <= 0.0500001 * 1000**power
    assert float(figure) >= 1 or n == 0 or unit == "B"


@pytest.mark.parametrize(
    ("n", "said"), [(0, "0"), (1, "1"), (1_000_000, "1"), (1_000_001, "2"), (1_500_000_000, "1,500")]
)
def test_limits_are_in_whole_megabytes_and_never_too_few(n: int, said: str) -> None:
    assert megabytes(n) == said


@pytest.mark.parametrize(("value", "text"), [(352.83, "353"), (352.4, "352"), (3664, "3,664"), (-1234.6, "-1,235")])
def test_a_whole_number_is_rounded_and_not_cut_off(value: float, text: str) -> None:
    assert whole(value) == text


def test_white_space_in_a_token_is_drawn_by_a_mark_of_its_own() -> None:
    assert [show(token) for token in (" a", "\n", "\t", "a\u00a0b", "\x00")] == ["␣a", "↵", "␣9", "a␣a0b", "␣0"]
