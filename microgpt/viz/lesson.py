"""A lesson: what it is made of, and where lessons of others are found. Enough to write one: docs/own-widget.md.

A lesson is a module with PAGE and `view(settings)`, and a folder with widget.html; beside it may lie prose.html,
figure.svg and style.css. Lessons of others lie in a folder of their own, which is a package: `add` takes one, an
installed package names its own by the entry point group `microgpt.lessons`, and one that has gone along into a
browser lies in `microgpt_lessons`. Knows no HTML.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from microgpt.course import FORMER, LESSONS, PAGES, page
from microgpt.errors import N_, UserError
from microgpt.trace import Trace
from microgpt.viz.controls import Choice, Field
from microgpt.viz.page import Page
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import LANG

__all__ = ["Choice", "Field", "Page", "Settings", "Table", "View", "Word", "add"]

GROUP = "microgpt.lessons"  # of entry points
TRAVELLED = "microgpt_lessons"  # where the lessons lie that went along into a browser
MOST_FILES, MOST_BYTES = 2_000, 50_000_000  # in the folder of a lesson: all of it goes along


class Word(str):
    """A word in one of the states that look the same on every page: new is lit, old calm, again hatched."""

    state: str

    def __new__(cls, text: str, state: str) -> Word:
        found = super().__new__(cls, text)
        found.state = state
        return found


class Table(NamedTuple):
    """Rows of a token, texts, words in their states and numbers. The numbers of one column get bars."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    measured: int = 1  # the column with the bars
    digits: int = 2  # behind the point of a number that is not whole

    def kind(self, cell: object) -> str:
        """How a cell is written: as a word in its state, a text, a whole number or a number."""
        if isinstance(cell, Word):
            return "word"
        return "whole" if isinstance(cell, Integral) else "number" if isinstance(cell, Real) else "text"

    def share(self, value: float) -> float:
        """How long the bar of a number is, of that of the largest."""
        cells = [row[self.measured] for row in self.rows]
        largest = max((abs(cell) for cell in cells if not isinstance(cell, str)), default=0)
        return float(abs(value) / largest) if largest else 0.0


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
        """What of it goes along into a browser, archive path -> bytes."""
        found, _ = inside(self.folder)
        return {f"{TRAVELLED}/{self.page.widget}/{name}": found[name].read_bytes() for name in sorted(found)}

    @property
    def links(self) -> list[str]:
        """The links in its folder, which are not followed: what they lead to stays at home."""
        return inside(self.folder)[1]

    @property
    def style(self) -> str:
        """The rules that it brings along."""
        return self.template("style.css") or ""

    def template(self, name: str) -> str | None:
        """The text of one of its files, None where it has none of that name."""
        path = self.folder / name
        above = [path, *path.parents][: len(Path(name).parts)]
        own = ".." not in Path(name).parts and not any(step.is_symlink() for step in above)
        return path.read_text("utf-8") if own and path.is_file() else None


