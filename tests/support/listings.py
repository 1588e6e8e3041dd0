"""The listings of the lesson “In your code”, run as a reader runs them."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from microgpt.course.in_your_code.lesson import source

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "microgpt" / "course" / "in_your_code" / "listings"
NOTEBOOK = ROOT / "docs" / "in-your-code.ipynb"
PRINTED = FOLDER.parent / "printed.json"
RECORDED = json.loads(PRINTED.read_text("utf-8")) if PRINTED.exists() else {}
SHARED = {"plain_parts", "stories_as_llama"}  # what others import; they print nothing


PLAIN = ("plain", "package", "sampling", "growing")  # that need NumPy alone
PROMPT = "The next day is bright"  # which all loops begin with
LIMITS = ("", "The next day is bright and the sun is warm . the next day is bright and the cat")  # one id; all rows


def listings() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in SHARED)


def renewed() -> dict[str, Any]:
    """The notebook with the listings as they are: a cell is the file of its name, without what cells before it say."""
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text("utf-8"))
    for cell in code_cells(notebook):
        text = (FOLDER / f"{cell['id']}.py").read_text("utf-8")
        cell["source"] = (
            re.sub(rf"^from ({'|'.join(sorted(SHARED))}) import .*\n", "", text, flags=re.M).strip().splitlines(True)
        )
    return notebook


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def cells_print(names: Sequence[str]) -> dict[str, str]:
    """What those cells print, one after the other in one Python, as a notebook runs them."""
    known: dict[str, object] = {}
    found: dict[str, str] = {}
    for cell in code_cells(json.loads(NOTEBOOK.read_text("utf-8"))):
        if cell["id"] in names:
            with redirect_stdout(io.StringIO()) as out:
                exec("".join(cell["source"]), known)
            found[cell["id"]] = out.getvalue()
    return found


def names_of(name: str, *swaps: tuple[str, str]) -> dict[str, Any]:
    """What a listing leaves behind: variables, functions, what is "printed". Text that it has once may be swapped."""
    source, names = (FOLDER / f"{name}.py").read_text("utf-8"), dict[str, Any]()
    for old, new in swaps:
        assert source.count(old) == 1, f"{name}: {old}"
        source = source.replace(old, new)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.syspath_prepend(str(FOLDER))
        patch.setattr(sys, "dont_write_bytecode", True)
        exec(compile(source, f"{name}.py", "exec"), names)
    return names | {"printed": out.getvalue()}


def printed(name: str) -> str:
    """What a listing prints, in a Python of its own, which leaves no files behind."""
    return run_python(str(FOLDER / f"{name}.py"))


ONE_BY_ONE = """
import io, json, runpy, sys
from contextlib import redirect_stdout
told = {}
for name in sys.argv[1:]:
    sys.modules.pop("stories_as_llama", None)  # a listing may change the model
    with redirect_stdout(io.StringIO()) as out:
        runpy.run_path(name + ".py")
    told[name] = out.getvalue()
print(json.dumps(told))
"""


def printed_in_spanish(names: Sequence[str]) -> dict[str, str]:
    """What those listings of the Spanish page print, all in one Python."""
    with TemporaryDirectory() as folder:
        for one in FOLDER.glob("*.py"):
            Path(folder, one.name).write_text(source(one.stem, "cuentos"), "utf-8")
        found: dict[str, str] = json.loads(run_python("-c", ONE_BY_ONE, *names, folder=folder))
    return found


def run_python(*command: str, folder: str | None = None) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(
        [sys.executable, "-B", *command],
        cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout
