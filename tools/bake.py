"""Bake a lesson of your own: one page of the course with your text, your model and what you want to be seen first.

Two forms of it: index.html with the prose, embed.html with the widget alone, for frames. Nothing in them leads to
another page. With `assets` "directory", style, bridge and runtime lie beside them; with "inline", all is in each file.
Writes into the folder that it is given; build.py moves it into place.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from microgpt.errors import N_, UserError
from microgpt.viz import views
from microgpt.viz.course import Page, prompt_for
from microgpt.viz.notebook import lesson
from microgpt.viz.rendering.choices import choose
from microgpt.viz.rendering.controls import controls
from microgpt.viz.rendering.render import Site, render_baked
from microgpt.viz.rendering.style import style
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import LANGUAGES, language
from microgpt.weights import shipped
from tools.output.own import notices, own_files, site_files
from tools.runtime.carry import runtime
from tools.runtime.fetch import default_cache, fetch_runtime
from tools.runtime.packing import pack_runtime
from tools.runtime.single import single

ASSETS = ("directory", "inline")
FORMS = {"index.html": False, "embed.html": True}  # file -> whether the widget stands alone in it


class Recipe(NamedTuple):
    """What is baked. `start` names what is chosen at first: step, layer, head, phase."""

    page: Page
    start: Mapping[str, int]
    lang: str
    assets: str


def recipe(widget: str, model: str, prompt: str, start: Mapping[str, int | None], lang: str, assets: str) -> Recipe:
    """Check what was asked for; what is left out ("" or None) is the page's own. Raises UserError for what is wrong."""
    if model:
        shipped(model)  # says which there are
    page = lesson(widget, model)
    model = model or page.model
    if model not in page.models:
        raise UserError(
            N_("The page “%(page)s” does not know the model “%(model)s”; it has %(models)s."),
            page=page.name, model=model, models=", ".join(page.models),
        )  # fmt: skip
    if lang not in LANGUAGES:
        raise UserError(
            N_("There is no language “%(lang)s”; there is %(known)s."), lang=lang, known=", ".join(LANGUAGES)
        )
    prompt = prompt or (page.prompt if model == page.model else prompt_for(model))
    chosen = {name: value for name, value in start.items() if value is not None}
    return Recipe(page._replace(model=model, prompt=prompt), chosen, lang, assets)


def bake(order: Recipe, say: Callable[[str], None], out: Path) -> None:
    """Write the lesson into the new folder `out`."""
    forms = rendered(order, Site())  # before all that takes time: it knows whether text and choices fit
    out.mkdir(parents=True)
    if order.assets == "inline":
        say("runtime: packing it into the page (the first time takes a while)")
        carried = runtime()
        for name, html in forms.items():
            write(out / name, single(html, carried))
            say(f"{name}: {(out / name).stat().st_size / 1e6:.1f} MB, everything in it")
        return
    kept = default_cache()
    say("runtime: packing it beside the page (the first time takes a while)")
    packed = pack_runtime(fetch_runtime(kept), out, own_files(), kept)
    for name, html in rendered(order, Site(packed)).items():
        write(out / name, html)
    write(out / "style.css", style())
    for name, path in site_files().items():
        if "/" not in name:  # the cards are for links that are shared
            shutil.copyfile(path, out / name)


def rendered(order: Recipe, site: Site) -> dict[str, str]:
    """Both forms by their names, as pages of a site, with what is chosen at first."""
    page, forms = order.page, {}
    view = views.view(page.widget, Settings(page.model, page.prompt))
    for name, alone in FORMS.items():
        with language(order.lang):
            html = render_baked(page, view, site, alone, notices())
        there = controls(html)
        # a model with one layer has no button for it: its first layer is on show all the same
        forms[name] = choose(html, {key: value for key, value in order.start.items() if value or key in there})
    return forms


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))  # not write_text: no platform's line endings
