"""Attention: its questions, answered by the weights and rows of the model itself."""

import math

import numpy as np
import pytest

from microgpt.trace import Trace
from microgpt.viz.drawing.picture import Picture
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, softmax, stepped


def ask_compute(view: View) -> str:
    """The weights of the keys before the last alone."""
    return f"{softmax(np.array([one.score for one in view.keys[:-1]]))[view.asks.at]:.2f}"


def ask_predict(view: View) -> str:
    scores = np.array([one.score for one in view.keys])
    assert view.asks.louder == pytest.approx(softmax(10 * scores).max())
    assert view.asks.louder > softmax(scores).max() + 0.1
    return "the largest weight grows"


def ask_bug(view: View) -> str:
    """The first query and all keys of its head, from the triangle of a text in which nothing is masked."""
    picture = Picture(view.trace)
    layer, head = picture.clearest
    q, k = (np.stack([picture.trace[kind, i, layer][0, head] for i in range(picture.n)]) for kind in "qk")
    first = softmax((q[:1] @ k.T / math.sqrt(view.head_dim))[0])[0]
    assert abs(first - view.asks.leaked) < 1e-12 and first < 0.5
    return "the weights of a row add up to less than one"


def task_by_hand(facts: Facts) -> Numbers:
    """The model's own answer; what is printed has two digits."""
    model, trace = shipped("names"), Trace()
    stepped(model, model.tokenizer.encode("ol"), trace)
    answer, weights = trace["head_out", 2, 0].reshape(4, -1)[0], trace["attn_weights", 2, 0][0, 0]
    assert [key.weight for key in facts.keys] == pytest.approx(weights, abs=0.01)
    assert sum(key.weight for key in facts.keys) == pytest.approx(1)
    return {"answer": pytest.approx(answer, abs=0.02), "by": np.array(facts.q) @ np.ones(4) / 2}


task_shift = task_by_hand

LEARNED = r"""
What are q, k and v for? q says what the token looks for\. The key k says what it can be found by\. The value v is what it gives
What is a dot product? Multiply q and k number by number and add the products
When is it large, when negative? large when q and k point the same way.*negative when they point in opposite ways
Why is it divided by the root of head_dim? the sum of d products has a spread of √d\. Divided by √d, the scores have the same spread in every model
What is the root here? √4 = 2
How does softmax make weights of scores? raises e to each score, which is always above zero, and divides by the sum of the results
What do the weights add up to? They add up to one
What is the answer of attention? Each v is multiplied by its weight, and the results are added
How is the mask applied? minus infinity is added to its score.*its weight is zero
How many scores does it hide in this text? 28 scores stay, 21 are masked
What is new in the triangle when a token is added? The triangle gains one row, with one new query\. The rows above stay as they are
"""
