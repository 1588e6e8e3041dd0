"""Each question that a lesson should answer is answered on its page, outside of the questions that the page asks."""

from __future__ import annotations

import re
from functools import cache

import pytest

from microgpt.viz.course import LESSONS
from tests.support.pages import classes, find, folded, tree_of
from tests.viz.course.questions import QUESTIONS

ALL = [(name, question, said) for name, asked in QUESTIONS.items() for question, said in asked]


@cache
def taught(name: str) -> str:
    """The prose of a page without what it asks itself."""
    (prose,) = (e for e in tree_of(name).iter("section") if e.get("id") == "prose")
    for above in [*prose.iter()]:
        for one in [child for child in above if classes(child) & {"ask", "answers", "rests"}]:
            above.remove(one)
    return folded(prose)


@pytest.mark.parametrize(("name", "question", "said"), ALL, ids=[f"{name}: {question}" for name, question, _ in ALL])
def test_the_page_answers_the_question(name: str, question: str, said: str) -> None:
    assert len(re.findall(said, taught(name))) == 1, taught(name)


def test_each_lesson_has_eight_questions_or_more() -> None:
    assert {lesson.name for lesson in LESSONS} == {*QUESTIONS}
    for asked in QUESTIONS.values():
        assert len({question for question, _ in asked}) == len(asked) >= 8


def test_a_page_that_asks_does_not_answer_itself() -> None:
    assert "Check yourself" in taught("why-q") and "You must forget something" not in taught("why-q")
    assert find(tree_of("why-q"), "ask")
