"""Texts that take turns in one pool, and what is wasted of the memory that is kept for texts, counted slot by slot."""

import pytest

from microgpt.errors import UserError
from microgpt.experiments import allocation
from microgpt.experiments.allocation import Reserve, blocks, last_block, longest_text, power_of_two
from microgpt.trace import Trace
from microgpt.weights import shipped
from tests.support.given.published import NAMES

LENGTHS = [1 + len(name) for name in NAMES]


def test_the_names_are_those_that_microgpt_prints() -> None:
    assert allocation.twenty(shipped("names")) == LENGTHS


@pytest.mark.parametrize(
    ("reserve", "slots"),
    [
        (longest_text(16), 320),
        (power_of_two, 156),
        (blocks(16), 320),
        (blocks(4), 156),
        (blocks(2), 124),
        (blocks(1), 118),
    ],
)
def test_waste_is_what_a_walk_over_the_slots_counts(reserve: Reserve, slots: int) -> None:
    assert allocation.at_end(LENGTHS, reserve) == (118, slots)
    counted = {"rows": 0, "reserved": 0, "internal": 0}
    for end in LENGTHS:
        for now in range(1, end + 1):
            for slot in range(reserve(now, end)):
                counted["rows" if slot < now else "reserved" if slot < end else "internal"] += 1
    assert allocation.waste(LENGTHS, reserve)._asdict() == counted


@pytest.mark.parametrize(("lengths", "size"), [([5, 8], 2), ([16, 8], 2), ([1, 3], 4), ([3, 3], 1)])
def test_turns_fit_exactly_and_each_row_lies_where_its_table_says(lengths: list[int], size: int) -> None:
    model = shipped("names-deep")
    texts = [[(3 * i + text) % 27 for i in range(n)] for text, n in enumerate(lengths)]
    trace = Trace()
    steps = allocation.take_turns(model, texts, size, trace)
    n_blocks, rows = allocation.most_blocks(lengths, size), {text: 0 for text in range(len(texts))}
    for step in steps:
        held = [block for table in step.tables for block in table]
        assert sorted(held + step.free) == list(range(n_blocks))  # each block is somewhere, and once
        if step.token is None:
            assert step.tables[step.text] == [] and step.lengths[step.text] == 0
        else:
            assert step.row == rows[step.text] and step.token == texts[step.text][step.row]
            rows[step.text] += 1
            table = step.tables[step.text]
            assert [b * size + i for b in table for i in range(size)][step.row] == step.slot
        assert step.difference <= 1e-12
    assert [*rows.values()] == lengths and min(len(step.free) for step in steps) == 0
    for name, told in (("block_alloc", "taken"), ("block_free", "freed")):
        reported = [(e.seq, e.value) for e in trace if e.name == name]
        assert sorted(reported) == sorted((step.text, block) for step in steps for block in getattr(step, told))


def test_a_text_is_what_the_model_writes_and_no_longer_than_its_context() -> None:
    model = shipped("names-deep")
    assert model.tokenizer.decode(allocation.complete_text(model, "li")) == "lina"
    assert len(allocation.complete_text(model, "z" * 15)) == 16
    for prompt in ("", "z" * 16):
        with pytest.raises(UserError):
            allocation.complete_text(model, prompt)


def test_what_last_blocks_leave_empty() -> None:
    """In long texts (B - 1) / 2 slots of a text; a block that is longer than all texts is a reservation."""
    assert last_block(500, 16) == pytest.approx(7.5 / 507.5, rel=0.02)
    assert last_block(500, 128) == pytest.approx(63.5 / 563.5, rel=0.05)
    assert last_block(100, 256) == pytest.approx(1 - 100 / 256)
    assert last_block(100, 1) == 0
