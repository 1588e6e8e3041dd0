"""The rows of one head under every policy: when each leaves, what that was decided by, and how deep it falls.

It is the first head of the first layer. There k and v depend on their token and its place alone, so that a row is the
same under all policies, and one drawing serves them all; what turns keys to another place turns the copy that is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from microgpt.config import Array
from microgpt.course.full_cache.policies import Outcome
from microgpt.viz.drawing.heat import Strip, round_up, scale_for

NEVER = 100  # more than any text has steps
BY_AGE = {"window": 0, "sinks": 1, "shift": 1}  # policy: rows at the start that never leave
MOST_DROPPED = 4  # rows that lie below each other under the floor


class Fate(NamedTuple):
    """What becomes of a row: the first step that does not read it, and how many rows deep it falls to the floor."""

    until: int
    depth: int


class Judgement(NamedTuple):
    """What a row is judged by before a step at which some leave: tokens ago, or what it got of the queries' weight."""

    step: int
    value: float
    share: float  # of the scale of its policy


class TrayRow(NamedTuple):
    """A row of K and of V."""

    at: int
    token: str
    k: Strip
    v: Strip
    fates: list[Fate]  # by policy
    judged: list[list[Judgement]]  # by policy


class Measure(NamedTuple):
    """The scale of what rows are judged by, and the decimals of its numbers: ages have none."""

    low: float
    high: float
    digits: int


class Moment(NamedTuple):
    """What a step does to the rows under one policy."""

    token: str  # that it runs
    held: int  # rows that it reads
    gone: list[str]  # tokens whose rows have left
    by: float | None  # what the one that has left was judged by


class Tray(NamedTuple):
    """The drawing: its rows, the scale of each policy, and what each step does, policy by policy."""

    rows: list[TrayRow]
    scales: list[Measure]
    moments: list[list[Moment]]
    opens: list[list[int]]  # by policy: the steps at which the floor opens


def tray(words: Sequence[str], outcomes: Sequence[Outcome], keys: Array, values: Array) -> Tray:
    """`keys` and `values` are [n, head_dim] of the head that is drawn."""
    scale, steps = scale_for(keys, values, digits=0), range(len(words))
    found = [leaving(one) for one in outcomes]
    judged = [measures(one, gone) for one, gone in zip(outcomes, found, strict=True)]
    scales = [scale_of(one, by) for one, by in zip(outcomes, judged, strict=True)]
    rows = [
        TrayRow(
            i,
            word,
            scale.strip(keys[i])._replace(digits=None),
            scale.strip(values[i])._replace(digits=None),
            [fate(one, gone, i) for one, gone in zip(outcomes, found, strict=True)],
            [judgements(i, *one) for one in zip(judged, scales, strict=True)],
        )
        for i, word in enumerate(words)
    ]
    moments = [
        [
            Moment(words[s], len(one.first_head[s]), [words[i] for i in gone[s]], measure_of(by[s], gone[s]))
            for one, gone, by in zip(outcomes, found, judged, strict=True)
        ]
        for s in steps
    ]
    return Tray(rows, scales, moments, [[s for s in steps if gone[s]] for gone in found])


def scale_of(one: Outcome, judged: Sequence[Mapping[int, float]]) -> Measure:
    """From nothing to the largest of them."""
    largest = max((x for step in judged for x in step.values()), default=1.0)
    return Measure(0, largest, 0) if one.policy in BY_AGE else Measure(0, round_up(largest), 2)


def leaving(one: Outcome) -> list[list[int]]:
    """By step: the rows that the step before has read, and it has not."""
    before: list[list[int]] = [[], *one.first_head[:-1]]
    return [sorted({*old} - {*new}) for old, new in zip(before, one.first_head, strict=True)]


def measures(one: Outcome, gone: Sequence[Sequence[int]]) -> list[dict[int, float]]:
    """By step at which rows leave: what each that might have left was judged by."""
    found = list[dict[int, float]]()
    for s, rows in enumerate(gone):
        by: Mapping[int, float] = one.scores[s] if one.policy not in BY_AGE else {}
        if one.policy in BY_AGE and rows:
            by = {i: float(s - i) for i in one.first_head[s - 1] if i >= BY_AGE[one.policy]}
        found.append(dict(by) if rows else {})
    return found


def measure_of(by: Mapping[int, float], gone: Sequence[int]) -> float | None:
    """What the row that leaves is judged by, where it is one alone."""
    return by[gone[-1]] if len(gone) == 1 and gone[-1] in by else None


def fate(one: Outcome, gone: Sequence[Sequence[int]], i: int) -> Fate:
    """A row falls past those below it that stay; of several the newest lies on top."""
    until = next((s for s, rows in enumerate(gone) if i in rows), NEVER)
    if until == NEVER:
        return Fate(NEVER, 0)
    below = sum(row < i for row in one.first_head[until])
    above = sum(row > i for row in gone[until])
    return Fate(until, below + min(above, MOST_DROPPED - 1))


def judgements(i: int, judged: Sequence[Mapping[int, float]], scale: Measure) -> list[Judgement]:
    """Those of row i under one policy."""
    return [Judgement(s, by[i], by[i] / scale.high) for s, by in enumerate(judged) if i in by]
