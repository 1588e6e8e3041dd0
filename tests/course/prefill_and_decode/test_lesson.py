"""The timeline shows the passes of the runs; what is said of large models is what the formulas give."""

from typing import Any

import numpy as np

from microgpt.course import page
from microgpt.course.prefill_and_decode.lesson import MAX_NEW
from microgpt.course.prefill_and_decode.passes import TOKEN_WIDE
from microgpt.decode import generate
from microgpt.experiments import schedule
from microgpt.viz.rendering.render import prose
from microgpt.weights import Model, shipped
from tests.support.given.published import GPT2, LLAMA3
from tests.support.pages import Run, classes, drawn, find, numbers, parse, runs, text

RUNS = [("stories", "The next day is bright"), ("names", "a"), ("names-deep", "abcdefghijklmno")]
shown = runs("prefill-and-decode", RUNS)


def given(made: Any) -> tuple[Model, list[int]]:
    """The model and the ids of its prompt."""
    model = shipped(made.trace.about["model"])
    return model, model.tokenizer.encode(made.trace.about["prompt"])


def test_time_is_drawn_as_long_as_it_takes() -> None:
    made, tree = drawn("prefill-and-decode", *RUNS[0])
    long, short = made.times
    assert (long.first, long.each) == (made.prefill.milliseconds, made.decode.milliseconds)
    assert short.first == made.short.milliseconds
    svgs = [e for e in find(tree, "times")[0].iter() if e.tag.endswith("svg")]
    for one, drawing in zip([long, long, short, short], svgs, strict=True):  # what is to come is below what has
        boxes, longest = find(drawing, "pass-box"), [find(drawing, "macs"), find(drawing, "read")]
        widths = np.array([float(rect.get("width", "")) for rect in boxes])
        busy = [[float(rect.get("width", "")) for rect in rects] for rects in longest]
        assert np.abs(np.max(busy, axis=0) - widths).max() < 0.2 and np.argmax(busy, axis=0)[1:].all()
        assert (busy[0][0] > busy[1][0]) == (one is long)  # the pass of the long prompt alone waits for the arithmetic
        assert abs(widths / widths[0] - [1, *[one.each / one.first] * (len(widths) - 1)]).max() < 0.02
        ends = [float(rect.get("x", "")) + float(rect.get("width", "")) for rect in boxes]
        assert np.abs(np.subtract([float(rect.get("x", "")) for rect in boxes], [0, *ends[:-1]])).max() < 0.2
        assert 999 - widths[-1] <= ends[-1] <= 1000.2
        tokens = [float(rect.get("x", "")) + TOKEN_WIDE for rect in find(drawing, "new")]
        assert ((np.subtract(ends, tokens) > 5) & (np.subtract(ends, tokens) < 10)).all()  # whole before its pass ends
        rows = [0, *(one.prompt + i for i in range(len(ends)))]
        for kind, sign in (("k", -1), ("v", 1)):
            (shape,) = find(drawing, kind)
            *line, corner = [tuple(map(float, pair.split(","))) for pair in shape.get("points", "").split()]
            assert np.abs(np.subtract([x for x, _ in line], [0, *ends])).max() < 0.2 and corner == (
                line[-1][0],
                line[0][1],
            )
            high = [sign * (y - line[0][1]) for _, y in line]
            assert np.abs(np.array(high) / high[-1] - np.array(rows) / rows[-1]).max() < 0.01  # as many as are cached
    for i, said in enumerate(find(tree, "now")):
        over = long.first + (i - 1) * long.each if i else 0.0
        came = [1 + int((over - one.first) / one.each + 1e-9) if over >= one.first else 0 for one in (long, short)]
        held = [one.prompt + n - 1 if n else 0 for one, n in zip((long, short), came, strict=True)]
        assert numbers(said)[1:] == [came[0], held[0], came[1], held[1]] and abs(numbers(said)[0] - over) < 0.01


