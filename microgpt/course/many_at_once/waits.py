"""How long ten thousand requests wait under each policy, as spans on one line of time, load by load. Knows no HTML."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from microgpt.serving.simulate import RunSummary

# seconds, at both ends of the line; ten times as long is as far everywhere, and nothing waits longer
LEAST, MOST = 0.001, 1000.0
TICKS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)


Spans: TypeAlias = tuple[list[float], list[float]]  # in each load from the median on: where it begins, how long it is


class Waits(NamedTuple):
    """Of a policy: until the first token, and between two tokens."""

    kind: str
    budget: int  # tokens of a pass; 0 where none is kept
    first: Spans
    gap: Spans


def waits(kind: str, budget: int, seen: Sequence[RunSummary]) -> Waits:
    return Waits(kind, budget, to_spans([one.first for one in seen]), to_spans([one.between for one in seen]))


def to_spans(times: Sequence[Sequence[float]]) -> Spans:
    ends = [(share_of_line(half), share_of_line(most)) for half, most in times]
    return [left for left, _ in ends], [right - left for left, right in ends]


def share_of_line(seconds: float) -> float:
    return math.log(seconds / LEAST) / math.log(MOST / LEAST)
