"""Heads that share keys and values

With grouped-query attention several query heads read one key and value head, so that less is kept. The newest
token has the queries `q`, [n_head, head_dim]; the cache holds [t, n_kv_head, head_dim]. Neighbours share: of 4
query heads and 2 key and value heads, query heads 0 and 1 read head 0, and query heads 2 and 3 read head 1.

Write `attend`, which returns the answers [n_head, head_dim]. Nothing hides a row: the newest token may read all
of them.
"""

import numpy as np

HINT = "`np.repeat(keys, 2, axis=1)` puts each head beside itself; `np.tile` puts all heads beside all of them."


def attend(keys, values, q):
    """The answers of all query heads of the newest token, [n_head, head_dim]."""
    ### BEGIN SOLUTION
    group = q.shape[0] // keys.shape[1]
    keys, values = np.repeat(keys, group, axis=1), np.repeat(values, group, axis=1)
    scores = np.einsum("hd,thd->ht", q, keys) / np.sqrt(q.shape[-1])
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = raised / raised.sum(axis=-1, keepdims=True)
    return np.einsum("ht,thd->hd", weights, values)
    ### END SOLUTION


# ---- the tests ------------------------------------------------------------------------------------


def numbers(seed, *shape):
    return np.sin(seed + np.arange(np.prod(shape)) ** 2).reshape(shape)


def test_the_shape():
    """Each query head has an answer."""
    shape = np.shape(attend(numbers(1, 5, 2, 4), numbers(2, 5, 2, 4), numbers(3, 4, 4)))
    assert shape == (4, 4), f"4 query heads of 4 numbers give the shape {shape}; it should be (4, 4)."


def test_whose_values():
    """Neighbours read the values of one head."""
    values = np.zeros((5, 2, 4)) + np.arange(2)[:, None]  # the values of head 0 are 0, those of head 1 are 1
    found = attend(numbers(1, 5, 2, 4), values, numbers(3, 4, 4))[:, 0]
    for head, wanted in enumerate((0, 0, 1, 1)):
        read = found[head]
        assert abs(read - wanted) < 1e-9, f"Query head {head} reads value head {wanted}; yours reads {read:.2g}."


def test_whose_keys():
    """Neighbours are scored with the keys of one head."""
    keys = np.zeros((2, 2, 4))
    keys[0, 0], keys[1, 1] = 50, 50  # head 0 is drawn to row 0, head 1 to row 1
    values = np.zeros((2, 2, 4)) + np.arange(2)[:, None, None]  # a row is its number
    found = attend(keys, values, np.ones((4, 4)))[:, 0]
    for head, wanted in enumerate((0, 0, 1, 1)):
        read = found[head]
        assert abs(read - wanted) < 1e-9, f"Query head {head} is scored with key head {wanted}; yours took {read:.2g}."


def test_each_has_its_own():
    """With as many key and value heads as query heads it is plain attention."""
    keys, values, q = numbers(1, 5, 2, 4), numbers(2, 5, 2, 4), numbers(3, 2, 4)
    for head in range(2):
        weights = np.exp(keys[:, head] @ q[head] / 2)  # the root of 4
        wanted = weights / weights.sum() @ values[:, head]
        far = np.abs(attend(keys, values, q)[head] - wanted).max()
        assert far < 1e-9, f"2 query heads, 2 key heads: the answer of head {head} is off by {far:.2g}."
