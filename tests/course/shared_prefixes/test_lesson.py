"""The lesson on sharing draws, event by event, who holds which block; and prints what was counted."""

from xml.etree.ElementTree import Element

from microgpt.caches.prefix import block_keys
from microgpt.course.shared_prefixes.conversations import TERMS
from microgpt.course.shared_prefixes.events import CHANGED, SIZE
from microgpt.course.shared_prefixes.lanes import LANES
from tests.support.pages import Run, classes, drawn, find, folded, numbers, runs, text

LESSON = "shared-prefixes"
PROMPTS = ["christ", "mari", "a", "abcdefghijklm"]
run = runs(LESSON, [("names-deep", prompt) for prompt in PROMPTS])


def there(elements: list[Element], case: int) -> list[Element]:
    return [one for one in elements if f"D{case}" in classes(one)]


def test_the_picture_holds_what_the_pool_holds(run: Run) -> None:
    """Each block that a table holds has the tokens of its text, and as many readers as tables hold it."""
    made, tree = run
    blocks = {int(numbers(find(one, "no")[0])[0]): one for one in find(tree, "blk")}
    texts = made.trace.about["texts"]
    for case, moment in enumerate(made.moments):
        tables, there_now = moment.event.tables, dict.fromkeys(range(len(texts)), 0)
        for one in made.moments[: case + 1]:
            there_now[one.event.text] = len(one.event.ids)
        held: dict[int, str] = {}
        for i, table in enumerate(tables):
            for at, block in enumerate(table):
                rows = "".join(texts[i][at * SIZE : min((at + 1) * SIZE, there_now[i])])
                assert held.setdefault(block, rows) == rows  # two texts that share a block have the same tokens there
        for number, element in blocks.items():
            readers = sum(number in table for table in tables)
            known = number in moment.event.keys
            assert (f"D{case}" in classes(element)) == bool(readers or known)
            if readers:
                assert "".join(text(b) for b in there(list(find(element, "rows")[0].iter("b")), case)) == held[number]
            if readers or known:
                assert [numbers(one)[0] for one in there(find(element, "refs"), case)] == [readers]
                assert bool(there(find(element, "many"), case)) == (readers > 1)
                assert bool(there(find(element, "free"), case)) == (readers == 0)
                assert bool(there(list(element.iter("code")), case)) == known


def test_a_line_runs_along_the_blocks_of_its_text(run: Run) -> None:
    """A piece a block, in its column; it turns where the next block lies in another lane. Its letter is at its end."""
    made, tree = run
    (svg,) = [one for one in tree.iter() if one.tag.endswith("svg")]
    wrapped, lanes = {one: up for up in tree.iter() for one in up}, {b.number: b.lane for b in made.drawing.blocks}
    assert len({(one.get("class"), one.get("d")) for one in svg}) == len(svg)  # what stays is one piece
    for case, moment in enumerate(made.moments):
        kinds = {LANES[i]: table for i, table in enumerate(moment.event.tables) if table}
        lines = {kind: [one for one in there(list(svg), case) if f"t{kind}" in classes(one)] for kind in range(4)}
        assert [kind for kind in lines if lines[kind]] == sorted(kinds)
        for kind, table in kinds.items():
            assert {f"w{i}" for i in range(len(table))} == {
                w for one in lines[kind] for w in classes(one) if w[0] == "w"
            }
            turns = sum(lanes[a] != lanes[b] for a, b in zip(table, table[1:], strict=False))
            assert sum((one.get("d") or "").count("C") for one in lines[kind]) == turns and len(lines[kind]) == len(
                table
            )
            (chip,) = [one for one in there(find(tree, "end"), case) if f"t{kind}" in classes(one)]
            while f"at{case}" not in classes(chip):
                chip = wrapped[chip]
            assert {f"w{len(table) - 1}", f"b{lanes[table[-1]]}"} <= {*classes(chip)}
        assert len(there(find(tree, "end"), case)) == len(kinds)


def test_a_copy_comes_from_its_block_and_no_other_does(run: Run) -> None:
    made, tree = run
    lanes = {block.number: block.lane for block in made.drawing.blocks}
    copies = {number: block.source for number, block in enumerate(made.drawing.blocks) if block.source is not None}
    old, new = made.copied
    assert copies == ({new: lanes[old]} if new >= 0 else {}) and len(find(tree, "copy")) == len(copies)
    assert all(
        block.column == made.drawing.blocks[old].column for block in made.drawing.blocks if block.number in copies
    )


