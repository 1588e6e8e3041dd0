"""The exercises: for each part of the course a sheet that a teacher can set, and its worked answers.

The tasks are those of the lessons (questions.py in the folder of each), and are collected here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from microgpt.course import COURSE_PARTS, LESSONS, CoursePart, page
from microgpt.viz.controls import Choice
from microgpt.viz.page import Page
from microgpt.viz.settings import Settings
from microgpt.viz.text.tasks import Task


class Exercise(NamedTuple):
    task: Task
    lessons: tuple[Page, ...]  # that it is about, its own first
    words: str  # the template that has them
    numbers: Any


class Sheet(NamedTuple):
    part: CoursePart
    exercises: list[Exercise]

    @property
    def minutes(self) -> int:
        return sum(one.task.minutes for one in self.exercises)


class View:
    """The sheets of all parts, by the names of their pages: a page shows its own."""

    choices: tuple[Choice, ...] = (Choice("sheet", ("exercises", "answers", "both"), "exercises"),)

    def __init__(self, _: Settings) -> None:
        self.sheets = sheets()


view = View


@cache
def sheets() -> dict[str, Sheet]:
    """The sheet of each part, by the name of its page."""
    every = [one for folder in dict.fromkeys(lesson.widget for lesson in LESSONS) for one in exercises_of(folder)]
    every.sort(key=lambda one: one.task.place)
    return {part.sheet: Sheet(part, [one for one in every if one.lessons[-1] in part.lessons]) for part in COURSE_PARTS}


def exercises_of(folder: str) -> list[Exercise]:
    tasks: tuple[Task, ...] = getattr(import_module(f"microgpt.course.{folder}.questions"), "TASKS", ())
    return [
        Exercise(
            task,
            tuple(page(name) for name in (folder.replace("_", "-"), *task.also)),
            f"course/{folder}/words.html",
            task.numbers(),
        )
        for task in tasks
    ]
