"""What lessons ask: one right answer to each question, as computed here anew, and a reason for every option."""

import re
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import pytest

from microgpt.course import LESSONS
from microgpt.viz.page import Page
from microgpt.viz.text.answers import answers
from tests.support.pages import find, folded, text, tree_of, view_of
from tests.viz.course.answers import BUG, QUESTIONS


class Asked(NamedTuple):
    """A question as it stands on a page."""

    name: str
    question: str
    faces: list[str]
    right: str
    whys: list[str]  # one for each face


@cache
def asked(lesson: Page | str, lang: str = "en") -> list[Asked]:
    found = []
    for one in find(tree_of(lesson, lang), "ask"):
        (name,) = {e.get("name") or "" for e in one.iter("input")}
        (right,), (true,) = find(one, "right"), find(one, "why", "true")
        faces, whys = [text(e) for e in find(one, "face")], find(one, "why")
        assert faces.index(text(find(right, "face")[0])) == whys.index(true)  # the reason of the right one is its own
        said = [folded(e) for e in whys]
        found.append(Asked(name, text(next(one.iter("legend"))), faces, text(find(right, "face")[0]), said))
    return found


@pytest.mark.parametrize("lang", ["en", "es"])
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_every_option_has_a_face_and_a_reason_of_its_own(lesson: Page, lang: str) -> None:
    for one in asked(lesson, lang):
        assert len({*one.faces}) == len(one.faces) == len({*one.whys}) == len(one.whys) >= 2
        assert len(one.faces) <= 4  # site/css/6-lesson.css shows the reasons of so many
        for why in one.whys:
            assert len(why.split()) >= 4 and re.search(r"[.?]$", why), why


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_a_lesson_asks_three_questions_that_must_be_worked_out(lesson: Page) -> None:
    """Those of the table, each of which begins with what to do, and no two in the same way."""
    names = {one.name: one.question for one in asked(lesson)}
    worked_out = {name: kind for name, kind, _ in QUESTIONS[lesson.name]}
    assert len(worked_out) >= 3 and {*worked_out} <= {*names} and len(names) - len(worked_out) <= 1
    for name, kind in worked_out.items():
        begins = "Find the bug" if kind == BUG else kind.capitalize()
        assert names[name].startswith(begins), names[name]


def test_lessons_with_code_ask_for_a_bug() -> None:
    without = [name for name, asked in QUESTIONS.items() if BUG not in {kind for _, kind, _ in asked}]
    assert without == ["memory"]  # which has formulas and no code
    for name in {*QUESTIONS} - {*without}:
        parts = [e for e in tree_of(name).iter() if e.tag in ("pre", "fieldset")]
        before = [a for a, b in pairwise(parts) if any(e.get("name") == "ask-bug" for e in b.iter("input"))]
        assert [e.tag for e in before] == ["pre"]  # right above the question
        assert 2 <= len(text(before[0]).strip().splitlines()) <= 14


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_right_answers_are_those_that_come_out_here(name: str) -> None:
    on_page = {one.name: one.right for one in asked(name)}
    assert {ask: on_page[ask] for ask, *_ in QUESTIONS[name]} == {
        ask: right(view_of(name)) for ask, _, right in QUESTIONS[name]
    }


def test_answers_are_in_order_and_each_number_stands_once() -> None:
    assert answers(7, more=9, less=2) == {"less": 2, "right": 7, "more": 9}
    assert [*answers(7, more=9, less=2)] == ["less", "right", "more"]
    assert answers(7, same=7, one=3, other=3) == {"one": 3, "right": 7}


def test_the_sheet_of_answers_has_the_right_ones_and_their_reasons() -> None:
    for lesson in LESSONS:
        (sheet,) = find(tree_of(lesson), "answers")
        said = [[folded(e) for e in item.iter("p")] for item in sheet.iter("li")]
        assert said == [[one.question, one.right, one.whys[one.faces.index(one.right)]] for one in asked(lesson)]


def test_what_the_reasons_tell_of_bugs_was_measured() -> None:
    for name, words in (
        ("next-token", "append: the the the the"), ("old-rows", "11 of 16 rows"),
        ("training", "3.19 with such rows and 2.32 without"), ("prefill-and-decode", "off by up to 2.31"),
        ("with-and-without", "less than 1e-12, and those of each later step are off by 0.96"),
        ("fewer-heads", "off by up to 0.47"), ("most-read", "In 8 of 8 heads"), ("inside", "off by up to 4.96"),
        ("in-your-code", "6, 13, 21, 30, 40 rows"), ("pages", "10 rows would be written to 6 slots"),
        ("shared-prefixes", "would take over 6 rows"), ("shared-prefixes", "off by up to 2.18"),
        ("no-cache", "all 6 steps came out the same"),
    ):  # fmt: skip
        (bug,) = (one for one in asked(name) if one.name == "ask-bug")
        assert words in " ".join(bug.whys), name
