"""Keep a row of K and a row of V

A token has a key `k` and a value `v` in every head, two arrays of the shape [n_head, head_dim]. Write `append`:
it keeps both in the cache, and returns the position of the token. The first token is at 0.

Whoever calls it may write the next token into the same two arrays. What the cache keeps must not change with
them.
"""

import numpy as np

HINT = "A list keeps the array itself, and no copy of it. `k.copy()` is an array of its own."


class Cache:
    def __init__(self):
        self.keys = []  # one array [n_head, head_dim] per token
        self.values = []


def append(cache, k, v):
    """The position of the token whose k and v are kept from now on."""
    ### BEGIN SOLUTION
    cache.keys.append(k.copy())
    cache.values.append(v.copy())
    return len(cache.keys) - 1
    ### END SOLUTION


# ---- the tests ------------------------------------------------------------------------------------


def row(seed):
    return np.sin(seed + np.arange(8) ** 2).reshape(2, 4)


def test_one_row_per_token():
    """Each token adds one row of keys and one row of values."""
    cache = Cache()
    for n in range(1, 4):
        append(cache, row(n), row(n + 10))
        keys, values = len(cache.keys), len(cache.values)
        assert keys == values == n, f"After {n} tokens there are {keys} rows of keys and {values} rows of values."


def test_each_row_in_its_place():
    """A row is what was given, at the place of its token."""
    cache = Cache()
    for i in range(3):
        append(cache, row(i), row(i + 10))
    for i in range(3):
        far = np.abs(cache.keys[i] - row(i)).max()
        assert far == 0, f"Row {i} of the keys is not the key that was given: a number is off by {far:.2g}."
        far = np.abs(cache.values[i] - row(i + 10)).max()
        assert far == 0, f"Row {i} of the values is not the value that was given: a number is off by {far:.2g}."


def test_the_position():
    """What is returned is the position of the new token, counted from 0."""
    cache = Cache()
    for i in range(3):
        found = append(cache, row(i), row(i + 10))
        assert found == i, f"The token at position {i} got the position {found}."


def test_old_rows_stay():
    """What is kept does not change with the arrays that it came from."""
    cache, k, v = Cache(), row(1), row(2)
    append(cache, k, v)
    k[:], v[:] = 7, 7
    far = max(np.abs(cache.keys[0] - row(1)).max(), np.abs(cache.values[0] - row(2)).max())
    assert far == 0, f"The caller has written into k and v, and row 0 of the cache has changed by {far:.2g}."
