"""The likeliest tokens: the chosen one is among them, and none has a label that its column has no room for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microgpt.viz.drawing.counters import MOST_LETTERS, candidates

LABELS = st.lists(st.text("ab␣↵", min_size=1, max_size=3 * MOST_LETTERS), min_size=2, max_size=12, unique=True)


@given(LABELS, st.data())
def test_a_long_label_is_cut_and_says_so(labels: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.integers(0, len(labels) - 1))
    logits = np.array(data.draw(st.permutations(range(len(labels)))), np.float64)
    found = candidates(logits, np.zeros(len(labels)), chosen, 5, labels.__getitem__)
    assert [guess.chosen for guess in found].count(True) == 1 and len(found) == min(5, len(labels))
    for guess in found:
        whole = labels[logits.tolist().index(guess.logit)]
        cut = len(whole) > MOST_LETTERS
        assert guess.token == (whole[: MOST_LETTERS - 1] + "…" if cut else whole)
        assert not guess.chosen or whole == labels[chosen]
