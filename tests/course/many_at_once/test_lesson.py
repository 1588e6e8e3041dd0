"""The lesson on many texts at once draws what the engine has run, pass by pass, and prints the large run."""

from xml.etree.ElementTree import Element

import pytest

from microgpt.course.many_at_once.timeline import MOST_LENGTH, MOST_UNITS
from microgpt.serving import batches
from microgpt.serving.batches import PASS_TEXTS
from microgpt.serving.measured import POLICIES, load_measures
from microgpt.serving.simulate import requests
from microgpt.viz.text.formats import show
from microgpt.weights import shipped
from tests.support.pages import Run, by_id, classes, drawn, find, folded, prose_of, runs, tree_of

MODEL = shipped("stories")
RUNS = ["The next day is bright and", "it", "the girl has a red ball and she likes the ball . it is"]
RUNS += [" ".join([*RUNS[2].split(), *RUNS[2].split()][:20])]  # the longest that leave room for an answer
ON_SHOW = ("many-at-once", "stories", RUNS[0])
run = runs("many-at-once", [("stories", prompt) for prompt in RUNS])


def placed(element: Element, sign: str, policy: int) -> int:
    """The number of its class for that: x, where it begins, l, how long it is, t, when it is written."""
    (found,) = [name for name in classes(element) if name.startswith(f"{sign}{policy}-")]
    return int(found.partition("-")[2])


def test_lanes_hold_what_was_run_in_each_pass(run: Run) -> None:
    """A piece is one element under all policies, and lies where its text runs, waits or keeps its place."""
    made, tree = run
    assert made.same
    asked = batches.six(MODEL, made.trace.about["prompt"])
    for policy, way in enumerate(made.ways):
        found = batches.serve(MODEL, asked, *batches.ways(asked)[way.kind])
        for text, lane in enumerate(find(tree, "lane")):
            ran, idle = dict[tuple[int, int], tuple[str, str]](), set[int]()
            for piece in find(lane, "piece"):
                start, length = (placed(piece, sign, policy) for sign in "xl")
                said = [folded(one) for one in piece.iter("b") if f"D{policy}" in classes(one)]
                if said:
                    kind = next(kind for kind in ("prompt", "decode", "again") if kind in classes(piece))
                    assert (
                        ran.setdefault((start, start + length), (said[0], kind)) == (said[0], kind) and len(said) == 1
                    )
                elif length:
                    idle |= {*range(start, start + length)}
            parts = {(one.start, one.end): part for one in found.passes for part in one.parts if part.text == text}
            assert {at: int(n) for at, (n, _) in ran.items()} == {at: part.n for at, part in parts.items()}
            had = 0
            for at in sorted(parts):
                assert (ran[at][1] == "again") == (parts[at].before < had)
                had = max(had, parts[at].before + parts[at].n)
            empty = [column.boxes[text][0] in ("wait", "place") for column in way.columns]
            units = [range(one.start, one.end) for one, there in zip(found.passes, empty, strict=True) if there]
            assert idle == {unit for each in units for unit in each}
            lost = [placed(one, "x", policy) for one in lane.iter("u") if f"D{policy}" in classes(one)]
            assert lost == [one.start for one in found.passes if text in one.preempted]


def test_words_come_when_they_are_written_and_the_clock_stands_at_the_end_of_the_pass(run: Run) -> None:
    made, tree = run
    assert {len(way.run.ids) for way in made.ways} == {len(find(tree, "lane"))}
    for policy, way in enumerate(made.ways):
        for text, lane in enumerate(find(tree, "lane")):
            words = find(lane, "word")
            assert [placed(one, "t", policy) for one in words] == way.run.written[text]
            assert [folded(one) for one in words] == [
                show(MODEL.tokenizer.vocabulary[i]) for i in way.run.ids[text][-len(words) :]
            ]
            assert placed(find(lane, "first")[0], "x", policy) == way.run.written[text][0]
        radios = [one for one in tree.iter("input") if one.get("name") == way.kind]
        for radio, one in zip(radios, way.run.passes, strict=True):
            assert {f"by{one.end}", f"for{one.end - one.start}"} <= {*classes(radio)}
        assert way.run.passes[-1].end <= MOST_UNITS and max(column.length for column in way.columns) <= MOST_LENGTH


def test_boxes_are_what_a_pass_runs_and_places_stay_empty_in_static_batches_alone(run: Run) -> None:
    made, _ = run
    for way in made.ways:
        kinds = [[kind for kind, _ in column.boxes] for column in way.columns]
        assert any("place" in one for one in kinds) == (way.kind == "static")
        for there, column, one in zip(kinds, way.columns, way.run.passes, strict=True):
            ran = {part.text: ("prompt" if part.prompt else "decode", part.n) for part in one.parts}
            assert {text: box for text, box in enumerate(column.boxes) if box[1]} == ran
            assert [text for text, kind in enumerate(there) if kind == "wait"] == sorted(one.waiting)
            taken = len(ran) + there.count("place")
            assert taken <= PASS_TEXTS and (way.kind != "static" or sum(p.whole for p in one.parts) == len(ran))
    assert made.way("small").preempted > 0 == made.way("chunks").preempted


