"""The exercise that learners download: a solution passes all its tests, and each usual mistake fails one."""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from microgpt.apps.exercises.app import sheets
from tests.support.questions import facts_of

ROOT = Path(__file__).resolve().parents[3]
EXERCISE = ROOT / "site" / "exercises" / "cache_exercise.py"
CROP = "del cache.keys[n:]\n    del cache.values[n:]"

MISTAKES = {  # what is often done in place of what
    "aliasing a key": ("keys.append(k.copy())", "keys.append(k)"),
    "aliasing a value": ("values.append(v.copy())", "values.append(v)"),
    "the wrong position": ("return len(cache.keys) - 1", "return len(cache.keys)"),
    "k and v mixed up": ("cache.values.append(v.copy())", "cache.values.append(k.copy())"),
    "newest first": ("cache.keys.append(k.copy())", "cache.keys.insert(0, k.copy())"),
    "no mask": ("= -np.inf", "+= 0"),
    "the mask by place in the chunk": ("np.arange(t - n, t)", "np.arange(n)"),
    "the mask hides the own key": ("> positions", ">= positions"),
    "the mask lets one more through": ("> positions", "> 1 + positions"),
    "the mask multiplies": ("= -np.inf", "= 0"),
    "no root": (" / np.sqrt(q.shape[-1])", ""),
    "softmax over queries": ("raised.sum(axis=-1, keepdims=True)", "raised.sum(axis=-2, keepdims=True)"),
    "softmax that overflows": ("scores - scores.max(axis=-1, keepdims=True)", "scores"),
    "one row too few": (CROP, CROP.replace("n:", "max(0, n - 1):")),
    "one row too many": (CROP, CROP.replace("n:", "n + 1:")),
    "the oldest are given up": (CROP, re.sub(r"(\w+)\[n:\]", r"\1[:len(cache.\1) - n]", CROP)),
    "only the keys are cropped": ("\n    del cache.values[n:]", ""),
    "no check": ("if not 0 <= n <= len(cache.keys):", "if False:"),
}


@cache
def answer() -> str:
    """What the answer to the exercise of the page has."""
    (write,) = (one for one in sheets()["exercises-code"].exercises if one.task.key == "write")
    listing: str = facts_of(write).listing
    return listing


def with_functions(solution: str) -> str:
    """The exercise, with its three functions as the solution has them."""
    lines = EXERCISE.read_text("utf-8").splitlines()
    solved = {one.name: one for one in ast.parse(solution).body if isinstance(one, ast.FunctionDef)}
    asked = [one for one in ast.parse("\n".join(lines)).body if isinstance(one, ast.FunctionDef) and one.name in solved]
    assert [one.name for one in asked] == ["append", "attend", "crop"] == [*solved]
    for one in reversed(asked):
        lines[one.lineno - 1 : one.end_lineno] = (ast.get_source_segment(solution, solved[one.name]) or "").splitlines()
    return "\n".join(["from typing import Any\n\nArray = Any", *lines]) + "\n"


def outcome(folder: Path, *sources: str) -> tuple[int, str]:
    """As a learner runs it: pytest alone, in a folder of its own; of several one after the other."""
    paths = [folder / f"exercise_{i}.py" for i in range(len(sources))]
    for path, source in zip(paths, sources, strict=True):
        path.write_text(source, "utf-8")
    command = [sys.executable, *"-m pytest -q -p no:cacheprovider --rootdir".split(), str(folder), *map(str, paths)]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    found = subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, timeout=100)
    return found.returncode, found.stdout


def test_every_test_fails_at_first_and_says_why(tmp_path: Path) -> None:
    code, said = outcome(tmp_path, EXERCISE.read_text("utf-8"))
    assert code == 1 and "NotImplementedError" in said
    assert " passed" not in said.splitlines()[-1] and " failed" in said.splitlines()[-1]


def test_the_solution_passes_every_test(tmp_path: Path) -> None:
    code, said = outcome(tmp_path, with_functions(answer()))
    assert code == 0 and " passed" in said.splitlines()[-1], said


def test_each_mistake_fails_a_test(tmp_path: Path) -> None:
    assert [name for name, (right, _) in MISTAKES.items() if answer().count(right) != 1] == [], (
        "the solution has changed"
    )
    code, said = outcome(tmp_path, *(with_functions(answer().replace(*change)) for change in MISTAKES.values()))
    failed = set(re.findall(r"^FAILED exercise_(\d+)\.py::", said, re.M))
    assert code == 1 and [name for i, name in enumerate(MISTAKES) if str(i) not in failed] == [], said


def test_it_needs_numpy_and_pytest_alone() -> None:
    tree = ast.parse(EXERCISE.read_text("utf-8"))
    used = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert used == {"math", "numpy", "pytest"} and not [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
