"""The lesson on too little room draws the rows that each step has read, and what it then predicts."""

import re
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from microgpt.cache import KVCache
from microgpt.caches.evict import H2OCache, SnapKVCache
from microgpt.caches.ring import RingCache
from microgpt.caches.sinks import SinkCache
from microgpt.course.full_cache.lesson import rows_of
from microgpt.course.full_cache.policies import text_of
from microgpt.course.full_cache.states import DEPTHS, MOST_STEPS
from microgpt.course.full_cache.tray import BY_AGE
from microgpt.experiments.dropping.results import load_results
from microgpt.model import forward, softmax
from microgpt.viz.drawing.heat import round_up
from microgpt.weights import shipped
from tests.support.pages import Run, classes, find, numbers, runs, text
from tests.support.pages import drawn as shown

STORIES = ("The next day is bright and", "The girl has a red ball and she")
RUNS = [("names-deep", "emma"), ("names", "z" * 15), *(("stories", prompt) for prompt in STORIES)]
run = runs("full-cache", RUNS)


def drawn(tree: Element, case: int, some: bool = False) -> list[list[int]]:
    """By step: the older rows that are there, held by all heads or by some; V is drawn as K is."""
    stairs = find(tree, "stairs")[case]
    n = len(cells(find(stairs, "own")[0]))
    k, v = ([path for path in find(stairs, kind) if ("some" in classes(path)) == some] for kind in "kv")
    assert [path.get("d") for path in k] == [path.get("d") for path in v]
    at = [(step, n - 1 - height) for path in k for step, height in cells(path)]
    return [sorted(row for when, row in at if when == step) for step in range(n)]


def cells(path: Element) -> list[tuple[int, int]]:
    """Step and height, from above, of each cell of a path: a line begins at the middle of a left side."""
    places, x, y = list[tuple[int, int]](), 0.0, 0.0
    for dx, dy, length in re.findall(r"[Mm](-?\d+) (-?[\d.]+)h(\d+)", path.get("d", "")):
        x, y = x + int(dx), y + float(dy)
        places += [(int(x) + i, int(y - 0.5)) for i in range(int(length))]
        x += int(length)
    return places


