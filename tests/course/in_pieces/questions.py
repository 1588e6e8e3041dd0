"""In pieces: its questions, answered by softmax over all scores."""

import math

import numpy as np

from tests.support.questions import Facts, Numbers, View, softmax


def ask_factor(view: View) -> str:
    """The weights of the first tile's keys in a softmax over their own tile and over both."""
    a, b, c = np.exp([*view.asks.scores, view.asks.next])
    return f"{c**-1 * b:.2f}" if a < b < c else ""


def ask_join(view: View) -> str:
    """Four keys: one of the value 2, three of the value 4, all with the same score."""
    assert [(half.answer, half.total) for half in view.asks.halves] == [(2, 1), (4, 3)]
    return f"{np.mean([2, 4, 4, 4]):.2f}"


def ask_decode(view: View) -> str:
    """All that is read and stored for one query over the keys, with and without scores."""
    n, d = 4096, 128
    rows = 2 * d + 2 * n * d
    assert (rows + 4 * n) / rows < 1.02
    return "hardly any fewer"


def ask_bug(view: View) -> str:
    """The loop is run as it stands, with values of 1 in the first tile and 0 elsewhere: its weight."""
    scores = [np.array([key.score for key in tile.keys]) for tile in view.tiles]
    found = []
    for mended in (True, False):
        m, total, first = -np.inf, 0.0, 0.0
        for i, s in enumerate(scores):
            new = max(m, s.max())
            old = np.exp(m - new) if mended else 1.0
            total, first = total * old + np.exp(s - new).sum(), first * old + (np.exp(s - new).sum() if i == 0 else 0)
            m = new
        found.append(first / total)
    assert np.allclose(found, view.asks.too_much) and found[1] > 2 * found[0]
    return "the keys of early tiles count for too much"


def task_tiled(facts: Facts) -> Numbers:
    """Two tiles are softmax over all four."""
    scores, values = (np.array(x).ravel() for x in (facts.scores, facts.values))
    raised, halves = np.exp(scores), [softmax(np.array(s)) @ v for s, v in zip(facts.scores, facts.values, strict=True)]
    assert facts.mean < facts.out
    first = {"first": raised[:2].sum() / math.exp(3), "first_o": raised[:2] @ values[:2] / math.exp(3)}
    both = {"l": raised.sum() / math.exp(5), "o": raised @ values / math.exp(5), "out": softmax(scores) @ values}
    return first | both | {"apart": halves, "mean": np.mean(halves)}


LEARNED = r"""
Must softmax see all scores at once? a sum can be carried along: one for the values, called o, and one for what to divide by in the end, called l
What is a tile? a few keys at a time are enough, which is called a tile
Why is the largest score taken off? e to the power of a large number is more than a computer can hold
What comes of scores of a thousand? the scores 900, 1,000, 999 .* the answer is then 2\.268941
What happens when a larger score comes? Both l and o are multiplied by e to the power of \(old m − new m\)
Is FlashAttention approximate? “Approximate” is wrong
What does FlashAttention save? 69,206,016 numbers per head\. In tiles they never leave the processor
How much has it saved in fact? 40\.3 GB of traffic became 4\.4 GB, and 41\.7 ms became 7\.3 ms
Does it compute less? The arithmetic grew, from 66\.6 to 75\.2 GFLOPs
Does it make decoding read less? 1,048,832 numbers against 1,065,216, a factor of 1\.02
Does it make the cache smaller? it does not make the cache smaller\. It never touches its size
What is flash-decoding for? It saves no traffic; it uses processors that were idle
How are parts joined? Parts are joined by weight, because a part with large scores counts for more
How many parts are there? keysparts81,0248
"""
