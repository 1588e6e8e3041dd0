"""Write a KV cache, in three functions: append, attend and crop.

You need Python, NumPy and pytest: pip install numpy pytest. Then run

    pytest cache_exercise.py

All tests fail at first. Write append, then attend, then crop, and run them again after each. The tests stand below the
functions; read a test when you wonder what is asked. Do not change them, nor what stands between the functions.

Shapes: a token has one row of each kind, [n_head, head_dim]: its query q, its key k and its value v in every head.
"""

import math

import numpy as np
import pytest


class Cache:
    """The keys and the values of all tokens so far: two lists, which hold one row [n_head, head_dim] per token.

    The place of a row in its list is the position of its token: the first is at 0.
    """

    def __init__(self):
        self.keys = []
        self.values = []


def append(cache, k, v):
    """Keep the key k and the value v of a new token, both [n_head, head_dim], and return its position.

    The caller may go on to use k and v for something else: what the cache keeps must not change with them.
    """
    raise NotImplementedError


def attend(cache, q):
    """The answers to the queries q of the newest n tokens, [n, n_head, head_dim]; they have the same shape.

    The keys and values of these tokens have been appended already. So with t rows in the cache, the queries are those
    of the positions t - n to t - 1, in this order. In each head by itself:

    - the score of a query and a key is their dot product, divided by the square root of head_dim;
    - a query may read the keys up to its own position; later ones get no weight (the causal mask);
    - softmax turns the scores of a query into weights, which add up to 1; scores may be as large as 1000;
    - its answer is the sum of the values, each times its weight.

    The cache stays as it is.
    """
    raise NotImplementedError


def crop(cache, n):
    """Keep the oldest n rows and give up the others, as if they had never been appended.

    Raise ValueError, and change nothing, where n is below 0 or above the number of rows.
    """
    raise NotImplementedError


# ---- the tests ------------------------------------------------------------------------------------

T, N_HEAD, HEAD_DIM = 6, 2, 4


def rows(seed):
    """The q, k and v of a text of T tokens, each [T, n_head, head_dim]."""
    return np.random.default_rng(seed).normal(size=(3, T, N_HEAD, HEAD_DIM))


def filled(k, v):
    """A cache of these rows, put there without `append`."""
    cache = Cache()
    cache.keys, cache.values = [row.copy() for row in k], [row.copy() for row in v]
    return cache


def without_a_cache(q, k, v):
    """The answers of a whole text, one number at a time: slow, and nothing is kept."""
    answers = np.zeros_like(q)
    for i in range(len(q)):
        for head in range(N_HEAD):
            scores = [float(q[i, head] @ k[j, head]) / math.sqrt(HEAD_DIM) for j in range(i + 1)]
            raised = [math.exp(score - max(scores)) for score in scores]
            for j in range(i + 1):
                answers[i, head] += raised[j] / sum(raised) * v[j, head]
    return answers


def same(found, wanted):
    np.testing.assert_allclose(np.array(found), np.array(wanted), rtol=0, atol=1e-12)


def test_append_keeps_a_row_of_each_kind():
    _, k, v = rows(1)
    cache = Cache()
    for i in range(T):
        append(cache, k[i], v[i])
        same(cache.keys, k[: i + 1])
        same(cache.values, v[: i + 1])


def test_append_returns_the_position_of_the_new_row():
    _, k, v = rows(2)
    cache = Cache()
    assert [append(cache, k[i], v[i]) for i in range(T)] == list(range(T))


def test_a_row_that_is_kept_does_not_change_with_what_it_was_made_from():
    _, k, v = rows(3)
    cache, key, value = Cache(), k[0].copy(), v[0].copy()
    append(cache, key, value)
    key[:] = 7
    value[:] = 7
    same(cache.keys[0], k[0])
    same(cache.values[0], v[0])


def test_the_first_token_takes_its_own_value():
    q, k, v = rows(4)
    same(attend(filled(k[:1], v[:1]), q[:1]), v[:1])


def test_the_newest_token_reads_all_rows():
    q, k, v = rows(5)
    same(attend(filled(k, v), q[-1:]), without_a_cache(q, k, v)[-1:])


def test_a_text_that_runs_at_once_is_masked():
    q, k, v = rows(6)
    same(attend(filled(k, v), q), without_a_cache(q, k, v))


def test_a_chunk_in_the_middle_is_masked_from_its_own_positions_on():
    q, k, v = rows(7)
    same(attend(filled(k[:5], v[:5]), q[2:5]), without_a_cache(q, k, v)[2:5])


def test_large_scores_do_not_overflow():
    q, k, v = rows(8)
    with np.errstate(all="raise", under="ignore"):
        found = attend(filled(200 * k, v), 10 * q)
    same(found, without_a_cache(10 * q, 200 * k, v))


def test_attend_leaves_the_cache_as_it_is():
    q, k, v = rows(9)
    cache = filled(k, v)
    attend(cache, q)
    same(cache.keys, k)
    same(cache.values, v)


@pytest.mark.parametrize("n", range(T + 1))
def test_crop_keeps_the_oldest_rows(n):
    _, k, v = rows(10)
    cache = filled(k, v)
    crop(cache, n)
    assert len(cache.keys) == len(cache.values) == n
    same([*cache.keys, *k[n:]], k)
    same([*cache.values, *v[n:]], v)


@pytest.mark.parametrize("n", [-1, T + 1])
def test_crop_refuses_what_cannot_be(n):
    _, k, v = rows(11)
    cache = filled(k, v)
    with pytest.raises(ValueError):
        crop(cache, n)
    same(cache.keys, k)
    same(cache.values, v)


def test_token_by_token_gives_what_the_whole_text_gives():
    q, k, v = rows(12)
    cache, found = Cache(), []
    for i in range(T):
        append(cache, k[i], v[i])
        found += list(attend(cache, q[i : i + 1]))
    same(found, without_a_cache(q, k, v))


def test_after_a_crop_the_text_goes_on_as_if_nothing_had_been():
    """As in speculative decoding: two tokens are tried and rejected."""
    q, k, v = rows(13)
    _, wrong_k, wrong_v = rows(14)
    cache = Cache()
    for i in range(3):
        append(cache, k[i], v[i])
    for i in range(2):
        append(cache, wrong_k[i], wrong_v[i])
    crop(cache, 3)
    for i in range(3, T):
        assert append(cache, k[i], v[i]) == i
    same(attend(cache, q[3:]), without_a_cache(q, k, v)[3:])
