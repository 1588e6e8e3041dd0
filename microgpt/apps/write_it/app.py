"""Functions to write: each with its task, an editor, tests that run in the page, and the same for a course."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from microgpt.errors import UserError
from microgpt.viz.lesson import page_named
from microgpt.viz.page import Page
from microgpt.viz.patches import Patch, State, file, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings
from microgpt.workbench.exercises import EXERCISES, Exercise, exercise
from microgpt.workbench.exercises.grading import Grade, grade
from microgpt.workbench.exercises.notebooks import NOTEBOOKS

LESSON_OF = {  # which explains what is to be written
    "append": "kv-cache",
    "attend": "attention",
    "crop": "prefill-and-decode",
    "ring": "full-cache",
    "shared_heads": "fewer-heads",
    "rope_later": "full-cache",
    "int8_rows": "fewer-bits",
    "accept": "guess-and-check",
    "block_table": "pages",
}
MOST_SHOWN = 10_000  # letters of what is printed


class View:
    choices = ()

    def __init__(self, _: Settings) -> None:
        self.exercises = [exercise(name) for name in EXERCISES]

    def lesson(self, one: Exercise) -> Page:
        return page_named(LESSON_OF[one.name])


view = View


def exercise_in(fields: Mapping[str, str]) -> tuple[Exercise, str]:
    """The exercise that the reader is at, and what its editor holds."""
    if fields["exercise"] not in EXERCISES:
        raise UserError("There is no exercise “%(name)s”.", name=fields["exercise"][:40])
    one = exercise(fields["exercise"])
    return one, fields[one.name] or one.starter


def run_tests(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """What the tests say, and the tick where all pass."""
    one, code = exercise_in(fields)
    found = grade(one, code)
    shown = found._replace(printed=found.printed[:MOST_SHOWN])
    tick = patch(f"#tick-{one.name}", render.render("apps/write_it/_tick.html", one=one, solved=True))
    return state, [result_patch(one, shown), *[tick] * (found.first is None)]


def result_patch(one: Exercise, found: Grade | None) -> Patch:
    return patch(f"#result-{one.name}", render.render("apps/write_it/_result.html", one=one, found=found))


def begin_anew(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    one, _ = exercise_in(fields)
    code = render.render("apps/write_it/_code.html", one=one, fresh=True)
    return state, [patch(f"#code-{one.name}", code), result_patch(one, None)]


def save(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """What the reader has written with its tests, for pytest."""
    one, code = exercise_in(fields)
    return state, [file(f"{one.name}.py", one.file(code), "text/x-python")]


def save_notebook(
    make: Callable[[Exercise], str], state: State | None, fields: Mapping[str, str]
) -> tuple[State | None, list[Patch]]:
    """The exercise for a course, with its solution."""
    one, _ = exercise_in(fields)
    return state, [file(f"{one.name}.ipynb", make(one), "application/x-ipynb+json")]


HOOKS = {"test": run_tests, "anew": begin_anew, "save": save}
HOOKS |= {name: partial(save_notebook, make) for name, make in NOTEBOOKS.items()}
