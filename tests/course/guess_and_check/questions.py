"""Guess and check: its questions, answered over all outcomes, and in fractions."""

from fractions import Fraction
from itertools import product

import numpy as np

from tests.support.questions import Facts, Numbers, View, softmax


def ask_kept(view: View) -> str:
    """Of a thousand guesses 800 are this token; kept and drawn it must come to 200, and after a fall it is never
    drawn."""
    guesses, wanted = 1000 * view.asks.p_draft, 1000 * view.asks.p_target
    return f"{wanted / guesses:.2f}"


def ask_tokens(view: View) -> str:
    """Over all four fates of two guesses."""
    alpha, found = view.asks.alpha, 0.0
    for first, second in product((True, False), repeat=2):
        chance = (alpha if first else 1 - alpha) * (alpha if second else 1 - alpha)
        found += chance * (3 if first and second else 2 if first else 1)
    return f"{found:.2f}"


def ask_bad(view: View) -> str:
    """A draft that gives all letters the same: kept and drawn come to p."""
    p, q = softmax(np.arange(27) / 9), np.full(27, 1 / 27)
    kept, left = q * np.minimum(1, p / q), np.maximum(p - q, 0)
    assert np.abs(kept + (1 - kept.sum()) * left / left.sum() - p).max() < 1e-12
    return "it has the same distribution, and takes longer"


def ask_bug(view: View) -> str:
    """The lines as they stand, over all outcomes of three tokens."""
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.6, 0.2])
    kept = q * np.minimum(1, p / q)
    found = kept + (1 - kept.sum()) * p
    assert ((found > p + 1e-9) >= (q > p)).all() and found[1] > p[1] and found[0] < p[0]
    return "those that the draft likes more than the target"


def task_drafted(facts: Facts) -> Numbers:
    """In fractions, case by case; and the tokens of a round by all its outcomes."""
    p, q = ([Fraction(round(10 * x), 10) for x in law] for law in (facts.p_target, facts.p_draft))
    keep = [min(Fraction(1), a / b) for a, b in zip(p, q, strict=True)]
    common = sum((b * k for b, k in zip(q, keep, strict=True)), Fraction(0))
    for i in range(3):
        assert q[i] * keep[i] + (1 - common) * Fraction(round(facts.left[i])) == p[i]
    tokens = sum((n + 1) * common**n * (1 - common if n < facts.guesses else 1) for n in range(facts.guesses + 1))
    numbers = {"chance": keep[0], "common": common, "back": p[1], "tokens": tokens}
    numbers["times"] = tokens / (1 + Fraction(facts.guesses, facts.price))
    return {name: float(one) for name, one in numbers.items()}


LEARNED = r"""
Why is checking cheaper than writing? A pass over five tokens reads the same weights once, and takes hardly longer
What is a draft? a small model, called the draft, which is quick
When is a guess accepted? A guess is accepted with the probability p_target ÷ p_draft, and surely if p_target is not the smaller one
What happens to those after a rejected one? The first rejected guess ends the round: the later ones were conditioned on it
What is drawn after a rejection? p_target − p_draft where that is above zero, scaled to sum one
How many tokens does a round write? a round never writes fewer tokens than a plain step, which writes one
What becomes of the rows? Those of accepted guesses stay, as if they had been written one by one\. Those of the others are cropped
Does the text get worse? A bad draft makes it slow, never wrong
Is the text the same as without a draft? “The same distribution” is not “the same text”
What does it gain here? both models have 0\.\d\d in common on average\. .* With 4 guesses per round the formula gives 1\.\d\d times the speed
When does it not pay? It never pays if a guess costs a larger share of a pass than the share of guesses that is accepted
Does it help a busy server? checking guesses that are rejected is work taken from others
What is reported? 2 to 3 times the speed for T5-XXL
May a draft guess several tokens for one place? one pass checks all of it: a token sees the text and the tokens that it comes from, none of another branch
Must the draft be a model? one can look for its newest tokens further back and guess what came after them there
"""
