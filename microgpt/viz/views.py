"""What a page shows, by the name of its widget: `view(widget, settings)` gives what the widget's templates place.

The module of a widget has HOOKS, its own live actions; FILE_HOOKS, those that take files of the reader's; STOPPED, what
the page takes back where they break off. It is loaded when a page needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from microgpt.viz.controls import Choice, View
from microgpt.viz.lesson import ON_ADD, module_of
from microgpt.viz.local_files import Files
from microgpt.viz.page import Page
from microgpt.viz.patches import Patch, State
from microgpt.viz.settings import Settings

Hook = Callable[..., tuple[State | None, list[Patch]]]  # of a state and the fields of a page; of files before them, too


def view(widget: str, settings: Settings) -> View:
    """What the templates of that widget place."""
    found: View = module_of(widget).view(settings)
    return found


class Empty:
    """The view of a page that shows nothing but words."""

    choices: tuple[Choice, ...] = ()


@cache
def of(page: Page) -> View:
    """The view that a page is built from. The front page shows something of each lesson's."""
    return view(page.view_name, Settings(page.model, page.prompt)) if page.view_name else Empty()


ON_ADD.append(of.cache_clear)


def module(widget: str) -> object:
    """The module of a widget; None for a page without one, which has nothing live."""
    return module_of(widget) if widget else None


def hooks(widget: str, files: Files) -> dict[str, Hook]:
    """The live actions that this widget alone has, or has in its own way; those that take files get them."""
    found = module(widget)
    takes: dict[str, Hook] = getattr(found, "FILE_HOOKS", {})
    return getattr(found, "HOOKS", {}) | {name: partial(hook, files) for name, hook in takes.items()}
