"""One Jinja2 environment; templates in, HTML text out. Writes no file and touches no browser.

The templates lie beside the package (`templates/` next to `microgpt/`) in the repository and in the
browser, and inside it where it is installed. All their text goes through gettext; without a catalogue it
is English as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from microgpt.config import Config, n_params
from microgpt.cost import kv_bytes
from microgpt.course import LESSONS, PAGES, ROAD, part_of
from microgpt.course import page as page_named
from microgpt.errors import UserError
from microgpt.trace import EVENTS
from microgpt.viz.controls import FORMAT, THEME, View, on_show
from microgpt.viz.drawing.counters import PART_NAMES
from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.drawing.phases import PARTS, PHASES, code
from microgpt.viz.lesson import ADDED, ON_ADD, find_added, module_of
from microgpt.viz.page import Page
from microgpt.viz.rendering.assets import BESIDE, BRIDGE, MODULE, SCRIPTS, STYLE, Assets
from microgpt.viz.rendering.minutes import minutes
from microgpt.viz.settings import SAMPLING
from microgpt.viz.text import place
from microgpt.viz.text.formats import FILTERS, upper_bound
from microgpt.viz.text.glossary import GLOSSARY, initials, sort_terms
from microgpt.viz.text.language import LANG, LANGUAGES, catalogue, folder, say, translate
from microgpt.viz.text.sources import SOURCES, WORK
from microgpt.weights import SHIPPED, shipped


class Site(NamedTuple):
    """What pages must know of the site that they belong to."""

    runtime: str = "runtime"  # the folder of the Python that runs in them
    address: str = ""  # where the site will be, if that is known: https://example.org/course/
    editor: str = ""  # the editor's script, if it has one


HERE = Site()
COURSE = ContextVar("COURSE", default=True)  # whether there are other pages to lead to
# of templates: the frame's, and those beside what they show
TEMPLATE_FOLDERS = (place.ROOT / "templates", place.PACKAGE)
BESIDE_IT = ("course/", "apps/")  # how the names of these begin
COMPILED = "microgpt_templates"


def key(template: str) -> str:
    """The module that a template becomes when a site is built."""
    return re.sub(r"\W", "_", template)


class Compiled(jinja2.BaseLoader):
    """Templates that are there as modules: in a browser alone, see tools/output/templates.py."""

    has_source_access = False

    def load(
        self, environment: jinja2.Environment, name: str, globals: MutableMapping[str, Any] | None = None
    ) -> jinja2.Template:
        try:
            module = import_module(f"{COMPILED}.{key(name)}")
        except ImportError:
            raise jinja2.TemplateNotFound(name) from None
        return environment.template_class.from_module_dict(environment, vars(module), globals or {})


class Sources(jinja2.FileSystemLoader):
    """Templates from their files, each compiled once for all languages."""

    def load(
        self, environment: jinja2.Environment, name: str, globals: MutableMapping[str, Any] | None = None
    ) -> jinja2.Template:
        text = self.get_source(environment, name)[0]
        return environment.template_class.from_code(environment, compile_template(name, text), globals or {})


def where(name: str) -> Path:
    """The file of a template of ours."""
    return TEMPLATE_FOLDERS[name.startswith(BESIDE_IT)] / name


@cache
def compile_template(name: str, text: str) -> CodeType:
    return compile(as_python(name, text), where(name), "exec")


@cache
def as_python(name: str, text: str) -> str:
    """A template as Python, the same for all languages: what differs between them is computed when it runs."""
    return environment().overlay(optimized=False).compile(text, name, str(where(name)), raw=True, defer_init=True)


@cache
def environment(lang: str = "en") -> jinja2.Environment:
    """The environment for one language; what a page says is escaped, what a drawing says is text; a missing name is an
    error."""
    env = jinja2.Environment(
        loader=jinja2.ChoiceLoader([Compiled(), Sources(TEMPLATE_FOLDERS), jinja2.FunctionLoader(of_others)]),
        autoescape=lambda name: not str(name).endswith(".svg"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
        auto_reload=False,
    )
    env.filters |= {**FILTERS, "bound": on_one_line, "localise": localise, "minutes": minutes, "sentence": sentence}
    env.policies["ext.i18n.trimmed"] = True
    env.install_gettext_translations(catalogue(lang), newstyle=True)  # type: ignore[attr-defined]
    env.globals.update(
        ADDED=ADDED, FORMAT=FORMAT, SAMPLING=SAMPLING, THEME=THEME, EVENTS=EVENTS, GLOSSARY=GLOSSARY,
        LANGUAGES=LANGUAGES, LESSONS=LESSONS, LEVELS=LEVELS, PAGES=PAGES, PART_NAMES=PART_NAMES,
        PARTS=PARTS, PHASES=PHASES, BRIDGE=BRIDGE, MODULE=MODULE, SCRIPTS=SCRIPTS, SOURCES=SOURCES, STYLE=STYLE,
        WORK=WORK, SHIPPED=SHIPPED, code=code, models=models, lang=lang, folder=folder,
        ROAD=[page_named(name) for name in ROAD], glossary=sort_terms, initials=initials, translate=translate,
        course=True, home="", up="../" if folder(lang) else "",
    )  # fmt: skip
    return env


ON_ADD.append(environment.cache_clear)


@jinja2.pass_context
def localise(context: jinja2.runtime.Context, text: str) -> str:
    """A text that is not written in a template, in the language of the page; of a lesson of others, as it is."""
    page = context.get("page")
    return text if isinstance(page, Page) and page.widget in ADDED else translate([text])[0]


@jinja2.pass_context
def on_one_line(context: jinja2.runtime.Context, value: float) -> str:
    """A bound, which no line ends within: there is a hyphen in 1e-12. A figure breaks its lines itself."""
    text = upper_bound(value)
    return text if str(context.name).endswith(".svg") else Markup(f'<span class="bound">{text}</span>')


def of_others(name: str) -> tuple[str, str, None] | None:
    """A template of a lesson that is not ours, course/<widget>/<file>, and where it lies, for errors."""
    kind, _, rest = name.partition("/")
    widget, _, file = rest.partition("/")
    found = find_added(widget) if kind == "course" and file else None
    text = found.template(file) if found else None
    return None if found is None or text is None else (text, str(found.folder / file), None)


@cache
def models() -> list[tuple[str, Config, int, int]]:
    """Each of our models: its name, its shape, how many parameters it has, and how many bytes a token takes in its
    cache, in 16-bit numbers."""
    shapes = [(name, shipped(name).config) for name in SHIPPED]
    return [(name, config, n_params(config), kv_bytes(config, 1, 2)) for name, config in shapes]


def render(template: str, **context: Any) -> str:
    """The text of one template, in the language that is set; `lesson` is the module that it belongs to."""
    page = context.get("page")
    if shown := page.view_name if page else template.partition("/")[2].rpartition("/")[0]:
        context["lesson"] = module_of(shown)
    return environment(LANG.get()).get_template(template).render({"course": COURSE.get(), **context})


@contextmanager
def by_itself(alone: bool = True) -> Iterator[None]:
    """What is rendered within belongs to no course: nothing leads to another page."""
    token = COURSE.set(not alone)
    try:
        yield
    finally:
        COURSE.reset(token)


def render_page(page: Page, view: View, site: Site = HERE, assets: Assets = BESIDE) -> str:
    """A whole page."""
    around = dict(
        page=page, view=view, at=on_show(view), live=False, alone=False, site=site, assets=assets,
        path=f"{page.name}.html", policy=assets.policy(site.address, page.frames),
    )  # fmt: skip
    if not page.widget:
        return render(f"apps/{page.app}/page.html" if page.app else f"pages/{page.name}.html", **around)
    at = [one.name for one in LESSONS].index(page.name)
    before, after = LESSONS[at - 1] if at else None, LESSONS[at + 1] if at + 1 < len(LESSONS) else None
    part = part_of(page)
    sheet = None if after in part.lessons else page_named(part.sheet)  # the exercises, after the last lesson of a part
    return render("pages/lesson.html", **around, before=before, after=after, sheet=sheet)


def render_embed(page: Page, view: View, site: Site = HERE, assets: Assets = BESIDE) -> str:
    """The widget of a lesson alone, for the frames of other pages. It lies in embed/, beside the lessons."""
    template = f"apps/{page.app}/page.html" if page.app else "pages/embed.html"
    return render(
        template, page=page, view=view, at=on_show(view), live=False, alone=True, site=site,
        assets=assets, path=f"embed/{page.name}.html", policy=assets.policy(site.address), home="../",
        up="../../" if folder(LANG.get()) else "../",
    )  # fmt: skip


def render_baked(
    page: Page,
    view: View,
    site: Site,
    alone: bool,
    notices: str,
    asked: Mapping[str, object] | None = None,
    assets: Assets = BESIDE,
) -> str:
    """A lesson that belongs to no course, with its prose or the widget `alone`; it lies where its style lies.

    `asked` says what is on show at first.
    """
    with by_itself():
        return render(
            "pages/baked.html", page=page, view=view, at=on_show(view, asked), live=True, alone=alone, path="",
            site=site, assets=assets, policy=assets.policy(), up="", notices=notices,
        )  # fmt: skip


def widget(
    name: str, view: View, page: Page | None = None, asked: Mapping[str, object] | None = None, whole: bool = True
) -> str:
    """The inside of #widget; `asked` says what is on show. Unless `whole`, what is asked for later is left out."""
    return render(f"course/{name}/widget.html", view=view, at=on_show(view, asked), page=page, whole=whole)


def figures(page: Page, view: View) -> str:
    """The inside of #figures, which a frame has in place of #prose."""
    return render("live/figures.html", page=page, view=view, at=on_show(view))


def prose(name: str, view: View, page: Page | None = None, live: bool = False) -> str:
    """The inside of #prose; `live` when it speaks of the reader's own run."""
    return render("live/prose.html", widget=name, view=view, at=on_show(view), page=page, live=live)


def sentence(error: UserError) -> str:
    """A UserError in the language that is set."""
    return say(error.message, **error.fields)
