"""The lesson on too little room draws the rows that each step has read, and what it then predicts."""

from xml.etree.ElementTree import Element

import numpy as np

from microgpt.cache import KVCache
from microgpt.caches.sinks import SinkCache
from microgpt.course.full_cache.policies import text_of
from microgpt.experiments.dropping.results import load_results
from microgpt.model import forward, softmax
from microgpt.weights import shipped
from tests.support.pages import Run, classes, find, runs, text
from tests.support.pages import drawn as shown

STORIES = ("The next day is bright and", "The girl has a red ball and she")
RUNS = [("names-deep", "emma"), ("names", "z" * 15), *(("stories", prompt) for prompt in STORIES)]
run = runs("full-cache", RUNS)


def drawn(tree: Element, case: int, some: bool = False) -> list[list[int]]:
    """By step: the columns of the older rows that are there, held by all heads or by some."""
    (table,) = (one for one in find(tree, "n") if one.tag == "table")
    found = []
    for line in table.iter("tr"):
        cells = [cell for cell in line.iter("td") if "far" not in classes(cell)]
        marks = [(j, classes(one)) for j, cell in enumerate(cells) for one in cell.iter("i")]
        found.append([j for j, kinds in marks if f"D{case}" in kinds and ("some" in kinds) == some])
    return found


def test_the_triangle_the_band_and_the_sinks(run: Run) -> None:
    made, tree = run
    at = {case.policy: i for i, case in enumerate(made.cases)}
    assert ("shift" in at) == (made.model == "stories") and made.room == max(4, shipped(made.model).config.n_ctx // 3)
    for i in range(made.n):
        assert drawn(tree, at["all"])[i] == list(range(i))
        assert drawn(tree, at["window"])[i] == list(range(max(0, i + 1 - made.room), i))
        recent = list(range(max(1, i + 2 - made.room), i))
        assert drawn(tree, at["sinks"])[i] == ([0] if i else []) + recent


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
    assert (n_prompt, len(ids)) == (made.n_prompt, made.n)
    cache, full = SinkCache(model.config, 1, made.room - 1), KVCache(model.config)
    (case,) = (one for one in made.cases if one.policy == "sinks")
    first = None
    for i, token in enumerate(ids):
        cache.make_room()
        ours, theirs = (forward(model.params, model.config, [token], one)[0] for one in (cache, full))
        assert abs(np.abs(softmax(ours) - softmax(theirs)).sum() / 2 - case.off[i]) < 1e-9
        if first is None and i >= n_prompt - 1 and ours.argmax() != theirs.argmax():
            first = i
    assert case.first == first and abs(case.mean - np.mean(case.off)) < 1e-12
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