def test_strips_say_what_is_found_and_run(run: Run) -> None:
    made, tree = run
    first = made.trace.about["texts"][0]
    for moment, strip in zip(made.moments, find(tree, "coming"), strict=True):
        event, cells = moment.event, list(find(strip, "strip-of")[0].iter("b"))
        assert len(cells) == len(event.ids)
        states = [classes(cell) for cell in cells]
        assert sum("found" in state for state in states) == event.found
        assert sum(bool({"run", "again"} & {*state}) for state in states) == event.run
        again = [i for i, state in enumerate(states) if "again" in state]
        assert all(text(cells[i]) == first[i] for i in again)
        said = sorted(n for one in find(strip, "of") for n in numbers(one))
        assert said == sorted(n for n in (event.found, event.run) if n)
    last = [classes(cell) for cell in find(find(tree, "coming")[-1], "strip-of")[0].iter("b")]
    assert [i for i, state in enumerate(last) if "other" in state] == [CHANGED]
    assert all("again" in state for state in last[CHANGED + 1 :])


def test_what_is_not_found_goes_grey(run: Run) -> None:
    """In the last event all full blocks of the first text but those before the changed token."""
    made, tree = run
    last = len(made.moments) - 1
    grey = [numbers(find(one, "no")[0])[0] for one in find(tree, "blk") if there(find(one, "missed"), last)]
    table = made.moments[0].event.tables[0]
    assert grey == [block for block in table[CHANGED // SIZE :] if block in made.moments[last].event.keys]


def test_each_panel_says_its_event(run: Run) -> None:
    made, tree = run
    panels = find(tree, "C")[: len(made.moments)]
    for panel, moment in zip(panels, made.moments, strict=True):
        (table,) = panel.iter("table")
        rows = [[text(cell) for cell in row] for row in table.iter("tr")][1:]
        expected = [[letter, str(blocks), str(found), str(ran)] for letter, _, blocks, found, ran in moment.tables]
        assert rows == [*expected, ["all", "", str(moment.found), str(moment.run)]]
    assert made.moments[-1].run == sum(one.event.run for one in made.moments)
    assert made.difference < 1e-12 and "1e-12" in text(find(tree, "same")[0])


def test_hashes_are_those_of_the_chain() -> None:
    made, tree = drawn(LESSON, "names-deep", "christ")
    panels = find(tree, "C")
    first, second = (key.hex()[:4] for key in block_keys(made.moments[0].event.ids, 2)[:2])
    assert f"hash({first}, h r) = {second}" in text(find(panels[1], "where")[0])
    other = block_keys(made.moments[-1].event.ids, 2)[1].hex()[:4]
    assert f"hash({first}, a r) = {other}" in text(find(panels[7], "where")[0]) and other != second


def test_the_sentences_say_what_happened() -> None:
    said = [folded(find(panel, "done")[0]) for panel in find(drawn(LESSON, "names-deep", "christ")[1], "C")]
    assert "B finds 6 tokens in 3 blocks of A and runs only the other 3. Of these, 1 is as in A too" in said[1]
    assert "all 9 rows are shared" in said[2]
    assert "Block 6 is B’s as well, so C first copies its row into block 7" in said[3]
    assert "Nobody else holds block 6 now" in said[4]
    assert "A returns and finds 8 of its 9 tokens" in said[6]
    assert "Only the 2 tokens before it are found" in said[7]


def test_a_long_text_is_cut_and_the_page_says_so() -> None:
    said = [text(drawn(LESSON, "names-deep", "z" * n)[1]) for n in (13, 15)]
    assert ["Only the first 14 tokens of your text" in one for one in said] == [False, True]


def test_the_chat_is_counted() -> None:
    made, tree = drawn(LESSON, "names-deep", "christ")
    assert [(chat.n_sent, chat.run) for chat in made.chats] == [(10_050, 1_305), (10_050, 10_050), (10_050, 2_554)]
    assert min(chat.turns[0].sent for chat in made.chats) >= TERMS.least  # shorter ones would not be kept
    assert [round(chat.price) for chat in made.chats] == [2_506, 12_562, 4_517]
    for chat, panel in zip(made.chats, find(tree, "C")[len(made.moments) :], strict=True):
        rows = [[numbers(cell)[0] for cell in row] for row in list(panel.iter("tr"))[1:]]
        assert rows == [[i, turn.found, turn.run] for i, turn in enumerate(chat.turns, 1)]
        assert numbers(find(panel, "sum")[0]) == [chat.n_sent, chat.n_found, chat.run]
        assert sum(turn.found + turn.run for turn in chat.turns) == chat.n_sent
