"""Figures: what a widget shows, as one SVG for slides, papers and books; still, or moving through all its cases.

    figure("kv-cache", Settings("names", "emm"), {"step": 4, "head": 1})

A figure is made of text, rectangles and lines with attributes alone, so that browsers, Inkscape and slide programs
draw it alike; it loads nothing and runs nothing. What it shows comes out of the widget's view; the figure.svg
beside the widget places it, or figures/table.svg. Writes no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup, escape

from microgpt.course import LESSONS
from microgpt.errors import N_, UserError
from microgpt.viz import views
from microgpt.viz.controls import Value, View, drawn
from microgpt.viz.figures import layout, paint, words
from microgpt.viz.figures.layout import of
from microgpt.viz.large.from_checkpoint import page_for, pressed
from microgpt.viz.large.picture import BigPicture
from microgpt.viz.lesson import added, lesson_named, page_named
from microgpt.viz.page import Page
from microgpt.viz.patches import Patch, file
from microgpt.viz.rendering import render
from microgpt.viz.request import settings_from
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.viz.text.glossary import GLOSSARY
from microgpt.viz.text.language import LANG, folder, say, translated

__all__ = ["animated", "card", "figure", "figure_file", "moving", "of_case", "of_run", "still"]

SECONDS, REST, FADE = 2.4, 2.4, 0.3  # of one case, of the last one in addition, of the change between two
BLINK, ROUNDS = 0.01, 3  # how long a panel takes to go, unseen; how often all is gone through
TYPE = "image/svg+xml"
FROM = N_("from a run of %(model)s")
SPAN = layout.WIDTH - 2 * layout.EDGE  # of what stands around the card


class Panel(NamedTuple):
    """One case as drawn: what stands in the card, its height, and the sentences around it."""

    body: Markup
    height: int
    about: str
    caption: list[list[words.Run]]
    alt: str


def figure(shown: str | Page, settings: Settings, choice: Mapping[str, object] | None = None, address: str = "") -> str:
    """The SVG of what the page shows of this run when `choice` is made; `address` is where the site is, if known."""
    page = lesson(shown)
    view = views.view(page.widget, settings)
    return still(page, settings, view, drawn(view, choice), address)


def animated(
    shown: str | Page, settings: Settings, choice: Mapping[str, object] | None = None, address: str = ""
) -> str:
    """The same, going through all steps (or cases) from the first to the last, some times over; then it rests."""
    page = lesson(shown)
    view = views.view(page.widget, settings)
    return moving(page, settings, view, drawn(view, choice), address)


def of_run(picture: BigPicture, asked: Mapping[str, object] | None = None, moves: bool = False) -> str:
    """A step of a large model in one of its opened heads, whose rows have a few cells each; or all steps in turn.

    `asked` names step, layer, head and phase, as the page's options do. Raises UserError for what is not open.
    """
    return of_case(picture, drawn(picture, pressed(lesson_named("stepper"), picture, asked or {})), moves)


def of_case(picture: BigPicture, at: Mapping[str, Value], moves: bool = False) -> str:
    """The same, of what the page's own controls choose."""
    layer, head = (int(part) for part in str(at["head"]).split("."))
    chosen = {"step": at["step"], "layer": layer, "head": head, "phase": at["phase"]}
    view = replace(picture, few=True, _steps={}, _rows={})  # what may be drawn already has other strips
    page = page_for(lesson_named("stepper"), view)
    values = view.choices[0].values if moves else [at["step"]]
    panels = [panel(page, view, {**chosen, "step": value}, moves) for value in values]
    return framed(page, panels, say(FROM, model=show(picture.about["model"]).replace("␣", " ")))


def still(page: Page, settings: Settings, view: View, at: Mapping[str, Value], address: str = "") -> str:
    """The case that `at` chooses of a view."""
    return framed(page, [panel(page, view, at)], *source(page, differences(page, settings, view, at), address))


def moving(page: Page, settings: Settings, view: View, at: Mapping[str, Value], address: str = "") -> str:
    """Every case of its first choice, one after the other."""
    first = view.choices[0]
    panels = [panel(page, view, {**at, first.name: value}, moving=True) for value in first.values]
    asked = differences(page, settings, view, {**at, first.name: first.at})
    return framed(page, panels, *source(page, asked, address))


def figure_file(fields: Mapping[str, str], kind: str = "still", settings: Settings | None = None) -> Patch:
    """A figure of what is on the page, as a file; `kind` is "still" or "moving".

    `fields` are the page's controls; those that choose nothing in the figure are left alone. `settings` is the run
    on show, where that is not what the controls say.
    """
    page = lesson(fields["page"])
    settings = settings or settings_from(page, fields)
    view = views.view(page.widget, settings)
    asked = {name: fields[name] for name in drawn(view) if name in fields}
    at = drawn(view, asked)
    draw = moving if kind == "moving" else still
    return file(file_name(page, {name: at[name] for name in asked}, kind), draw(page, settings, view, at), TYPE)


