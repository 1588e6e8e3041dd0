"""The line at the top of a lesson: what must be known before, and how many minutes it takes."""

import math
import re
from pathlib import Path

import pytest

from microgpt.course import LESSONS, ROAD, page
from microgpt.viz.page import Page
from microgpt.viz.rendering.minutes import CASE_MINUTES, QUESTION, WORDS_A_MINUTE
from microgpt.viz.text.language import LANGUAGES
from tests.support.pages import by_name, find, parse, prose_without, text, tree_of, view_of
from tests.support.sampled import sampled

NAMES = [lesson.name for lesson in LESSONS]


def all_before(name: str) -> set[str]:
    """What must have been read, step by step back."""
    return {found for one in page(name).needs for found in (one, *all_before(one))}


def test_a_lesson_needs_only_lessons_before_it_and_no_other_says_so_already() -> None:
    for at, lesson in enumerate(LESSONS):
        assert {*lesson.needs} <= {*NAMES[:at]} and bool(lesson.needs) == (at > 0), lesson.name
        assert not {*lesson.needs} & {found for other in lesson.needs for found in all_before(other)}, lesson.name


@pytest.mark.parametrize("lesson", sampled(LESSONS, LESSONS[::6], "the same line of other lessons"), ids=by_name)
def test_its_top_names_and_links_what_it_needs(lesson: Page) -> None:
    (crumb,) = find(tree_of(lesson), "crumb")
    core = [a for one in find(crumb, "core") for a in one.iter("a")]
    linked = [(a.get("href"), text(a)) for a in crumb.iter("a") if a not in core][1:]
    assert linked == [(f"{one.name}.html", one.label) for one in LESSONS if one.name in lesson.needs]
    assert ("needs no other lesson" in text(crumb)) == (not lesson.needs)


def test_the_top_of_a_core_lesson_leads_along_the_road(site: Path) -> None:
    pages = {name: (site / f"{name}.html").read_text("utf-8") for name in NAMES}
    tops = {name: re.findall(r'<p class="crumb">.*?</p>', page, re.S) for name, page in pages.items()}
    said = {name: find(parse(top), "core") for name, (top,) in tops.items()}
    assert [name for name in NAMES if said[name]] == [*ROAD]
    for at, name in enumerate(ROAD):
        (core,) = said[name]
        assert f"core {at + 1} of {len(ROAD)}" in text(core)
        assert [a.get("href") for a in core.iter("a")] == [f"{one}.html" for one in ROAD[at + 1 : at + 2]]


EACH = [(lesson, lang) for lesson in LESSONS for lang in LANGUAGES]


@pytest.mark.parametrize(("lesson", "lang"), sampled(EACH, EACH[::7], "counted in the same way"), ids=by_name)
def test_its_minutes_are_those_of_its_words_questions_and_steps(lesson: Page, lang: str) -> None:
    """Counted on the page, and not in what the page is made of."""
    prose, view = prose_without(lesson, "figure", "rests", "answers", lang=lang), view_of(lesson)
    words, asked = len(text(prose).split()), len(find(prose, "ask"))
    (said,) = re.findall(r"(\d+) minut", text(find(tree_of(lesson, lang), "crumb")[0]))
    assert int(said) == math.ceil(
        words / WORDS_A_MINUTE + QUESTION * asked + CASE_MINUTES * len(view.choices[0].values)
    )
    assert 3 <= int(said) <= 30
