"""The page for teachers: a page of the course, what it shows at first, its size; and from that the code for a course.

What can be chosen is read from the page itself, so a choice that it does not have is said before it is pasted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl

from microgpt.errors import N_, UserError
from microgpt.viz import views
from microgpt.viz.apps import embed_codes
from microgpt.viz.apps.embed_codes import HOSTS, Code, Frame, Host
from microgpt.viz.course import LESSONS, Page, page, prompt_for
from microgpt.viz.patches import Patch, State, patch
from microgpt.viz.rendering import render
from microgpt.viz.rendering.controls import differing
from microgpt.viz.settings import Settings, parse
from microgpt.viz.text.language import LANGUAGES, language, translated

FIRST = "kv-cache"
SIZES = {"320x480": ("320", "480"), "500x300": ("500", "300"), "750x450": ("750", "450"), "full": ("100%", "700")}
USUAL = "750x450"
RUN = ("model", "prompt", "temperature", "top_k", "seed")
NAMED = ("model", "prompt", "step", "layer", "head", "phase", "lock", "play", "theme")  # have a field of their own


class Choice(NamedTuple):
    """What was chosen: enough for the preview and for all codes."""

    page: Page
    chosen: dict[str, str]  # only what differs from the page as it is
    size: str = USUAL
    lang: str = "en"
    site: str = ""

    @property
    def src(self) -> str:
        """The page alone, seen from the root of the site."""
        return embed_codes.address("", self.page.name, self.chosen, self.lang)

    @property
    def frame(self) -> Frame:
        here = self.page.name, self.chosen, self.lang
        with language(self.lang):
            title = translated([self.page.title])[0]
        return Frame(
            embed_codes.address(self.site, *here), embed_codes.address(self.site, *here, alone=False), title,
            *SIZES[self.size],
        )  # fmt: skip

    @property
    def codes(self) -> list[Code]:
        return embed_codes.codes(self.frame)


class View(NamedTuple):
    """The page as it is built."""

    first: str
    hosts: tuple[Host, ...]
    sizes: list[str]
    usual: str

    def choice(self, lang: str, site: str) -> Choice:
        return Choice(page(self.first), {}, self.usual, lang, site)


def view(_: Settings) -> View:
    return View(FIRST, HOSTS, list(SIZES), USUAL)


def embed(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The preview and every code for what the fields say."""
    choice = chosen(fields)
    return state, [
        patch("#preview", render.render("apps/builder/_preview.html", choice=choice)),
        *[
            patch(f"#code-{one.slug}", render.render("apps/builder/_code.html", code=one.code))
            for one in choice.codes
        ],
    ]  # fmt: skip


def chosen(fields: Mapping[str, str]) -> Choice:
    """The fields of the form, checked."""
    size, lang = fields.get("embed_size", USUAL), fields.get("embed_lang", "en")
    for name, value, known in (("size", size, SIZES), ("language", lang, LANGUAGES)):
        if value not in known:
            raise UserError(
                N_("%(name)s is “%(value)s”; give one of %(known)s."),
                name=name, value=value[:40], known=", ".join(known),
            )  # fmt: skip
    shown = lesson(fields.get("embed_page", ""))
    asked = asked_by(fields)
    settings = settings_for(shown, asked)
    order = ["model", "prompt", *asked]
    lock = asked.pop("lock", "")
    html = render.render_embed(shown, views.view(shown.widget, settings))
    if "model" in asked:
        asked["prompt"] = settings.prompt  # of the model's own page, where none is given
    differs = differing(html, asked)
    if lock:
        differing(html, {"step": locked(lock)})
        differs["lock"] = lock
    site = embed_codes.site_address(fields.get("address", ""))
    return Choice(shown, {name: differs[name] for name in order if name in differs}, size, lang, site)


def asked_by(fields: Mapping[str, str]) -> dict[str, str]:
    """Name -> value as in an address: what is typed in fields of their own, then the other choices."""
    typed = {name: fields[name] for name in NAMED if fields.get(name)}
    for name, value in parse_qsl(fields.get("other", "").strip().lstrip("?"), keep_blank_values=True):
        if not name.startswith("ask-"):  # the questions under a lesson are not in its frame
            typed.setdefault(name, value)
    return typed


def lesson(name: str) -> Page:
    if name not in [one.name for one in LESSONS]:
        raise UserError(N_("There is no page “%(name)s”."), name=name[:40])
    return page(name)


def settings_for(shown: Page, asked: Mapping[str, str]) -> Settings:
    """The run behind the page: its own, but for what is asked."""
    model = asked.get("model", shown.model)
    if model not in shown.models:
        raise UserError(
            N_("This page does not know the model “%(model)s”; it has %(models)s."),
            model=model[:40], models=", ".join(shown.models),
        )  # fmt: skip
    prompt = shown.prompt if model == shown.model else prompt_for(model)
    return parse({"model": model, "prompt": prompt} | {name: asked[name] for name in RUN if name in asked})


def locked(text: str) -> str:
    """The first step of a range such as 2-5."""
    found = re.fullmatch("([0-9]{1,9})-([0-9]{1,9})", text)
    if not found or int(found[1]) > int(found[2]):
        raise UserError(
            N_("The steps “%(text)s” are no range; give the first and the last, such as 2-5."), text=text[:40]
        )
    return found[1]


HOOKS = {"embed": embed}