def card(page: Page) -> str:
    """What a link to the page shows, 1200 x 630: its title, and its figure; of the glossary, its words."""
    own = page._replace(widget=page.widget or page.hero)
    pictured = own if own.widget else next(one for one in LESSONS if one.widget == "kv_cache")
    view = views.view(pictured.widget, Settings(pictured.model, pictured.prompt))
    return render.render(
        "figures/_card.svg", **around(), page=page, pen=layout.Pen(96),
        title=words.balanced(str(escape(translated([page.title])[0])), 1080, 48, "bold"),
        summary=words.lines(str(escape(translated([page.summary])[0])), 1080, 24),
        words=translated(term.word for term in GLOSSARY.values()) if page.name == "glossary" else [],
        panel=panel(pictured, view, drawn(view), short=True),
    )  # fmt: skip


def file_name(page: Page, choice: Mapping[str, object], kind: str) -> str:
    """kv-cache-step4-head0.svg"""
    made = "".join(f"-{name}{value}" for name, value in choice.items())
    return f"{page.name}{made if kind == 'still' else '-moving'}.svg"


def lesson(shown: str | Page) -> Page:
    """The page of that name, which must be a lesson."""
    page = shown if isinstance(shown, Page) else page_named(shown)
    if not page.widget:
        raise UserError(
            N_("The page “%(name)s” has no figure; take one of: %(known)s."),
            name=page.name, known=", ".join(one.name for one in LESSONS),
        )  # fmt: skip
    return page


# ---- drawing --------------------------------------------------------------------------------------


def around() -> dict[str, Any]:
    """What every template of a figure can use."""
    tools = {
        name: getattr(layout, name)
        for name in ("boxes", "cells", "chips", "filled", "hatch", "length", "pile", "side_by_side", "standing")
    }
    tools |= {name: getattr(words, name) for name in ("fit", "lines", "roomy", "strike")}
    edges = {"L": layout.LEFT, "R": layout.RIGHT, "WIDTH": layout.WIDTH, "EDGE": layout.EDGE, "SPAN": SPAN}
    look = {"style": paint.style, "colour": paint.colour, "RAMP": paint.RAMP, "TEXT": paint.TEXT, "SMALL": paint.SMALL}
    return {**tools, **edges, **look, "of": of}


def panel(page: Page, view: View, at: Mapping[str, Value], moving: bool = False, short: bool = False) -> Panel:
    """One case; `moving` leaves room for all that will come, so that nothing moves between two of them.

    `short` leaves out what stands before the main thing.
    """
    other = added(page.widget)
    if other and not (at and (hasattr(view, "tables") or other.template("figure.svg"))):
        raise UserError(
            N_("The lesson “%(name)s” has no figure; it needs a choice, and figure.svg or a view with tables."),
            name=page.name,
        )
    names = [f"course/{page.widget}/figure.svg", "figures/table.svg"]
    template = render.environment(LANG.get()).select_template(names)
    asked = {"page": page, "view": view, "at": at, "i": next(iter(at.values())), "moving": moving, "short": short}
    made: Any = template.make_module({**around(), **asked})
    pen = layout.Pen()
    body = made.body(pen)
    caption = words.balanced(str(made.caption), SPAN, 17)
    alt = " ".join("".join(run.text for run in line) for line in caption)
    return Panel(body, pen.y, Markup(made.about).striptags(), caption, alt)


def differences(page: Page, settings: Settings, view: View, at: Mapping[str, Value]) -> dict[str, object]:
    """What an address must say for the page to show this: all that it does not show by itself."""
    usual, first = Settings(page.model, page.prompt)._asdict(), drawn(view)
    run = {name: value for name, value in settings._asdict().items() if value != usual[name]}
    return run | {name: value for name, value in at.items() if value != first[name]}


def source(page: Page, asked: Mapping[str, object], address: str) -> tuple[str, str]:
    """Where the page of a figure is, and the link to it, if the site's own address is known."""
    found = f"{address}{folder(LANG.get())}{page.name}.html{'?' if asked else ''}{urlencode(asked)}"
    return found, found if address else ""


def framed(page: Page, panels: list[Panel], source: str, href: str = "") -> str:
    """The whole figure around its panels, of which the last one stands when nothing moves."""
    title = words.balanced(str(escape(translated([page.title])[0])), SPAN, 24, "bold")
    return render.render(
        "figures/_frame.svg", **around(), page=page, title=title, panels=panels, pen=layout.Pen(layout.EDGE),
        height=max(one.height for one in panels), caption_lines=max(len(one.caption) for one in panels),
        turns=turns(len(panels)), seconds=f"{len(panels) * SECONDS + REST:.1f}", rounds=ROUNDS, source=source,
        href=href,
    )  # fmt: skip


def turns(n: int) -> list[list[tuple[str, int]]]:
    """For each of n panels that lie on each other, the later on top: points in time, and how opaque it is then.

    A panel comes over the one before, which goes when it is covered. The last one stays.
    """
    total = n * SECONDS + REST
    found = []
    for i in range(n):
        come, covered = i * SECONDS, (i + 1) * SECONDS + FADE
        marks = [(0.0, 0), (come, 0), (come + FADE, 1)] if i else [(0.0, 1)]
        marks += [(covered, 1), (covered + BLINK, 0), (total, 0)] if i < n - 1 else [(total, 1)]
        found.append([(f"{100 * t / total:.3f}%", opacity) for t, opacity in marks])
    return found
