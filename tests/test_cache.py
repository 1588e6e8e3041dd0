"""The cache: append and crop undo each other, and what does not fit changes nothing."""

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
from tests.support.strategies import Case, cases

H, N_CTX, D = 2, 8, 4


def rows(n: int, seed: int = 0) -> tuple[Array, Array]:
    k, v = np.random.default_rng(seed).normal(size=(2, n, H, D))
    return k, v


def contents(cache: KVLayer) -> tuple[int, bytes, bytes]:
    return len(cache), cache.keys.tobytes(), cache.values.tobytes()


STEPS = st.lists(st.tuples(st.booleans(), st.integers(-2, N_CTX + 2)), max_size=10)  # append |n| rows, or crop to n


@given(STEPS, st.integers(0, 2**16))
@settings(max_examples=examples(600))
def test_rows_come_back_in_order_whatever_was_appended_and_cropped(steps: list[tuple[bool, int]], seed: int) -> None:
    """As views that move no old row, of what was copied; what does not fit, or is not there, changes nothing."""
    cache, kept = KVLayer(H, N_CTX, D), np.empty((2, 0, H, D))
    for at, (crops, n) in enumerate(steps):
        held, new = kept.shape[1], np.stack(rows(abs(n), seed + at))
        if crops and 0 <= n <= held:
            kept = kept[:, :n]
            cache.crop(n)
        elif crops:
            with pytest.raises(UserError, match=f"{held} rows cannot be cropped to {n}"):
                cache.crop(n)
        elif held + abs(n) > N_CTX:
            with pytest.raises(UserError, match=f"{held} of {N_CTX} rows; {abs(n)} more do not fit"):
                cache.append(*new)
        else:
            kept, before = np.concatenate([kept, new], axis=1), cache.keys
            keys, values, positions = cache.append(*new)
            assert positions == range(held + abs(n)) and np.array_equal([keys, values], [cache.keys, cache.values])
            assert not held or (np.shares_memory(keys, before) and np.shares_memory(values, cache.values))
            new[:] = 9.0
        assert len(cache) == kept.shape[1]
        assert np.array_equal([cache.keys, cache.values], kept.swapaxes(1, 2))


def test_a_wrong_shape_is_refused_and_changes_nothing() -> None:
    cache = KVLayer(H, N_CTX, D)
    cache.append(*rows(3))
    before = contents(cache)
    shapes: list[tuple[int, ...]] = [(1, H, D + 1), (1, H + 1, D), (H, D), (1, 1, H, D), (1, H, 1)]  # NumPy spreads one
    for k_shape, v_shape in ((shape, shape) for shape in shapes):
        with pytest.raises(UserError, match="has shape"):
            cache.append(np.zeros(k_shape), np.zeros(v_shape))
    with pytest.raises(UserError, match="has shape"):
        cache.append(np.zeros((1, H, D)), np.zeros((2, H, D)))
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
