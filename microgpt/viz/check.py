"""What the frame promises of a lesson, tried on one: for the tests of lessons of others (docs/own-widget.md).

check("loudest")        an installed one, by its name
check(Path("loudest"))  one in a folder
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from microgpt.viz import views
from microgpt.viz.controls import Choice, drawn
from microgpt.viz.course import Page
from microgpt.viz.figures import animated, figure
from microgpt.viz.lesson import add, lesson_named
from microgpt.viz.rendering import render
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import LANGUAGES, language


def check(lesson: str | Path) -> None:
    """Raises AssertionError for what does not hold, and UserError for what is no lesson."""
    page = add(lesson) if isinstance(lesson, Path) else lesson_named(lesson)
    view = views.view(page.widget, Settings(page.model, page.prompt))
    for lang in LANGUAGES:
        with language(lang):
            for alone in (True, False):
                html = render.render_baked(page, view, render.HERE, alone, "")
                for choice in view.choices:
                    has_buttons(html, choice)
    for value in view.choices[0].values:
        ElementTree.fromstring(figure(page, Settings(page.model, page.prompt), {view.choices[0].name: value}))
    ElementTree.fromstring(animated(page, Settings(page.model, page.prompt)))
    assert [*drawn(view)], "a choice must change the figure"
    answers_alike(page)


def has_buttons(html: str, choice: Choice) -> None:
    """A radio button for each value, so that the page needs no script."""
    found = html.count(f'type="radio" class="c-{choice.values[0]}" name="{choice.name}"') if choice.values else 0
    assert found == 1, f"the page must have one group of radio buttons for “{choice.name}”: m.cases makes it"
    buttons = html.count(f' name="{choice.name}" value="')
    assert buttons == len(choice.values), f"“{choice.name}” has {len(choice.values)} values and {buttons} buttons"


def answers_alike(page: Page) -> None:
    """The same text gives the same picture, built and live; one that the model does not know gives a sentence."""
    fields = {"page": page.name, "model": page.model, "prompt": page.prompt}
    _, patches = dispatch(None, "run", fields)
    live = {patch.get("target"): patch.get("html") for patch in patches}
    built = render.widget(page.widget, views.view(page.widget, Settings(page.model, page.prompt)), page=page)
    assert live["#widget"] == built, "the view must depend on its settings alone"
    _, patches = dispatch(None, "run", {**fields, "prompt": "\N{SNOWMAN}"})
    assert {patch.get("target") for patch in patches} == {"#prompt-error"}, "a wrong text must give a sentence"
