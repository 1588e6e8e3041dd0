"""What lessons ask, on their pages and on the sheets: each answer comes out in another way too, as is said in
tests/support/questions.py, and what a learner should be able to answer is answered on the page."""

import math
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from numbers import Real
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from microgpt.apps.exercises.app import sheets
from microgpt.course import COURSE_PARTS, LESSONS, PAGES
from microgpt.course.many_at_once import questions as many_at_once
from microgpt.viz.page import Page
from microgpt.viz.text.answers import answers
from microgpt.viz.text.language import LANGUAGES
from microgpt.viz.text.tasks import Calc
from tests.support.pages import by_id, find, folded, prose_without, text, tree_of, view_of
from tests.support.questions import facts_of, module_of
from tests.support.sampled import sampled

SHEETS = [part.sheet for part in COURSE_PARTS]
BEGIN = ("Compute", "Predict", "Find the bug")
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
each_sheet = pytest.mark.parametrize("sheet", SHEETS)
EACH = [(lesson, lang) for lesson in LESSONS for lang in LANGUAGES]
BY_DAY = [*EACH[::2], *EACH[1::8]]
each_language = pytest.mark.parametrize("lang", LANGUAGES)


class Question(NamedTuple):
    """A question as it stands on a page."""

    name: str
    question: str
    faces: list[str]
    right: str
    whys: list[str]  # one for each face


@cache
def questions_of(lesson: Page, lang: str = "en") -> list[Question]:
    found = []
    for one in find(tree_of(lesson, lang), "ask"):
        (name,) = {e.get("name") or "" for e in one.iter("input")}
        (right,), (true,) = find(one, "right"), find(one, "why", "true")
        faces, whys = [text(e) for e in find(one, "face")], find(one, "why")
        assert faces.index(text(find(right, "face")[0])) == whys.index(true)  # the reason of the right one is its own
        said = [folded(e) for e in whys]
        found.append(Question(name, text(next(one.iter("legend"))), faces, text(find(right, "face")[0]), said))
    return found


def calcs(value: object) -> Iterator[Calc]:
    if isinstance(value, Calc):
        yield value
    elif isinstance(value, tuple | list | SimpleNamespace):
        for one in vars(value).values() if isinstance(value, SimpleNamespace) else value:
            yield from calcs(one)


# ---- on pages -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lesson", "lang"), sampled(EACH, BY_DAY, "in the other language"))
def test_every_option_has_a_face_and_a_reason_of_its_own(lesson: Page, lang: str) -> None:
    for one in questions_of(lesson, lang):
        assert len({*one.faces}) == len(one.faces) == len({*one.whys}) == len(one.whys) >= 2
        assert len(one.faces) <= 4  # site/css/6-lesson.css shows the reasons of so many
        for why in one.whys:
            assert len(why.split()) >= 4 and re.search(r"[.?]$", why), why


@each_lesson
def test_the_right_options_are_those_that_come_out_again(lesson: Page) -> None:
    """Three questions or more must be worked out, and say so; at most one is to think about."""
    on_page = {one.name: one.right for one in questions_of(lesson) if one.question.startswith(BEGIN)}
    anew = {name.replace("_", "-"): ask for name, ask in vars(module_of(lesson)).items() if name.startswith("ask_")}
    assert on_page == {name: ask(view_of(lesson)) for name, ask in anew.items()}
    assert len(on_page) >= 3 and len(questions_of(lesson)) - len(on_page) <= 1
    assert all(one.question.startswith(BEGIN[-1]) == (one.name == "ask-bug") for one in questions_of(lesson))
    whys = " ".join(why for one in questions_of(lesson) if one.name == "ask-bug" for why in one.whys)
    assert [words for words in getattr(module_of(lesson), "MEASURED", ()) if words not in whys] == []


@each_lesson
def test_a_lesson_with_code_below_its_picture_asks_for_a_bug(lesson: Page) -> None:
    """Right below a few lines."""
    parts = [e for e in by_id(lesson)["prose"].iter() if e.tag in ("pre", "fieldset")]
    before = [a for a, b in pairwise(parts) if any(e.get("name") == "ask-bug" for e in b.iter("input"))]
    assert [e.tag for e in before] == ["pre"] * any(e.tag == "pre" for e in parts)
    assert all(2 <= len(text(e).strip().splitlines()) <= 14 for e in before)


def test_answers_are_in_order_and_each_number_stands_once() -> None:
    assert answers(7, more=9, less=2) == {"less": 2, "right": 7, "more": 9}
    assert [*answers(7, more=9, less=2)] == ["less", "right", "more"]
    assert answers(7, same=7, one=3, other=3) == {"one": 3, "right": 7}


@each_lesson
def test_the_printed_answers_are_the_right_ones_with_their_reasons(lesson: Page) -> None:
    (sheet,) = find(tree_of(lesson), "answers")
    said = [[folded(e) for e in item.iter("p")] for item in sheet.iter("li")]
    assert said == [[one.question, one.right, one.whys[one.faces.index(one.right)]] for one in questions_of(lesson)]


