"""Texts side by side in one pass: each is what it would be alone, and what does not fit is refused before it begins."""

from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import Batch, Cache, KVCache
from microgpt.caches.blocks import BlockPool
from microgpt.caches.paged import PagedCache
from microgpt.caches.ring import RingCache
from microgpt.config import Array, Config, Report
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.simd import FEW, TILE, times
from microgpt.weights import shipped
from tests.support.examples import examples
from tests.support.strategies import REPORTS, Case, assert_close, cases


@given(cases(min_tokens=3) | cases(min_tokens=3, latent=True), st.data())
@settings(max_examples=examples(200))
def test_a_text_in_a_batch_is_what_it_would_be_alone(case: Case, data: st.DataObject) -> None:
    """Some have rows already and others none; some bring one token and others several; in any order."""
    ids, config = case.token_ids, case.config
    texts = data.draw(st.lists(st.integers(0, len(ids) - 1), min_size=1, max_size=5))  # of each, how much is cached
    news = [ids[old : old + data.draw(st.integers(1, len(ids) - old))] for old in texts]
    beside, alone = ([KVCache(config) for _ in texts] for _ in range(2))
    for old, *caches in zip(texts, beside, alone, strict=True):
        for cache in caches if old else ():
            forward(case.params, config, ids[:old], cache)
    counts = [len(new) for new in news]
    logits = forward(case.params, config, sum(news, []), Batch(beside, counts))
    for i, (cache, other, new, end) in enumerate(zip(beside, alone, news, accumulate(counts), strict=True)):
        assert_close(logits[end - counts[i] : end], forward(case.params, config, new, other))
        for one, two in zip(cache.layers, other.layers, strict=True):
            assert_close(one.keys, two.keys)
            assert_close(one.values, two.values)


@given(cases(min_tokens=4), st.integers(1, 4))
@settings(max_examples=examples(60))
def test_caches_of_all_kinds_may_be_in_one_batch(case: Case, window: int) -> None:
    """Blocks of a pool that two texts share, a ring, and the plain one."""
    config = replace(case.config, window=window, window_from=0)
    pool = BlockPool(config, 24, 2)
    caches: list[Cache] = [PagedCache(pool), RingCache(config), PagedCache(pool), KVCache(config)]
    alone = [KVCache(config) for _ in caches]
    for token in case.token_ids:
        rows = forward(case.params, config, [token] * 4, Batch(caches, [1] * 4))
        for row, other in zip(rows, alone, strict=True):
            assert_close(row[None], forward(case.params, config, [token], other))


NAMES, STORIES = shipped("names"), shipped("stories")


def test_reports_of_shared_rows_carry_the_position_of_the_first_row() -> None:
    """What all texts share is told once, at the first text's position, in every layer; attention at each text's own."""
    config, told, counts, held = STORIES.config, list[Report](), (1, 2, 1), (5, 0, 3)
    caches = [KVCache(config) for _ in counts]
    for cache, n in zip(caches, held, strict=True):
        n and forward(STORIES.params, config, [1] * n, cache)
    forward(STORIES.params, config, [2] * sum(counts), Batch(caches, counts), told.append)
    for name in REPORTS:
        own = name in ("cache_append", "attn_scores", "attn_weights", "head_out")
        layers = range(-1, 0) if name in ("embed", "resid_final", "logits") else range(config.n_layer)
        expected = [(pos, layer) for layer in layers for pos in (held if own else held[:1])]
        assert [(pos, layer) for report, _, pos, layer in told if report == name] == expected, name


@pytest.mark.parametrize(
    ("counts", "same", "sentence"),
    [
        ([1, 1], False, "3 tokens for texts of 1, 1"),
        ([3, 0], False, "3 tokens for texts of 3, 0"),
        ([1, 2], True, "a cache of its own"),
        ([1, 1, 1], False, "3 tokens for texts of 1, 1, 1"),
        ([], False, "each needs a token or more"),
    ],
)
def test_what_is_no_batch(counts: list[int], same: bool, sentence: str) -> None:
    one = KVCache(NAMES.config)
    caches = [one, one if same else KVCache(NAMES.config)] if counts else []
    with pytest.raises(UserError, match=sentence):
        forward(NAMES.params, NAMES.config, [1, 2, 3], Batch(caches, counts))
    assert len(one) == 0


def test_where_one_text_has_no_room_none_is_written() -> None:
    roomy, full = KVCache(NAMES.config), KVCache(NAMES.config)
    forward(NAMES.params, NAMES.config, [0] * NAMES.config.n_ctx, full)
    with pytest.raises(UserError, match="1 more do not fit"):
        forward(NAMES.params, NAMES.config, [1, 2], Batch([roomy, full], [1, 1]))
    assert len(roomy) == 0


@pytest.mark.parametrize("config", [NAMES.config, replace(NAMES.config, cross=True)])
def test_trees_and_encoders_are_for_one_text(config: Config) -> None:
    caches = [KVCache(config), KVCache(config)]
    parents = () if config.cross else (-1, -1)
    with pytest.raises(UserError, match="no tree and no encoder"):
        forward(NAMES.params, config, [1, 2], Batch(caches, [1, 1]), parents=parents)


# ---- large matrices, which the shipped models do not have --------------------------------------------


@given(
    st.integers(1, FEW + 3),
    st.integers(1, 4 * TILE),
    st.sampled_from(("C", "F", "every other row")),
    st.sampled_from((np.float32, np.float64)),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=examples(60))
def test_a_product_by_tiles_is_the_product(n: int, odd: int, layout: str, dtype: type[np.floating], seed: int) -> None:
    """Matrices just above and below the size from which tiles are used, whole tiles or not."""
    rng = np.random.default_rng(seed)
    rows = (1 << 16) // 64 - 2 * TILE + odd
    drawn: Array = rng.normal(size=(2 * rows, 64)).astype(dtype)
    matrix = drawn[::2] if layout == "every other row" else np.array(drawn[:rows], order=layout)  # type: ignore[call-overload]
    x = rng.normal(size=(n, 64)).astype(dtype)
    found = times(x, matrix)
    assert found.dtype == dtype
    assert_close(found, x @ matrix.T, 1e-5 if dtype is np.float32 else 1e-12)
    written_out = [sum(a * b for a, b in zip(x[-1].tolist(), row.tolist(), strict=True)) for row in matrix[-3:]]
    assert_close(np.asarray(found[-1, -3:], np.float64), np.array(written_out), 1e-5 if dtype is np.float32 else 1e-12)
