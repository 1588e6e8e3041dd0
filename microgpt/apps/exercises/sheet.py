"""What the sheets of exercises are made of: tasks, and calculations with their numbers. Knows no HTML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from microgpt.course import Part, page
from microgpt.errors import N_
from microgpt.viz.page import Page

LISTINGS = Path(__file__).with_name("listings")
KINDS = {
    "compute": N_("calculate"),
    "predict": N_("predict"),
    "explain": N_("explain"),
    "bug": N_("find the bug"),
    "plan": N_("plan"),
    "write": N_("write code"),
}


class Calc(NamedTuple):
    """A calculation as it is written: the places of `form` are its numbers; those that are not whole get `digits`."""

    form: str
    values: tuple[float, ...]
    digits: int = 2


class Task(NamedTuple):
    """An exercise: how long it takes, how many lines the answer needs on paper, and the lessons that it is about."""

    key: str
    kind: str
    minutes: int
    lines: int
    needs: tuple[str, ...]

    @property
    def label(self) -> str:
        return KINDS[self.kind]

    @property
    def lessons(self) -> list[Page]:
        return [page(name) for name in self.needs]


class Sheet(NamedTuple):
    """The exercises of one part of the course; `numbers` is what they give and what their answers come to."""

    name: str  # of its template
    part: Part
    tasks: tuple[Task, ...]
    numbers: Any

    @property
    def minutes(self) -> int:
        return sum(task.minutes for task in self.tasks)

    @property
    def keyed(self) -> dict[str, tuple[int, Task]]:
        """Key -> the number of the task on the sheet, and the task."""
        return {task.key: (i, task) for i, task in enumerate(self.tasks, 1)}


def calc(form: str, *values: float, digits: int = 2) -> Calc:
    return Calc(form, values, digits)


def chain(values: Sequence[float], sign: str, result: float, digits: int = 2) -> Calc:
    """Numbers joined by a sign, and what they come to: 2 × 3 = 6."""
    return Calc(f" {sign} ".join(["{}"] * len(values)) + " = {}", (*values, result), digits)


def unlike(*found: float | Sequence[float]) -> None:
    """Raise ValueError where two of these are the same: a question that has them compared must have a difference to
    find."""
    if len(set(found)) < len(found):
        raise ValueError(f"An exercise asks to compare {', '.join(map(str, found))}; choose other numbers for it.")


def triangle(n: int) -> int:
    """The sum of the numbers from 1 to n."""
    return n * (n + 1) // 2


def listing(name: str) -> str:
    """A listing as it lies beside the templates; tests run it."""
    return (LISTINGS / f"{name}.py").read_text("utf-8")
