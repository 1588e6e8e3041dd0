"""Bake a lesson from a checkpoint: a page of the course for a large model, as plain HTML and CSS.

No weights travel, so nothing in it asks for Python. Beside the pages lies the trace of what they show. Writes into
the folder that it is given; build.py moves it into place.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from microgpt.trace import Trace, to_json
from microgpt.viz.controls import View
from microgpt.viz.large.from_checkpoint import choices_of, heads_for, page_for, view_of
from microgpt.viz.large.from_trace import drawable, picture_of_excerpt, picture_of_trace
from microgpt.viz.large.picture import BigPicture, picture_of_model
from microgpt.viz.lesson import lesson_named
from microgpt.viz.page import Page
from microgpt.viz.rendering.assets import STILL, STYLE, Assets, self_contained
from microgpt.viz.rendering.render import Site, render_baked
from microgpt.viz.rendering.style import own_style, read_site, style
from microgpt.viz.request import check_looks, drop_missing
from microgpt.viz.text.language import language
from microgpt.weights import Model
from tools.build_lesson import ASSETS, FORMS, write
from tools.output.sources import ROOT

Say = Callable[[str], None]
TRACE = "trace.json"
BESIDE = ("host.js", "offline.js", "icon.svg")  # of the site: what a page without Python loads, besides its style


class Look(NamedTuple):
    """What of a run is to be seen, and in which form."""

    layers: Sequence[int] = ()
    heads: Sequence[int] = ()
    start: Mapping[str, int | None] = MappingProxyType({})
    lang: str = "en"
    assets: str = ASSETS[0]


AT_FIRST = Look()


def build_checkpoint(
    model: Model,
    prompt: str,
    say: Say,
    out: Path,
    look: Look = AT_FIRST,
    widget: str = "stepper",
    new: int | None = None,
) -> None:
    """Write the lesson into the new folder `out`. Raises UserError for what the model or the page does not have."""
    page = lesson_named(widget)
    opened = heads_for(page, widget, look.layers, look.heads)
    check_looks(look.lang)
    say(f"{model.name}: running the text, with the cache and without")
    view = picture_of_model(model, prompt, new, *opened)
    if page.widget == "kv_cache":
        bake_stepper(page, view, say, out, look)
    else:
        finish(page, view_of(page, model, view), view, out, look)


def build_trace(part: Trace, say: Say, out: Path, look: Look = AT_FIRST) -> None:
    """The same from a trace or its excerpt, whichever engine has run it: the stepper, which needs no model."""
    check_looks(look.lang)
    view = picture_of_trace(part, look.layers, look.heads)
    with drawable():
        bake_stepper(lesson_named("stepper"), view, say, out, look)


def bake_stepper(page: Page, view: BigPicture, say: Say, out: Path, look: Look) -> None:
    """The picture out of the trace that lies beside the page, which has the rows of the open heads alone."""
    view = picture_of_excerpt(view.of_open_heads())
    finish(page, view, view, out, look)
    say("open on the page: " + ", ".join(f"layer {one.layer} head {one.head}" for one in view.open_heads))


def finish(page: Page, drawn: View, view: BigPicture, out: Path, look: Look) -> None:
    """The pages, their trace and, unless it is in them, what they load."""
    loads = self_contained(read_site) if look.assets == "inline" else STILL
    chosen = choices_of(page, view, drop_missing(look.start))
    forms = {name: in_form(page, drawn, view, chosen, look.lang, loads, alone) for name, alone in FORMS.items()}
    out.mkdir(parents=True)
    for name, html in forms.items():
        write(out / name, html)
    write(out / TRACE, to_json(view.excerpt()))
    if look.assets != "inline":
        write(out / STYLE, style())
        for name in BESIDE:
            shutil.copyfile(ROOT / "site" / name, out / name)


def in_form(
    page: Page, drawn: View, view: BigPicture, chosen: Mapping[str, Any], lang: str, assets: Assets, alone: bool
) -> str:
    """The page with its text, or its picture alone."""
    assets = assets.with_rules(own_style(page, big=True))
    with language(lang):
        return render_baked(
            page_for(page, view), drawn, Site(), alone, (ROOT / "LICENSE").read_text("utf-8"), chosen, assets
        )
