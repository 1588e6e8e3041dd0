"""Accept or reject a draft

A small model has drafted tokens; one pass of the target says how likely each was. Write `accept`: it goes
through the drafted tokens in order. `draft[i]` and `target[i]` are the probabilities of all tokens at that
place, and `u[i]` is a random number from 0 to 1. A token is kept if `u[i]` is below target / draft of this
token. The first that is not kept ends it.

Return how many are kept, and the probabilities from which the next token is drawn: after a rejection what the
target has more than the draft, max(target − draft, 0), scaled to the sum 1; if all are kept, the last row of
`target`, which has one row more than there are drafted tokens.
"""

import numpy as np

HINT = "In place of u < target / draft write u × draft < target: so nothing is divided by 0."


def accept(drafted, draft, target, u):
    """How many drafted tokens are kept, and the probabilities of the token after them, [vocab_size]."""
    ### BEGIN SOLUTION
    for i, token in enumerate(drafted):
        if u[i] * draft[i][token] >= target[i][token]:
            left = np.maximum(target[i] - draft[i], 0)
            return i, left / left.sum()
    return len(drafted), target[len(drafted)]
    ### END SOLUTION


# ---- the tests ------------------------------------------------------------------------------------

DRAFT = np.array([[0.4, 0.4, 0.1, 0.1], [0.25, 0.25, 0.25, 0.25]])
TARGET = np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1]])


def test_what_the_target_likes_is_kept():
    """What the target finds likelier than the draft did is always kept."""
    kept = accept([2], DRAFT, TARGET, [0.99])[0]
    assert kept == 1, f"Token 2 has 0.1 in the draft and 0.3 in the target, and {kept} of 1 tokens are kept."


def test_the_first_rejection_ends_it():
    """After a rejection no later token is kept."""
    kept = accept([0, 1], DRAFT, TARGET, [0.9, 0.1])[0]
    assert kept == 0, f"The first of two tokens is rejected, so none is kept; yours keeps {kept}."


def test_how_often():
    """A token that the draft likes too much is kept as often as target / draft says."""
    times = sum(accept([0], DRAFT, TARGET, [(i + 0.5) / 100])[0] for i in range(100))
    assert times == 25, f"With 0.4 in the draft and 0.1 in the target it is kept 25 times of 100; yours {times} times."


def test_all_are_kept():
    """If all are kept, the target's own row for the next place is used."""
    found = np.round(accept([2, 1], DRAFT, TARGET, [0.5, 0.5])[1], 2).tolist()
    assert found == [0.7, 0.1, 0.1, 0.1], f"Both are kept, so the last row of the target is next; yours is {found}."


def test_sums_to_one():
    """What the next token is drawn from sums to 1."""
    total = np.sum(accept([0], DRAFT, TARGET, [0.99])[1])
    assert abs(total - 1) < 1e-9, f"After a rejection the probabilities sum to {total:.3g}."


def test_the_law_of_the_target():
    """Drafted or drawn, each token comes as often as the target says."""
    rest = accept([0], DRAFT, TARGET, [0.99])[1]
    drafted = np.minimum(DRAFT[0], TARGET[0])  # as often it is drafted and kept
    for token, often in enumerate(drafted + (1 - drafted.sum()) * rest):
        wanted = TARGET[0][token]
        assert abs(often - wanted) < 1e-9, f"Token {token} comes with {often:.2f} in all; the target says {wanted:.2f}."