def test_every_pass_on_the_timeline_is_one_of_the_run(shown: Run) -> None:
    made, tree = shown
    model, ids = given(made)
    boards = [one for one in find(tree, "C") if find(one, "pass")]
    cells = [classes(cell) for cell in find(find(tree, "fall")[0], "cells")[0]]
    n, rows = len(ids), len(made.columns)
    assert cells == [{"new", f"b{i}"} | ({"later"} if i >= n else set()) for i in range(rows)]
    assert classes(find(tree, "fall")[0]) == {"fall", f"w{n}", f"b{rows}"}
    assert [way.size for way in made.ways][0] == len(ids) and made.ways[-1].size == 1
    assert len(boards) == len(made.ways)
    for board, way in zip(boards, made.ways, strict=True):
        run = schedule.run_schedule(model, ids, way.size, MAX_NEW)
        items = [item for item in find(board, "pass") if not {"gap", "head"} & classes(item)]
        assert len(items) == len(run.passes)
        for item, one in zip(items, run.passes, strict=True):
            assert numbers(find(item, "macs")[0]) == [one.macs]
            assert numbers(find(item, "read")[0]) == [one.weight_bytes, one.cache_bytes]
            assert numbers(find(item, "per")[0]) == [round(one.macs / one.bytes_read, 2)]
            assert ("prefill" in classes(item)) == (one.end <= len(ids))
            assert len(find(find(item, "say")[0], "tok")) == one.n
        sums = [[numbers(td)[0] for td in row.iter("td")] for row in find(board, "sums")[0].iter("tr")][1:]
        assert sum(row[1] for row in sums) == len(run.cache) == rows
        assert sum(row[2] for row in sums) == sum(one.macs for one in run.passes)


def test_all_ways_say_the_same(shown: Run) -> None:
    made, tree = shown
    model, ids = given(made)
    (expected,) = generate(model.params, model.config, ids, 1)
    for note in find(tree, "same"):
        assert text(find(note, "tok")[0]) == model.tokenizer.vocabulary[expected]
    assert made.difference < 1e-12 and made.same_next


def test_bytes_are_the_sixteen_bit_ones_and_wide_bars_are_the_largest() -> None:
    made = drawn("prefill-and-decode", *RUNS[0])[0]
    blocks = [block for way in made.ways for block in way.blocks]
    assert max(block.macs_share for block in blocks) == 1
    assert 0.95 <= max(block.weights_share + block.cache_share for block in blocks) <= 1
    first, *others = made.ways[0].blocks
    assert first.macs_share == 1 and all(block.macs_share < 0.25 for block in others)


def test_no_line_goes_beyond_what_its_model_sees() -> None:
    made = drawn("prefill-and-decode", *RUNS[1])[0]
    for name, config in (("GPT-2 124M", GPT2), ("Llama-3-8B", LLAMA3)):
        at = [line.name for line in made.chart.lines].index(name)
        assert [row[at] is None for _, row in made.chart.table] == [n > config.n_ctx for n, _ in made.chart.table]
    assert max(n for n, _ in made.chart.table) > GPT2.n_ctx
    assert all(len(line.points) >= 20 for line in made.chart.lines if line.name in ("GPT-2 124M", "Llama-3-8B"))
    assert made.ends == ("GPT-2 124M", GPT2.n_ctx)


def test_without_the_output_head_all_ways_take_the_same_work(shown: Run) -> None:
    made, _ = shown
    for way in made.ways:
        passes = [block.work for block in way.blocks if block.work.end <= made.n_prompt]
        assert sum(one.macs for one in passes) - made.head * len(passes) == made.bare
    lesson = parse(prose("prefill_and_decode", made, page=page("prefill-and-decode")))
    (said,) = [p for p in lesson.iter("p") if p.get("id") == "head"]
    assert {made.head, made.bare} <= set(numbers(said))


def test_large_models_wait_for_memory_in_decode_alone() -> None:
    made = drawn("prefill-and-decode", *RUNS[1])[0]
    assert [one.bound_by for one in made.estimates] == ["compute", "compute", "memory"] * 2
