"""An engine: a model that writes many texts, step by step as the scheduler has planned, on blocks of one pool.

A step is one call of `forward`: the tokens of all texts, those that write one and those whose prompt is still being
read, go through each matrix together, which is so read once. Only attention keeps them apart: each has a cache of its
own, and writes what it would write alone, whoever runs beside it and however its prompt was cut into chunks. Rows that
are given back can be found again until their blocks are taken, also by the text that has lost them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, cycle
from random import Random

from microgpt.cache import Batch, Cache
from microgpt.caches.blocks import BlockPool
from microgpt.caches.paged import PagedCache
from microgpt.caches.prefix import begin, publish
from microgpt.config import Hook, Report
from microgpt.decode import check_ids, check_length, check_sampling, sample
from microgpt.model import forward
from microgpt.serving.scheduler import Chunk, Policy, Request, Scheduler
from microgpt.weights import Model


class PagedMemory:
    """The scheduler's memory on a real pool: each request has its tokens, and a paged cache while it runs."""

    def __init__(self, pool: BlockPool) -> None:
        self.pool = pool
        self.ids: dict[Request, list[int]] = {}
        self.caches: dict[Request, PagedCache] = {}

    def most(self) -> int:
        return len(self.pool.ref_count) * self.pool.block_size

    def find(self, request: Request) -> int:
        cache = self.caches[request] = begin(self.pool, self.ids[request])
        return len(cache)

    def grow(self, request: Request, rows: int) -> bool:
        cache = self.caches[request]
        if cache.blocks_for(len(cache), rows) > self.pool.n_free:
            return False
        cache.reserve(len(cache), rows)
        return True

    def free(self, request: Request) -> None:
        cache = self.caches.pop(request)
        publish(cache, self.ids[request])
        cache.free()


class Engine:
    """A model, a pool and a scheduler. `add` a text, `step` until nothing is left; `ids` has what has been written.

    `hooks` gives each request its hook, by its number: with `Trace.sequence` all of them share one trace.
    """

    def __init__(
        self,
        model: Model,
        policy: Policy,
        pool: BlockPool,
        temperature: float = 0.0,
        top_k: int = 0,
        seed: int = 0,
        hooks: Callable[[int], Hook] | None = None,
    ) -> None:
        check_sampling(temperature, top_k, seed)
        self.model, self.memory, self.hooks = model, PagedMemory(pool), hooks
        self.scheduler = Scheduler(policy, self.memory, hooks)
        self._sampling, self._seed = (temperature, top_k), seed
        self._chance: dict[Request, Random] = {}  # one for each text: what it draws does not depend on the others

    @property
    def ids(self) -> dict[Request, list[int]]:
        """Of each request the tokens so far, prompt and answer."""
        return self.memory.ids

    def add(self, name: str, token_ids: Sequence[int], max_tokens: int) -> Request:
        """A text to go on with, by `max_tokens` tokens or up to the model's end token. Raises UserError."""
        check_ids(self.model.config, token_ids)
        check_length(self.model.config, len(token_ids) + max_tokens - 1)
        request = Request(name, len(token_ids), max_tokens)
        self.scheduler.add(request)
        self.memory.ids[request] = list(token_ids)
        self._chance[request] = Random(f"{self._seed} {name}")
        return request

    def step(self) -> list[Chunk]:
        """Run what the scheduler plans. Returns the plan."""
        plan = self.scheduler.schedule()
        if not plan:
            return plan
        caches, counts = [self.memory.caches[request] for request, _ in plan], [n for _, n in plan]
        ends = list(accumulate(counts))
        chunks = [id for one, n in plan for id in self.memory.ids[one][one.computed : one.computed + n]]
        hook = self.hooks and split_hook([self.hooks(request.number) for request, _ in plan], caches, ends)
        last = [end - 1 for end in ends]  # the row of each text whose logits are needed
        logits = forward(self.model.params, self.model.config, chunks, Batch(caches, counts), hook, last)
        for (request, n), row in zip(plan, logits, strict=True):
            if n == request.n_waiting:  # all its tokens have rows now: the next one can be sampled
                token = sample(row, *self._sampling, self._chance[request])
                self.memory.ids[request].append(token)
                if token in self.model.tokenizer.stops:
                    request.answer = request.written + 1
        self.scheduler.finish_step(plan)
        return plan

    def run(self) -> list[list[Chunk]]:
        """Step until every text has ended. Returns the plans."""
        plans = list[list[Chunk]]()
        while self.scheduler.waiting or self.scheduler.running:
            plans.append(self.step())
        return plans


def split_hook(hooks: Sequence[Hook], caches: Sequence[Cache], ends: Sequence[int]) -> Hook:
    """The hook of a batch: it tells each text's hook of that text's rows only, at its own position."""
    starts = [cache.next_position for cache in caches]
    rows = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    turns = cycle(range(len(hooks)))
    mine = 0  # the text whose attention is being computed

    def hook(report: Report) -> None:
        nonlocal mine
        name, value, _, layer = report
        if name in ATTENTION:
            mine = next(turns) if name == ATTENTION[0] else mine
            hooks[mine](report)
            return
        for i, one in enumerate(hooks):
            one((name, value[slice(i, i + 1) if name == "logits" else rows[i]], starts[i], layer))

    return hook


ATTENTION = ("cache_append", "attn_scores", "attn_weights", "head_out")  # what is computed text by text, in this order
