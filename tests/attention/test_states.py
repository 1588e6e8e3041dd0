"""Tables in place of rows: a sum is attention without softmax, and the delta rule writes what is missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.attention.states import add_pair, recall, write_delta


@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 6), st.integers(0, 1000))
def test_the_sum_is_the_triangle_without_softmax(n: int, d_k: int, d_v: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, k, v = rng.normal(size=(n, d_k)), rng.normal(size=(n, d_k)), rng.normal(size=(n, d_v))
    state, out = np.zeros((d_k, d_v)), np.empty((n, d_v))
    for i in range(n):
        state = add_pair(state, k[i], v[i])
        out[i] = q[i] @ state
    assert np.abs(out - np.tril(q @ k.T) @ v).max() < 1e-10


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 1000))
def test_after_the_delta_rule_a_key_gives_its_value(d_k: int, d_v: int, seed: int) -> None:
    """Whatever was written before; and half a step goes half of the way."""
    rng = np.random.default_rng(seed)
    state, key, value = rng.normal(size=(d_k, d_v)), rng.normal(size=d_k), rng.normal(size=d_v)
    key /= np.linalg.norm(key)
    assert np.abs(key @ write_delta(state, key, value) - value).max() < 1e-9
    halfway = (key @ state + value) / 2
    assert np.abs(key @ write_delta(state, key, value, beta=0.5) - halfway).max() < 1e-9


def test_what_is_orthogonal_is_kept_and_all_fades() -> None:
    k, v = np.eye(4), np.random.default_rng(0).normal(size=(4, 3))
    state = faded = np.zeros((4, 3))
    for key, value in zip(k, v, strict=True):
        state, faded = write_delta(state, key, value), write_delta(faded, key, value, decay=0.5)
    assert np.abs(k @ state - v).max() < 1e-12
    assert np.abs(k @ faded - v * np.array([[0.125], [0.25], [0.5], [1]])).max() < 1e-12


@pytest.mark.parametrize("delta", [False, True])
def test_one_pair_comes_back_and_many_do_not(delta: bool) -> None:
    errors = [np.mean([recall(n, 8, delta, seed) for seed in range(30)]) for n in (1, 2, 4, 8, 16)]
    assert errors[0] < 1e-12 and all(a < b for a, b in zip(errors, errors[1:], strict=False))
    assert np.mean([recall(8, 8, True, seed) < recall(8, 8, False, seed) for seed in range(30)]) > 0.8
