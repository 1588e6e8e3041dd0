"""An old query, asked again: its weights beside those that it would give without a mask."""

import math

import numpy as np
import pytest

from tests.support.pages import drawn, find, numbers, shown_as, text
from tests.support.questions import softmax


@pytest.mark.parametrize(("model", "prompt"), [("names", "emm"), ("names-deep", "z")])
def test_an_old_q_gives_the_same_weights_again_but_for_the_mask(model: str, prompt: str) -> None:
    shown, tree = drawn("why-q", model, prompt)
    q, k = (np.stack([shown.trace[name, i, 0][0, 0] for i in range(shown.n)]) for name in "qk")
    boards = find(tree, "asked")
    assert len(boards) == shown.n
    for i, board in enumerate(boards):
        scores = k @ q[i] / math.sqrt(len(q[i]))
        lines = [list(row.iter("td")) for row in board.iter("tr")][1:]
        for at, weights in ((0, softmax(scores[: i + 1])), (1, softmax(scores[: i + 1])), (2, softmax(scores))):
            shown_as([numbers(line[at])[0] for line in lines[: len(weights)]], weights, 2)
        assert [text(line[1]) for line in lines[i + 1 :]] == ["masked"] * (shown.n - 1 - i)
