"""The lesson on pages draws, step by step, what a pool holds; and prints what was counted."""

from xml.etree.ElementTree import Element

import pytest

from microgpt.course.pages.lesson import BLOCK_ROWS, SHARES, Moment
from tests.support.pages import Run, classes, drawn, find, numbers, prose_of, runs, text

RUNS = [("names-deep", "li"), ("names", "emm"), ("names-deep", "z" * 15), ("names-deep", "a")]
run = runs("pages", RUNS)


def seen(element: Element, case: int) -> list[str]:
    """The texts of what is there in this step, number of a slot or of a line aside."""
    return [text(one) for one in element.iter("b") if f"D{case}" in classes(one)]


def at(element: Element, sign: str) -> int:
    """The number of the class that begins with that letter: a line, or a place in a block."""
    return next(int(name[1:]) for name in classes(element) if name[0] == sign and name[1:].isdigit())


def test_the_picture_holds_what_the_pool_holds(run: Run) -> None:
    """A row that is stored stands at the slot to which its table leads, until its text ends; before, at its text."""
    made, tree = run
    words, drawn = made.trace.about["texts"], find(tree, "chip")
    assert len(drawn) == sum(map(len, words))
    assert sorted(text(one) for one in drawn) == sorted(word for text in words for word in text)
    for case, moment in enumerate(made.moments):
        held = {
            (table[i // BLOCK_ROWS], i % BLOCK_ROWS): words[t][i]
            for t, (_, table, rows, _) in enumerate(moment.tables)
            for i in range(rows)
        }
        stored = [one for one in drawn if f"D{case}" in classes(one)]
        kept = [one for one in stored if f"D{case}" not in classes(find(one, "gone")[0])]
        assert {(at(one, "S") - 1, at(one, "w")): text(one) for one in kept} == held and len(kept) == len(held)
        lit = [one for one in drawn if f"D{case}" in classes(find(one, "lit")[0])]
        slots = [(at(one, "S") - 1) * BLOCK_ROWS + at(one, "w") for one in lit]
        assert slots == ([] if moment.step.token is None else [moment.step.slot])
    lines = [at(one, "b") for one in find(tree, "to-block") for one in one.iter("b")]
    assert [at(one, "b") for one in drawn] == [line for line in lines for one in drawn if at(one, "b") == line]


def test_the_queue_is_drawn_in_its_order(run: Run) -> None:
    """Each block that is free has the place of the queue that the engine gives it; all others are at their own."""
    made, tree = run
    wrapped = {one: up for up in tree.iter() for one in up}
    assert len(find(tree, "tile")) == made.n_blocks
    for case, moment in enumerate(made.moments):
        queue = dict[int, int]()
        for number, tile in enumerate(find(tree, "tile")):
            up = tile
            while f"at{case}" not in classes(up):
                up = wrapped[up]
            queued, line = at(up, "w"), at(up, "b")
            assert queued or line == number + 1
            assert bool(queued) == (f"D{case}" not in classes(tile))
            queue |= {line: number} if queued else {}
        assert [queue[line] for line in sorted(queue)] == moment.step.free
        assert sorted(queue) == [*range(1, len(queue) + 1)]
        assert bool([one for one in find(tree, "queued")[0] if f"D{case}" in classes(one)]) == (not queue)


def test_tables_and_wires_are_those_of_the_step(run: Run) -> None:
    made, tree = run
    for case, moment in enumerate(made.moments):
        entries = [find(entry, "to-block")[0] for entry in find(tree, "entry")]
        shown = [int(number) for entry in entries for number in seen(entry, case)]
        assert shown == [block for _, table, *_ in moment.tables for block in table]
        wires = [e for e in find(tree, "wires")[0] if f"D{case}" in classes(e)]
        assert sum("used" not in classes(e) for e in wires) == len(shown)
        assert sum("used" in classes(e) for e in wires) == (moment.step.token is not None)
        held = [e for e in find(tree, "held") if f"D{case}" in classes(e)]
        assert len(held) == len(shown)


def address(moment: Moment, size: int) -> list[int]:
    row, slot = moment.step.row, moment.step.slot
    return [row, size, size, row, size, slot // size, size, slot % size, slot]


def test_each_panel_says_its_step(run: Run) -> None:
    made, tree = run
    panels = find(tree, "C")
    assert len(panels) == len(made.moments) == len({label for label in made.labels})
    for panel, moment in zip(panels, made.moments, strict=True):
        said = text(find(panel, "where")[0])
        where = [int(x) for x in said.replace("[", " ").replace("]", " ").split() if x.isdigit()]
        assert where == ([] if moment.step.token is None else address(moment, BLOCK_ROWS))
        assert ("ends" in text(find(panel, "done")[0])) == (moment.step.token is None)
        for letter, table, rows, empty in moment.tables:
            assert empty == len(table) * BLOCK_ROWS - rows < BLOCK_ROWS
            assert any([letter, str(table)] == [text(e) for e in row][:2] for row in panel.iter("tr"))
    assert made.difference < 1e-12 and "1e-12" in text(find(tree, "same")[0])


def test_the_bars_are_those_of_the_names() -> None:
    made, tree = drawn("pages", "names-deep", "li")
    bars = find(tree, "policies")[0]
    ends = [numbers(end) for end in find(bars, "end")]
    assert ends == [[118, n, round(11800 / n, 1)] for n in (320, 156, 320, 156, 118)]
    for one, row in zip(made.policies, find(bars, "shares"), strict=True):
        assert numbers(row) == [round(100 * share, 1) for share in one.shares]
        assert sum(one.shares) == pytest.approx(1)

    for parts in SHARES.values():
        assert sum(parts) == pytest.approx(100, abs=0.11)


def test_what_one_text_gives_back_the_other_takes() -> None:
    assert drawn("pages", "names-deep", "li")[0].reused == 4
    assert "Block 4 serves both" in prose_of("pages", "names-deep", "li")
    reused = drawn("pages", "names-deep", "a")[0].reused
    assert ("serves both" in prose_of("pages", "names-deep", "a")) == (reused is not None)
