"""Bake a lesson from a checkpoint: a page of the course for a large model, as plain HTML and CSS.

No weights travel, so nothing in it asks for Python. Beside the pages lies the trace of what they show. Writes into
the folder that it is given; build.py moves it into place.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from microgpt.trace import Trace, to_json
from microgpt.viz.controls import View
from microgpt.viz.large.excerpt import excerpt, of_heads
from microgpt.viz.large.from_checkpoint import check_widget, drawn_by, page_for, picture_for, pressed
from microgpt.viz.large.from_trace import drawable, picture_from, picture_of
from microgpt.viz.large.picture import BigPicture
from microgpt.viz.lesson import lesson_named
from microgpt.viz.page import Page
from microgpt.viz.rendering.assets import STILL, STYLE, Assets, self_contained
from microgpt.viz.rendering.render import Site, render_baked
from microgpt.viz.rendering.style import own_style, read, style
from microgpt.viz.request import check_looks, given
from microgpt.viz.text.language import language
from microgpt.weights import Model
from tools.bake import ASSETS, FORMS, write
from tools.output.sources import ROOT

TRACE = "trace.json"
BESIDE = ("host.js", "offline.js", "icon.svg")  # of the site: what a page without Python loads, besides its style


def bake_checkpoint(
    model: Model,
    say: Callable[[str], None],
    out: Path,
    prompt: str,
    *,
    widget: str = "stepper",
    new: int | None = None,
    layers: Sequence[int] = (),
    heads: Sequence[int] = (),
    start: Mapping[str, int | None] | None = None,
    lang: str = "en",
    assets: str = ASSETS[0],
) -> None:
    """Write the lesson into the new folder `out`. Raises UserError for what the model or the page does not have."""
    page = lesson_named(widget)
    check_widget(page, widget, [*layers, *heads])
    check_looks(lang)
    say(f"{model.name}: running the text, with the cache and without")
    view = picture_for(page, model, prompt, new, layers, heads)
    part = excerpt(view.trace, view.layers, view.token_ids())
    if page.widget == "kv_cache":
        view = shown_alone(part, view)
        part = view.trace
    finish(page, drawn_by(page, model, view), view, part, out, start, lang, assets)
    if page.widget == "kv_cache":
        say(opened_on(view))


def bake_trace(
    part: Trace,
    say: Callable[[str], None],
    out: Path,
    *,
    layers: Sequence[int] = (),
    heads: Sequence[int] = (),
    start: Mapping[str, int | None] | None = None,
    lang: str = "en",
    assets: str = ASSETS[0],
) -> None:
    """The same from a trace or its excerpt, whichever engine has run it: the stepper, which needs no model."""
    check_looks(lang)
    view = picture_of(part, layers, heads)
    with drawable():
        alone = shown_alone(view.trace, view)
        finish(lesson_named("stepper"), alone, alone, alone.trace, out, start, lang, assets)
    say(opened_on(view))


def shown_alone(part: Trace, view: BigPicture) -> BigPicture:
    """The same picture out of the trace that lies beside the page, which has the rows of the open heads alone."""
    return picture_from(of_heads(part, [(one.layer, one.head, one.rank) for one in view.heads]))


def opened_on(view: BigPicture) -> str:
    return "open on the page: " + ", ".join(f"layer {one.layer} head {one.head}" for one in view.opened)


def finish(
    page: Page, drawn: View, view: BigPicture, part: Trace, out: Path, start: Mapping[str, int | None] | None,
    lang: str, assets: str,
) -> None:  # fmt: skip
    """The pages, their trace and, unless it is in them, what they load."""
    loads = self_contained(read) if assets == "inline" else STILL
    forms = in_both_forms(page, drawn, view, pressed(page, view, given(start or {})), lang, loads)
    out.mkdir(parents=True)
    for name, html in forms.items():
        write(out / name, html)
    write(out / TRACE, to_json(part))
    if assets != "inline":
        write(out / STYLE, style())
        for name in BESIDE:
            shutil.copyfile(ROOT / "site" / name, out / name)


def rendered(
    model: Model,
    prompt: str,
    view: BigPicture,
    chosen: Mapping[str, Any],
    lang: str = "en",
    page: Page | None = None,
    assets: Assets = STILL,
) -> dict[str, str]:
    """Both forms by their names, with what is chosen at first; the stepper's where no page is named."""
    page = page or lesson_named("stepper")
    return in_both_forms(page, drawn_by(page, model, view), view, chosen, lang, assets)


def in_both_forms(
    page: Page, drawn: View, view: BigPicture, chosen: Mapping[str, Any], lang: str, assets: Assets
) -> dict[str, str]:
    forms, notes = {}, (ROOT / "LICENSE").read_text("utf-8")
    assets = assets.with_rules(own_style(page, big=True))
    with language(lang):
        page = page_for(page, view)
        for name, alone in FORMS.items():
            forms[name] = render_baked(page, drawn, Site(), alone, notes, chosen, assets)
    return forms
