"""Sinks: against a pass that keeps keys unturned and turns them by their places when it reads them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.caches.sinks import SinkCache
from microgpt.config import Array, Config
from microgpt.errors import UserError
from microgpt.model import forward, project, softmax
from microgpt.rope import rope
from microgpt.trace import Trace
from microgpt.weights import Model, shipped
from tests.support.examples import examples
from tests.support.strategies import Case, assert_close, cases


def stepped(model: Model | Case, config: Config, cache: SinkCache, ids: list[int]) -> Array:
    """Logits [n, vocab_size], token by token."""
    found = []
    for token in ids:
        cache.make_room()
        found.append(forward(model.params, config, [token], cache)[0])
    return np.array(found)


class ByPlaces:
    """StreamingLLM as it is told: the rows of a list, keys before rotation; turned by their places at each step."""

    def __init__(self, config: Config, sinks: int, recent: int) -> None:
        self.config, self.sinks, self.recent = config, sinks, recent
        self.rows: list[tuple[Array, Array]] = []

    def head_out(self, q: Array, k: Array, v: Array) -> Array:
        """One query [1, n_head, d], unturned, against the rows; k and v [1, n_kv_head, d] join first."""
        if len(self.rows) + 1 > self.sinks + self.recent:
            del self.rows[self.sinks]
        self.rows.append((k[0], v[0]))
        t = len(self.rows)
        keys, values = (np.stack(part) for part in zip(*self.rows, strict=True))  # [t, g, d]
        q, keys = (rope(self.config, range(t - len(x), t), np.dtype(float))(x) for x in (q, keys))
        group = self.config.n_head // self.config.n_kv_head
        scale = self.config.attn_scale or self.config.head_dim**-0.5
        return np.concatenate(
            [
                softmax(keys[:, head // group] @ q[0, head] * scale) @ values[:, head // group]
                for head in range(self.config.n_head)
            ]
        )


@given(cases(n_ctx=24), st.integers(0, 3), st.integers(1, 6))
@settings(max_examples=examples(60), deadline=None)
def test_sinks_by_places_are_sinks_turned_along(case: Case, sinks: int, recent: int) -> None:
    """In every layer, what a step makes of its own q, k and v is what the list of rows makes of them."""
    config = replace(case.config, position="rope", window=0, qk_norm=False)
    cache = SinkCache(config, sinks, recent)
    layers = [ByPlaces(config, sinks, recent) for _ in range(config.n_layer)]
    ids = (case.token_ids * 24)[:24]
    for at, token in enumerate(ids):
        cache.make_room()
        trace = Trace()
        forward(case.params, config, [token], cache, trace)
        for layer, rows in enumerate(layers):
            a = trace["attn_norm", at, layer]
            q, k, v = (
                project(a, case.params, f"layer{layer}.{name}", heads, config.norm_eps)
                for name, heads in (("wq", config.n_head), ("wk", config.n_kv_head), ("wv", config.n_kv_head))
            )
            assert_close(trace["head_out", at, layer][0], rows.head_out(q, k, v))


@given(cases(), st.integers(1, 8))
@settings(max_examples=examples(60), deadline=None)
def test_no_sinks_are_a_window(case: Case, recent: int) -> None:
    plain, window = replace(case.config, window=0), replace(case.config, window=recent, window_from=0)
    found = stepped(case, plain, SinkCache(plain, 0, recent), case.token_ids)
    assert_close(found, forward(case.params, window, case.token_ids, KVCache(window)))


def test_which_rows_are_held_and_what_is_reported() -> None:
    model = shipped("stories")
    cache, trace = SinkCache(model.config, 2, 3), Trace()
    for token in range(1, 9):
        cache.make_room(1, trace)
        forward(model.params, model.config, [token], cache)
    assert cache.positions == [0, 1, 5, 6, 7] and len(cache) == 5 and cache.next_position == 8
    assert [(e.pos, e.layer) for e in trace][: model.config.n_layer] == [(5, i) for i in range(model.config.n_layer)]
    assert trace["cache_evict", 7, 0].tolist() == [[4]] * model.config.n_kv_head


def test_it_goes_on_where_positions_are_turned_and_in_pieces() -> None:
    model = shipped("stories")
    cache = SinkCache(model.config, 2, 20)
    for _ in range(3 * model.config.n_ctx):
        cache.make_room(3)
        forward(model.params, model.config, [1, 2, 3], cache)
        assert cache.positions[:2] == [0, 1] and len(cache) <= 22
    assert cache.next_position == 9 * model.config.n_ctx


def test_no_room() -> None:
    model = shipped("names")
    cache = SinkCache(model.config, 1, 2)
    forward(model.params, model.config, [1, 2], cache)
    with pytest.raises(UserError, match="1 sinks and 2 recent rows have room for 1 more; 2 do not fit"):
        forward(model.params, model.config, [3, 4], cache)
