"""What stands below the picture of a step: its multiply-adds, the bytes that are held, the likeliest next tokens.

Out of the trace alone. Knows no HTML and nothing of rows, heads and stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from microgpt import cost
from microgpt.config import Array, Config
from microgpt.decode import likeliest, probabilities
from microgpt.errors import N_
from microgpt.trace import Trace

PART_NAMES = {
    "qkv": N_("q, k, v"),
    "scores": N_("scores"),
    "mixing": N_("mixing"),
    "out": N_("output projection"),
    "mlp": N_("MLP"),
    "head": N_("output head"),
    "total": N_("total"),
}
N_GUESSES = 5  # likeliest next tokens that are shown
ROUNDING = 1e-3  # of the largest logit: what sums of 32 bits lose in deep models is a tenth of it


class Cost(NamedTuple):
    """Multiply-adds of one part of a step, counted with the cache and without, beside the closed forms.

    The longest bar is the total without.
    """

    part: str
    with_cache: int
    without: int
    share_with: float
    share_without: float
    form_with: int | None  # None where there is no formula for the family of the model
    form_without: int | None


class Held(NamedTuple):
    """What K and V take after a step: numbers, bytes as computed here, bytes in the usual 16 bits."""

    bits: int  # of a number, here
    numbers: int
    here: int
    half: int
    reserved: int


class Guess(NamedTuple):
    """A candidate for the next token."""

    token: str
    logit: float
    probability: float
    chosen: bool


class Other(NamedTuple):
    """A step whose likeliest token is another without the cache."""

    number: int
    with_cache: str
    without: str


class Agreement(NamedTuple):
    """What the steps say that were run in both ways, with the cache and without."""

    steps: int
    difference: float  # of their logits, the largest
    others: list[Other]  # none: the likeliest token is the same at every step
    bits: int  # of a number
    short: bool  # fewer than 32: rounding can decide between two tokens
    rounding: bool  # whether, in longer numbers, the order of sums explains the difference


def costs(trace: Trace, config: Config, i: int, counted: Iterable[int] | None = None) -> list[Cost]:
    """By part, then the total. Where a step was not run again without the cache, the formula says what it takes.

    `counted` are the multiply-adds of the step, where the trace does not hold all that they are counted from.
    """
    ours = add_total(cost.count(config, [e for e in trace if e.pos == i]) if counted is None else counted)
    t = trace.about.get("before", 0) + i + 1
    form, form_without = add_total(cost.step_macs(config, t)), add_total(cost.naive(config, t))
    known, compared = "macs" not in trace.about, ("recompute_macs", i) in trace
    if compared:
        without = add_total(trace["recompute_macs", i])
    else:
        without = form_without if known else add_total(trace.about["macs_without"][i])
    return [
        Cost(part, a, b, a / without[-1], b / without[-1], c if known else None, d if known else None)
        for part, a, b, c, d in zip((*cost.PARTS, "total"), ours, without, form, form_without, strict=True)
    ]


def size_after(trace: Trace, i: int) -> Held:
    """What K and V take after step i: as the engine says, else as many rows as each layer then holds."""
    if "held" in trace.about:
        numbers, here = trace.about["held"][i]
        return Held(8 * here // max(1, numbers), numbers, here, 2 * numbers, trace.about["nbytes_reserved"])
    numbers, size = 0, 0
    for layer in range(trace.about["config"]["n_layer"]):
        rows = [trace[name, i, layer][0] for name in ("k", "v")]
        numbers += (trace.number("cache_append", i, layer) or 0) * sum(row.size for row in rows)
        size = rows[0].itemsize
    return Held(8 * size, numbers, numbers * size, 2 * numbers, trace.about["nbytes_reserved"])


def guesses(trace: Trace, i: int, token: Callable[[int], str]) -> list[Guess]:
    """The likeliest next tokens as the choice sees them, and the chosen one if it is not among them."""
    logits = trace["logits", i][0]
    return candidates(logits, chances(trace.about, logits), trace.number("sample", i), N_GUESSES, token)


def chances(about: Mapping[str, Any], logits: Array) -> Array:
    """Of every token, as the choice sees them: greedy ones as at temperature 1."""
    return probabilities(logits, about["temperature"] or 1.0, about["top_k"])


def candidates(logits: Array, chances: Array, chosen: int | None, n: int, token: Callable[[int], str]) -> list[Guess]:
    """The `n` likeliest tokens; the chosen one takes the last place if it is not among them. Long ones are cut."""
    best = pick(logits, chosen, n)
    labels = {t: label if len(label := token(t)) <= MOST_LETTERS else label[: MOST_LETTERS - 1] + "…" for t in best}
    return [Guess(labels[t], float(logits[t]), float(chances[t]), t == chosen) for t in best]


def pick(logits: Array, chosen: int | None, n: int) -> list[int]:
    """The ids of these tokens."""
    best = likeliest(logits, n)
    return best if chosen is None or chosen in best else [*best[:-1], chosen]


def reshape(trace: Trace, i: int, temperatures: Sequence[float]) -> list[list[float]]:
    """For each of the `guesses` its probability at each of these temperatures."""
    logits = trace["logits", i][0]
    each = [chances({**trace.about, "temperature": one}, logits) for one in temperatures]
    return [[float(one[token]) for one in each] for token in pick(logits, trace.number("sample", i), N_GUESSES)]


MOST_LETTERS = 13  # of a token among the likeliest: some are a line of spaces


def add_total(parts: Iterable[int] | Array) -> list[int]:
    values = [int(x) for x in parts]
    return [*values, sum(values)]
