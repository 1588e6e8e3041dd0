"""The exercises: for each part of the course a sheet that a teacher can set, and its worked answers.

What a task gives is a real run's, a config's, or a case that is named in it; what its answer says is computed here.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from microgpt.apps.exercises import code, cost, engines, idea, right
from microgpt.apps.exercises.sheet import Sheet
from microgpt.course import PARTS
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings

MODULES = {"idea": idea, "right": right, "cost": cost, "code": code, "engines": engines}  # in the order of the parts
SHOWN = Choice("sheet", ("exercises", "answers", "both"), "exercises")


class View(NamedTuple):
    """The sheets of all parts, by the names of their pages: a page shows its own."""

    choices: tuple[Choice, ...]
    sheets: dict[str, Sheet]


def view(settings: Settings) -> View:
    return View((SHOWN,), sheets())


@cache
def sheets() -> dict[str, Sheet]:
    return {
        part.sheet: Sheet(name, part, module.TASKS, module.numbers())
        for part, (name, module) in zip(PARTS, MODULES.items(), strict=True)
    }
