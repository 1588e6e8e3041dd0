"""A ring: keep the last rows only

With a window of W tokens, older rows are never read again. Write `put`: it puts the row of the next token into
a buffer of W rows, [W, d], over the oldest one, and moves no other row. `count` tokens have been put before.

It returns the positions of the tokens whose rows the slots now hold, an array [W], with -1 for a slot that is
still empty.
"""

import numpy as np

HINT = "Divide the position by W: the remainder is the slot. So the positions of one slot are W apart."


def put(ring, count, row):
    """The position that each slot holds, once the row of token `count` is in the ring."""
    ### BEGIN SOLUTION
    window = len(ring)
    ring[count % window] = row
    held = count - (count - np.arange(window)) % window
    return np.where(held < 0, -1, held)
    ### END SOLUTION


# ---- the tests ------------------------------------------------------------------------------------


def row(position):
    return np.array([position, position / 10, -position])


def filled(n, window=4):
    """The ring after n tokens, how it was before the last of them, and what `put` returned."""
    ring, before, found = np.full((window, 3), 99.0), None, None
    for count in range(n):
        before = ring.copy()
        found = np.array(put(ring, count, row(count)))
    return ring, before, found


def test_the_new_row_is_there():
    """The newest row is in the ring, also when the ring was full."""
    for n in (1, 4, 5, 11):
        ring = filled(n)[0]
        assert (ring == row(n - 1)).all(axis=1).any(), f"After {n} tokens in a ring of 4 the newest row is not in it."


def test_one_slot_is_written():
    """All other rows stay where they are."""
    for n in (2, 5, 9):
        ring, before, _ = filled(n)
        moved = int((ring != before).any(axis=1).sum())
        assert moved == 1, f"Token {n} of a ring of 4: {moved} slots have changed; one should."


def test_the_last_rows_are_held():
    """A full ring holds the last W rows."""
    for n in (5, 7, 10):
        held = sorted(filled(n)[0][:, 0].astype(int).tolist())
        wanted = list(range(n - 4, n))
        assert held == wanted, f"After {n} tokens the ring holds the rows {held}; it should hold {wanted}."


def test_empty_slots():
    """As long as the ring is not full, its empty slots are told as -1."""
    for n in (1, 3):
        found = filled(n)[2]
        empty = int((found == -1).sum())
        assert empty == 4 - n, f"After {n} tokens {empty} slots of 4 are told as empty (-1)."


def test_the_positions():
    """Each slot is told with the position of the row that lies in it."""
    for n in (1, 4, 6, 11):
        ring, _, found = filled(n)
        wanted = np.where(ring[:, 0] == 99, -1, ring[:, 0]).astype(int)
        said, lies = found.tolist(), wanted.tolist()
        assert said == lies, f"After {n} tokens the slots hold {lies}, and put returns {said}."
