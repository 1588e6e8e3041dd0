"""A ring of W - 1 rows gives what a cache of all rows and a window mask give."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.caches.ring import RingCache, RingLayer
from microgpt.model import forward
from microgpt.weights import shipped
from tests.support.examples import examples
from tests.support.strategies import Case, cases


@given(cases(), st.integers(1, 12), st.data())
@settings(max_examples=examples(200), deadline=None)
def test_a_ring_equals_a_window_over_all_rows(case: Case, window: int, data: st.DataObject) -> None:
    """For windows of any width, from any layer on, and texts in chunks of any size."""
    from_layer = data.draw(st.integers(0, case.config.n_layer - 1))
    config = replace(case.config, window=window, window_from=from_layer)
    ring, plain, left = RingCache(config), KVCache(config), list(case.token_ids)
    while left:
        n = data.draw(st.integers(1, len(left)))
        ids, left = left[:n], left[n:]
        found, all_rows = (forward(case.params, config, ids, cache) for cache in (ring, plain))
        assert np.abs(found - all_rows).max() <= 1e-9
        assert ring.next_position == plain.next_position
    for layer in ring.layers:
        assert not isinstance(layer, RingLayer) or len(layer) <= window - 1
    assert ring.nbytes_reserved <= plain.nbytes_reserved * 9 / 8 or window > config.n_ctx


def test_a_text_longer_than_the_ring_goes_on_where_positions_are_turned() -> None:
    """The rows do not run out; what a model was trained for is another matter."""
    model = shipped("stories")
    config = replace(model.config, window=4, window_from=0)
    cache = RingCache(config)
    for _ in range(3 * config.n_ctx):
        forward(model.params, config, [1], cache)
    assert cache.next_position == 3 * config.n_ctx and len(cache[0]) == 3


def test_the_oldest_first_is_a_view() -> None:
    """A step copies its own row; all that are held move once in an eighth of the window, and not for each token."""
    layer, row = RingLayer(2, 33, 4), np.ones((1, 2, 4))
    for _ in range(32):
        layer.append(row, row)
    views = [layer.append(row, row)[0] for _ in range(20)]
    starts = [view.__array_interface__["data"][0] for view in views]
    moved = sum(new < old for old, new in zip(starts, starts[1:], strict=False))
    assert all(not view.flags.owndata and view.shape == (2, 33, 4) for view in views) and moved <= 4