def written(x: float) -> str:
    return f"{1000 * x:.{int(x < 0.01)}f} ms" if x < 1 else f"{x:.{int(x < 100)}f} s"


def test_the_large_run_is_what_was_kept() -> None:
    """A table for each load: a line per policy, with its budget and all times."""
    made, tree = drawn(*ON_SHOW)
    tables = find(tree, "loads")
    shown = [[kind for kind in ways if kind not in ("tight", "wide")] for ways in load_measures().policies.values()]
    for table, ways, kinds in zip(
        tables,
        (*load_measures().policies.values(), load_measures().fleet),
        (*shown, load_measures().fleet),
        strict=True,
    ):
        lines = [folded(line) for line in table.iter("tr")][1:]
        assert len(lines) == len(kinds)
        for line, kind in zip(lines, kinds, strict=True):
            seen = ways[kind]
            for first, last in (seen.first, seen.between):
                assert f"{written(first)} {written(last)}" in line
            assert f"{100 * seen.arithmetic:.1f} %" in line
            budget = POLICIES[kind].budget if kind in POLICIES and kind != "static" else 0
            assert not budget or f"{budget:,}" in line


def test_waits_lie_where_their_times_are() -> None:
    """A hundredth of the line is a factor: six times ten from end to end."""
    made, tree = drawn(*ON_SHOW)
    assert len(find(tree, "lane-of")) == len(made.waits) == 6
    for one in made.waits:
        for i, ways in enumerate(load_measures().policies.values()):
            for spans, (half, most) in ((one.first, ways[one.kind].first), (one.gap, ways[one.kind].between)):
                left, width = (side[i] for side in spans)
                ends = [0.001 * 10 ** (6 * x) for x in (left, left + width)]
                assert ends == pytest.approx([half, most])


def test_sentences_on_many_requests_follow_from_their_numbers() -> None:
    """Each comparison names its load, and its two figures are those of runs that differ in nothing else."""
    made, _ = drawn(*ON_SHOW)
    said = {part: folded(by_id("many-at-once")[part]) for part in ("joins", "overload", "steady", "first", "tight")}
    few, more, many, most = load_measures().policies.values()
    assert f"wait longer than {written(few['static'].first[0])}" in said["joins"]
    assert f"longer than {written(few['whole'].first[0])} if whole" in said["joins"]
    for kind in ("static", "reserved"):
        served = [10_000 / ways[kind].seconds for ways in (more, many, most)]
        assert max(served) < 40 and f"{served[-1]:.0f}" in said["overload"]
    assert " 80 " in said["steady"] and " 80 " in said["tight"] and " 100 " in said["first"]
    for kind in ("whole", "chunks", "small"):
        assert written(many[kind].between[1]) in said["steady"] and written(many[kind].first[0]) in said["first"]
        assert written(most[kind].first[0]) in said["first"]
    drawn_ = requests(10_000, 80, 0)
    assert f"{sum(one.prompt == 8191 for one in drawn_)} have 8,191 tokens" in said["tight"]
    assert f"is {written(many['tight'].first[0])} instead of {written(many['whole'].first[0])}" in said["tight"]
    for ways in load_measures().policies.values():
        pairs = zip(ways["whole"].first + ways["whole"].between, ways["wide"].first + ways["wide"].between, strict=True)
        assert all(abs(a - b) <= made.apart * b for a, b in pairs)


def test_six_texts_gain_by_joining_and_pay_for_chunks() -> None:
    """Joining at every pass is compared with static batches, both with whole prompts; chunks with whole prompts."""
    for prompt in RUNS:
        made, _ = drawn("many-at-once", "stories", prompt)
        static, whole, chunks = (made.way(kind).run.first[-1] for kind in ("static", "whole", "chunks"))
        assert whole < min(static, chunks) and max(made.way("chunks").run.between) < max(made.way("whole").run.between)
        if prompt == RUNS[0]:
            assert f"waits {whole} units of time for its first token instead of {static}" in prose_of(*ON_SHOW)
            front = f"waits {static} units for its first token in static batches, and {static - whole} fewer if"
            assert front in folded(tree_of("index"))


def test_rows_that_were_taken_away_are_counted_from_the_plans() -> None:
    """What was lost and is not run again has been found again."""
    made, _ = drawn(*ON_SHOW)
    small, rows, lost = made.way("small"), dict[str, int](), 0
    for column in small.columns:
        for letter in filter(None, column.lost.split(", ")):
            lost += rows.pop(letter)
        for part in column.plan.split():
            rows[part[0]] = rows.get(part[0], 0) + int(part[1:])
    again = sum(column.tokens for column in small.columns) - sum(column.tokens for column in made.way("chunks").columns)
    assert (small.lost, small.found) == (lost, lost - again) and 0 < small.found < lost
