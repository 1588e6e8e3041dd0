"""The cache: append and crop undo each other, and what does not fit changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache, KVLayer
from microgpt.config import Array, Config, Params
from microgpt.errors import UserError
from microgpt.model import forward
from tests.support.examples import examples
from tests.support.strategies import Case, cases, configs

H, N_CTX, D = 2, 8, 4


def rows(n: int, seed: int = 0) -> tuple[Array, Array]:
    k, v = np.random.default_rng(seed).normal(size=(2, n, H, D))
    return k, v


def filled(n: int) -> KVLayer:
    cache = KVLayer(H, N_CTX, D)
    cache.append(*rows(n))
    return cache


def contents(cache: KVLayer) -> tuple[int, bytes, bytes]:
    return len(cache), cache.keys.tobytes(), cache.values.tobytes()


@given(st.lists(st.integers(0, 3), max_size=8), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(200))
def test_rows_come_back_in_order_however_they_were_cut(sizes: list[int], seed: int) -> None:
    cache, k_all, v_all, at = KVLayer(H, 24, D), *rows(sum(sizes), seed), 0
    for size in sizes:
        keys, values, positions = cache.append(k_all[at : at + size], v_all[at : at + size])
        at += size
        assert len(cache) == at
        assert np.array_equal(keys, k_all[:at].swapaxes(0, 1)) and np.array_equal(values, v_all[:at].swapaxes(0, 1))
        assert np.array_equal(keys, cache.keys) and np.array_equal(values, cache.values)
        assert positions == range(at)


@given(st.integers(0, N_CTX), st.data())
def test_crop_undoes_append(held: int, data: st.DataObject) -> None:
    more = data.draw(st.integers(0, N_CTX - held))
    cache = filled(held)
    before = contents(cache)
    cache.append(*rows(more, seed=1))
    cache.crop(held)
    assert contents(cache) == before


def test_crop_keeps_the_oldest_rows_and_their_place_is_written_again() -> None:
    cache = filled(5)
    old = cache.keys[:, :2].copy()
    cache.crop(2)
    assert np.array_equal(cache.keys, old)
    k, v = rows(1, seed=7)
    keys, values, _ = cache.append(k, v)
    assert np.array_equal(keys[:, 2], k[0]) and np.array_equal(values[:, 2], v[0])


def test_append_hands_out_views_and_moves_no_old_row() -> None:
    cache = filled(3)
    first = cache.keys
    before = first.copy()
    keys, values, _ = cache.append(*rows(2, seed=1))
    assert np.shares_memory(keys, first) and np.shares_memory(values, cache.values)
    assert np.array_equal(first, before)


def test_append_copies_what_it_is_given() -> None:
    cache = KVLayer(H, N_CTX, D)
    k, v = rows(2)
    cache.append(k, v)
    before = contents(cache)
    k[:], v[:] = 9.0, 9.0
    assert contents(cache) == before


@given(st.integers(0, N_CTX), st.integers(1, 2 * N_CTX))
def test_past_n_ctx_is_refused_and_changes_nothing(held: int, more: int) -> None:
    cache = filled(held)
    before = contents(cache)
    if held + more <= N_CTX:
        cache.append(*rows(more))
        assert len(cache) == held + more
        return
    with pytest.raises(UserError, match=f"{held} of {N_CTX} rows; {more} more do not fit"):
        cache.append(*rows(more))
    assert contents(cache) == before


@given(st.integers(0, N_CTX), st.integers(-20, 20))
def test_crop_to_a_negative_or_larger_length_is_refused_and_changes_nothing(held: int, n: int) -> None:
    cache = filled(held)
    before = contents(cache)
    if 0 <= n <= held:
        cache.crop(n)
        assert len(cache) == n
        return
    with pytest.raises(UserError, match=f"{held} rows cannot be cropped to {n}"):
        cache.crop(n)
    assert contents(cache) == before


@pytest.mark.parametrize(
    ("k_shape", "v_shape"),
    [
        ((1, H, D), (2, H, D)),
        ((1, H, D + 1), (1, H, D + 1)),
        ((1, H + 1, D), (1, H + 1, D)),
        ((H, D), (H, D)),
        ((1, 1, H, D), (1, 1, H, D)),
        ((1, H, 1), (1, H, 1)),  # NumPy alone would broadcast this one
    ],
)
def test_a_wrong_shape_is_refused_and_changes_nothing(k_shape: tuple[int, ...], v_shape: tuple[int, ...]) -> None:
    cache = filled(3)
    before = contents(cache)
    with pytest.raises(UserError, match="has shape"):
        cache.append(np.zeros(k_shape), np.zeros(v_shape))
    assert contents(cache) == before


@given(cases())
@settings(max_examples=examples(100))
def test_a_model_whose_text_does_not_fit_leaves_the_whole_cache_as_it_was(case: Case) -> None:
    cache = KVCache(case.config)
    forward(case.params, case.config, case.token_ids, cache)
    before = [contents(layer) for layer in cache.layers]
    too_many = [0] * (case.config.n_ctx - len(cache) + 1)
    with pytest.raises(UserError, match="do not fit"):
        forward(case.params, case.config, too_many, cache)
    assert [contents(layer) for layer in cache.layers] == before
    for n in (-1, len(cache) + 1):
        with pytest.raises(UserError, match="cannot be cropped"):
            cache.crop(n)
    assert [contents(layer) for layer in cache.layers] == before


@given(cases(), st.sampled_from([np.float64, np.float32]))
@settings(max_examples=examples(100))
def test_bytes_used_grow_with_the_tokens_and_bytes_reserved_do_not(case: Case, dtype: type) -> None:
    c = case.config
    cache = KVCache(c, dtype)
    per_token = 2 * c.n_layer * c.n_kv_head * c.head_dim * np.dtype(dtype).itemsize
    assert (cache.nbytes, cache.nbytes_reserved) == (0, per_token * c.n_ctx)
    params: Params = {name: value.astype(dtype) for name, value in case.params.items()}
    for n, token in enumerate(case.token_ids, start=1):
        forward(params, c, [token], cache)
        assert (len(cache), cache.nbytes, cache.nbytes_reserved) == (n, per_token * n, per_token * c.n_ctx)
    cache.crop(0)
    assert (len(cache), cache.nbytes, cache.nbytes_reserved) == (0, 0, per_token * c.n_ctx)


@given(configs())
@settings(max_examples=examples(30))
def test_every_layer_has_a_cache_of_its_own(config: Config) -> None:
    cache = KVCache(config)
    assert len(cache.layers) == config.n_layer
    for layer in range(config.n_layer):
        assert cache[layer].keys.shape == (config.n_kv_head, 0, config.head_dim)
    shape = (1, config.n_kv_head, config.head_dim)
    cache[0].append(np.zeros(shape), np.zeros(shape))
    assert [len(layer) for layer in cache.layers] == [1] + [0] * (config.n_layer - 1)


class Heap:
    """A layer whose rows lie in any order: it tells where each belongs, and nothing else."""

    def __init__(self, config: Config, rng: np.random.Generator) -> None:
        self.k: Array = np.empty((config.n_kv_head, 0, config.head_dim))
        self.v, self.positions, self.rng = self.k, np.empty(0, int), rng

    def append(self, k: Array, v: Array) -> tuple[Array, Array, list[int]]:
        n, order = self.k.shape[1], self.rng.permutation(self.k.shape[1] + len(k))
        self.k = np.concatenate([self.k, k.swapaxes(0, 1)], axis=1)[:, order]
        self.v = np.concatenate([self.v, v.swapaxes(0, 1)], axis=1)[:, order]
        self.positions = np.concatenate([self.positions, range(n, n + len(k))])[order]
        return self.k, self.v, self.positions.tolist()


class Short:
    """A layer that gives up every row that no later query will read: a window's worth is left, and the new ones."""

    def __init__(self, config: Config, rng: np.random.Generator) -> None:
        self.k: Array = np.empty((config.n_kv_head, 0, config.head_dim))
        self.v, self.seen, self.window = self.k, 0, config.window

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        kept = self.window - 1
        self.k = np.concatenate([self.k[:, max(0, self.k.shape[1] - kept) :], k.swapaxes(0, 1)], axis=1)
        self.v = np.concatenate([self.v[:, max(0, self.v.shape[1] - kept) :], v.swapaxes(0, 1)], axis=1)
        self.seen += len(k)
        return self.k, self.v, range(self.seen - self.k.shape[1], self.seen)