def test_the_triangle_the_band_and_the_sinks(run: Run) -> None:
    made, tree = run
    at = {case.policy: i for i, case in enumerate(made.cases)}
    assert ("shift" in at) == (made.model == "stories") and made.room == max(4, shipped(made.model).config.n_ctx // 3)
    for i in range(made.n):
        assert drawn(tree, at["all"])[i] == list(range(i))
        assert drawn(tree, at["window"])[i] == list(range(max(0, i + 1 - made.room), i))
        recent = list(range(max(1, i + 2 - made.room), i))
        assert drawn(tree, at["sinks"])[i] == ([0] if i else []) + recent


def held(made: Any, case: int, step: int) -> list[int]:
    """The rows of the trays that are drawn at a step."""
    return [row.at for row in made.tray.rows if row.at <= step < row.fates[case].until]


def test_the_trays_hold_the_rows_of_each_cache(run: Run) -> None:
    """Of the first head in the first layer, whose caches are filled once more here: what has left stays away."""
    made, _ = run
    model = shipped(made.model)
    ids, n_prompt = text_of(model, made.trace.about["prompt"])
    half = made.room // 2
    window = replace(model.config, window=made.room)
    caches: dict[str, Any] = {
        "all": KVCache(model.config),
        "window": RingCache(window),
        "sinks": SinkCache(model.config, 1, made.room - 1),
        "h2o": H2OCache(model.config, half, made.room - half),
        "snapkv": SnapKVCache(model.config, min(made.room, max(2, n_prompt // 2)), 2, 3),
    }
    for case, one in enumerate(made.cases):
        if not (cache := caches.get(one.policy)):
            continue
        for i, token in enumerate(ids):
            if hasattr(cache, "make_room") and (one.policy != "snapkv" or i >= n_prompt):
                cache.make_room()
            hook = cache.watch() if hasattr(cache, "watch") else None
            forward(model.params, window if one.policy == "window" else model.config, [token], cache, hook)
            rows, values = held(made, case, i), cache.layers[0].values[0]
            if one.policy == "window":
                values = values[-made.room :]
            levels = [[cell.level for cell in made.tray.rows[at].v.cells] for at in rows]
            limit = round_up(max(np.abs(x).max() for x in rows_of(model, ids)))
            assert levels == np.rint(12 * values / limit).astype(int).tolist(), (one.policy, i)


def test_what_leaves_is_what_the_policy_judges_least(run: Run) -> None:
    """The row on the floor is the one with the longest bar where age decides, and the shortest where attention does;
    the door opens at these steps alone."""
    made, tree = run
    slots = find(tree, "slot")
    for case, one in enumerate(made.cases):
        gone_at = [[row.at for row in made.tray.rows if row.fates[case].until == i] for i in range(made.n)]
        assert made.tray.opens[case] == [i for i, gone in enumerate(gone_at) if gone]
        fates = [(row.at, f"u{case}-{row.fates[case].until}", row.fates[case]) for row in made.tray.rows]
        assert all((until in classes(slots[at])) == (fate.until < made.n) for at, until, fate in fates)
        assert max(fate.depth for _, _, fate in fates) < DEPTHS and made.n <= MOST_STEPS
        for i, gone in enumerate(gone_at):
            moment = made.tray.moments[i][case]
            assert moment.held == len(held(made, case, i)) and moment.gone == [made.words[at] for at in gone]
            said = [(at, one) for at, slot in enumerate(slots) for one in find(slot, f"P{case}")]
            bars = {at: numbers(bar) for at, one in said for bar in find(one, f"D{i}")}
            assert bool(bars) == bool(gone)
            if gone:
                worst = sorted(bars, key=lambda at: -bars[at][0] if one.policy in BY_AGE else bars[at][0])
                assert {bars[at][0] for at in gone} == {bars[at][0] for at in worst[: len(gone)]}
            if one.policy in BY_AGE:
                assert all(bars[at] == [i - at] for at in bars)
            depth = [made.tray.rows[at].fates[case].depth for at in gone]
            below = [sum(at < left for at in held(made, case, i)) for left in gone]
            assert depth == [n + min(3, len(gone) - 1 - j) for j, n in enumerate(below)]


def test_heads_that_choose_hold_as_many_rows_as_there_is_room(run: Run) -> None:
    made, tree = run
    case = next(i for i, one in enumerate(made.cases) if one.policy == "h2o")
    every, some = drawn(tree, case), drawn(tree, case, some=True)
    for i in range(made.n):
        assert len(every[i]) < made.room and (len(every[i]) + 1 == min(i + 1, made.room)) == (not some[i])
        assert not set(every[i]) & set(some[i])


def test_what_has_moved_is_half_the_sum_of_differences(run: Run) -> None:
    """Sinks, run once more here."""
    made, tree = run
    model = shipped(made.model)
    ids, n_prompt = text_of(model, made.trace.about["prompt"])
    assert len(ids) == made.n
    cache, full = SinkCache(model.config, 1, made.room - 1), KVCache(model.config)
    (case,) = (one for one in made.cases if one.policy == "sinks")
    first = None
    for i, token in enumerate(ids):
        cache.make_room()
        ours, theirs = (forward(model.params, model.config, [token], one)[0] for one in (cache, full))
        assert abs(np.abs(softmax(ours) - softmax(theirs)).sum() / 2 - case.variation[i]) < 1e-9
        if first is None and i >= n_prompt - 1 and ours.argmax() != theirs.argmax():
            first = i
    assert case.first == first and abs(case.mean - np.mean(case.variation)) < 1e-12
    at = made.cases.index(case)
    said = [
        [text(one) for one in find(tree, f"P{at}") if {"said", f"D{i}"} <= classes(one)][-2:] for i in range(made.n)
    ]
    assert [float(off.split()[0]) for off, _ in said] == [float(f"{100 * off:.1f}") for off in case.variation]
    every = next(one for one in made.cases if one.policy == "all")
    assert [", with all rows" in words for _, words in said] == [
        here != there for here, there in zip(case.writes, every.writes, strict=True)
    ]
    panel = text(find(tree, f"C{made.cases.index(case)}")[0])
    assert (f"After position {first} it would write" in panel) == (first is not None)


def test_ring_and_shift(run: Run) -> None:
    made, tree = run
    assert made.ring < 1e-9
    assert max(made.shifted[0]) < 1e-12 < 0.5 < min(made.shifted[1])
    boards = [text(board) for board in find(tree, "each")]
    assert len(boards) == 4 and f"{made.shifted[1][0]:.2f}" in boards[-1]
    assert all(f"{100 * case.mean:.1f} %" in boards[0] for case in made.cases)


def test_the_first_row_of_a_trained_model_is_worth_more_than_its_word() -> None:
    """What the lesson concludes, from the record: each time one row of the prompt less, on the same tokens."""
    made, tree = shown("full-cache", *RUNS[2])
    full, first, *others = load_results()["dropped"]["runs"]
    assert [one["row"] for one in (full, first, *others)] == [-1, 0, 1, 2, 3, 4] and full["moved"] == 0
    *less, most = sorted(one["moved"] for one in others)
    assert max(less) < first["moved"] < most < 1.2 * first["moved"] and most == others[-1]["moved"]
    assert others[0]["written"] == full["written"] != first["written"] and first["written"].count("The") > 2
    w = load_results()["windowed"]
    assert w["all"] < w["first"] < 1.3 * w["all"] < w["second"] and w["first"] < w["window"] / 2
    words = text(tree)
    assert all(f"{100 * one['moved']:.1f} %" in words for one in (full, first, *others))
    assert all(f"{w[name]:.1f}" in words for name in ("all", "window", "first", "second"))
    assert "".join(first["written"]).strip() in words
