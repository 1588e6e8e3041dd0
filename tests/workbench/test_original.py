"""The program that a reader begins with: a sound one, that runs by itself and passes all checks."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from microgpt.weights import SHIPPED, shipped
from microgpt.workbench import original as module
from microgpt.workbench.examine import PROMPTS, SIX, checks_of, examine
from microgpt.workbench.original import CHECKS, ORIGINAL, PROGRAM, checks_text, function_at, hunks_of, original
from microgpt.workbench.yours import Yours
from tests.support.sampled import sampled
from tests.workbench.programs import at_first, handing_out, line_of


def run_program(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """`python yours.py` in a folder with nothing else in it."""
    (folder / PROGRAM).write_text(text, "utf-8")
    return subprocess.run([sys.executable, PROGRAM], cwd=folder, capture_output=True, text=True, timeout=300)


def test_it_is_a_program_that_uses_all_that_it_imports(tmp_path: Path) -> None:
    compile(original(), PROGRAM, "exec")
    (tmp_path / PROGRAM).write_text(original(), "utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", str(tmp_path / PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_where_there_are_no_sources_it_is_the_same_text(tmp_path: Path) -> None:
    """As in a browser: bytecode alone, and the texts beside it."""
    place = Path(module.__file__)
    shutil.copy(place, tmp_path / "alone.py")
    (tmp_path / ORIGINAL).write_text(module.write(), "utf-8")
    (tmp_path / CHECKS).write_text(checks_text(), "utf-8")
    says = "import alone, inspect; inspect.getsource = None; print(alone.original() + alone.checks_text(), end='')"
    root = str(place.parents[2])
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {root!r}]; {says}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout == original() + checks_text() and original() == module.write()


def test_it_runs_by_itself_and_passes_all_checks(tmp_path: Path) -> None:
    done = run_program(original(), tmp_path)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert done.stdout.count("  ok  ") == len(PROMPTS) * len(checks_of()) and "FAIL" not in done.stdout
    assert "names: <s>emmali" in done.stdout and "stories: <s>" in done.stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (original().replace("def forward(", "def forward((", 1), f"line {line_of(original(), 'def forward(')}\n"),
        (at_first("1 / 0"), "ZeroDivisionError: division by zero"),
        (handing_out("self._keys[:, :new], self._keys[:, :new], range(new)"), "FAIL  all_at_once: "),
    ],
    ids=["no program", "fails", "wrong"],
)
def test_a_broken_one_says_so_and_its_line(text: str, says: str, tmp_path: Path) -> None:
    done = run_program(text, tmp_path)
    assert done.returncode == 1 and says in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if "1 / 0" in text:
        assert f"{PROGRAM}, line {line_of(text, '1 / 0')}: Python stops here: Zero" in done.stdout


@pytest.mark.parametrize("name", sampled(SHIPPED, ["names-deep"], "by day it checks itself in the others, see above"))
def test_it_passes_every_check(name: str) -> None:
    model = shipped(name)
    ids = model.tokenizer.encode("the girl has a ball." if name == "stories" else "emmali")
    found = examine(Yours(original()), model, ids)
    assert [(one.name, one.finding) for one in found] == [(name, None) for name in checks_of()]
    assert tuple(checks_of())[:6] == SIX


def test_a_line_that_was_changed_has_the_number_that_the_editor_shows() -> None:
    assert [*hunks_of(original(), 2)] == [*hunks_of(original().replace("\n", "\r\n"), 2)] == []
    lines = original().splitlines()
    for at in (0, 40, len(lines) - 1):
        (hunk,) = hunks_of("\n".join([*lines[:at], "x = 1", *lines[at:]]), 2)
        assert [(one.text.strip(), one.at) for one in hunk.lines if one.sign == "+"] == [("x = 1", at + 1)]
        assert [lines[one.at - 1 - (one.at > at)].strip() for one in hunk.lines if one.sign == " "] == [
            one.text.strip() for one in hunk.lines if one.sign == " "
        ]


@pytest.mark.parametrize("around", [0, 2])
def test_what_differs_is_all_that_differs_and_named_by_its_place(around: int) -> None:
    changed = original().replace("        self._len = n\n", "        self._len = n + 1\n", 1)
    (hunk,) = hunks_of(changed, around)
    assert hunk.where == "KVLayer.crop" and len(hunk.lines) == 2 + 2 * around
    assert [(one.sign, one.text.strip()) for one in hunk.lines if one.sign != " "] == [
        ("-", "self._len = n"), ("+", "self._len = n + 1"),
    ]  # fmt: skip
    lines = ["class A:", "    def f(self):", "        return 1", "", "def g():", "    return 2"]
    assert [function_at(lines, n) for n in (1, 2, 3, 5, 6)] == ["A", "A.f", "A.f", "g", "g"]