class Foreign:
    """A cache that has nothing of ours: only what the protocol asks for."""

    def __init__(self, layers: Sequence[Heap | Short]) -> None:
        self.layers, self.next_position = layers, 0

    def __getitem__(self, layer: int) -> Heap | Short:
        return self.layers[layer]

    def check_room(self, n: int) -> None:
        pass


@settings(max_examples=examples(60), deadline=None)
@given(cases(), st.integers(0, 2**32 - 1), st.sampled_from([Heap, Short]), st.integers(1, 5), st.integers(1, 4))
def test_any_cache_that_keeps_the_protocol_gives_the_same_logits(
    case: Case, seed: int, kind: type[Heap] | type[Short], window: int, size: int
) -> None:
    """forward asks for the next position, for rows and for their positions: not for how many there are, or in order."""
    config = replace(case.config, window=window, window_from=0) if kind is Short else case.config
    rng = np.random.default_rng(seed)
    cache = Foreign([kind(config, rng) for _ in range(config.n_layer)])
    plain = KVCache(config)
    for at in range(0, len(case.token_ids), size):
        ids = case.token_ids[at : at + size]
        expected, found = forward(case.params, config, ids, plain), forward(case.params, config, ids, cache)
        cache.next_position += len(ids)
        assert np.abs(expected - found).max() < 1e-10 * max(1, np.abs(expected).max())
    if kind is Short:
        assert all(layer.k.shape[1] < window + size for layer in cache.layers)
