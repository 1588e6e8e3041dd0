"""Most read: its questions, answered step by step, and by softmax without a key."""

import numpy as np
import pytest

from microgpt.trace import Trace
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, softmax, stepped

MEASURED = ("In 8 of 8 heads",)


def ask_bug(view: View) -> str:
    least = [min(range(view.n), key=[row[1] for row in table.rows].__getitem__) for table in view.tables]
    assert least.count(view.n - 1) == view.asks.newest > len(view.heads) / 2
    return "young rows have had few steps to receive anything"


def ask_even(view: View) -> str:
    return f"{sum(1 / step for step in range(1, view.n + 1)):.2f}"


def ask_sum(view: View) -> str:
    return f"{sum(row[1] for row in view.tables[0].rows):.0f}"


def task_dropped(facts: Facts) -> Numbers:
    """By the weights that are not rounded; a dropped key gives its weight to the others."""
    model, trace, n = shipped("stories"), Trace(), len(facts.tokens)
    stepped(model, model.tokenizer.encode("The sun is"), trace)
    weights = [trace["attn_weights", i, 0][1, 0] for i in range(n)]
    for j, one in enumerate(facts.rows):
        received, even = sum(weights[i][j] for i in range(j, n)), sum(1 / len(weights[i]) for i in range(j, n))
        assert abs(one.received - received) < 0.02 and one.even == pytest.approx(even)
        assert abs(one.times - received / even) < 0.03
    scores = trace["attn_scores", n - 1, 0][1, 0].copy()
    scores[facts.gone] = -np.inf
    again = np.delete(softmax(scores), facts.gone)
    assert np.abs(again - np.delete(weights[-1], facts.gone)).max() < 0.02  # they hardly change
    assert len(facts.rows) == n - 1
    return {"most": max(facts.rows, key=lambda one: one.times).token, "again": pytest.approx(again, abs=0.01)}


LEARNED = r"""
How often is the first row read? has been read 12 times in each head
What do the weights of one query add up to? the weights of one query add up to one
Which key stands out? In layer 0, head 1, the key of sun has received 1\.01
Compared with what? 2\.63 times an even share
Why is the newest row left out? The newest row is left out, since it has been read only once
In how many heads has the first row received most? In 8 of 8 heads the first one
Is there a row that no head needs? 12 of the 12 rows have more than an even share in at least one head
Why does a plain cache keep every row? Once it is gone, the logits are no longer those of the whole text\. That is why a plain cache keeps every row
Do engines give up rows by their weight? no widely used engine gives up rows by their weight
Why is the weight of a row not to be had in an engine? kernels that compute attention in tiles never write the weights to memory
"""
