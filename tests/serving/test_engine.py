"""An engine writes for each request what the request would get alone."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.caches.blocks import BlockPool
from microgpt.caches.prefix import block_keys
from microgpt.config import Config
from microgpt.decode import generate
from microgpt.errors import UserError
from microgpt.serving.engine import Engine, PagedMemory
from microgpt.serving.scheduler import Chunk, Policy, Request, Scheduler
from microgpt.trace import Trace
from microgpt.weights import shipped
from tests.support.examples import examples

STORIES = shipped("stories")
PROMPTS = [
    "The next day is bright",
    "The dog sees a cat and",
    "The",
    "it rains , so the girl takes her umbrella",
    "The next day is bright",
]


def alone(ids: list[int], n: int) -> list[int]:
    stops = STORIES.tokenizer.stops
    return ids + list(generate(STORIES.params, STORIES.config, ids, n, stop=stops))


@given(
    st.lists(st.tuples(st.sampled_from(PROMPTS), st.integers(1, 10)), min_size=1, max_size=6),
    st.integers(1, 24), st.integers(1, 4), st.sampled_from([1, 2, 4]), st.integers(24, 60),
)  # fmt: skip
@settings(max_examples=examples(30))
def test_every_request_gets_what_it_would_get_alone(
    drawn: list[tuple[str, int]], budget: int, places: int, size: int, rows: int
) -> None:
    """Also where the pool is so small that requests are preempted and find their rows again, or somebody else's."""
    pool = BlockPool(STORIES.config, -(-rows // size), size)
    engine, wanted = Engine(STORIES, Policy(budget, places), pool), {}
    for i, (prompt, n) in enumerate(drawn):
        ids = STORIES.tokenizer.encode(prompt)
        wanted[engine.add(str(i), ids, n)] = alone(ids, n)
    engine.run()
    assert engine.ids == wanted
    assert pool.n_free == len(pool.ref_count)
    assert not any(pool.ref_count)


def test_pool_and_scheduler_hold_together_over_100_000_operations() -> None:
    """Requests come and steps are planned and done, on real block tables: after each operation a block is free or in
    as many tables as its count says, and what can be found by its key holds that."""
    draw, pool = Random(0), BlockPool(Config(n_embd=4, n_head=1, n_kv_head=1, n_mlp=4), 12, 2)
    memory, plan, added = PagedMemory(pool), list[Chunk](), 0
    written = dict[int, bytes]()  # block -> the key of what was last written there
    scheduler = Scheduler(Policy(8, 4), memory)
    for _ in range(100_000):
        if plan:
            for request, n in plan:
                cache, rows = memory.caches[request], request.computed + n
                for layer in cache.layers:
                    layer.held(rows)
                keys = block_keys(memory.ids[request][:rows], 2)
                written |= dict(zip(cache.table[request.computed // 2 :], keys[request.computed // 2 :], strict=False))
                if n == request.wanted:
                    memory.ids[request].append(draw.randrange(3))
            for request in scheduler.done(plan):
                if request.ended:
                    del memory.ids[request]
            plan = []
        elif len(scheduler.waiting) < 3 and draw.random() < 0.3:
            request = Request(str(added), draw.randint(1, 10), draw.randint(1, 8))
            scheduler.add(request)
            memory.ids[request] = [draw.randrange(3) for _ in range(request.prompt)]
            added += 1
        else:
            plan = scheduler.schedule()
            assert plan or not scheduler.waiting
        held = Counter(block for cache in memory.caches.values() for block in cache.table)
        assert pool.ref_count == [held[block] for block in range(12)]
        assert pool.free_queue.keys() == {block for block in range(12) if not held[block]}
        assert {pool.key_of[block]: block for block in pool.key_of} == pool.block_of
        assert all(written[block] == key for block, key in pool.key_of.items())
        assert set(memory.caches) == set(scheduler.running)
    assert scheduler.preemptions > 1_000 and added > 5_000


def test_what_is_preempted_finds_its_rows_again() -> None:
    """Two texts, and room for one and a half: one is run twice, and the second time some of it is there."""
    trace = Trace()
    engine = Engine(STORIES, Policy(16, 4), BlockPool(STORIES.config, 12, 2), hooks=trace.sequence)
    ids = [STORIES.tokenizer.encode(PROMPTS[0]), STORIES.tokenizer.encode(PROMPTS[1])]
    requests = [engine.add(str(i), one, 8) for i, one in enumerate(ids)]
    engine.run()
    assert [engine.ids[request] for request in requests] == [alone(one, 8) for one in ids]
    told = [event for event in trace if event.name in ("schedule", "preempt")]
    (lost,) = (i for i, event in enumerate(told) if event.name == "preempt")
    back = next(event for event in told[lost:] if event.name == "schedule" and event.seq == told[lost].seq)
    assert told[lost].seq == 1 == requests[1].preempted == engine.scheduler.preemptions
    assert 0 < back.pos < told[lost].value and back.pos % 2 == 0
    scores = next(e for e in list(trace)[list(trace).index(back) :] if e.name == "attn_scores" and e.seq == 1)
    assert np.shape(scores.value)[1:] == (back.value, back.pos + back.value)  # and reads the rows that were found


def test_sampling_does_not_depend_on_who_else_is_there() -> None:
    ids = STORIES.tokenizer.encode("The")
    found = []
    for others in (0, 3):
        engine = Engine(STORIES, Policy(8, 4), BlockPool(STORIES.config, 60, 4), temperature=0.9, seed=5)
        for i in range(others):
            engine.add(f"other {i}", ids, 9)
        mine = engine.add("mine", ids, 9)
        engine.run()
        found.append(engine.ids[mine])
    assert found[0] == found[1]
    assert len({tuple(ids) for ids in engine.ids.values()}) > 1  # and nobody draws what another has drawn


def test_a_text_that_the_model_cannot_hold_is_refused_before_anything_is_kept() -> None:
    engine = Engine(STORIES, Policy(), BlockPool(STORIES.config, 60, 4))
    with pytest.raises(UserError, match="this model sees at most 24"):
        engine.add("long", STORIES.tokenizer.encode("The"), 40)
    with pytest.raises(UserError, match="There is no token"):
        engine.add("odd", [10_000], 2)
    assert not engine.ids and not engine.scheduler.waiting
