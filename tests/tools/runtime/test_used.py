"""What is packed suffices: every hook answers in Pyodide as it does here, to the byte."""

import json
from pathlib import Path

import pytest

from microgpt.course import LESSONS, PAGES
from tests.support.sampled import sampled
from tools.runtime.exercise import answers
from tools.runtime.packing import LATE, USED, USED_FIRST
from tools.runtime.pins import MINOR, TAG
from tools.runtime.usage import BY_NAME, EXERCISE, FIRST_STEP, name_in_lists, run_in_pyodide

LONG = ["bugs", "workbench", *(page.name for page in PAGES if page.app == "exercises")]
OTHERS = [page.name for page in PAGES if page not in LESSONS and page.name not in LONG]
SMALL = ["embed-builder", "look-inside", "write-it"]
BY_NIGHT = "by day a browser opens those that do more, and a first step is taken on the front page"


@pytest.mark.slow("packs the browser's Python and runs it")
@pytest.mark.timeout(300)  # half a minute of work
@pytest.mark.parametrize("names", sampled([SMALL, OTHERS, LONG], [SMALL], BY_NIGHT))
def test_pages_run_on_what_is_packed(names: list[str], tmp_path: Path) -> None:
    """Those that are no lesson; lessons run on less than that (test_carry.py). If a module is missing:
    python -m tools.runtime.usage."""
    there = run_in_pyodide(tmp_path, f"{EXERCISE.read_text('utf-8')}said = answers({names})\n")["answers"]
    here = answers(names)
    assert len(there) == len(here) > 20
    assert [i for i, (a, b) in enumerate(zip(there, here, strict=True)) if a != b] == []


@pytest.mark.slow("packs the browser's Python and runs it")
def test_a_first_step_needs_the_first_archive_alone(tmp_path: Path) -> None:
    """And gives what it gives here. What is left for later is imported and not loaded: else it need not be, or must
    not. If a module is missing: python -m tools.runtime.usage."""
    stood = "\nimport sys\nfrom json import dumps\nfrom sitecustomize import FINDER\n"
    code = FIRST_STEP + stood + "said += [dumps([name for name in FINDER.late if name in sys.modules])]\n"
    *there, late = run_in_pyodide(tmp_path, code, more=False)["answers"]
    here: dict[str, list[str]] = {}
    exec(FIRST_STEP, here)
    assert [json.loads(said)["patches"] for said in there] == [json.loads(said)["patches"] for said in here["said"]]
    assert json.loads(late) == LATE


def test_the_list_names_files_as_archives_do() -> None:
    packages = f"/lib/python{MINOR}/site-packages"
    assert name_in_lists(f"/lib/python{TAG}.zip/asyncio/events.pyc") == "asyncio/events"
    assert name_in_lists(f"{packages}/numpy/_core/_multiarray_umath.cpython-{TAG}-wasm32-emscripten.so") == (
        "numpy/_core/_multiarray_umath"
    )
    assert name_in_lists(f"{packages}/jinja2/nodes.py") == "jinja2/nodes" and name_in_lists("") == ""
    for path in (USED, USED_FIRST):
        listed = path.read_text("utf-8").split()
        assert listed == sorted(listed) and {f"encodings/{name}" for name in BY_NAME} <= set(listed)
