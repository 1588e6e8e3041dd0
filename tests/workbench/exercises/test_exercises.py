"""The exercises: each solution passes, each beginning fails, and typical mistakes are told apart; in all forms."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from microgpt.caches.codes import Grid
from microgpt.config import Config
from microgpt.model import attn_scores, causal_mask, mix, softmax
from microgpt.rope import rope
from microgpt.serving.speculate import residual, verify
from microgpt.workbench.exercises import EXERCISES, SOLUTION, exercise
from microgpt.workbench.exercises.__main__ import main
from microgpt.workbench.exercises.grading import grade
from microgpt.workbench.exercises.notebooks import NOTEBOOKS, for_nbgrader, for_otter
from tests.workbench.exercises.mistakes import MISTAKES


@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_passes_and_the_beginning_fails_each_test(name: str) -> None:
    one = exercise(name)
    assert grade(one, one.solution) == ({test: None for test in one.laws}, None, "")
    found = grade(one, one.starter)
    assert {*found.found} == {*one.laws} and found.stop is None
    for stop in found.found.values():
        assert stop and str(stop.error) == "This is still to be written."
        assert "raise NotImplementedError" in one.starter.splitlines()[stop.line - 1]


@pytest.mark.parametrize("name", EXERCISES)
def test_what_students_write_is_told_apart(name: str) -> None:
    one, said = exercise(name), dict[str, str]()
    for mistake, (right, wrong) in MISTAKES[name].items():
        assert right in one.solution, mistake
        first = grade(one, one.solution.replace(right, wrong)).first
        assert first, mistake
        said[mistake] = first.error.message
    assert len({*said.values()}) == len(said) >= 3, said


def test_what_stops_is_told_at_the_learners_line() -> None:
    one = exercise("append")
    lines = one.solution.splitlines()
    at = next(i for i, line in enumerate(lines, 1) if "return" in line)
    crash = grade(one, "\n".join([*lines[: at - 1], "    return 1 / 0"]))
    assert crash.first and crash.first.line == at and "ZeroDivisionError" in str(crash.first.error)
    broken = grade(one, "\n".join([*lines[: at - 1], "    return )"]))
    assert broken.stop and broken.stop.line == at and not broken.found
    own = grade(one, "\n".join([*lines[: at - 1], "    assert False, 'mine'"]))
    assert own.first and own.first.line == at and "mine" in str(own.first.error)
    mute = grade(one, "\n".join(['print("here")', *lines[: at - 1], "    raise SystemExit"]))
    assert mute.first and mute.first.line == at + 1 and mute.printed == "here\n"


def test_a_loop_without_an_end_is_ended() -> None:
    one = exercise("append")
    lines = one.solution.splitlines()
    at = next(i for i, line in enumerate(lines, 1) if "return" in line)
    found = grade(one, "\n".join([*lines[: at - 1], "    while True:", "        pass"]), 0.3)
    assert len(found.found) == 1 and found.first and found.first.line in (at, at + 1)
    assert "a loop here" in str(found.first.error)


# ---- against the package --------------------------------------------------------------------------


def solved(name: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(exercise(name).solution, names)
    return names


def random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape)


@pytest.mark.parametrize(("t", "n"), [(7, 7), (7, 1), (7, 3), (1, 1)])
def test_attend_gives_what_the_package_gives(t: int, n: int) -> None:
    keys, values, q = random(t, 3, 8), random(t, 3, 8) * 2, random(n, 3, 8) * 3
    mask = causal_mask(range(t - n, t), range(t))
    scores = attn_scores(q, keys.swapaxes(0, 1), mask)
    wanted = mix(softmax(scores), values.swapaxes(0, 1)).reshape(n, 3, 8)
    np.testing.assert_allclose(solved("attend")["attend"](keys, values, q), wanted, atol=1e-12)


@pytest.mark.parametrize(("n_head", "n_kv_head"), [(6, 2), (6, 6), (6, 1)])
def test_shared_heads_give_what_the_package_gives(n_head: int, n_kv_head: int) -> None:
    keys, values, q = random(5, n_kv_head, 8), random(5, n_kv_head, 8) * 2, random(n_head, 8)
    weights = softmax(attn_scores(q[None], keys.swapaxes(0, 1)))
    wanted = mix(weights, values.swapaxes(0, 1)).reshape(n_head, 8)
    np.testing.assert_allclose(solved("shared_heads")["attend"](keys, values, q), wanted, atol=1e-12)


def test_rope_turns_as_the_package_turns() -> None:
    config = Config(head_dim=8, position="rope", rope_theta=100.0)
    x, t = random(9, 8), 9
    turn: Callable[[Any], Any] = rope(config, range(t), np.dtype(float))
    written = solved("rope_later")
    np.testing.assert_allclose(written["rotate"](x, np.arange(t)), turn(x[:, None])[:, 0], atol=1e-12)
    q = random(8, 1)[:, 0]
    turned = rope(config, [t - 1], np.dtype(float))(q[None, None])
    wanted = attn_scores(turned, turn(x[:, None]).swapaxes(0, 1))[0, 0]
    np.testing.assert_allclose(written["scores"](q, x), wanted, atol=1e-12)


def test_int8_rows_are_those_of_the_package() -> None:
    rows = random(6, 16) * np.array([1, 30, 0.01, 5, 2, 8])[:, None]
    grid, written = Grid(bits=8, symmetric=True), solved("int8_rows")
    codes = grid.encode(rows)
    found = written["restore"](*written["quantise"](rows))
    np.testing.assert_allclose(found, grid.decode(codes), atol=1e-12)


def test_accept_does_what_the_package_does() -> None:
    random_ = np.random.default_rng(3)
    for seed in range(40):
        draft, target = random_.dirichlet(np.ones(5), 3), random_.dirichlet(np.ones(5), 4)
        drafted, rng = random_.integers(0, 5, 3).tolist(), Random(seed)
        again = Random(seed)
        u = [again.random() for _ in range(3)]
        kept, _ = verify(target, draft, drafted, rng)
        found, rest = solved("accept")["accept"](drafted, draft, target, u)
        wanted = residual(target[kept], draft[kept]) if kept < 3 else target[3]
        assert found == kept
        np.testing.assert_allclose(rest, wanted, atol=1e-12)


# ---- as files and as notebooks ----------------------------------------------------------------------


def test_files_for_pytest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the command; pytest alone runs them: NumPy is all they need."""
    monkeypatch.setattr(sys, "argv", ["exercises", str(tmp_path)])
    main()
    clean = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTHONPATH": ""}
    for folder, is_right in (("solutions", True), (".", False)):
        files = sorted(str(path) for path in (tmp_path / folder).glob("*.py"))
        command = [sys.executable, *"-m pytest -q -p no:cacheprovider --import-mode=importlib".split(), *files]
        done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True, timeout=100)
        said = done.stdout.splitlines()[-1]
        n = sum(len(exercise(name).laws) for name in EXERCISES)
        assert len(files) == len(EXERCISES)
        assert f"{n} {'passed' if is_right else 'failed'}" in said and done.returncode == (not is_right), done.stdout
    for name in EXERCISES:
        for tool in ("nbgrader", "otter"):
            assert json.loads((tmp_path / tool / f"{name}.ipynb").read_text("utf-8"))["cells"]


