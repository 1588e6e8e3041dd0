"""A learner's code, run against the tests of an exercise, under the watch of the workbench.

What an assert of a test says is looked up in its source, so that it can be said in the reader's language.
"""

from __future__ import annotations

import ast
import traceback
from contextlib import redirect_stdout
from typing import NamedTuple

from microgpt.errors import N_, UserError
from microgpt.workbench.exercises import Exercise, sentence
from microgpt.workbench.yours import SECONDS, Late, Printed, Stop, Watched, place_of

TESTS_FILE = "tests.py"  # as the tests are named in tracebacks


class Grade(NamedTuple):
    """What became of a learner's code: of each test that ran, where and why it fails, or None; and what was printed."""

    found: dict[str, Stop | None]  # by the names of the tests
    stop: Stop | None = None  # why no test ran
    printed: str = ""

    @property
    def first(self) -> Stop | None:
        """What is wrong first."""
        return self.stop or next((one for one in self.found.values() if one), None)


def grade(exercise: Exercise, code: str, seconds: float = SECONDS) -> Grade:
    """All tests of the exercise on this code. After one that does not end no other runs."""
    name, printed, found = f"{exercise.name}.py", Printed(), dict[str, Stop | None]()
    with redirect_stdout(printed):
        try:
            program = Watched(code, name, seconds)
            program.load(exercise.tests, TESTS_FILE)
        except Exception as error:
            return Grade({}, place_of(error, name), printed.getvalue())
        for test in exercise.laws:
            try:
                with program:
                    vars(program.module)[test]()
                found[test] = None
            except Exception as error:
                found[test] = stop_of(error, exercise, name)
                if isinstance(error, Late):
                    break
    return Grade(found, printed=printed.getvalue())


def stop_of(error: Exception, exercise: Exercise, name: str) -> Stop:
    """Why a test fails: its own sentence, or the learner's line."""
    if isinstance(error, NotImplementedError):
        return place_of(error, name)._replace(error=UserError(N_("This is still to be written.")))
    frame, line = [*traceback.walk_tb(error.__traceback__)][-1]
    if not isinstance(error, AssertionError) or frame.f_code.co_filename != TESTS_FILE:
        return place_of(error, name)
    asserts = [one for one in ast.walk(ast.parse(exercise.tests)) if isinstance(one, ast.Assert)]
    text, shown = sentence(next(one for one in asserts if one.lineno <= line <= (one.end_lineno or 0)).msg)
    known = {**frame.f_globals, **frame.f_locals}
    return Stop(0, UserError(text, **{key: show_value(value, known) for key, value in shown.items()}), name)


def show_value(value: ast.JoinedStr, known: dict[str, object]) -> str:
    return str(eval(compile(ast.fix_missing_locations(ast.Expression(value)), TESTS_FILE, "eval"), known))
