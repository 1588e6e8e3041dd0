"""Context shift: exact in the first layer, and off in the others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.caches.shift import ShiftCache
from microgpt.decode import generate
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.weights import Model, shipped
from tests.support.examples import examples
from tests.support.strategies import assert_close


def written(model: Model, prompt: str) -> list[int]:
    """The prompt, and what the model writes behind it until its context is full."""
    ids = model.tokenizer.encode(prompt)
    return [*ids, *generate(model.params, model.config, ids, model.config.n_ctx - len(ids))]


STORY = written(shipped("stories"), "The next day is bright")


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
        assert_close(cache[0].keys, plain[0].keys)
        assert_close(cache[0].values, plain[0].values)


def test_what_is_reported() -> None:
    model, trace = shipped("stories"), Trace()
    cache = ShiftCache(model.config, n_keep=1, rows=7)
    forward(model.params, model.config, STORY[:7], cache)
    assert cache.make_room(1, trace) == 3 and cache.make_room(1, trace) == 0
    assert trace["cache_evict", 7, 0].tolist() == [[1, 2, 3]] * model.config.n_kv_head
    assert cache.positions == [0, 4, 5, 6]
    plain = KVCache(model.config)  # in the second layer rows have been computed while those that left could be read
    forward(model.params, model.config, [STORY[at] for at in cache.positions], plain)
    assert np.abs(cache[1].keys - plain[1].keys).max() > 0.1 and np.abs(cache[1].values - plain[1].values).max() > 0.1


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
