"""Each question that a lesson should answer is answered on its page, outside of the questions that the page asks."""

import re

import pytest

from microgpt.course import LESSONS
from tests.support.pages import find, folded, prose_without, tree_of
from tests.viz.course.questions import QUESTIONS


def taught(name: str) -> str:
    """The prose of a page without what it asks itself."""
    return folded(prose_without(name, "ask", "answers", "rests"))


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_page_answers_its_questions_once_each(name: str) -> None:
    said = taught(name)
    assert [one for one in QUESTIONS[name] if len(re.findall(one[1], said)) != 1] == [], said


def test_each_lesson_has_eight_questions_or_more() -> None:
    assert {lesson.name for lesson in LESSONS} == {*QUESTIONS}
    for asked in QUESTIONS.values():
        assert len({question for question, _ in asked}) == len(asked) >= 8


def test_a_page_that_asks_does_not_answer_itself() -> None:
    assert "Check yourself" in taught("why-q") and "You must forget something" not in taught("why-q")
    assert find(tree_of("why-q"), "ask")
