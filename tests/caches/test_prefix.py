"""A text takes over the rows of an earlier one that begins alike, and never any others."""

from itertools import takewhile

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from microgpt.cache import KVCache
from microgpt.caches.blocks import BlockPool
from microgpt.caches.paged import PagedCache
from microgpt.caches.prefix import begin, block_keys, publish
from microgpt.config import Config
from microgpt.errors import UserError
from microgpt.model import forward
from tests.support.examples import examples
from tests.support.strategies import Case, cases

LETTERS = st.lists(st.integers(0, 1), min_size=1, max_size=14)  # of two letters: texts often begin alike


@given(cases(), st.sampled_from((1, 2, 4)), st.data())
@settings(max_examples=examples(150), deadline=None)
def test_rows_that_are_taken_over_give_the_same_logits(case: Case, size: int, data: st.DataObject) -> None:
    alike = data.draw(st.integers(0, len(case.token_ids)))
    other = case.token_ids[:alike] + [(token + 1) % case.config.vocab_size for token in case.token_ids[alike:]]
    pool = BlockPool(case.config, 2 * -(-case.config.n_ctx // size), size)
    first = begin(pool, case.token_ids)
    assert len(first) == 0
    forward(case.params, case.config, case.token_ids, first)
    publish(first, case.token_ids)
    second = begin(pool, other)
    found = len(second)
    assert found % size == 0 and found <= len(other) - 1
    assert second.table == first.table[: found // size]
    logits = forward(case.params, case.config, other[found:], second)
    alone = forward(case.params, case.config, other, KVCache(case.config))[found:]
    assert np.abs(logits - alone).max() <= 1e-9


def run(pool: BlockPool, token_ids: list[int], cache: PagedCache | None = None) -> PagedCache:
    """As if the text had been run: its rows tell their own position and token."""
    cache = begin(pool, token_ids) if cache is None else cache
    at = len(cache)
    if at < len(token_ids):
        cache.check_room(len(token_ids) - at)
        rows = np.array([[[i, token]] for i, token in enumerate(token_ids)][at:], float)
        for layer in cache.layers:
            layer.append(rows, rows)
    publish(cache, token_ids)
    return cache


TINY = Config(n_layer=1, n_embd=2, n_head=1, n_kv_head=1, head_dim=2)


def test_the_example_of_vllm() -> None:
    """Ten blocks of four, from vLLM's notes on automatic prefix caching: what is found, taken, given back, in order."""
    pool = BlockPool(TINY, 10, 4)
    text = list(range(15))
    first = run(pool, text)
    assert first.table == [0, 1, 2, 3] and sorted(pool.key_of) == [0, 1, 2]
    text += [15, 16]
    run(pool, text, first)
    assert first.table == [0, 1, 2, 3, 4] and sorted(pool.key_of) == [0, 1, 2, 3]
    other = [*range(10), 90, 91, 92, 93]
    assert len(found := begin(pool, other)) == 8
    second = run(pool, other, found)
    assert second.table == [0, 1, 5, 6] and pool.ref_count[:2] == [2, 2]
    first.free()
    assert [*pool.free_queue] == [7, 8, 9, 4, 3, 2]
    second.free()
    assert [*pool.free_queue] == [7, 8, 9, 4, 3, 2, 6, 5, 1, 0]
    third = run(pool, [*range(12), *range(100, 117)])
    assert third.table == [0, 1, 2, 7, 8, 9, 4, 3] and [*pool.free_queue] == [6, 5]


def test_the_same_words_elsewhere_are_other_keys() -> None:
    assert block_keys([1, 2, 1, 2], 2)[0] != block_keys([1, 2, 1, 2], 2)[1]
    assert block_keys([1, 2, 3], 2) == block_keys([1, 2, 4], 2)  # what is not full has none
    assert block_keys([12, 3], 2) != block_keys([1, 23], 2)
    assert not {*block_keys([1, 2], 2, "ann")} & {*block_keys([1, 2], 2, "bob")}


def test_what_is_written_over_is_not_found() -> None:
    """A crop into a full block, and another token after it: nobody may find the old rows there."""
    pool = BlockPool(TINY, 4, 4)
    cache = run(pool, [1, 2, 3, 4])
    cache.crop(3)
    run(pool, [1, 2, 3, 9], cache)
    assert len(begin(pool, [1, 2, 3, 4, 5])) == 0 and len(begin(pool, [1, 2, 3, 9, 5])) == 4


class Prefixes(RuleBasedStateMachine):
    """Texts of two letters come and go in a small pool: what is found is the longest beginning that is still there."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = BlockPool(TINY, 9, 2)
        self.live: list[PagedCache] = []

    @rule(text=LETTERS)
    def come(self, text: list[int]) -> None:
        keys = block_keys(text[:-1], 2)
        there = len([*takewhile(self.pool.block_of.__contains__, keys)])
        cache = begin(self.pool, text)
        assert len(cache) == 2 * there
        try:
            run(self.pool, text, cache)
        except UserError:
            cache.free()
            return
        rows = self.pool.keys[0, 0, cache.slots(0, len(text))]
        assert rows.tolist() == [[i, token] for i, token in enumerate(text)]
        self.live.append(cache)

    @rule(data=st.data())
    def go(self, data: st.DataObject) -> None:
        if self.live:
            self.live.pop(data.draw(st.integers(0, len(self.live) - 1))).free()

    @invariant()
    def what_is_found_is_there(self) -> None:
        assert {block: key for key, block in self.pool.block_of.items()} == self.pool.key_of
        tables = [block for cache in self.live for block in cache.table]
        assert [tables.count(block) for block in range(9)] == self.pool.ref_count
        assert {*self.pool.free_queue} == {block for block in range(9) if block not in tables}


TestPrefixes = Prefixes.TestCase
TestPrefixes.settings = settings(max_examples=examples(100), stateful_step_count=100, deadline=None)
