"""A paged cache gives what a plain one gives, and its pool never loses or doubles a block."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from microgpt.cache import KVCache
from microgpt.caches.blocks import BlockPool
from microgpt.caches.paged import PagedCache
from microgpt.config import Array, Config, Report
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.trace import EVENTS
from tests.support.examples import examples
from tests.support.strategies import Case, cases

SIZES = st.sampled_from((1, 2, 4, 16))


def pool_for(case: Case, size: int, texts: int = 1, spare: int = 0) -> BlockPool:
    return BlockPool(case.config, texts * -(-case.config.n_ctx // size) + spare, size)


@given(cases(), SIZES, st.randoms(use_true_random=False))
@settings(max_examples=examples(150), deadline=None)
def test_paged_equals_contiguous(case: Case, size: int, rng: object) -> None:
    """Two texts take turns in one pool whose free blocks lie in any order; what lies unused is not a number."""
    pool = pool_for(case, size, texts=2)
    order = list(pool.free_queue)
    rng.shuffle(order)  # type: ignore[attr-defined]
    pool.free_queue = dict.fromkeys(order)
    pool.keys[:] = pool.values[:] = np.nan
    one, two = PagedCache(pool), PagedCache(pool)
    plain_one, plain_two = KVCache(case.config), KVCache(case.config)
    for token in case.token_ids:
        other = (token + 1) % case.config.vocab_size
        for mine, plain, ids in ((one, plain_one, [token]), (two, plain_two, [other])):
            paged, contiguous = (forward(case.params, case.config, ids, cache) for cache in (mine, plain))
            assert np.abs(paged - contiguous).max() <= 1e-12
    assert not {*one.table} & {*two.table}
    assert len(one.table) * size - len(one) == -len(one) % size


def test_the_example_of_the_paper() -> None:
    """Figure 6 of arXiv 2309.06180: blocks of 4, seven tokens of prompt in blocks 7 and 1, then two more."""
    config = Config()
    pool = BlockPool(config, 9, 4)
    pool.free_queue = dict.fromkeys((7, 1, 3))
    cache = PagedCache(pool)
    row = np.zeros((1, config.n_kv_head, config.head_dim))
    for n, table, slot in ((7, [7, 1], 4 + 2), (8, [7, 1], 4 + 3), (9, [7, 1, 3], 12)):
        while len(cache) < n:
            for layer in cache.layers:
                layer.append(row, row)
        assert cache.table == table and cache.slots(0, n)[-1] == slot


def test_a_text_that_does_not_fit_changes_nothing() -> None:
    pool = BlockPool(Config(), 2, 2)
    cache = PagedCache(pool)
    cache.check_room(4)
    with pytest.raises(UserError, match="3 more blocks are needed and 2 of 2 are free"):
        cache.check_room(5)
    row = np.zeros((5, Config().n_kv_head, Config().head_dim))
    with pytest.raises(UserError):
        cache[0].append(row, row)
    assert (len(cache), cache.table, pool.n_free) == (0, [], 2)


class Pool(RuleBasedStateMachine):
    """Texts begin, grow, fork, shrink and end in any order, and each always reads the rows that it has written."""

    def __init__(self) -> None:
        super().__init__()
        self.config = Config(n_layer=2, n_embd=2, n_head=1, n_kv_head=1, head_dim=2)
        self.pool = BlockPool(self.config, 12, 4)
        self.live: dict[int, tuple[PagedCache, list[float]]] = {}
        self.next = 0

    caches = Bundle("caches")

    def add(self, cache: PagedCache, rows: list[float]) -> int:
        self.next += 1
        self.live[self.next] = cache, rows
        return self.next

    @rule(target=caches)
    def begin(self) -> int:
        return self.add(PagedCache(self.pool), [])

    @rule(at=caches, values=st.lists(st.floats(-9, 9), min_size=1, max_size=6))
    def grow(self, at: int, values: list[float]) -> None:
        cache, rows = self.live[at]
        try:
            cache.check_room(len(values))
        except UserError:
            return
        k: Array = np.repeat(np.array(values)[:, None, None], 2, axis=2)
        for layer in cache.layers:
            keys, found, positions = layer.append(k, -k)
            assert keys[0, :, 0].tolist() == [*rows, *values] and positions == range(len(rows) + len(values))
            assert np.array_equal(found, -keys)
        rows.extend(values)

    @rule(target=caches, at=caches)
    def fork(self, at: int) -> int:
        cache, rows = self.live[at]
        return self.add(cache.fork(), list(rows))

    @rule(at=caches, data=st.data())
    def crop(self, at: int, data: st.DataObject) -> None:
        cache, rows = self.live[at]
        n = data.draw(st.integers(0, len(rows)))
        cache.crop(n)
        del rows[n:]

    @rule(at=consumes(caches))
    def end(self, at: int) -> None:
        self.live.pop(at)[0].free()

    @invariant()
    def every_block_is_accounted_for(self) -> None:
        held = Counter(block for cache, _ in self.live.values() for block in cache.table)
        assert [held[block] for block in range(12)] == self.pool.ref_count
        assert sorted(self.pool.free_queue) == [block for block in range(12) if not held[block]]

    @invariant()
    def no_text_wastes_a_block(self) -> None:
        assert all(0 <= 4 * len(cache.table) - len(cache) < 4 for cache, _ in self.live.values())


TestPool = Pool.TestCase
TestPool.settings = settings(max_examples=examples(100), stateful_step_count=100, deadline=None)


def test_a_hook_is_told_what_becomes_of_a_block() -> None:
    """Each report is a listed event, with the position of the first row that the block is for."""
    told: list[Report] = []
    pool = BlockPool(Config(), n_blocks=4, block_size=2)
    pool.hook = told.append
    row = np.zeros((1, 4, 4))
    first = PagedCache(pool)
    for _ in range(3):
        first[0].append(row, row)
    second = first.fork()
    second[0].append(row, row)
    second.free()
    first.free()
    names = [(name, value, pos, layer) for name, value, pos, layer in told]
    assert names == [
        ("block_alloc", 0, 0, -1),
        ("block_alloc", 1, 2, -1),
        ("block_alloc", 2, 2, -1),
        ("block_copy", 2, 2, -1),
        ("block_free", 2, 2, -1),
        ("block_free", 1, 2, -1),
        ("block_free", 0, 0, -1),
    ]
    assert {name for name, *_ in told} == {name for name in EVENTS if name.startswith("block_")}
