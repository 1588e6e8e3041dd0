"""A lesson: what it is made of, and where lessons of others are found. Enough to write one: docs/own-widget.md.

A lesson is a module with PAGE and `view(settings)`, and a folder with widget.html; beside it may lie prose.html,
figure.svg and style.css. Lessons of others lie in a folder of their own, which is a package: `add` takes one, an
installed package names its own by the entry point group `microgpt.lessons`, and one that has gone along into a
browser lies in `microgpt_lessons`. Knows no HTML.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from microgpt.errors import N_, UserError
from microgpt.trace import Trace
from microgpt.viz.controls import Choice, Field
from microgpt.viz.course import LESSONS, PAGES, Page, page
from microgpt.viz.settings import Settings

__all__ = ["Choice", "Field", "Page", "Settings", "Table", "View", "add"]

GROUP = "microgpt.lessons"  # of entry points
TRAVELLED = "microgpt_lessons"  # where the lessons lie that went along into a browser


class Table(NamedTuple):
    """Rows of a token, texts and numbers. One column of numbers gets bars."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | int | float]]
    measured: int = 1  # the column with the bars
    digits: int = 2  # behind the point of a number that is not whole

    def share(self, value: float) -> float:
        """How long the bar of a number is, of that of the largest."""
        largest = max(abs(float(row[self.measured])) for row in self.rows)
        return abs(value) / largest if largest else 0.0


class View(NamedTuple):
    """What a lesson shows: a table a case, one of them on show. A lesson with more to show has a view of its own."""

    trace: Trace
    choices: tuple[Choice, ...]  # the first has a case for each table
    legend: str  # what is chosen
    labels: Sequence[str]  # of the cases
    tables: Sequence[Table]


class Added(NamedTuple):
    """A lesson of others."""

    page: Page
    module: ModuleType
    folder: Path

    @property
    def files(self) -> dict[str, bytes]:
        """What of it goes along into a browser: archive path -> bytes."""
        kept = [path for path in self.folder.iterdir() if path.suffix in (".py", ".html", ".svg")]
        return {f"{TRAVELLED}/{self.page.widget}/{path.name}": path.read_bytes() for path in sorted(kept)}

    def template(self, name: str) -> str | None:
        """The text of one of its files, None where it has none of that name."""
        path = self.folder / name
        return path.read_text("utf-8") if path.is_file() else None


ADDED: dict[str, Added] = {}  # what has been found so far, by page and by widget


def add(folder: str | Path) -> Page:
    """Take the lesson in that folder. Raises UserError for one that is none."""
    folder = Path(folder).resolve()
    start = folder / "__init__.py"
    for path in (start, folder / "widget.html"):
        if not path.is_file():
            raise UserError(
                N_("“%(folder)s” is no lesson: it has no %(name)s. docs/own-widget.md says what a lesson is."),
                folder=folder, name=path.name,
            )  # fmt: skip
    from importlib.util import module_from_spec, spec_from_file_location  # no browser needs it

    name = folder.name
    spec = spec_from_file_location(name, start, submodule_search_locations=[str(folder)])
    assert spec is not None and spec.loader is not None  # it ends in .py
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise UserError(
            N_("The lesson in “%(folder)s” cannot be loaded (%(kind)s: %(why)s)."),
            folder=folder, kind=type(error).__name__, why=error,
        ) from error  # fmt: skip
    return taken(module, folder).page


def taken(module: ModuleType, folder: Path) -> Added:
    """The lesson that is this module, from now on found by its name."""
    own = getattr(module, "PAGE", None)
    if not isinstance(own, Page) or not callable(getattr(module, "view", None)):
        raise UserError(
            N_("“%(folder)s” is no lesson: its __init__.py needs PAGE, a Page, and view(settings)."), folder=folder
        )
    if not re.fullmatch("[a-z][a-z0-9-]{0,40}", own.name) or own.name in [one.name for one in PAGES]:
        raise UserError(
            N_("The lesson in “%(folder)s” is called “%(name)s”; take small letters and a name that is free."),
            folder=folder, name=own.name[:40],
        )  # fmt: skip
    widget = own.name.replace("-", "_")
    found = Added(own._replace(widget=widget), module, folder)
    ADDED[own.name] = ADDED[widget] = found
    return found


def added(name: str) -> Added | None:
    """The lesson of others of that name, None where there is none."""
    if name in ADDED or not re.fullmatch("[a-z][a-z0-9_-]{0,40}", name):
        return ADDED.get(name)
    module = travelled(name.replace("-", "_"))
    if module is None and sys.platform != "emscripten":
        from importlib import metadata  # nor this, which is slow to load

        points = [*metadata.entry_points(group=GROUP, name=name)]
        module = points[0].load() if points else None
    if module is None or module.__file__ is None:
        return None
    return taken(module, Path(module.__file__).parent)


def travelled(widget: str) -> ModuleType | None:
    try:
        return import_module(f"{TRAVELLED}.{widget}")
    except ModuleNotFoundError as error:
        if error.name in (TRAVELLED, f"{TRAVELLED}.{widget}"):
            return None
        raise


def page_named(name: str) -> Page:
    """The page of that name, ours or of others."""
    found = None if any(one.name == name for one in PAGES) else added(name)
    return found.page if found else page(name)


def lesson_named(name: str, model: str = "") -> Page:
    """The lesson of that name or with that widget; of two with one widget, the one with that model."""
    fitting = [page for page in LESSONS if name in (page.name, page.widget)]
    if not fitting and (found := added(name)):
        return found.page
    if not fitting:
        names = ", ".join(["stepper", *(page.name for page in LESSONS)])
        raise UserError(N_("There is no widget “%(name)s”; there is %(names)s."), name=name[:40], names=names)
    return next((page for page in fitting if page.model == model), fitting[0])


def module_of(shown: str) -> ModuleType:
    """The module of a lesson, by its widget, or of an app; loaded when a page needs it."""
    if any(page.app == shown for page in PAGES):
        return import_module(f"microgpt.viz.apps.{shown}")
    if any(page.widget == shown for page in LESSONS):
        return import_module(f"microgpt.viz.lessons.{shown}")
    found = added(shown)
    assert found is not None, shown
    return found.module
