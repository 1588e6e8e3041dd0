"""Bake a lesson from a checkpoint: a page of the course for a large model, as plain HTML and CSS.

No weights travel, so nothing in it asks for Python. Beside the pages lies the trace of what they show. Writes into
the folder that it is given; build.py moves it into place.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from microgpt.errors import N_, UserError
from microgpt.excerpt import excerpt
from microgpt.trace import to_json
from microgpt.viz import style as styles
from microgpt.viz.big import BigPicture, big_view
from microgpt.viz.big_page import page_for
from microgpt.viz.choices import choose
from microgpt.viz.language import LANGUAGES, language
from microgpt.viz.notebook import lesson
from microgpt.viz.pages import LESSONS, Page
from microgpt.viz.policy import policy
from microgpt.viz.render import Site, render_baked
from microgpt.viz.views import compare, why_q
from microgpt.viz.whole import still, whole
from microgpt.weights import Model
from tools.bake import ASSETS, FORMS, write
from tools.own import ROOT

# What can be made from a checkpoint: widget -> its view, of the model and of the picture of its run.
WIDGETS: dict[str, Callable[[Model, BigPicture], Any]] = {
    "stepper": lambda model, picture: picture,
    "why_q": lambda model, picture: why_q.view_of(picture.trace, picture),
    "compare": lambda model, picture: compare.view_of(model, picture.trace),
}
FIRST = [0]  # the layer and the head that a page other than the stepper draws
TRACE = "trace.json"
BESIDE = ("host.js", "offline.js", "icon.svg")  # of the site: what a page without Python loads, besides its style
FILES = {*FORMS, TRACE, styles.STYLE, *BESIDE}


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
    page = lesson(widget, "")
    if page.widget not in WIDGETS:
        known = dict.fromkeys(one.name for one in LESSONS if one.widget in WIDGETS and one.widget != "stepper")
        raise UserError(
            N_("The widget “%(widget)s” cannot be made from a checkpoint; these can: %(known)s."),
            widget=widget, known=", ".join(["stepper", *known]),
        )  # fmt: skip
    if page.widget != "stepper" and (layers or heads):
        raise UserError(N_("--layers and --heads are for the stepper; leave them out."))
    if lang not in LANGUAGES:
        raise UserError(
            N_("There is no language “%(lang)s”; there is %(known)s."), lang=lang, known=", ".join(LANGUAGES)
        )
    say(f"{model.name}: running the text, with the cache and without")
    chosen = {name: value for name, value in (start or {}).items() if value is not None}
    if page.widget == "stepper":
        view = big_view(model, prompt, new, layers, heads)
        chosen = pressed(view, chosen)
    else:
        view = big_view(model, prompt, new, FIRST, FIRST)
    forms = rendered(model, prompt, view, chosen, lang, page)
    out.mkdir(parents=True)
    for name, html in forms.items():
        write(out / name, whole(html, read) if assets == "inline" else still(html, policy(python=False)))
    write(out / TRACE, to_json(excerpt(view.trace, view.layers, view.token_ids())))
    if assets != "inline":
        write(out / styles.STYLE, styles.style(big=True))
        for name in BESIDE:
            shutil.copyfile(ROOT / "site" / name, out / name)
    if page.widget == "stepper":
        opened = ", ".join(f"layer {one.layer} head {one.head}" for one in view.opened)
        say(f"open on the page: {opened}")


def rendered(
    model: Model, prompt: str, view: BigPicture, chosen: Mapping[str, Any], lang: str = "en", page: Page | None = None
) -> dict[str, str]:
    """Both forms by their names, with what is chosen at first; the stepper's where no page is named."""
    forms, page = {}, page or lesson("stepper", "")
    drawn = WIDGETS[page.widget](model, view)
    with language(lang):
        page = page_for(page, model, prompt, view)
        for name, alone in FORMS.items():
            forms[name] = choose(
                render_baked(page, drawn, Site(), alone, (ROOT / "LICENSE").read_text("utf-8")), chosen
            )
    return forms


def pressed(view: BigPicture, start: Mapping[str, Any]) -> dict[str, Any]:
    """`start` as the page's controls have it, where layer and head are one choice."""
    chosen = dict(start)
    layer, head = chosen.pop("layer", None), chosen.pop("head", None)
    if layer is None and head is None:
        return chosen
    fitting = [one for one in view.opened if layer in (None, one.layer) and head in (None, one.head)]
    if not fitting:
        raise UserError(
            N_("Layer %(layer)s, head %(head)s is not open on this page; open it with --layers and --heads."),
            layer="–" if layer is None else layer, head="–" if head is None else head,
        )  # fmt: skip
    return {**chosen, "head": fitting[0].value}


def read(name: str) -> str:
    return styles.style(big=True) if name == styles.STYLE else styles.read(name)
