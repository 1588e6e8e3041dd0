"""H2O and SnapKV: which rows stay, against a mask that hides the same rows from a plain cache."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from microgpt.caches.evict import ChoosingCache, H2OCache, SnapKVCache
from microgpt.config import Array, Config, Params
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.weights import shipped
from tests.support.examples import examples
from tests.support.strategies import Case, assert_close, cases


class Held:
    """One layer that keeps all rows, and lets each head see a list of its own."""

    def __init__(self, n_kv_head: int) -> None:
        self.k: list[Array] = []
        self.v: list[Array] = []
        self.sees: list[list[int]] = [[] for _ in range(n_kv_head)]

    def append(self, k: Array, v: Array) -> tuple[Array, Array, Sequence[int]]:
        for one in self.sees:
            one += range(len(self.k), len(self.k) + len(k))
        self.k, self.v = self.k + list(k), self.v + list(v)
        keys, values = (
            np.array([[rows[at][head] for at in sees] for head, sees in enumerate(self.sees)])
            for rows in (self.k, self.v)
        )
        n = len(self.sees[0])
        return keys, values, range(len(self.k) - n, len(self.k))


class HeldCache(list[Held]):
    """Such layers."""

    @property
    def next_position(self) -> int:
        return len(self[-1].k)

    def check_room(self, n: int) -> None:
        """There is."""


def run(
    params: Params, config: Config, cache: ChoosingCache, ids: list[int], trace: Trace | None = None
) -> list[Array]:
    found = []
    for token in ids:
        cache.make_room(1, trace)
        found.append(forward(params, config, [token], cache, cache.watch(trace)))
    return found


@given(cases(min_tokens=4), st.integers(0, 4), st.integers(1, 4))
@settings(max_examples=examples(50), deadline=None)
def test_h2o_by_the_book(case: Case, heavy: int, recent: int) -> None:
    """One row a step: the lightest of those that are not recent leaves each head. Told with lists and dictionaries."""
    config = replace(case.config, window=0)
    ours, plain = H2OCache(config, heavy, recent), HeldCache(Held(config.n_kv_head) for _ in range(config.n_layer))
    group = config.n_head // config.n_kv_head
    received = [[dict[int, float]() for _ in range(config.n_kv_head)] for _ in range(config.n_layer)]
    for token in case.token_ids:
        for layer, rows in enumerate(plain):
            for head, sees in enumerate(rows.sees):
                if len(sees) == heavy + recent:
                    sees.remove(min(sees[: heavy + 1], key=lambda at, h=received[layer][head]: (h[at], -at)))  # type: ignore[misc]
        trace = Trace()
        expected = forward(case.params, config, [token], plain, trace)
        at = plain.next_position - 1
        for layer, rows in enumerate(plain):
            for head, sees in enumerate(rows.sees):
                weights = trace["attn_weights", at, layer][head * group : (head + 1) * group, 0].sum(axis=0)
                for one, weight in zip(sees, weights, strict=True):
                    received[layer][head][one] = received[layer][head].get(one, 0.0) + float(weight)
        ours.make_room()
        assert_close(forward(case.params, config, [token], ours, ours.watch()), expected, 1e-9)
        assert [rows.positions.tolist() for rows in ours.layers] == [rows.sees for rows in plain]


@given(cases(min_tokens=6), st.integers(1, 3), st.integers(0, 3), st.sampled_from((1, 3)))
@settings(max_examples=examples(50), deadline=None)
def test_snapkv_by_the_book(case: Case, voters: int, more: int, pool: int) -> None:
    """The prompt is all but the last two tokens, in one pass or token by token; the votes are counted one by one."""
    config = replace(case.config, window=0)
    prompt, rest = case.token_ids[:-2], case.token_ids[-2:]
    group, n = config.n_head // config.n_kv_head, len(prompt)
    plain, trace = HeldCache(Held(config.n_kv_head) for _ in range(config.n_layer)), Trace()
    forward(case.params, config, prompt, plain, trace)
    if n > voters + more:
        for layer, rows in enumerate(plain):
            weights = trace["attn_weights", 0, layer][:, -voters:]
            for head, sees in enumerate(rows.sees):
                own = weights[head * group : (head + 1) * group].sum(axis=(0, 1))[: n - voters]
                shared = [sum(own[max(0, at - pool // 2) : at + pool // 2 + 1]) for at in range(n - voters)]
                assume(len(shared) < 2 or np.diff(np.sort(shared)).min() > 1e-9)  # of equals, rounding chooses
                best = sorted(range(n - voters), key=lambda at, s=shared: -s[at])[:more]  # type: ignore[misc]
                sees[:] = [*sorted(best), *range(n - voters, n)]
    ours, by_steps = (SnapKVCache(config, voters + more, voters, pool) for _ in range(2))
    forward(case.params, config, prompt, ours, ours.watch())
    for token in prompt:
        forward(case.params, config, [token], by_steps, by_steps.watch())
    for token in rest:
        expected = forward(case.params, config, [token], plain)
        for cache in (ours, by_steps):
            cache.make_room()
            assert [row.positions.tolist() for row in cache.layers] == [[one[:-1] for one in row.sees] for row in plain]
            assert_close(forward(case.params, config, [token], cache, cache.watch()), expected, 1e-9)


def test_what_is_reported_and_what_is_held() -> None:
    model, trace = shipped("stories"), Trace()
    cache = H2OCache(model.config, 2, 3)
    run(model.params, model.config, cache, list(range(1, 9)), trace)
    left = trace["cache_evict", 7, 0]
    assert left.shape == (model.config.n_kv_head, 1) and (left < 5).all()
    assert len(cache) == 5 and cache.next_position == 8
    assert cache.nbytes == 2 * 5 * 2 * model.config.n_kv_head * model.config.head_dim * 8
    assert all(rows.positions[:, 2:].tolist() == [[5, 6, 7]] * model.config.n_kv_head for rows in cache.layers)


def test_nobody_has_watched() -> None:
    model = shipped("names")
    for cache in (H2OCache(model.config, 1, 2), SnapKVCache(model.config, 3, 1)):
        forward(model.params, model.config, [1, 2, 3, 4], cache)
        with pytest.raises(UserError, match="Nobody has watched the attention weights"):
            cache.make_room()
