"""The page of exercises: it shows each whole, runs what was written, and hands out files."""

import json
from functools import partial
from typing import Any

import pytest

from microgpt.course import page
from microgpt.workbench.exercises import EXERCISES, exercise
from tests.support import workbench as support
from tests.support.pages import find, folded, parse, text, tree_of
from tests.support.workbench import said

PAGE = page("write-it")


press = partial(support.press, page=PAGE.name, exercise="append")


def test_without_a_script_each_is_there_whole() -> None:
    tree = tree_of(PAGE)
    parts = find(tree, "exercise")
    assert len(parts) == len(EXERCISES)
    for part, name in zip(parts, EXERCISES, strict=True):
        one = exercise(name)
        (field,) = part.iter("textarea")
        listings = [text(e).strip() for e in part.iter("pre")]
        assert text(field).strip() == one.starter.strip()
        assert listings == [one.tests.strip(), one.solution.strip()]
        words = folded(part)
        for told in (one.title, *one.task, one.hint, *one.laws.values()):
            assert told.replace("`", "") in words


def test_what_was_written_is_run_and_a_solution_gets_its_tick() -> None:
    one = exercise("crop")
    right = press("test", exercise="crop", crop=one.solution)
    assert "All 4 tests pass." in said(right["#result-crop"]) and " checked" in right["#tick-crop"]
    wrong = press("test", exercise="crop", crop=one.solution.replace("    del cache.values[n:]\n", ""))
    assert "#tick-crop" not in wrong and "data-editor-line" not in wrong["#result-crop"]
    assert "There are 4 rows of keys, and 6 rows of values." in said(wrong["#result-crop"])
    empty = press("test", exercise="crop", crop=one.starter)["#result-crop"]
    assert len(find(parse(f"<div>{empty}</div>"), "bad")) == 4 and 'data-editor-for="crop"' in empty
    assert "data-fresh" in press("anew", exercise="crop", crop="x")["#code-crop"]


def test_it_is_said_in_the_readers_language() -> None:
    one = exercise("append")
    wrong = press("test", lang="es", append=one.solution.replace("- 1", "+ 1"))["#result-append"]
    assert "recibió la posición 2" in said(wrong) and "got the position" not in wrong


@pytest.mark.parametrize("tool", ["nbgrader", "otter"])
def test_it_hands_out_what_the_command_writes(tool: str) -> None:
    book: dict[str, Any] = json.loads(press(tool)["append.ipynb"])
    assert tool == "otter" or "nbgrader" in book["cells"][0]["metadata"]
    mine = press("save", append="# mine\n")["append.py"]
    assert "# mine" in mine and exercise("append").tests in mine and "HINT" not in mine


def test_no_other_exercise() -> None:
    assert [*press("test", exercise="no-such")] == ["#prompt-error"]
