"""Rotate keys when they are read

RoPE turns a key by its position. Here the cache keeps keys as they are before it, so that a row can move to
another position, and they are turned each time they are read.

Write `rotate`: it turns the rows of `x`, [t, head_dim], each by its position. The numbers i and i + head_dim /
2 of a row are a pair; it turns by the angle position × base^(−2i / head_dim), from the first number towards the
second.

Then write `scores`: the query `q`, [head_dim], of the newest token against all keys, [t, head_dim], which are
at the positions 0 to t − 1. The query is at the last of them. A score is divided by the square root of
head_dim.
"""

import numpy as np

HINT = "A pair (a, b) becomes (a cos − b sin, a sin + b cos). The rows of the cache must stay as they are."


def rotate(x, positions, base=100.0):
    """The rows of x, each turned by its position, as a new array."""
    ### BEGIN SOLUTION
    half = x.shape[-1] // 2
    angles = np.asarray(positions)[:, None] * base ** (-np.arange(half) / half)
    a, b = x[:, :half], x[:, half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=1)
    ### END SOLUTION


def scores(q, keys):
    """The score of the newest token's query with each key, [t]."""
    ### BEGIN SOLUTION
    t, head_dim = keys.shape
    turned = rotate(q[None], [t - 1])[0]
    return rotate(keys, np.arange(t)) @ turned / np.sqrt(head_dim)
    ### END SOLUTION


# ---- the tests ------------------------------------------------------------------------------------


def rows(seed, t=5):
    return np.sin(seed + np.arange(t * 4) ** 2).reshape(t, 4)


def test_position_0():
    """At position 0 nothing turns."""
    far = np.abs(rotate(rows(1), np.zeros(5, int)) - rows(1)).max()
    assert far < 1e-9, f"At position 0 a row stays as it is; a number of yours is off by {far:.2g}."


def test_pairs():
    """A number and the one half a row later are a pair."""
    found = np.round(rotate(np.array([[1.0, 0, 0, 0]]), [1])[0], 2).tolist()
    assert found == [0.54, 0, 0.84, 0], f"At position 1 the row 1, 0, 0, 0 becomes 0.54, 0, 0.84, 0; yours is {found}."


def test_later_pairs_turn_slower():
    """Each pair has a speed of its own."""
    found = np.round(rotate(np.array([[0, 1.0, 0, 0]]), [1])[0], 3).tolist()
    assert found == [0, 0.995, 0, 0.1], f"At position 1 the row 0, 1, 0, 0 becomes 0, 0.995, 0, 0.1; yours is {found}."


def test_cached_keys_stay():
    """Reading turns no row of the cache."""
    keys = rows(1)
    scores(rows(2)[0], keys)
    far = np.abs(keys - rows(1)).max()
    assert far == 0, f"Once read, a number of the cache is off by {far:.2g}: next time it would turn again."


def test_its_own_key():
    """A query and a key at the same position are scored as if nothing had turned."""
    found, wanted = scores(rows(2)[0], rows(1))[-1], rows(2)[0] @ rows(1)[-1] / 2
    assert abs(found - wanted) < 1e-9, f"The newest token scores its own key with {wanted:.3f}; yours is {found:.3f}."


def test_each_key_by_its_own_position():
    """Equal keys at different distances have different scores."""
    found = scores(rows(2)[0], np.ones((4, 4)))
    spread = found.max() - found.min()
    assert spread > 0.01, f"The scores of four equal keys differ by {spread:.2g}: each turns by its own position."


def test_distance_alone():
    """A score depends on the distance of key and query, and on nothing else."""
    near, later = (scores(rows(2)[0], np.ones((t, 4)))[-2] for t in (4, 9))
    assert abs(near - later) < 1e-9, f"A key at distance 1 has the score {near:.3f}, and {later:.3f} in a longer text."
