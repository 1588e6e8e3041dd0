"""An exercise as a notebook for a course: for nbgrader, and for Otter-Grader. Each is what a teacher begins with, its
solution inside; the tool makes of it what students get. A notebook is JSON.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from microgpt.workbench.exercises import Exercise

Cell = dict[str, Any]
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(cells: list[Cell]) -> str:
    """The notebook of these cells."""
    named = [{"id": f"cell-{i:02}", **cell} for i, cell in enumerate(cells)]
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return json.dumps({"cells": named, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def cell(kind: str, text: str, **metadata: Any) -> Cell:
    made: Cell = {"cell_type": kind, "metadata": metadata, "source": text.strip().splitlines(keepends=True)}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def task(exercise: Exercise) -> str:
    return "\n\n".join([f"# {exercise.title}", *exercise.task])


def pieces(exercise: Exercise) -> tuple[str, str, dict[str, str]]:
    """What is given, the functions that are to be written, and each test as a program: what it needs, it, its call."""
    given, asked = list[str](), list[str]()
    for text in parts_of(exercise.code_with_solution):
        (asked if "### BEGIN SOLUTION" in text else given).append(text)
    tests = dict[str, str]()
    for text in parts_of(exercise.tests):
        if found := re.match(r"def (test_\w+)", text):
            tests[found[1]] = f"{text}\n\n\n{found[1]}()"
        else:
            given.append(text)
    return "\n\n".join(given), "\n\n\n".join(asked), tests


def parts_of(code: str) -> Iterator[str]:
    """The statements of a program, each with the remarks after it."""
    starts = [node.lineno - 1 for node in ast.parse(code).body]
    for start, end in pairwise([*starts, None]):
        yield "\n".join(code.splitlines()[start:end]).strip()


# ---- nbgrader ---------------------------------------------------------------------------------------


def for_nbgrader(exercise: Exercise) -> str:
    """Its source version, in nbgrader's schema 3: `nbgrader generate_assignment` takes the solution out."""
    given, asked, tests = pieces(exercise)

    def metadata(name: str, **kind: Any) -> dict[str, Any]:
        plain = {"grade": False, "locked": True, "schema_version": 3, "solution": False, "task": False}
        return {"nbgrader": plain | {"grade_id": f"{exercise.name}-{name}"} | kind}

    return notebook(
        [
            cell("markdown", task(exercise), **metadata("task")),
            cell("code", given, **metadata("given")),
            cell("code", asked, **metadata("answer", locked=False, solution=True)),
            *(cell("code", text, **metadata(name, grade=True, points=1)) for name, text in tests.items()),
        ]
    )


# ---- Otter-Grader -----------------------------------------------------------------------------------


def for_otter(exercise: Exercise) -> str:
    """Its master notebook: `otter assign` makes the version for students, and what grades it."""
    given, asked, tests = pieces(exercise)
    asked = asked.replace("### BEGIN", "# BEGIN").replace("### END", "# END")
    return notebook(
        [
            cell("raw", "# ASSIGNMENT CONFIG\ninit_cell: true\nexport_cell: false\ntests:\n    files: false"),
            cell("markdown", f"# {exercise.title}"),
            cell("code", given),
            cell("raw", f"# BEGIN QUESTION\nname: {exercise.name}\npoints: {len(tests)}"),
            cell("markdown", "\n\n".join(exercise.task)),
            cell("raw", "# BEGIN SOLUTION"),
            cell("code", asked),
            cell("raw", "# END SOLUTION"),
            cell("raw", "# BEGIN TESTS"),
            *(cell("code", text) for text in tests.values()),
            cell("raw", "# END TESTS"),
            cell("raw", "# END QUESTION"),
        ]
    )


def files_of(exercise: Exercise) -> dict[str, str]:
    """What can be handed out, by its name."""
    name = exercise.name
    return {
        f"{name}.py": exercise.file(exercise.starter),
        f"solutions/{name}.py": exercise.file(exercise.solution),
        f"nbgrader/{name}.ipynb": for_nbgrader(exercise),
        f"otter/{name}.ipynb": for_otter(exercise),
    }


NOTEBOOKS: dict[str, Callable[[Exercise], str]] = {"nbgrader": for_nbgrader, "otter": for_otter}
