"""Go back to an earlier row

A draft was wrong, or a reader has changed the end of a text. Write `crop`: it keeps the oldest n rows of the
cache and gives up the others, as if they had never been appended.

Where n is below 0 or above the number of rows, it raises ValueError and changes nothing.
"""

import numpy as np

HINT = "`del rows[n:]` removes what stands from place n on. A negative n would count from the end: look first."


class Cache:
    def __init__(self, keys, values):
        self.keys = list(keys)  # one array [n_head, head_dim] per token
        self.values = list(values)


def crop(cache, n):
    """Keep the oldest n rows."""
    ### BEGIN SOLUTION
    if not 0 <= n <= len(cache.keys):
        raise ValueError(f"there are {len(cache.keys)} rows")
    del cache.keys[n:]
    del cache.values[n:]
    ### END SOLUTION


# ---- the tests ------------------------------------------------------------------------------------


def rows(seed, t=6):
    return np.sin(seed + np.arange(t * 8) ** 2).reshape(t, 2, 4)


def test_n_rows_are_left():
    """After it there are n rows of keys."""
    for n in (6, 4, 1, 0):
        cache = Cache(rows(1), rows(2))
        crop(cache, n)
        held = len(cache.keys)
        assert held == n, f"Of 6 rows {n} should stay; {held} are there."


def test_values_too():
    """Values go with their keys."""
    cache = Cache(rows(1), rows(2))
    crop(cache, 4)
    keys, values = len(cache.keys), len(cache.values)
    assert keys == values, f"There are {keys} rows of keys, and {values} rows of values."


def test_the_oldest_stay():
    """The rows that stay are the oldest ones, as they were."""
    cache = Cache(rows(1), rows(2))
    crop(cache, 4)
    far = max(np.abs(np.array(cache.keys) - rows(1)[:4]).max(), np.abs(np.array(cache.values) - rows(2)[:4]).max())
    assert far == 0, f"The 4 rows that are left are not the oldest 4: a number is off by {far:.2g}."


def test_what_cannot_be():
    """More rows than there are, or fewer than none, are refused."""
    for n in (-1, 7):
        cache = Cache(rows(1), rows(2))
        try:
            crop(cache, n)
            is_refused = False
        except ValueError:
            is_refused = True
        assert is_refused, f"There are 6 rows, and crop(cache, {n}) raised no ValueError."
        held = len(cache.keys)
        assert held == 6, f"crop(cache, {n}) was refused, and yet {held} of 6 rows are left."
