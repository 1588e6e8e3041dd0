"""What the frame promises of a lesson, tried on one: for the tests of lessons of others (docs/own-widget.md).

check("loudest")        an installed one, by its name
check(Path("loudest"))  one in a folder
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from microgpt.viz import views
from microgpt.viz.controls import Choice, figure_values
from microgpt.viz.figures import figure
from microgpt.viz.lesson import add, lesson_named
from microgpt.viz.page import Page
from microgpt.viz.rendering import render
from microgpt.viz.rendering.style import CASES
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import LANGUAGES, language


def check(lesson: str | Path) -> None:
    """Raises AssertionError for what does not hold, and UserError for what is no lesson or fails."""
    page = add(lesson) if isinstance(lesson, Path) else lesson_named(lesson)
    settings = Settings(page.model, page.prompt)
    view = views.view(page.widget, settings)
    assert figure_values(view), "a lesson has a choice, and it changes the figure"
    for lang in LANGUAGES:
        with language(lang):
            for alone in (True, False):
                html = render.render_baked(page, view, render.HERE, alone, "")
                for choice in view.choices:
                    has_buttons(html, choice)
    for choice in view.choices:
        for value in choice.values if choice.in_figure else ():
            ElementTree.fromstring(figure(page, settings, {choice.name: value}))
    ElementTree.fromstring(figure(page, settings, moves=True))
    answers_alike(page)


def has_buttons(html: str, choice: Choice) -> None:
    """A radio button for each value, the first one on show pressed, so that the page needs no script."""
    from html.parser import HTMLParser  # of the pages, none needs it

    found, pressed = list[str](), list[str]()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            has = {name: value or "" for name, value in attrs}
            if (tag, has.get("type"), has.get("name")) == ("input", "radio", choice.name):
                found.append(has.get("value", ""))
                pressed.extend([found[-1]] * ("checked" in has))

    Reader().feed(html)
    values = [str(value) for value in choice.values]
    assert found == values, f"“{choice.name}” has the values {values}, and its buttons have {found}"
    assert pressed == [choice.default], f"“{choice.name}” begins with {choice.default}, and {pressed} is pressed"
    assert len(values) <= CASES, f"“{choice.name}” has {len(values)} values; the style knows {CASES}"


def answers_alike(page: Page) -> None:
    """The same text gives the same picture, built and live; one that the model does not know gives a sentence."""
    fields = {"page": page.name, "model": page.model, "prompt": page.prompt}
    _, patches = dispatch(None, "run", fields)
    live = {patch.get("target"): patch.get("html") for patch in patches}
    built = render.widget(page.widget, views.view(page.widget, Settings(page.model, page.prompt)), page=page)
    assert live.get("#widget") == built, "the view must depend on its settings alone"
    _, patches = dispatch(None, "run", {**fields, "prompt": "\N{SNOWMAN}"})
    targets = {patch.get("target") for patch in patches}
    assert "#prompt-error" in targets and "#widget" not in targets, "a wrong text must give a sentence"
