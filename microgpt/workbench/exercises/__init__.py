"""Functions to write, with tests that say what is wrong: each out of one source, listings/*.py.

A source is an ordinary program for NumPy and pytest. Its docstring is the task, HINT a hint, the solution stands
between the marks that nbgrader knows, and below TESTS each test says its law in its docstring, and what is wrong in its
asserts. Out of it come what a learner begins with, what the page says (extract_messages finds that for translation), a
file for pytest, and notebooks (notebooks.py). In a browser, where Python is bytecode, the sources lie beside it too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

FOLDER = Path(__file__).with_name("listings")
EXERCISES = (  # easier ones first
    "append", "attend", "crop", "ring", "shared_heads", "rope_later", "int8_rows", "accept", "block_table",
)  # fmt: skip
TESTS = "\n# ---- the tests -"  # the line above them
SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION\n(.*?)^ *### END SOLUTION\n", re.S | re.M)


class Exercise:
    """An exercise, taken to pieces."""

    def __init__(self, name: str, text: str) -> None:
        tree = ast.parse(text)
        self.name, self.said = name, docstring(tree)
        self.title, *task = self.said.split("\n\n")
        self.task = [" ".join(one.split()) for one in task]  # its paragraphs
        self.hint = str(ast.literal_eval(next(one for one in tree.body if isinstance(one, ast.Assign)).value))
        code = text.partition(TESTS)[0].partition('\n"""\n')[2]
        # the code that is the learner's, with its solution between marks
        self.code_with_solution = re.sub(r"^\nHINT = .*\n", "", code, flags=re.M).strip() + "\n"
        self.starter = SOLUTION.sub(r"\1raise NotImplementedError\n", self.code_with_solution)
        self.solution = SOLUTION.sub(r"\2", self.code_with_solution)
        self.tests = text[text.index(TESTS) + 1 :]
        functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
        # what each test looks at, by the test's name
        self.laws = {one.name: docstring(one) for one in functions if one.name.startswith("test_")}

    def file(self, code: str) -> str:
        """The task, this code and the tests, for pytest."""
        return f'"""{self.said}\n"""\n\n{code.strip()}\n\n\n{self.tests}'


def docstring(node: ast.Module | ast.FunctionDef) -> str:
    return ast.get_docstring(node) or ""


@cache
def exercise(name: str) -> Exercise:
    return Exercise(name, (FOLDER / f"{name}.py").read_text("utf-8"))


# ---- what is said, in the reader's language ---------------------------------------------------------


def sentence(message: ast.expr | None) -> tuple[str, dict[str, ast.JoinedStr]]:
    """What an assert says, as it is translated: %(name)s for each {name}; and what shows each of them."""
    parts = message.values if isinstance(message, ast.JoinedStr) else [message]
    text, shown = "", dict[str, ast.JoinedStr]()
    for part in parts:
        if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name):
            text += f"%({part.value.id})s"
            shown[part.value.id] = ast.JoinedStr([part])
        elif isinstance(part, ast.Constant):
            text += str(part.value)
        else:
            raise ValueError("a test puts names alone between the braces of what it says")
    return text, shown


def messages(one: Exercise) -> Iterator[str]:
    """All that an exercise says."""
    yield from (one.title, *one.task, one.hint, *one.laws.values())
    asserts = [node for node in ast.walk(ast.parse(one.tests)) if isinstance(node, ast.Assert)]
    yield from (sentence(node.msg)[0] for node in asserts)


def extract_messages(file: BinaryIO, *_: Any, **options: Any) -> Iterable[tuple[int, str, str, list[str]]]:
    """The messages of a source, as Babel asks for them: see babel.cfg."""
    return [(1, "gettext", text, []) for text in messages(Exercise("", file.read().decode("utf-8")))]
