"""Runs a drawing: a template whose macros put pieces on a sheet. What it says in words is text, not HTML.

In it stand `p`, the sheet; `m`, the tokens and letters of its sentences; the places and colours of drawing.kit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import jinja2
from markupsafe import Markup

from microgpt.viz.controls import View, figure_values
from microgpt.viz.drawing.kit import paint, places, words
from microgpt.viz.drawing.kit.pieces import Sheet
from microgpt.viz.drawing.kit.sketch import Sketch, sketch
from microgpt.viz.lesson import module_of
from microgpt.viz.page import Page
from microgpt.viz.rendering.render import environment
from microgpt.viz.text import language
from microgpt.viz.text.language import LANG

MARKS = {"<b>": words.BOLD, "</b>": words.END}  # of a translated sentence


@jinja2.pass_context
def gettext(context: jinja2.runtime.Context, message: str, /, **values: object) -> str:
    """A message with its values, its bold words marked."""
    return sentence(context, language.catalogue(LANG.get()).gettext(message), values)


@jinja2.pass_context
def ngettext(context: jinja2.runtime.Context, one: str, several: str, num: int, /, **values: object) -> str:
    return sentence(context, language.catalogue(LANG.get()).ngettext(one, several, num), {"num": num, **values})


def sentence(context: jinja2.runtime.Context, message: str, values: dict[str, object]) -> str:
    for tag, mark in MARKS.items():
        message = message.replace(tag, mark)
    text = message % values
    return Markup(text) if context.eval_ctx.autoescape else text  # in what pages say too, there is nothing to escape


TOOLS: dict[str, Any] = {
    **{
        name: getattr(places, name)
        for name in ("boxes", "cells", "chips", "full_cells", "grid", "length", "pile", "shade", "standing")
    },
    **{name: getattr(words, name) for name in ("fit", "lines", "roomy")},
    "L": places.LEFT,
    "R": places.RIGHT,
    "RAMP": paint.RAMP,
    "Box": places.Box,
    "m": SimpleNamespace(token=words.token, bold=words.bold, **{one: partial(words.bold, one) for one in "qkv"}),
    "gettext": gettext,
    "ngettext": ngettext,
}


def draw_figure(names: Sequence[str], macro: str, *arguments: object, **context: object) -> tuple[Sheet, Any]:
    """What a macro draws, and what its template says beside it: the first of `names` that has that macro."""
    for at in range(len(names)):
        sheet = Sheet()
        template = environment(LANG.get()).select_template(list(names[at:]))
        made: Any = template.make_module({**TOOLS, **context, "p": sheet})
        if hasattr(made, macro):
            getattr(made, macro)(*arguments)
            return sheet, made
    raise LookupError(f"no {macro} in {', '.join(names)}")


def lesson(page: Page, view: View, at: Mapping[str, object], macro: str, *arguments: object, **context: object) -> Any:
    """The same of a lesson, in the case that `at` chooses: its own drawing, or that of the table on show."""
    names = f"course/{page.widget}/figure.svg", "figures/table.svg"
    context |= {"page": page, "view": view, "lesson": module_of(page.widget), "at": at, "i": next(iter(at.values()))}
    return draw_figure(names, macro, *arguments, **context)


def thumb(page: Page, view: View) -> Sketch:
    """The small picture of a lesson, as it is at first."""
    return sketch(lesson(page, view, figure_values(view), "thumb", moving=False, short=True)[0].pieces)
