"""What a live page does: dispatch(state, hook, fields) -> (state, patches).

`state` is plain JSON that the caller keeps and hands back; `fields` are the named controls of the page, of which
`page` says which page it is; `files` are what was chosen on it; a patch says which element gets which HTML. The same
input always gives the same answer, so all behaviour is tested in CPython. Knows no browser, and no widget: views know
those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from microgpt.errors import UserError
from microgpt.viz import figures, views
from microgpt.viz.lesson import page_named
from microgpt.viz.local_files import Files
from microgpt.viz.patches import Patch, State, optional, patch
from microgpt.viz.rendering import render
from microgpt.viz.request import settings_for, settings_from
from microgpt.viz.settings import settings_of
from microgpt.viz.text.language import language


def dispatch(
    state: State | None, hook: str, fields: Mapping[str, str], files: Files | None = None
) -> tuple[State | None, list[Patch]]:
    """Answer one event of the page. What the reader got wrong is said in a sentence; the picture stays.

    A field that was not sent, or is no text, is an empty one.
    """
    fields = defaultdict(str, {name: text for name, text in fields.items() if isinstance(text, str)})
    with language(fields.get("lang", "en")), render.by_itself(fields.get("course") == "none"):
        stopped: list[Patch] = []
        try:
            shown = page_named(fields["page"])
            stopped = getattr(views.module(shown.view_name), "STOPPED", [])
            hooks = hooks_of(fields, files)
            if hook not in hooks:
                raise UserError("This page has no “%(hook)s”. Reload it, and try again.", hook=hook[:40])
            state, patches = hooks[hook](state, fields)
            return state, [*patches, optional(patch("#prompt-error", ""))]
        except UserError as error:
            return state, [apology(error), *stopped]


def apology(error: UserError) -> Patch:
    """What went wrong, as a sentence beside the reader's text."""
    return patch("#prompt-error", render.render("live/sentence.html", text=render.sentence(error)))


def hooks_of(fields: Mapping[str, str], files: Files | None = None) -> dict[str, views.Hook]:
    """What can be asked of the page that the fields name."""
    shown = page_named(fields["page"])
    own: dict[str, views.Hook] = {"run": run, "model": change_model, "figure": save_figure} if shown.widget else {}
    return own | views.hooks(shown.view_name, files or {})


def run(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The widget and its prose for the reader's own text."""
    shown = page_named(fields["page"])
    settings = settings_from(shown, {"model": "", "prompt": "", **fields})
    view = views.view(shown.widget, settings)
    return {**(state or {}), "settings": settings._asdict()}, [
        patch("#widget", render.widget(shown.widget, view, page=shown)),
        optional(patch("#prose", render.prose(shown.widget, view, page=shown, live=True))),  # not in a frame,
        *([optional(patch("#figures", render.figures(shown, view)))] if shown.figures else []),  # but there alone
    ]


def change_model(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """Another model, with the prompt of its own page."""
    prompt = settings_for(page_named(fields["page"]), fields["model"]).prompt
    shown = defaultdict(str, {**fields, "prompt": prompt, "layer": "0", "head": "0"})
    state, patches = hooks_of(fields)["run"](None, shown)
    return state, [*patches, patch("#prompt", render.render("live/prompt.html", prompt=prompt), "outer")]


def save_figure(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """What the page shows as a picture to save; `format` is one of FORMAT."""
    return state, [figures.figure_file(fields, fields.get("format", "svg"), settings_of(state))]
