"""The lesson on many texts at once draws what the engine has run, pass by pass, and prints the large run."""

from xml.etree.ElementTree import Element

from microgpt.serving import batches
from microgpt.serving.measured import kept
from microgpt.weights import shipped
from tests.support.pages import Run, classes, drawn, find, folded, prose_of, runs, text

MODEL = shipped("stories")
RUNS = ["The next day is bright and", "it", "the girl has a red ball and she likes the ball . it is"]
run = runs("many-at-once", [("stories", prompt) for prompt in RUNS])


def boxed(slot: Element, case: int) -> str:
    """What is in a box, if it is there in this case."""
    return folded(slot) if f"D{case}" in classes(slot) else ""


def test_lanes_hold_what_was_run_up_to_each_pass(run: Run) -> None:
    made, tree = run
    assert made.same
    asked = batches.six(MODEL, made.trace.about["prompt"])
    for way, lanes in zip(made.ways, find(tree, "lanes"), strict=True):
        found = batches.serve(MODEL, asked, *batches.ways(asked)[way.kind])
        assert len(found.passes) == len(way.columns)
        for case in range(len(found.passes)):
            for lane, row in enumerate(find(lanes, "lane")):
                shown = [boxed(slot, case) for slot in find(row, "slot")]
                for at, one in enumerate(found.passes):
                    n = sum(part.n for part in one.parts if part.text == lane)
                    lost = "× " if lane in one.preempted else ""
                    assert shown[at].replace("×", "").strip() == (str(n) if n and at <= case else "")
                    assert ("×" in shown[at]) == bool(lost and at <= case)


def test_waits_are_distances(run: Run) -> None:
    """A first token is marked where it is written; the columns before it add up to the wait."""
    made, tree = run
    asked = batches.six(MODEL, made.trace.about["prompt"])
    for way in made.ways:
        for lane, one in enumerate(asked):
            (first,) = [at for at, column in enumerate(way.columns) if column.boxes[lane].first]
            came = sum(column.length for column in way.columns[: one.arrival])
            assert sum(column.length for column in way.columns[: first + 1]) - came == way.first[lane]
            boxes = [column.boxes[lane] for column in way.columns]
            assert sum(box.ends for box in boxes) == 1
            assert all(not box.n for box in boxes[[box.ends for box in boxes].index(True) + 1 :])
        for column in way.columns:
            assert column.length == max(made.least, column.tokens) and 0 < column.share <= 1
            assert not way.budget or column.tokens <= way.budget
            assert sum(box.n for box in column.boxes) == column.tokens
    assert max(column.share for way in made.ways for column in way.columns) == 1


def test_places_stay_empty_in_static_batches_alone() -> None:
    made, _ = drawn("many-at-once", "stories", RUNS[0])
    for way in made.ways:
        empty = sum(box.kind == "place" for column in way.columns for box in column.boxes)
        assert (empty > 0) == (way.kind == "static")
    static = made.way("static")
    for column in static.columns:
        taken = sum(box.kind in ("prompt", "decode", "place") for box in column.boxes)
        assert taken <= made.places
        wrote = sum(box.kind == "decode" or box.first for box in column.boxes)
        assert wrote + sum(box.kind == "place" for box in column.boxes) == taken
    assert made.way("small").preempted > 0 == made.way("chunks").preempted


def test_the_large_run_is_what_was_kept() -> None:
    made, tree = drawn("many-at-once", "stories", RUNS[0])
    said = text(find(tree, "loads")[0])
    for part in kept().values():
        for seen in part.values():
            assert f"{100 * seen.arithmetic:.1f} %" in said
            for x in seen.first:
                shown = f"{1000 * x:.{int(x < 0.01)}f} ms" if x < 1 else f"{x:.{int(x < 100)}f} s"
                assert shown in said
    waits = [made.load(kind).seen.first[0] for kind in ("static", "reserved", "whole", "chunks")]
    assert waits == sorted(waits, reverse=True) and "cannot keep up" in prose_of("many-at-once", "stories", RUNS[0])
    assert made.load("prefix").seen.first[0] < made.load("turns").seen.first[0] < made.load("anew").seen.first[0]
    gaps = [made.load(kind).seen.between[1] for kind in ("small", "chunks", "whole")]
    assert gaps == sorted(gaps)
