"""The lesson on fewer bits: numbers on their grids, the weights that follow, and the formats of one text."""

import numpy as np
import pytest

from microgpt.caches.quantised import QuantisedRows
from microgpt.config import Config
from microgpt.course.fewer_bits.case import LARGER
from microgpt.course.fewer_bits.outlier import plant, rows_with
from microgpt.experiments.dropping.bits import formats
from microgpt.experiments.dropping.results import load_results
from tests.support.pages import Run, classes, drawn, find, numbers, prose_of, runs, text

RUNS = [
    ("stories", "The next day is bright and the sun"),
    ("names-deep", "emmanuel"),
    ("names", "emm"),
    ("names", "a"),
    ("names-deep", "z" * 15),
]
run = runs("fewer-bits", RUNS)


def test_each_number_goes_to_the_nearest_line(run: Run) -> None:
    made, _ = run
    for case in made.cases:
        for j, x in enumerate(case.before):
            points = case.low[j] + case.scales[j] * np.arange(case.points)
            assert abs(np.abs(points - x).min() - abs(case.after[j] - x)) < 1e-9
            assert abs(points[case.codes[j]] - case.after[j]) < 1e-9
            assert abs(case.after[j] - x) <= case.scales[j] / 2 * (1 + 1e-3) + 1e-12
        assert case.per_channel or len(set(case.scales)) == len(set(case.low)) == 1


def test_the_row_is_the_models_and_the_planted_channel_moves_no_weight(run: Run) -> None:
    made, _ = run
    last, trace, config = made.n - 1, made.trace, Config(**made.trace.about["config"])
    given = {
        (layer, head): row[0]
        for layer in range(config.n_layer)
        for head, row in enumerate(trace["attn_weights", last, layer])
    }
    (layer, head), weights = min(given.items(), key=lambda one: np.abs(one[1] - made.cases[0].shift.before).max())
    keys = np.array([trace["k", i, layer][0, head * config.n_kv_head // config.n_head] for i in range(made.n)])
    for case in made.cases:
        wanted = keys[-1].copy()
        if case.large:
            wanted[made.channel] += LARGER * np.abs(keys).max()
        assert np.abs(wanted - case.before).max() < 1e-12
        assert np.abs(case.shift.before - weights).max() < 1e-12  # planted or not
        assert case.shift.distance <= case.shift.limit + 1e-12
    plain, large, apart = made.cases[1], made.cases[3], made.cases[4]
    assert large.scale > 1.5 * plain.scale and apart.others < large.others


def test_what_is_drawn_lies_where_the_numbers_say(run: Run) -> None:
    made, tree = run
    for i, case in enumerate(made.cases):
        drawn = [(column.before[i], column.after[i]) for column in made.drawing.columns]
        found = np.polyfit([*case.before, *case.after], [a for a, _ in drawn] + [b for _, b in drawn], 1)
        assert np.abs(np.polyval(found, case.before) - [a for a, _ in drawn]).max() < 1e-9 and found[0] > 0
        for j, lines in enumerate(made.drawing.grids[i].lines):
            column = made.drawing.columns[j]
            assert min(abs(100 * (1 - column.after[i]) - y) for y in lines) < 1e-6
            assert case.per_channel or len(lines) == case.points
        off = [column.off[i] * case.scales[j] / 2 for j, column in enumerate(made.drawing.columns)]
        assert np.abs(np.abs(np.subtract(case.after, case.before)) - off).max() < 1e-3 * max(case.scales)
    keys, far = made.drawing.keys, made.drawing.farthest
    assert max(x for key in keys for x in key.after) == 1
    for i, case in enumerate(made.cases):
        moved = np.abs(case.shift.after - case.shift.before)
        assert np.abs(moved - far[i] * np.array([key.moved[i] for key in keys])).max() < 1e-12
        assert not far[i] or max(key.moved[i] for key in keys) == 1
    assert len(find(tree, "num")) == len(made.cases[0].before) and len(find(tree, "one")) == made.n


def test_a_line_of_the_lens_comes_to_the_code_and_to_its_value(run: Run) -> None:
    """By what is printed, as a reader would compute it."""
    made, tree = run
    for i, case in enumerate(made.cases):
        replies = find(find(tree, f"C{i}")[0], "replies")[0]
        for (name, coded), line in zip(case.coded.items(), replies, strict=True):
            number, low, scale, steps, code, base, times, by, back = numbers(line)
            assert name in classes(line) and (times, by) == (code, scale) and abs(low) == abs(base)
            assert abs((number - base) / scale - steps) < 0.051 and round(steps) in (code, code - 1, code + 1)
            assert code == coded.code and abs(base + code * scale - back) < 0.0051
    assert len(made.cases[1].coded) == len(made.names) or made.n == 2


def test_the_formats_stand_with_their_figures(run: Run) -> None:
    made, tree = run
    (board,) = find(tree, "formats")
    rows = [*board.iter("tr")][1:]
    assert len(rows) == len(made.formats) == 8
    for row, one in zip(rows, made.formats, strict=True):
        line = text(row)
        assert one.name in line and f"{one.bytes_per_token:.1f}" in line and f"{max(one.off):.3f}" in line
        assert ("none" in line) == (one.first is None) and text(row[2]) == f"{100 * made.long[one.name]:.1f}"
    assert made.formats[2].bytes_per_token < made.formats[0].bytes_per_token <= made.formats[0].bytes_full


def test_what_a_longer_text_takes_is_that_of_its_codes() -> None:
    """A thousand rows of 128 numbers are written into a cache of each format, and its bytes are counted."""
    made, _ = drawn("fewer-bits", *RUNS[0])
    rows = np.random.default_rng(0).normal(size=(1, 1000, 128)).astype(np.float16)
    for name, both in formats(32, 128).items():
        taken = 0
        for one in both:
            cache = QuantisedRows(one, 1, 1000, 128, np.float16)
            cache.append(rows)
            taken += cache.nbytes
        assert made.long[name] == taken / (2 * rows.nbytes)
        assert made.long[name] < next(f.share for f in made.formats if f.name == name) or name in ("e4m3", "e5m2")
    assert made.long["KIVI, int2"] < 0.3 and made.long["int4"] < 0.3


def test_keys_of_a_trained_model_are_better_per_channel_and_values_hardly() -> None:
    """What the lesson concludes, from the record; as many numbers share a scale both ways."""
    made, tree = drawn("fewer-bits", *RUNS[0])
    told = load_results()["coded"]
    shown = text(find(tree, "axes")[0])
    for line in told["lines"]:
        token, channel = line["off"]
        assert f"{100 * token:.1f} %" in shown and f"{100 * channel:.1f} %" in shown
        assert token > 2.5 * channel if line["kind"] == "k" else channel < token < 1.3 * channel
        assert (line["better"] == told["heads"] == 90) == (line["kind"] == "k")
        assert all(a > 2 * b for a, b in [line["moved"]] if line["kind"] == "k") if line["moved"] else True
    assert made.tokens[1] > 2 * made.tokens[0], "planted, where a token is large"
    once, again = made.asks.drift
    assert again > 2 * once and f"{again:.3f}" in prose_of("fewer-bits", *RUNS[0])


@pytest.mark.parametrize("bits, least", [(8, 4), (4, 4), (2, 2.5)])
def test_the_large_channel_is_what_costs_and_a_scale_per_channel_spares_the_others(bits: int, least: float) -> None:
    (per_token, per_channel), without = plant(rows_with(), bits), plant(rows_with(times=1), bits)
    assert per_token > least * per_channel
    assert per_token > 2 * without[0] and per_channel == without[1]