def inside(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """The files of a lesson, by their names in its folder, and the links there, of which none is followed.

    Neither hidden ones nor what Python keeps of its modules. Raises UserError where there is more than can go along.
    """
    files, links, todo, seen, size = dict[str, Path](), list[str](), [folder], 0, 0
    while todo:
        for path in todo.pop().iterdir():
            seen += 1
            if path.name.startswith((".", "__pycache__")) or path.suffix == ".pyc":
                continue
            if path.is_symlink():
                links.append(path.relative_to(folder).as_posix())
            elif path.is_dir():
                todo.append(path)
            elif path.is_file():
                files[path.relative_to(folder).as_posix()] = path
                size += path.stat().st_size
            if seen > MOST_FILES or size > MOST_BYTES:
                sentence = N_(
                    "“%(folder)s” holds more than the %(files)s files or %(size)s MB that go along with a lesson."
                )
                raise UserError(sentence, folder=folder, files=MOST_FILES, size=MOST_BYTES // 10**6)
    return files, sorted(links)


ADDED: dict[str, Added] = {}  # what has been found so far, by page and by widget
COURSE = {*FORMER, *(name for page in PAGES for name in (page.name, page.widget, page.app) if name)}  # what is taken
ON_ADD: list[Callable[[], None]] = []  # what forgets the templates of a lesson that is there anew


@contextmanager
def telling(folder: Path) -> Iterator[None]:
    """What goes wrong in a lesson of others is one sentence, with the place."""
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # who ends the program in a lesson has built nothing
        from traceback import extract_tb  # seldom needed

        frames = [(frame.filename, frame.lineno) for frame in extract_tb(error.__traceback__)]
        if isinstance(error, SyntaxError) and error.filename:
            frames.append((error.filename, error.lineno))
        own = [(Path(name), line) for name, line in frames if Path(name).is_relative_to(folder)]
        if isinstance(error, OSError) and error.errno is not None and not own:  # a full disk is no lesson's fault
            raise
        place = f"{own[-1][0].relative_to(folder).as_posix()}:{own[-1][1]}" if own else folder.name
        why = error.msg if isinstance(error, SyntaxError) else str(error)
        raise UserError(
            "The lesson in “%(folder)s” fails (%(kind)s: %(why)s; %(place)s).",
            folder=folder,
            kind=type(error).__name__,
            why=" ".join(why.split())[:200],
            place=place,
        ) from error


def add(folder: str | Path) -> Page:
    """Take the lesson in that folder, anew if it was there. Raises UserError for one that is none."""
    from importlib.util import module_from_spec, spec_from_file_location  # no browser needs it

    folder = Path(folder).resolve()
    start = folder / "__init__.py"
    for path in (start, folder / "widget.html"):
        if not path.is_file() or path.is_symlink():
            sentence = N_("“%(folder)s” is no lesson: it has no %(name)s. docs/own-widget.md says what a lesson is.")
            raise UserError(sentence, folder=folder, name=path.name)
    files, _ = inside(folder)
    name = f"{TRAVELLED}.{re.sub('[^a-z0-9_]', '_', folder.name.lower())}"  # the package that it is in a browser
    for known in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
        del sys.modules[known]
    spec = spec_from_file_location(name, start, submodule_search_locations=[str(folder)])
    assert spec is not None and spec.loader is not None  # it ends in .py
    module = module_from_spec(spec)
    sys.modules.setdefault(TRAVELLED, ModuleType(TRAVELLED)).__path__ = []
    sys.modules[name] = module
    with telling(folder):
        for path in files.values():
            if path.suffix == ".py":  # also one that is imported later, or in a browser alone
                compile(path.read_bytes(), path, "exec", dont_inherit=True)
        spec.loader.exec_module(module)
    return register(module, folder).page


def register(module: object, folder: Path) -> Added:
    """The lesson that is this module, from now on found by its name."""
    own = getattr(module, "PAGE", None)
    if not (isinstance(module, ModuleType) and isinstance(own, Page) and callable(getattr(module, "view", None))):
        raise UserError(
            "“%(folder)s” is no lesson: its __init__.py needs PAGE, a Page, and view(settings).", folder=folder
        )
    name = str(own.name)
    widget = name.replace("-", "_")
    if not re.fullmatch("[a-z][a-z0-9-]{0,40}", name) or {name, widget} & COURSE:
        sentence = N_("The lesson in “%(folder)s” is called “%(name)s”; take small letters and a name that is free.")
        raise UserError(sentence, folder=folder, name=name[:40])
    found = Added(own._replace(widget=widget), module, folder)
    ADDED[name] = ADDED[widget] = found
    for forget in ON_ADD:
        forget()
    return found


def find_added(name: str) -> Added | None:
    """The lesson of others of that name, None where there is none."""
    if name in ADDED or name in COURSE or not re.fullmatch("[a-z][a-z0-9_-]{0,40}", name):
        return ADDED.get(name)
    module = find_bundled(name.replace("-", "_"))
    if module is None and sys.platform != "emscripten":
        module = find_installed(name)
    return register(module, Path(module.__file__ or "").parent) if module else None


def find_installed(name: str) -> ModuleType | None:
    """The lesson that an installed package has by that name."""
    from importlib import metadata  # no browser needs it, and it is slow to load

    points = [*metadata.entry_points(group=GROUP)]
    for point in points:
        if point.name.replace("_", "-") == name.replace("_", "-"):
            with telling(Path(point.value)):
                module = point.load()
                assert isinstance(module, ModuleType), f"{point.value} is no module"
                return module
    return None


def find_bundled(widget: str) -> ModuleType | None:
    try:
        return import_module(f"{TRAVELLED}.{widget}")
    except ModuleNotFoundError as error:
        if error.name in (TRAVELLED, f"{TRAVELLED}.{widget}"):
            return None
        raise


def page_named(name: str) -> Page:
    """The page of that name, ours or of others, in the language that is set."""
    found = None if any(one.name == name for one in PAGES) else find_added(name)
    return (found.page if found else page(name)).in_language(LANG.get())


def lesson_named(name: str, model: str = "") -> Page:
    """The lesson of that name or with that widget; of two with one widget, the one with that model."""
    fitting = [page.in_language(LANG.get()) for page in LESSONS if FORMER.get(name, name) in (page.name, page.widget)]
    if not fitting and (found := find_added(name)):
        return found.page
    if not fitting:
        names = ", ".join(["stepper", *(page.name for page in LESSONS)])
        raise UserError("There is no widget “%(name)s”; there is %(names)s.", name=name[:40], names=names)
    return next((page for page in fitting if page.model == model), fitting[0])


def module_of(shown: str) -> ModuleType:
    """The module of a lesson, by its widget, or of an app; loaded when a page needs it."""
    if any(page.app == shown for page in PAGES):
        return import_module(f"microgpt.apps.{shown}.app")
    if any(page.widget == shown for page in LESSONS):
        return import_module(f"microgpt.course.{shown}.lesson")
    found = find_added(shown)
    assert found is not None, shown
    return found.module
