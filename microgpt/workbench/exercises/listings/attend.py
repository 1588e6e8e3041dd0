"""Let queries read the rows

The cache holds the keys and the values of all tokens so far, [t, n_head, head_dim] each. `q` has the queries of
the newest n tokens, [n, n_head, head_dim], whose keys and values are in the cache already. Write `attend`,
which returns their answers, of the same shape.

In each head by itself: a score is the dot product of a query and a key, divided by the square root of head_dim.
A query reads the keys up to its own position and none after it. Softmax makes weights of its scores, which may
be as large as 1000; the answer is the sum of the values, each times its weight.
"""

import numpy as np

HINT = "The queries are those of the positions t - n to t - 1. A score of minus infinity becomes a weight of 0."


def attend(keys, values, q):
    """The answers to the queries of the newest n tokens, [n, n_head, head_dim]."""
    ### BEGIN SOLUTION
    t, n, head_dim = len(keys), len(q), q.shape[-1]
    scores = np.einsum("nhd,thd->hnt", q, keys) / np.sqrt(head_dim)
    positions = np.arange(t - n, t)
    scores[:, np.arange(t) > positions[:, None]] = -np.inf
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = raised / raised.sum(axis=-1, keepdims=True)
    return np.einsum("hnt,thd->nhd", weights, values)
    ### END SOLUTION


# ---- the tests ------------------------------------------------------------------------------------


def rows(seed, t=6):
    return np.sin(seed + np.arange(t * 8) ** 2).reshape(t, 2, 4)


def one_by_one(keys, values, q):
    """The answers of a whole text, one number at a time."""
    answers = np.zeros_like(q)
    for i in range(len(q)):
        for head in range(q.shape[1]):
            scores = keys[: i + 1, head] @ q[i, head] / 2  # the root of 4
            weights = np.exp(scores - scores.max())
            answers[i, head] = weights / weights.sum() @ values[: i + 1, head]
    return answers


def test_the_shape():
    """There is one answer per query and head."""
    shape = np.shape(attend(rows(1), rows(2), rows(3)[-2:]))
    assert shape == (2, 2, 4), f"Two queries of two heads give the shape {shape}; it should be (2, 2, 4)."


def test_weights_sum_to_one():
    """The weights of a query sum to 1."""
    found = attend(rows(1), np.ones_like(rows(1)), rows(3)[-1:]).max()
    assert abs(found - 1) < 1e-9, f"All values are 1, so an answer is the sum of its weights; yours is {found:.3g}."


def test_all_rows_are_read():
    """The newest token reads all rows."""
    places = np.zeros((6, 2, 4)) + np.arange(6)[:, None, None]
    found = attend(np.zeros((6, 2, 4)), places, rows(3)[-1:]).max()
    assert abs(found - 2.5) < 1e-9, f"With equal keys the newest gives the mean of 6 rows, 2.5; yours {found:.3g}."


def test_scores_are_scaled():
    """Scores are divided by the square root of head_dim."""
    far = np.abs(attend(rows(1), rows(2), rows(3)[-1:])[0] - one_by_one(rows(1), rows(2), rows(3))[-1]).max()
    assert far < 1e-9, f"The answer of the newest token is off by {far:.2g}. Is each score scaled?"


def test_a_whole_text():
    """In a text that runs at once, no token reads a later one."""
    off = np.abs(attend(rows(1), rows(2), rows(3)) - one_by_one(rows(1), rows(2), rows(3))).max(axis=(1, 2))
    i, far = int(off.argmax()), off.max()
    assert far < 1e-9, f"All tokens at once: row {i} is off by {far:.2g}. It reads the keys 0 to {i}, and no others."


def test_a_chunk():
    """The mask counts by position, not by place in the chunk."""
    found = attend(rows(1)[:5], rows(2)[:5], rows(3)[2:5])
    far = np.abs(found - one_by_one(rows(1), rows(2), rows(3))[2:5]).max()
    assert far < 1e-9, f"The last 3 of 5 tokens: an answer is off by {far:.2g}. The first of them is at position 2."


def test_large_scores():
    """Large scores do not overflow."""
    with np.errstate(all="ignore"):
        found = attend(1000 * rows(1), rows(2), 10 * rows(3))
    count = int((~np.isfinite(found)).sum())
    assert count == 0, f"With large scores {count} numbers are not finite. Take the largest score away before exp."
