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
from microgpt.trace import EVENTS
from microgpt.viz.glossary import GLOSSARY
from microgpt.viz.heat import LEVELS
from microgpt.viz.pages import LESSONS, PAGES, Page
from microgpt.viz.phases import PHASES, code
from microgpt.viz.settings import Settings
from microgpt.viz.steps import PART_NAMES, facts
from microgpt.viz.text import number
from microgpt.weights import SHIPPED, shipped

__all__ = ["SHIPPED", "environment", "prose", "render", "render_page", "sentence", "widget"]

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
        DEFAULTS=Settings("", ""), EVENTS=EVENTS, GLOSSARY=GLOSSARY, LESSONS=LESSONS, LEVELS=LEVELS, PAGES=PAGES,
        PART_NAMES=PART_NAMES, PHASES=PHASES, SHIPPED=SHIPPED, code=code, facts=facts, lang=lang, number=number,
        policy=POLICY, shipped=shipped,
    )  # fmt: skip
    return env


def render(template: str, lang: str = "en", **context: Any) -> str:
    """The text of one template."""
    return environment(lang).get_template(template).render(context)


def render_page(page: Page, view: Any = None, lang: str = "en") -> str:
    """A whole page; a lesson needs the view of its widget."""
    if not page.widget:
        return render(f"pages/{page.name}.html", lang, page=page, view=view)
    at = LESSONS.index(page)
    return render(
        "pages/lesson.html", lang, page=page, view=view, live=False,
        before=LESSONS[at - 1] if at else None, after=LESSONS[at + 1] if at + 1 < len(LESSONS) else None,
    )  # fmt: skip


def widget(name: str, view: Any, lang: str = "en", page: Page | None = None) -> str:
    """The inside of #widget."""
    return render(f"widgets/{name}.html", lang, view=view, page=page)


def prose(name: str, view: Any, lang: str = "en", page: Page | None = None, live: bool = False) -> str:
    """The inside of #prose; `live` when it speaks of the reader's own run."""
    return render(f"lessons/{name}.html", lang, view=view, page=page, live=live)


def sentence(error: UserError, lang: str = "en") -> str:
    """A UserError in the reader's language."""
    text = catalogue(lang).gettext(error.message)
    return text % error.fields if error.fields else text
