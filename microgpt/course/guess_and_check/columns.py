"""The picture of guesses: a column per position, with what stands there in each stage, and the rows of the cache below.

A round has three stages: the draft guesses, the target checks in one pass, and what has fallen is cropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from microgpt.errors import N_
from microgpt.serving.speculate import Round

STAGES = (N_("draft"), N_("check"), N_("keep"))


class Box(NamedTuple):
    """A token in its place: text, guess, kept, fallen, unread or chosen, and the cases in which it is so."""

    token: str
    state: str
    cases: list[int]


class PositionColumn(NamedTuple):
    """A position: what stands there, and the cases in which the target has a row for it."""

    boxes: list[Box]
    rows: list[int]
    written: list[int]  # cases in which the pass has just made that row


def columns(words: Sequence[Sequence[str]], rounds: Sequence[Round], vocabulary: Sequence[str]) -> list[PositionColumn]:
    """`words` is the text before each round, and after the last."""
    width = max(len(before) + len(one.drafted) for before, one in zip(words, rounds, strict=False)) if rounds else 0
    width = max(width, len(words[-1]))
    there: list[dict[tuple[str, str], list[int]]] = [{} for _ in range(width)]
    rows: list[list[int]] = [[] for _ in range(width)]
    written: list[list[int]] = [[] for _ in range(width)]
    for i, one in enumerate(rounds):
        before, after = words[i], words[i + 1]
        for stage in range(len(STAGES)):
            case = len(STAGES) * i + stage
            for at, (token, state) in enumerate(standing(before, after, one, stage, vocabulary)):
                there[at].setdefault((token, state), []).append(case)
            held = [len(before) - 1, len(before) + len(one.drafted), len(after) - 1][stage]
            for at in range(held):
                rows[at].append(case)
                if stage == 1 and at >= len(before) - 1:
                    written[at].append(case)
    return [
        PositionColumn([Box(*what, cases) for what, cases in boxes.items()], held, new)
        for boxes, held, new in zip(there, rows, written, strict=True)
    ]


def standing(
    before: Sequence[str], after: Sequence[str], one: Round, stage: int, vocabulary: Sequence[str]
) -> list[tuple[str, str]]:
    """Tokens and their states at a stage."""
    text = [(token, "text") for token in before]
    if stage == 0:
        return text + [(vocabulary[i], "guess") for i in one.drafted]
    if stage == 1:
        states = [
            "kept" if i < one.accepted else "fallen" if i == one.accepted else "unread" for i in range(len(one.drafted))
        ]
        return text + [(vocabulary[i], state) for i, state in zip(one.drafted, states, strict=True)]
    new = [(token, "kept") for token in after[len(before) :]]
    if one.chosen >= 0:
        new[-1] = (new[-1][0], "chosen")
    return text + new
