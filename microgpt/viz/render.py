"""One Jinja2 environment; templates in, HTML text out. Writes no file and touches no browser.

The templates lie beside the package (`templates/` next to `microgpt/`), in the repository and in the
browser alike. All their text goes through gettext; without a catalogue it is English as written.
"""

from __future__ import annotations

import gettext
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from microgpt.errors import UserError
from microgpt.trace import EVENTS, Trace
from microgpt.viz.pages import PAGES, Page
from microgpt.viz.phases import PHASES, code
from microgpt.viz.steps import LEVELS, PART_NAMES, Picture, facts
from microgpt.viz.text import number
from microgpt.weights import SHIPPED, shipped

# No inline script or style, no eval but WebAssembly's, nothing from elsewhere; one policy creates HTML.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; style-src 'self'; "
    "img-src 'self' data:; worker-src blob:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types microgpt"
)
ROOT = Path(__file__).resolve().parents[2]


@cache
def catalogue(lang: str) -> gettext.NullTranslations:
    """The messages of one language; what it lacks stays English."""
    return gettext.translation("messages", ROOT / "locale", [lang], fallback=True)


@cache
def environment(lang: str = "en") -> jinja2.Environment:
    """The environment for one language; autoescape on, a missing name is an error."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
        auto_reload=False,
    )
    env.policies["ext.i18n.trimmed"] = True
    env.install_gettext_translations(catalogue(lang), newstyle=True)  # type: ignore[attr-defined]
    env.globals.update(
        EVENTS=EVENTS, LEVELS=LEVELS, PART_NAMES=PART_NAMES, PHASES=PHASES, code=code, facts=facts, lang=lang,
        models=SHIPPED, number=number, pages=PAGES, policy=POLICY, shipped=shipped,
    )  # fmt: skip
    return env


def render(template: str, lang: str = "en", **context: Any) -> str:
    """The text of one template."""
    return environment(lang).get_template(template).render(context)


def render_page(page: Page, trace: Trace | None = None, lang: str = "en") -> str:
    """A whole page; one with a widget needs its trace."""
    return render(page.template, lang, page=page, picture=Picture(trace) if trace else None)


def stepper(picture: Picture, lang: str = "en") -> str:
    """The whole stepper."""
    return render("widgets/stepper.html", lang, picture=picture)


def sentence(error: UserError, lang: str = "en") -> str:
    """A UserError in the reader's language."""
    text = catalogue(lang).gettext(error.message)
    return text % error.fields if error.fields else text
