"""The page for teachers: a page of the course, what it shows at first, its size; and from that the code for a course.

A choice that the page does not have is said before it is pasted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl

from microgpt.apps.embed_builder import embed_codes
from microgpt.apps.embed_builder.embed_codes import HOSTS, Frame
from microgpt.course import LESSONS, page
from microgpt.errors import UserError
from microgpt.viz import views
from microgpt.viz.controls import FORMAT, THEME, TRANSPORT, Choice, Control, Field, differing, fields_of
from microgpt.viz.controls import View as Shown
from microgpt.viz.drawing.picture import TEMPERATURES
from microgpt.viz.page import Page
from microgpt.viz.patches import Patch, State, patch
from microgpt.viz.rendering import render
from microgpt.viz.request import START_CHOICES, check_looks, one_of, settings_from
from microgpt.viz.settings import SAMPLING, Settings
from microgpt.viz.text.language import language, translate

FIRST_PAGE = "kv-cache"
FRAME_SIZES = {"320x480": ("320", "480"), "500x300": ("500", "300"), "750x450": ("750", "450"), "full": ("100%", "700")}
USUAL = "750x450"
NAMED = ("model", "prompt", *START_CHOICES, "lock", "play", "theme")  # have a field of their own


class Chosen(NamedTuple):
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
            title = translate([self.page.title])[0]
        return Frame(
            embed_codes.address(self.site, *here),
            embed_codes.address(self.site, *here, alone=False),
            title,
            *FRAME_SIZES[self.size],
        )

    @property
    def codes(self) -> dict[str, str]:
        return embed_codes.codes(self.frame)


class View:
    def __init__(self, _: Settings) -> None:
        self.choices = (Choice("host", range(len(HOSTS))),)

    def choice(self, lang: str, site: str) -> Chosen:
        return Chosen(page(FIRST_PAGE), {}, USUAL, lang, site)


view = View


def embed(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The preview and every code for what the fields say."""
    choice = check_fields(fields)
    return state, [
        patch("#preview", render.render("apps/embed_builder/_preview.html", choice=choice)),
        *[
            patch(f"#code-{slug}", render.render("apps/embed_builder/_code.html", code=code))
            for slug, code in choice.codes.items()
        ],
    ]


def check_fields(fields: Mapping[str, str]) -> Chosen:
    size, lang = fields.get("embed_size", USUAL), fields.get("embed_lang", "en")
    one_of("size", size, FRAME_SIZES)
    check_looks(lang)
    shown = lesson(fields.get("embed_page", ""))
    asked = choices_of(fields)
    settings = settings_from(shown, {name: asked[name] for name in Settings._fields if name in asked})
    order = ["model", "prompt", *asked]
    lock = asked.pop("lock", "")
    known = controls_of(shown, views.view(shown.widget, settings))
    if "model" in asked:
        asked["prompt"] = settings.prompt  # of the model's own page, where none is given
    differs = differing(known, asked)
    if lock:
        differing(known, {"step": first_step(lock)})
        differs["lock"] = lock
    site = embed_codes.site_address(fields.get("address", ""))
    return Chosen(shown, {name: differs[name] for name in order if name in differs}, size, lang, site)


def choices_of(fields: Mapping[str, str]) -> dict[str, str]:
    """Name -> value as in an address: what is typed in fields of their own, then the other choices."""
    typed = {name: fields[name] for name in NAMED if fields.get(name)}
    for name, value in parse_qsl(fields.get("other", "").strip().lstrip("?"), keep_blank_values=True):
        if not name.startswith("ask-"):  # the questions under a lesson are not in its frame
            typed.setdefault(name, value)
    return typed


def lesson(name: str) -> Page:
    """A page that has a frame of its own."""
    if name not in [one.name for one in LESSONS]:
        raise UserError("There is no page “%(name)s”.", name=name[:40])
    return page(name)


AS_BUILT = Choice("temperature", TEMPERATURES, TEMPERATURES[0])  # of a page that has run nothing yet


def controls_of(shown: Page, view: Shown) -> tuple[Control, ...]:
    """All that can be set on the page in its frame."""
    form: tuple[Control, ...] = ()
    if shown.live in ("text", "steps"):
        form = Choice("model", shown.models, shown.model), Field("prompt", shown.prompt)
    sampling = SAMPLING[1:] if shown.live == "steps" else ()
    fields = [one if one.name != "temperature" else AS_BUILT for one in fields_of(view)]
    return *view.choices, *fields, *form, *sampling, FORMAT, THEME, *TRANSPORT


def first_step(text: str) -> str:
    """The first step of a range such as 2-5."""
    found = re.fullmatch("([0-9]{1,9})-([0-9]{1,9})", text)
    if not found or int(found[1]) > int(found[2]):
        raise UserError("The steps “%(text)s” are no range; give the first and the last, such as 2-5.", text=text[:40])
    return found[1]


HOOKS = {"embed": embed}
