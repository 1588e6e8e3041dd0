"""The lesson on pages draws, step by step, what a pool holds; and prints what was counted."""

from xml.etree.ElementTree import Element

import pytest

from microgpt.course.pages.lesson import BLOCK_ROWS, SHARES, Moment
from tests.support.pages import Run, classes, drawn, find, numbers, prose_of, runs, text

RUNS = [("names-deep", "li"), ("names", "emm"), ("names-deep", "z" * 15), ("names-deep", "a")]
run = runs("pages", RUNS)


def seen(element: Element, case: int) -> str:
    """The text of what is there in this step, number of a slot or of a line aside."""
    return "".join(text(one) for one in element.iter("b") if f"D{case}" in classes(one))


def test_the_picture_holds_what_the_pool_holds(run: Run) -> None:
    """Each slot has the token whose row a table leads to; all others are empty."""
    made, tree = run
    (blocks,) = find(tree, "blocks")
    drawn = [[cell for cell in find(block, "cell")] for block in find(blocks, "block")]
    assert len(drawn) == made.n_blocks and made.n_slots == sum(map(len, drawn))
    words = made.trace.about["texts"]
    for case, moment in enumerate(made.moments):
        held = {
            table[i // BLOCK_ROWS] * BLOCK_ROWS + i % BLOCK_ROWS: words[t][i]
            for t, (_, table, rows, _) in enumerate(moment.tables)
            for i in range(rows)
        }
        assert [seen(cell, case) for block in drawn for cell in block] == [
            held.get(slot, "") for slot in range(made.n_slots)
        ]
        lit = [cell for cell in find(blocks, "cell") if any(f"D{case}" in classes(i) for i in find(cell, "lit"))]
        assert [numbers(cell)[0] for cell in lit] == ([] if moment.step.token is None else [moment.step.slot])


def test_tables_and_wires_are_those_of_the_step(run: Run) -> None:
    made, tree = run
    for case, moment in enumerate(made.moments):
        entries = [find(entry, "to-block")[0] for entry in find(tree, "entry")]
        shown = [int(found) for entry in entries if (found := seen(entry, case))]
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
