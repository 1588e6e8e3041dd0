"""No template holds a figure: every number in the prose comes out of the trace or the closed forms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microgpt.viz.course import LESSONS, PAGES
from microgpt.viz.rendering.render import ROOT
from microgpt.viz.text.glossary import GLOSSARY

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
# names that hold a digit, and the width of a number format
NAMES = (
    r"GPT-2( 124M)?|SmolLM2-135M|SmolLM2|Llama-\d-\d+B|Llama-\d|Llama \d|Mistral-7B|DeepSeek-V\d|(16|32|64)-bit|FP\d+"
)


def words(source: str) -> str:
    """What of a template is text: no expressions, no tags."""
    bare = re.sub(r"\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", " ", source, flags=re.S)
    return re.sub(r"<[^>]*>|&#?\w+;", " ", bare)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: p.name)
def test_no_template_holds_a_literal_figure(path: Path) -> None:
    said = re.sub(NAMES, "", words(path.read_text("utf-8")))
    assert not re.findall(r"\S*\d\S*", said)


def test_the_words_around_the_pages_hold_no_figure() -> None:
    texts = [t for p in PAGES for t in (p.title, p.summary, p.try_, p.notice)] + [t.meaning for t in GLOSSARY.values()]
    assert not [t for t in texts if re.search(r"\d", re.sub(NAMES, "", t))]


def test_glossary_terms_are_linked_where_they_are_used_and_lead_to_lessons() -> None:
    names = {lesson.name for lesson in LESSONS}
    assert {term.page for term in GLOSSARY.values()} <= names
    linked = {slug for path in TEMPLATES for slug in re.findall(r"m\.term\(\s*\"([\w-]+)\"", path.read_text("utf-8"))}
    assert linked == set(GLOSSARY)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.name)
def test_every_lesson_links_its_words_and_asks(lesson: object) -> None:
    source = (ROOT / "templates" / "lessons" / lesson.widget / "prose.html").read_text("utf-8")  # type: ignore[attr-defined]
    assert "m.term(" in source
    assert "m.ask(" in source