def code_of(cells: list[dict[str, Any]]) -> list[str]:
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def first_wrong(cells: list[str]) -> str:
    """The error with which the cells stop, run in order; "" where they come to their end."""
    names: dict[str, Any] = {}
    try:
        for cell in cells:
            exec(cell, names)
    except Exception as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize("form", NOTEBOOKS)
@pytest.mark.parametrize("name", EXERCISES)
def test_notebooks_run(name: str, form: str) -> None:
    """With the solution to their end; with it taken out, as the tool does, up to the first test."""
    book = json.loads(NOTEBOOKS[form](exercise(name)))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5) and {*book} == {
        "cells",
        "metadata",
        "nbformat",
        "nbformat_minor",
    }
    ids = [cell["id"] for cell in book["cells"]]
    assert len({*ids}) == len(ids)
    for cell in book["cells"]:
        wanted = {"cell_type", "id", "metadata", "source"}
        assert {*cell} == wanted | ({"outputs", "execution_count"} if cell["cell_type"] == "code" else set())
    cells = code_of(book["cells"])
    assert first_wrong(cells) == ""
    marked = [cell.replace("    # BEGIN", "    ### BEGIN").replace("    # END", "    ### END") + "\n" for cell in cells]
    emptied = [SOLUTION.sub(r"\1raise NotImplementedError\n", cell) for cell in marked]
    assert emptied != marked and first_wrong(emptied) == "NotImplementedError"
    tests = [cell for cell in cells if "def test_" in cell]
    assert len(tests) == len(exercise(name).laws)


@pytest.mark.parametrize("name", EXERCISES)
def test_nbgraders_cells(name: str) -> None:
    """As its schema 3 asks: each cell with an id of its own, one to be written, points for each test."""
    told = [cell["metadata"]["nbgrader"] for cell in json.loads(for_nbgrader(exercise(name)))["cells"]]
    assert {one["schema_version"] for one in told} == {3} and len({one["grade_id"] for one in told}) == len(told)
    fields = {"grade", "grade_id", "locked", "schema_version", "solution", "task"}
    assert all({*one} == fields | ({"points"} if one["grade"] else set()) for one in told)
    assert [one["locked"] for one in told if one["solution"]] == [False]
    assert sum(one.get("points", 0) for one in told) == len(exercise(name).laws)


@pytest.mark.parametrize("name", EXERCISES)
def test_otters_blocks(name: str) -> None:
    cells = json.loads(for_otter(exercise(name)))["cells"]
    raw = ["".join(cell["source"]).partition("\n")[0] for cell in cells if cell["cell_type"] == "raw"]
    assert raw == ["# ASSIGNMENT CONFIG", *(f"# {one}" for one in (
        "BEGIN QUESTION", "BEGIN SOLUTION", "END SOLUTION", "BEGIN TESTS", "END TESTS", "END QUESTION",
    ))]  # fmt: skip
