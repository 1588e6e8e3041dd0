"""Context shift: exact in the first layer, and off in the others, by as much as was measured once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.caches.shift import ShiftCache
from microgpt.config import Array
from microgpt.decode import generate
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.weights import Model, shipped
from tests.support.examples import examples


def written(model: Model, prompt: str) -> list[int]:
    """The prompt, and what the model writes behind it until its context is full."""
    ids = model.tokenizer.encode(prompt)
    return [*ids, *generate(model.params, model.config, ids, model.config.n_ctx - len(ids))]


STORY = written(shipped("stories"), "The next day is bright")


def shifted_and_cut(n_keep: int, n: int = 17) -> tuple[ShiftCache, KVCache, list[int], list[int]]:
    """stories: n tokens, half of them dropped; and the text without those, run by itself."""
    model = shipped("stories")
    ids = STORY[:n]
    ours, cut = ShiftCache(model.config, n_keep), KVCache(model.config)
    forward(model.params, model.config, ids, ours)
    left = ours.shift((n - n_keep) // 2)
    rest = ids[:n_keep] + ids[n_keep + left :]
    forward(model.params, model.config, rest, cut)
    return ours, cut, ids, rest


def off(one: Array, other: Array) -> float:
    return float(np.abs(one - other).max())


@pytest.mark.parametrize(("n_keep", "keys", "values"), [(0, 2.137, 0.932), (1, 1.917, 1.136)])
def test_the_first_layer_is_that_of_the_cut_text_and_the_second_is_not(n_keep: int, keys: float, values: float) -> None:
    """By what was measured on this text, 17 tokens of it."""
    ours, cut, ids, rest = shifted_and_cut(n_keep)
    assert len(ours) == len(cut) == len(rest)
    assert off(ours[0].keys, cut[0].keys) <= 1e-14 and off(ours[0].values, cut[0].values) <= 1e-15
    found = off(ours[1].keys, cut[1].keys), off(ours[1].values, cut[1].values)
    assert found == pytest.approx((keys, values), abs=1e-3)
    assert ours.positions == [*range(n_keep), *range(len(ids) - len(rest) + n_keep, len(ids))]


@given(st.integers(0, 3), st.integers(5, 12), st.lists(st.integers(1, 20), min_size=1, max_size=30))
@settings(max_examples=examples(20), deadline=None)
def test_it_goes_on_for_ever(n_keep: int, rows: int, ids: list[int]) -> None:
    """Shifted again and again, the first layer stays that of the rows that are left, at their new positions."""
    model = shipped("stories")
    cache, kept = ShiftCache(model.config, n_keep, rows), list[int]()
    for token in ids:
        if cache.make_room():
            kept = [ids[at] for at in cache.positions]
        forward(model.params, model.config, [token], cache)
        kept.append(token)
        assert [ids[at] for at in cache.positions] == kept  # at once, and not from the next step on
        plain = KVCache(model.config)
        forward(model.params, model.config, kept, plain)
        assert len(cache) == len(kept) <= rows
        assert off(cache[0].keys, plain[0].keys) <= 1e-12


def test_what_is_reported() -> None:
    model, trace = shipped("stories"), Trace()
    cache = ShiftCache(model.config, n_keep=1, rows=7)
    forward(model.params, model.config, STORY[:7], cache)
    assert cache.make_room(1, trace) == 3 and cache.make_room(1, trace) == 0
    assert trace["cache_evict", 7, 0].tolist() == [[1, 2, 3]] * model.config.n_kv_head
    assert cache.positions == [0, 4, 5, 6]


def test_more_rows_than_there_are_cannot_leave() -> None:
    model = shipped("stories")
    cache = ShiftCache(model.config, n_keep=2)
    forward(model.params, model.config, STORY[:5], cache)
    with pytest.raises(UserError, match="4 rows cannot leave; choose 1 to 3."):
        cache.shift(4)
    with pytest.raises(UserError, match="The cache holds 5 of"):
        cache.check_room(model.config.n_ctx)


def test_what_is_cropped_is_forgotten() -> None:
    model = shipped("stories")
    cache = ShiftCache(model.config, n_keep=1, rows=7)
    forward(model.params, model.config, STORY[:7], cache)
    cache.make_room()
    cache.crop(3)
    assert cache.positions == [0, 4, 5] and len(cache) == 3
    forward(model.params, model.config, STORY[6:7], cache)
    assert cache.positions == [0, 4, 5, 6] and len(cache) == 4
