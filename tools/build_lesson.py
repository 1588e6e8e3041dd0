"""Bake a lesson of your own: one page of the course with your text, your model and what you want to be seen first.

Two forms of it: index.html with the prose, embed.html with the widget alone, for frames. Nothing in them leads to
another page. With `assets` "directory", style, bridge and runtime lie beside them; with "inline", all is in each file.
Writes into the folder that it is given; build.py moves it into place.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Timer

from microgpt.viz import views
from microgpt.viz.controls import View, on_show
from microgpt.viz.lesson import find_added, telling
from microgpt.viz.rendering.assets import BESIDE, STYLE, Assets, self_contained
from microgpt.viz.rendering.render import Site, render_baked
from microgpt.viz.rendering.style import own_style, read_site, style
from microgpt.viz.request import Request
from microgpt.viz.text.formats import size_text
from microgpt.viz.text.language import language
from tools.output.licences import notices
from tools.output.sources import site_files
from tools.runtime.bundle import gzip, pack_beside, runtime

ASSETS = ("directory", "inline")
SLOW = 10  # seconds that a view takes seldom, and no view of the course
FORMS = {"index.html": False, "embed.html": True}  # file -> whether the widget stands alone in it


def build_lesson(asked: Request, assets: str, say: Callable[[str], None], out: Path) -> None:
    """Write the lesson into the new folder `out`."""
    lesson = find_added(asked.page.widget)
    for link in lesson.links if lesson else ():
        say(f"left out: {link}, a link")
    with telling(lesson.folder) if lesson else nullcontext():
        write_lesson(asked, assets, say, out)


def write_lesson(asked: Request, assets: str, say: Callable[[str], None], out: Path) -> None:
    notes = notices()
    with slow(lambda: say(f"“{asked.page.name}” computes for {SLOW} s already; Ctrl-C ends a view that never ends")):
        view = views.view(asked.page.widget, asked.settings)
    lesson = find_added(asked.page.widget)
    more = lesson.files if lesson else {}
    runs = None if lesson else asked  # what others have written may use anything
    on_show(view, asked.chosen)  # before all that takes time: it knows whether text and choices fit
    out.mkdir(parents=True)
    if assets == "inline":
        say("runtime: packing it into the page (the first time takes a while)")
        whole = self_contained(read_site, runtime(more, runs), gzip)
        for name, html in both_forms(asked, view, Site(), notes, whole).items():
            write(out / name, html)
            say(f"{name}: {size_text((out / name).stat().st_size)}, everything in it")
        return
    say("runtime: packing it beside the page (the first time takes a while)")
    for name, html in both_forms(asked, view, Site(pack_beside(out, more)), notes).items():
        write(out / name, html)
    write(out / STYLE, style())
    for name, path in site_files().items():
        if "/" not in name:  # the cards are for links that are shared
            shutil.copyfile(path, out / name)


@contextmanager
def slow(tell: Callable[[], None]) -> Iterator[None]:
    """Tells, once, where what is within takes longer than SLOW seconds."""
    timer = Timer(SLOW, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def both_forms(asked: Request, view: View, site: Site, notes: str, assets: Assets = BESIDE) -> dict[str, str]:
    """Both forms by their names, as pages of a site, with what is chosen at first."""
    assets = assets.with_rules(own_style(asked.page))
    with language(asked.lang):
        return {
            name: render_baked(asked.page, view, site, alone, notes, asked.chosen, assets)
            for name, alone in FORMS.items()
        }


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))  # not write_text: no platform's line endings
