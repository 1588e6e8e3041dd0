"""The page of exercises: it shows each whole, runs what was written, and hands out files."""

import json
import re
from typing import Any

import pytest

from microgpt.course import page
from microgpt.viz.session import dispatch
from microgpt.workbench.exercises import EXERCISES, exercise
from tests.support.pages import find, parse, text, tree_of

PAGE = page("write-it")


def press(hook: str, name: str = "append", lang: str = "en", **fields: str) -> dict[str, str]:
    """Target -> HTML of an answer; a file by its name."""
    _, patches = dispatch(None, hook, {"page": PAGE.name, "lang": lang, "exercise": name, **fields})
    return {one.get("target", "") or one["file"]: one.get("html", one.get("text", "")) for one in patches}


def said(html: str) -> str:
    return re.sub(r"\s+", " ", text(parse(f"<div>{html}</div>")))


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
        words = re.sub(r"\s+", " ", text(part))
        for told in (one.title, *one.task, one.hint, *one.laws.values()):
            assert told.replace("`", "") in words


def test_what_was_written_is_run_and_a_solution_gets_its_tick() -> None:
    one = exercise("crop")
    right = press("test", "crop", crop=one.solution)
    assert "All 4 tests pass." in said(right["#result-crop"]) and " checked" in right["#tick-crop"]
    wrong = press("test", "crop", crop=one.solution.replace("    del cache.values[n:]\n", ""))
    assert "#tick-crop" not in wrong
    assert "There are 4 rows of keys, and 6 rows of values." in said(wrong["#result-crop"])
    empty = press("test", "crop", crop=one.starter)["#result-crop"]
    assert len(find(parse(f"<div>{empty}</div>"), "bad")) == 4 and 'data-editor-for="crop"' in empty
    assert "data-fresh" in press("anew", "crop", crop="x")["#code-crop"]


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
    assert [*press("test", "no-such")] == ["#prompt-error"]
