"""The lesson on what limits a card: rooflines by other means, and real heads and rows dealt out."""

import itertools
import math
import re

import numpy as np
import pytest

from microgpt.architectures.known import PRESETS
from microgpt.course.reading_limit.lesson import OTHERS
from microgpt.serving.hardware import PROCESSORS, intensity_limit
from tests.support.pages import Run, by_id, classes, find, numbers, runs, text

RUNS = [("stories", "The next day is bright"), ("names-deep", "emma"), ("names", "z" * 15)]
WEIGHTS, ROW, PER_PAIR = 7_504_928_768, 131_072, 4 * 32 * 32 * 128  # of Llama-3-8B: read, bytes, operations
READS, DOES, MEMORY, ALL = 3.35e12, 989e12, 80e9, 8_030_261_248  # an H100; all weights
run = runs("reading-limit", RUNS)


def test_each_step_is_the_slower_of_reading_and_computing(run: Run) -> None:
    made, tree = run
    for i, case in enumerate(made.cases):
        shown = text(find(find(tree, f"C{i}")[0], "steps")[0])
        for step in case.steps:
            rows = step.batch * case.length
            reading = (2 * WEIGHTS + rows * ROW) / READS
            computing = (2 * WEIGHTS * step.batch + rows * PER_PAIR) / DOES
            assert step.milliseconds == pytest.approx(1000 * max(reading, computing), rel=1e-3)
            assert step.rows == pytest.approx(rows * ROW / READS / reading, rel=1e-3)
            assert step.fits == (rows * ROW <= MEMORY - 2 * ALL)
            assert (f"{step.per_second:,.0f}" in shown) == step.fits
        assert all(a.intensity < b.intensity < case.limit for a, b in zip(case.steps, case.steps[1:], strict=False))
        assert case.limit == pytest.approx(2 * WEIGHTS / case.length / ROW + 4, rel=1e-3)


def test_a_dot_lies_on_the_roof_and_before_the_line(run: Run) -> None:
    made, tree = run
    d = made.drawing
    for i in range(len(made.cases)):
        xs, ys = ([getattr(point, name)[i] for point in d.points] for name in ("across", "up"))
        assert xs == sorted(xs) and ys == sorted(ys) and max(xs) <= d.limits[i]
        for x, y in zip(xs, ys, strict=True):  # on the line from the left edge to the ridge, or on the roof
            slope = d.start + (d.top - d.start) * x / d.ridge
            assert abs(y - min(slope, d.top)) < 1e-6
    assert [at for at, _ in d.ticks] == pytest.approx([math.log10(x) / 3 for _, x in d.ticks])
    (wall,) = find(tree, "wall")  # one that moves from case to case
    assert "cased" in classes(wall) and len(find(tree, "point")) == len(d.points)
    for i in range(len(made.cases)):  # where dots are near each other, each name hangs lower than the one before
        for a, b in itertools.pairwise(d.points):
            assert b.below[i] > a.below[i] or b.across[i] - a.across[i] >= 0.12


def test_heads_and_rows_dealt_out_give_the_same(run: Run) -> None:
    made, tree = run
    assert [one.ranks for one in made.ranks] == [1, 2, 4]
    for one in made.ranks:
        assert one.by_heads < 1e-12 and one.by_rows < 1e-12
        assert one.heads * one.ranks == made.config.n_head
        assert one.held == one.kv_heads * one.ranks / made.config.n_kv_head
    for i, (n, one) in enumerate(zip((1, 2, 4), made.ranks, strict=True)):  # of what each processor has
        units = {(left[i], width[i]) for left, width in made.processors}
        assert units == {(at / n, 1 / n) for at in range(n)}
        lying = sorted({(tray.left[i], tray.width[i], tray.head) for tray in made.trays})
        assert len(lying) == one.kv_heads * n == made.config.n_kv_head + sum(i in tray.copied for tray in made.trays)
        assert all(int(n * left) == int(n * (left + width) - 1e-9) for left, width, _ in lying) or one.kv_heads > 1
        assert sum(width for _, width, _ in lying) == pytest.approx(1)
        sums = np.sum([[cell.value for cell in part.cells] for part in one.parts], axis=0)
        assert np.abs(sums - [cell.value for cell in made.answer.cells]).max() < 1e-12
    shown = text(find(tree, "ranks")[0])
    assert f"{made.ranks[-1].held:.1f} times" in shown


def test_what_travels(run: Run) -> None:
    made, _ = run
    assert made.moved == 8192 * ROW == 2**30
    found = {name: round(milliseconds, 1) for name, milliseconds, _ in made.links}
    assert found == {"nvlink": 2.4, "pcie": 17.0, "network": 21.5, "disk": 153.4}
    assert list(found.values()) == sorted(found.values())
    assert made.again == pytest.approx(267, abs=1) and made.equal == pytest.approx(114_516, abs=1)


def test_up_to_how_many_tokens_arithmetic_can_limit_a_step() -> None:
    """With so many a large enough batch is limited by arithmetic, and with one more no batch is."""
    (named,) = (e for e in by_id("reading-limit").values() if e.get("id") == "most")
    said = [int(figure) for row in named.iter("td") for figure in numbers(row)]
    assert said == [85, 393, 1476]
    for name, most in zip(OTHERS, said, strict=True):
        ridge = PROCESSORS["H100"].ridge
        assert intensity_limit(PRESETS[name], most) > ridge > intensity_limit(PRESETS[name], most + 1)


def test_two_units_and_two_cards_are_one_picture() -> None:
    """Multiply-adds on an A100 there, operations on an H100 here: from the data sheets, by hand."""
    words = text(by_id("reading-limit")["counted"])
    said = [float(figure) for figure in re.findall(r"(?<![A-Z])\b\d[\d.]*", words)]
    assert said == [round(312 / 2.039 / 2), round(312 / 2.039), round(989 / 312, 1), round(3.35 / 2.039, 1)]


def test_each_line_comes_to_its_time_and_its_place(run: Run) -> None:
    """Sum, quotient and quotient again, by what is printed alone."""
    made, tree = run
    for i, case in enumerate(made.cases):
        lines = [line for told in find(find(tree, f"C{i}")[0], "replies") for line in told]
        for line, step in zip(lines, case.steps, strict=True):
            weights, rows, read, over, by, time, done, under, each = numbers(line)
            shown = f"{step.milliseconds:.1f}", f"{step.intensity:.1f}"
            assert (time, each, under) == (float(shown[0]), float(shown[1]), read)
            assert weights + rows == pytest.approx(read) and over in (read, done) and by in (3.35, 989)
            assert abs(over / by - time) <= 0.05 + 1e-9 and abs(done / read - each) <= 0.05 + 1e-9