@each_lesson
def test_a_page_answers_what_a_learner_should_be_able_to_answer(lesson: Page) -> None:
    """Eight questions or more, each once, outside of those that it asks itself."""
    said, n = folded(prose_without(lesson, "ask", "answers", "rests")), getattr(view_of(lesson), "n", "")
    learned = [line.partition("? ")[::2] for line in module_of(lesson).LEARNED.strip().splitlines()]
    assert len({question for question, _ in learned}) == len(learned) >= 8
    found = [(question, len(re.findall(words.replace("{n}", f"{n}"), said))) for question, words in learned]
    assert [one for one in found if one[1] != 1] == [], said
    assert "Check yourself" in said and questions_of(lesson)[0].question not in said


# ---- on sheets ------------------------------------------------------------------------------------


def test_each_part_has_a_sheet_which_its_last_lesson_and_the_front_page_lead_to() -> None:
    assert [one.name for one in PAGES if one.app == "exercises"] == SHEETS == list(sheets())
    front = [e.get("href") for e in tree_of("index").iter("a")]
    for part in COURSE_PARTS:
        assert front.count(f"{part.sheet}.html") == 1
        linked = [e.get("href") for e in find(tree_of(part.lessons[-1].name), "onward")[0].iter("a")]
        assert f"{part.sheet}.html" in linked
    assert not [e for e in tree_of("kv-cache-words").iter("a") if "exercises-" in e.get("href", "")]  # in its middle


def test_a_sheet_needs_every_lesson_of_its_part() -> None:
    for sheet in sheets().values():
        tasks = [one.task for one in sheet.exercises]
        assert min(6, 2 + len(sheet.part.folders)) <= len(tasks) == len({one.key for one in tasks})
        assert len(tasks) <= max(10, len(sheet.part.folders))
        assert [one.place for one in tasks] == sorted(one.place for one in tasks)
        assert {*sheet.part.lessons} <= {lesson for one in sheet.exercises for lesson in one.lessons}
        assert "bug" in {one.kind for one in tasks} and sheet.minutes <= 15 * max(10, len(sheet.part.folders))


@each_language
@each_sheet
def test_every_task_is_set_once_with_its_answer_and_room(sheet: str, lang: str) -> None:
    found, exercises = find(tree_of(sheet, lang), "task"), sheets()[sheet].exercises
    assert [one.get("id") for one in found] == [one.task.key for one in exercises]
    for one, exercise in zip(found, exercises, strict=True):
        assert len(text(find(one, "set")[0])) > 60 and len(text(find(one, "solved")[0])) > 60
        assert len(list(find(one, "room")[0])) == exercise.task.lines
        linked = [e.get("href") for e in find(one, "meta")[0].iter("a")]
        assert linked == [f"{lesson.name}.html" for lesson in exercise.lessons]
        asks, solves = (find(one, side)[0].findall("ol") for side in ("set", "solved"))
        assert [len(list(x)) for x in asks] == [len(list(x)) for x in solves]  # a line for each question


@each_sheet
def test_every_calculation_comes_to_what_it_says(sheet: str) -> None:
    found = [calc for one in sheets()[sheet].exercises for calc in calcs(one.numbers)]
    assert len(found) >= 10
    for calc in found:
        values = iter(calc.values)
        for said in calc.form.split("; "):
            sides = [side.format(*[next(values) for _ in range(side.count("{}"))]) for side in said.split(" = ")]
            signs = str.maketrans({"×": "*", "÷": "/", "−": "-"})
            sides = [re.sub(r"ln (\S+)", r"log(\1)", side).translate(signs) for side in sides]
            sides = [re.sub(r"e\^(\([^)]*\)|\S+)", r"exp(\1)", side) for side in sides]
            left, right = (eval(side, {"log": math.log, "exp": math.exp}) for side in (sides[0], sides[-1]))
            slack = 0.5 if isinstance(right, float) else 1  # what is whole may be rounded, or rounded down
            assert abs(left - right) < (slack * 10**-calc.digits + 1e-9 if slack < 1 else 1), calc


@each_lesson
def test_the_answers_to_its_tasks_come_out_again(lesson: Page) -> None:
    """What is to be written, or explained in words alone, has no numbers to compare."""
    mine = [one for sheet in sheets().values() for one in sheet.exercises if one.lessons[0] == lesson]
    tasks = {name: task for name, task in vars(module_of(lesson)).items() if name.startswith("task_") and mine}
    for one in mine:
        known, task = facts_of(one), tasks.pop(f"task_{one.task.key.replace('-', '_')}", None)
        assert task or one.task.kind in ("write", "explain"), one.task.key
        for name, value in (task and task(known) or {}).items():
            one_of = np.ravel(value)[0] if isinstance(value, list) else value
            exact = not isinstance(one_of, Real | np.ndarray)
            assert getattr(known, name) == (value if exact else pytest.approx(value, rel=1e-9, abs=1e-12)), name
    assert not tasks  # each is one of the lesson's


@pytest.mark.parametrize("writes", [(3, 1, 2, 2), (2, 2, 2, 2)])
def test_an_exercise_that_compares_has_a_difference_to_find(
    writes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With these the two ways come to the same, and no sheet is made."""
    monkeypatch.setattr(many_at_once, "WRITES", writes)
    with pytest.raises(ValueError, match="asks to compare"):
        many_at_once.turns()
