"""What is packed suffices: every hook of every page answers in Pyodide as it does here, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.runtime.exercise import answers
from tools.runtime.packing import USED
from tools.runtime.pinned import MINOR, TAG
from tools.runtime.used import BY_NAME, run, used


@pytest.mark.slow("packs the browser's Python and runs it")
def test_all_pages_run_on_what_is_packed(tmp_path: Path) -> None:
    """If a module is missing: python -m tools.runtime.used."""
    there = run(tmp_path)["answers"]
    here = answers()
    assert len(there) == len(here) > 200
    assert [i for i, (a, b) in enumerate(zip(there, here, strict=True)) if a != b] == []


def test_the_list_names_files_as_archives_do() -> None:
    packages = f"/lib/python{MINOR}/site-packages"
    assert used(f"/lib/python{TAG}.zip/asyncio/events.pyc") == "asyncio/events"
    assert used(f"{packages}/numpy/_core/_multiarray_umath.cpython-{TAG}-wasm32-emscripten.so") == (
        "numpy/_core/_multiarray_umath"
    )
    assert used(f"{packages}/jinja2/nodes.pyc") == used("") == ""
    listed = USED.read_text("utf-8").split()
    assert listed == sorted(listed) and {f"encodings/{name}" for name in BY_NAME} <= set(listed)
