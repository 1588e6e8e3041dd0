"""The attack itself: no case is lost, what is wrong is found, and a small share of each part holds."""

from pathlib import Path
from typing import Any

import pytest

from tests.attack.__main__ import PARTS, row
from tests.attack.answers import wrong_in
from tests.attack.guard import part_of
from tests.attack.part import Order, Seen, some
from tests.attack.table import BEGIN, END, Row, failures, table, write


@pytest.mark.slow("waits for a case that hangs")
def test_a_case_that_hangs_or_kills_its_process_is_its_own_failure_and_the_rest_goes_on(tmp_path: Path) -> None:
    done = row("broken", Order(0, tmp_path), 1.0, processes=1)
    wrong = {seen.name: seen.wrong for seen in done.wrong}
    assert len(done.seen) == 7 and set(wrong) == {"fails", "hangs", "dies", "fills memory", "breaks"}
    assert wrong["hangs"] == "nothing for 3 s" and wrong["dies"] == "the process died (7)"
    assert "MemoryError" in wrong["fills memory"] and "RuntimeError" in wrong["breaks"]
    said = failures([done], 3)
    assert "    python -m tests.attack broken --seed 3 --only 'fills memory'" in said


@pytest.mark.thorough("starts processes for hundreds of cases; by day a few of each below")
@pytest.mark.parametrize("name", ["models", "files", "dispatch"])
def test_a_small_share_of_each_part_holds(name: str, tmp_path: Path) -> None:
    done = row(name, Order(1, tmp_path), 0.002)
    assert len(done.seen) >= 20
    assert failures([done], 1) == []


@pytest.mark.parametrize("name", ["models", "files", "dispatch", "edits"])
def test_a_few_cases_hold_and_each_is_the_same_when_it_is_tried_again_alone(name: str, tmp_path: Path) -> None:
    order, part = Order(5, tmp_path), part_of(name)
    cases = part.cases(0.001, order)[:30]
    seen = list(part.attack(cases, order))
    assert [one.wrong for one in seen if one.wrong] == [] and [one.name for one in seen] == cases
    assert list(part.attack(cases[-1:], order)) == seen[-1:]


def test_files_made_to_harm_are_among_what_is_tried(tmp_path: Path) -> None:
    named = part_of("files").cases(1.0, Order(0, tmp_path))
    assert {name.split(":")[0] for name in named} == {"files", "tokenizers", "traces", "changed"}


@pytest.mark.parametrize(
    ("state", "patches", "says"),
    [
        (None, [{"target": "#a", "html": "<p>&lt;xss-1&gt;</p>", "how": "inner"}], ""),
        ([], [], "no answer"),
        ({}, [{"target": "#a"}], "no patch"),
        ({}, [{"ahead": "next"}, {"again": "train"}], ""),
        ({}, [{"ahead": 'next"] , [name="x'}], "no hook"),
        ({"n": float("nan")}, [], "not JSON"),
        ({"n": 2**60 + 1}, [], "another one after JavaScript"),
        (None, [{"target": "body", "html": "", "how": "inner"}], "leads nowhere"),
        (None, [{"target": "#a", "html": "<xss-1>", "how": "inner"}], "unescaped"),
        (None, [{"target": "#a", "html": "<p title='xss-1' onclick='f()'>", "how": "inner"}], "unescaped"),
        (None, [{"target": "#a", "html": '<a href="javascript:xss-1">', "how": "inner"}], "unescaped"),
        (None, [{"file": "../a.svg", "text": "<svg/>", "type": "image/svg+xml"}], "no name of a file"),
        (None, [{"file": "a.svg", "text": "<svg><script/></svg>", "type": "image/svg+xml"}], "holds"),
        (None, [{"file": "a.svg", "text": "<svg>", "type": "image/svg+xml"}], "is not XML"),
    ],
)
def test_what_is_wrong_with_an_answer_is_found(state: Any, patches: Any, says: str) -> None:
    found = wrong_in(state, patches)
    assert says in found and bool(found) == bool(says)


def test_some_is_an_even_choice() -> None:
    assert [some("abcdefgh", 0.5), some("abc", 9), some("abc", 0)] == [[*"aceg"], [*"abc"], ["a"]]


def test_the_table_takes_its_place_in_the_document(tmp_path: Path) -> None:
    document = tmp_path / "trust.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    rows = [Row("models", "all of it", [Seen("1"), Seen("2", "wrong")], "seen", 61.2)]
    write(rows, document)
    text = document.read_text("utf-8")
    assert table(rows) in text and "old" not in text
    assert text.startswith("before\n") and text.endswith("after\n")
    assert "| `models` | all of it | 2 | seen | **1** | 61 |" in text


def test_every_part_is_tried_by_make_attack() -> None:
    folder = Path(__file__).parent / "parts"
    parts = {path.stem for path in folder.glob("*.py") if "\nPART = Part(" in path.read_text("utf-8")}
    assert parts == {*PARTS, "broken"}
