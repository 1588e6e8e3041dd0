"""An engine writes for each request what the request would get alone."""

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.caches.blocks import BlockPool
from microgpt.caches.prefix import block_keys
from microgpt.config import Config, Report
from microgpt.decode import generate
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.serving.engine import Engine, PagedMemory
from microgpt.serving.scheduler import Chunk, Policy, Request, Scheduler
from microgpt.trace import Trace
from microgpt.weights import shipped
from tests.support.examples import examples
from tests.support.strategies import REPORTS, assert_close

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
    st.integers(1, 24),
    st.integers(1, 4),
    st.sampled_from([1, 2, 4]),
    st.integers(24, 60),
)
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


class Served:
    """A scheduler on real block tables, without a model: requests come, and steps are planned and run."""

    def __init__(self) -> None:
        self.pool = BlockPool(Config(n_embd=4, n_head=1, n_kv_head=1, n_mlp=4), 12, 2)
        self.memory, self.plan, self.added = PagedMemory(self.pool), list[Chunk](), 0
        self.scheduler = Scheduler(Policy(8, 4), self.memory)
        self.written = dict[int, bytes]()  # block -> the key of what was last written there

    def come(self, ids: list[int], answer: int) -> None:
        request = Request(str(self.added), len(ids), answer)
        self.scheduler.add(request)
        self.memory.ids[request] = list(ids)
        self.added += 1

    def schedule(self) -> None:
        self.plan = self.scheduler.schedule()
        assert self.plan or not self.scheduler.waiting

    def run(self, token: int) -> None:
        for request, n in self.plan:
            cache, rows = self.memory.caches[request], request.computed + n
            for layer in cache.layers:
                layer.set_length(rows)
            first, keys = request.computed // 2, block_keys(self.memory.ids[request][:rows], 2)
            self.written |= dict(zip(cache.table[first:], keys[first:], strict=False))
            if n == request.n_waiting:
                self.memory.ids[request].append(token)
        for request in self.scheduler.finish_step(self.plan):
            if request.has_ended:
                del self.memory.ids[request]
        self.plan = []

    def check(self) -> None:
        """A block is free or in as many tables as its count says, and what can be found by its key holds that."""
        pool, held = self.pool, Counter(block for cache in self.memory.caches.values() for block in cache.table)
        assert pool.ref_count == [held[block] for block in range(12)]
        assert pool.free_queue.keys() == {block for block in range(12) if not held[block]}
        assert {pool.key_of[block]: block for block in pool.key_of} == pool.block_of
        assert all(self.written[block] == key for block, key in pool.key_of.items())
        assert set(self.memory.caches) == set(self.scheduler.running)


def test_pool_and_scheduler_hold_together_over_many_operations() -> None:
    draw, served, n = Random(0), Served(), examples(100_000)
    for _ in range(n):
        if served.plan:
            served.run(draw.randrange(3))
        elif len(served.scheduler.waiting) < 3 and draw.random() < 0.3:
            served.come([draw.randrange(3) for _ in range(draw.randint(1, 10))], draw.randint(1, 8))
        else:
            served.schedule()
        served.check()
    assert served.scheduler.preemptions > n // 100 and served.added > n // 20


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


def test_each_hook_hears_of_its_own_text_what_it_would_hear_alone() -> None:
    """One pass runs prompts and single tokens of three texts; the reports of each are those of its chunks alone."""
    trace = Trace()
    engine = Engine(STORIES, Policy(7, 3), BlockPool(STORIES.config, 60, 4), hooks=trace.sequence)
    requests = [engine.add(str(i), STORIES.tokenizer.encode(prompt), 5) for i, prompt in enumerate(PROMPTS[:3])]
    plans, together = list[list[Chunk]](), 0
    while engine.scheduler.waiting or engine.scheduler.running:
        plans.append(engine.step())
        together += len(plans[-1]) > 1
    assert together > 3 and any(n > 1 for plan in plans[1:] for _, n in plan)
    for request in requests:
        cache, told, ids = KVCache(STORIES.config), list[Report](), engine.ids[request]
        for n in (n for plan in plans for one, n in plan if one is request):
            forward(STORIES.params, STORIES.config, ids[len(cache) :][:n], cache, told.append, slice(-1, None))
        heard = [event for event in trace if event.seq == request.number and event.name in REPORTS]
        assert [(event.name, event.pos, event.layer) for event in heard] == [(a, pos, at) for a, _, pos, at in told]
        for event, (_, value, _, _) in zip(heard, told, strict=True):
            assert np.shape(event.value) == np.shape(value)
            assert_close(np.nan_to_num(event.value), np.nan_to_num(value))  # hidden scores are -inf in both


def test_a_step_is_one_pass_for_all_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = list[int]()

    def counted(*given: Any) -> Any:
        passes.append(len(given[2]))
        return forward(*given)

    monkeypatch.setattr("microgpt.serving.engine.forward", counted)
    engine = Engine(STORIES, Policy(16, 4), BlockPool(STORIES.config, 60, 4))
    for i, prompt in enumerate(PROMPTS):
        engine.add(str(i), STORIES.tokenizer.encode(prompt), 4)
    plans = engine.run()
    assert passes == [sum(n for _, n in plan) for plan in plans] and max(passes) > 8


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
