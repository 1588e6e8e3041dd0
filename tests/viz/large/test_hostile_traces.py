"""Whatever is in a trace or an excerpt that someone made: one sentence, soon, and in little memory, before
anything is drawn."""

import json
from pathlib import Path

from microgpt.trace import ENGINE_EVENTS, EVENTS, READ
from microgpt.viz.large.checks import ABOUT, INSIDE, NEEDED, OUTSIDE, check_trace, trace_in
from tests.support.hostile_traces import CASES, Case
from tests.support.memory import amiss

MEMORY = 300_000_000  # bytes: what a file of 40 MB takes
SECONDS = 5.0  # of work: one on a quiet machine is enough for the slowest
DOCS = Path(__file__).resolve().parents[3] / "docs"


def taken(case: Case, folder: Path) -> str:
    """What is wrong with how it is taken."""
    folder.mkdir()
    path = case.laid(folder)
    return amiss(lambda: check_trace(trace_in(path)), case.says, SECONDS, MEMORY)


def test_a_hostile_trace_is_one_sentence_soon_and_in_little_memory(tmp_path: Path) -> None:
    found = {case.name: taken(case, tmp_path / str(i)) for i, case in enumerate(CASES)}
    assert {name: wrong for name, wrong in found.items() if wrong} == {} and len(found) > 100


def test_the_schema_names_all_that_is_checked() -> None:
    """What a run may say of itself, and what it must; every event stands in one place, inside of the layers or not."""
    told = json.loads((DOCS / "trace.schema.json").read_text("utf-8"))["properties"]["about"]
    assert told["properties"].keys() == ABOUT.keys() and {*told["required"]} == {*NEEDED}
    assert {*EVENTS} - INSIDE - OUTSIDE == {*ENGINE_EVENTS} - {"cache_evict", *READ} and not INSIDE & OUTSIDE
