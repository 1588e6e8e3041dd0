"""Figures: what a widget shows, as one SVG for slides, papers and books; still, or moving through all its cases.

    figure("kv-cache", Settings("names", "emm"), {"step": 4, "head": 1})

A figure is made of text, rectangles and lines with attributes alone, so that browsers, Inkscape and slide programs
draw it alike; it loads nothing and runs nothing. What it shows comes out of the widget's view; the figure.svg
beside the widget draws it, or figures/table.svg. Writes no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlencode

from microgpt.course import LESSONS
from microgpt.errors import N_, UserError
from microgpt.viz import views
from microgpt.viz.controls import Value, View, figure_values
from microgpt.viz.drawing.kit.pieces import Group, Piece, Sheet
from microgpt.viz.drawing.kit.places import EDGE, FIGURE_WIDTH, Pen, chips
from microgpt.viz.drawing.kit.svg import Drawing, Film, Shot, drawing
from microgpt.viz.drawing.kit.words import TextRun, balance, fit, lines, runs
from microgpt.viz.large.from_checkpoint import choices_of, page_for
from microgpt.viz.large.picture import BigPicture
from microgpt.viz.lesson import find_added, lesson_named, page_named
from microgpt.viz.page import Page
from microgpt.viz.patches import Patch, file
from microgpt.viz.rendering import draw
from microgpt.viz.request import settings_from
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.viz.text.glossary import GLOSSARY
from microgpt.viz.text.language import LANG, folder, say, translate

__all__ = ["card", "figure", "figure_file", "film", "film_of_run", "of_case", "of_run", "of_view"]

CASE_SECONDS, REST, FADE = 2.4, 2.4, 0.3  # of one case, of the last one in addition, of the change between two
CARD_SIZE = 1200, 630  # of what a link shows
QUICK, MADE, STAGE = 0.25, 0.7, 1.5  # of a film: a token comes, its step is done; a stage of the token on show
FEW_TOKENS = 12  # of a longer text a token comes with its step done
BLINK, LOOPS = 0.01, 3  # how long a panel takes to go, unseen; how often all is gone through
PANEL = "microgpt-"  # what the panels of a figure that moves are called
FILM_TYPES = {"gif": "image/gif", "webm": "video/webm"}
FROM = N_("from a run of %(model)s")
FIGURE_NAME = N_("Keep K and V, throw Q away")
SPAN = FIGURE_WIDTH - 2 * EDGE  # of what stands around the card


class Panel(NamedTuple):
    """One case as drawn: what stands in the card, its height, and the sentences around it."""

    body: list[Piece]
    height: int
    about: str
    caption: list[list[TextRun]]
    alt: str


def figure(
    shown: str | Page,
    settings: Settings,
    choice: Mapping[str, object] | None = None,
    address: str = "",
    moves: bool = False,
) -> Drawing:
    """The SVG of what the page shows of this run when `choice` is made; `address` is where the site is, if known.

    One that moves goes through all steps (or cases) from the first to the last, some times over; then it rests.
    """
    page = lesson(shown)
    view = views.view(page.widget, settings)
    return of_view(page, settings, view, figure_values(view, choice), address, moves)


def of_run(picture: BigPicture, asked: Mapping[str, object] | None = None, moves: bool = False) -> Drawing:
    """A step of a large model in one of its opened heads, whose rows have a few cells each; or all steps in turn.

    `asked` names step, layer, head and phase, as the page's options do. Raises UserError for what is not open.
    """
    return of_case(picture, figure_values(picture, choices_of(lesson_named("stepper"), picture, asked or {})), moves)


def of_case(picture: BigPicture, at: Mapping[str, Value], moves: bool = False) -> Drawing:
    """The same, of what the page's own controls choose."""
    page, view, chosen, source = in_few_cells(picture, at)
    values = view.choices[0].values if moves else [at["step"]]
    panels = [panel(page, view, {**chosen, "step": value}, moves) for value in values]
    return frame(page, panels, source)


def film_of_run(picture: BigPicture, asked: Mapping[str, object] | None = None) -> Film:
    """The film of a large model's run, in the head that is asked for."""
    at = figure_values(picture, choices_of(lesson_named("stepper"), picture, asked or {}))
    return film_of(*in_few_cells(picture, at))


def in_few_cells(picture: BigPicture, at: Mapping[str, Value]) -> tuple[Page, BigPicture, dict[str, Value], str]:
    """What a figure of a large model shows: its page, its view, what is chosen in it, and where it is from."""
    layer, head = (int(part) for part in str(at["head"]).split("."))
    view = replace(picture, few=True, _steps={}, _rows={})  # what may be drawn already has other strips
    chosen = {"step": at["step"], "layer": layer, "head": head, "phase": at["phase"]}
    said = say(FROM, model=show(picture.about["model"]).replace("␣", " "))
    return page_for(lesson_named("stepper"), view), view, chosen, said


def of_view(
    page: Page, settings: Settings, view: View, at: Mapping[str, Value], address: str = "", moves: bool = False
) -> Drawing:
    """The case that `at` chooses of a view, or every case of its first choice, one after the other."""
    first = view.choices[0]
    values = first.values if moves else [at[first.name]]
    panels = [panel(page, view, {**at, first.name: value}, moves) for value in values]
    asked = {**at, first.name: first.at} if moves else at
    return frame(page, panels, *source(page, settings, view, asked, address))


def film(shown: str | Page, settings: Settings, choice: Mapping[str, object] | None = None, address: str = "") -> Film:
    """What the page shows of this run, from state to state, as it is drawn into a GIF or a WebM."""
    page = lesson(shown)
    view = views.view(page.widget, settings)
    at = figure_values(view, choice)
    return film_of(page, view, at, *source(page, settings, view, at, address))


def film_of(page: Page, view: View, at: Mapping[str, Value], source: str, href: str = "") -> Film:
    """All cases of the first choice; where a case has stages, those of the one that `at` chooses one by one."""
    states = states_of(view, at)
    whole = frame(page, [panel(page, view, case, moving=True) for *_, case in states], source, href)
    found = Film(whole)
    found.width, found.height, found.pieces = whole.width, whole.height, whole.pieces
    found.shots = [Shot(alone(whole.pieces, i), seconds, slow) for i, (seconds, slow, _) in enumerate(states)]
    return found


def alone(pieces: list[Piece], i: int) -> list[Piece]:
    """Of a figure that moves, its panel i and what all panels share."""
    own, shared = f"{PANEL}{i}", [one for one in pieces if not (isinstance(one, Group) and PANEL in one.name)]
    shown = [one._replace(opacity=1) for one in pieces if isinstance(one, Group) and one.name == own]
    return [*shared, *shown]


def states_of(view: View, at: Mapping[str, Value]) -> list[tuple[float, bool, dict[str, Value]]]:
    """How long each state of a film stands, whether it comes piece by piece, and what is chosen in it."""
    first, found = view.choices[0], list[tuple[float, bool, dict[str, Value]]]()
    phases = next((choice.values for choice in view.choices if choice.name == "phase"), ())
    stages = [phase for phase in phases if phase]  # 0 is before the step
    for value in first.values:
        case = {**at, first.name: value}
        if not stages:
            found.append((CASE_SECONDS, False, case))
        elif value == at[first.name]:
            found += [(STAGE, True, {**case, "phase": stage}) for stage in stages]
        else:
            begun = [(QUICK, False, {**case, "phase": stages[0]})] if len(first.values) <= FEW_TOKENS else []
            found += [*begun, (MADE, False, {**case, "phase": stages[-1]})]
    *others, (seconds, slow, case) = found
    return [*others, (seconds + REST, slow, case)]


def figure_file(fields: Mapping[str, str], kind: str = "svg", settings: Settings | None = None) -> Patch:
    """A figure of what is on the page, as a file of that kind, one of FORMAT.

    `fields` are the page's controls; those that choose nothing in the figure are left alone. `settings` is the run
    on show, where that is not what the controls say. Of pixels, the page's own canvas makes the file.
    """
    page = lesson(fields["page"])
    settings = settings or settings_from(page, fields)
    view = views.view(page.widget, settings)
    asked = {name: fields[name] for name in figure_values(view) if name in fields}
    at = figure_values(view, asked)
    if kind in FILM_TYPES:
        return file(f"{page.name}.{kind}", film_of(page, view, at, *source(page, settings, view, at)), FILM_TYPES[kind])
    svg = of_view(page, settings, view, at, moves=kind == "moving")
    chosen = "-moving" if kind == "moving" else "".join(f"-{name}{at[name]}" for name in asked)
    ending, data_type = ("png", "image/png") if kind == "png" else ("svg", "image/svg+xml")
    return file(f"{page.name}{chosen}.{ending}", svg, data_type)  # kv-cache-step4-head0.svg


def card(page: Page) -> Drawing:
    """What a link to the page shows, 1200 x 630: its title, and its figure; of the glossary, its words."""
    own = page._replace(widget=page.widget or page.hero)
    pictured = own if own.widget else next(one for one in LESSONS if one.widget == "kv_cache")
    sheet, pen, title = Sheet(), Pen(96), translate([page.title])[0]
    sheet.box(0, 0, *CARD_SIZE, "paper", round=0)
    for x, letter in ((60, "K"), (90, "V")):
        sheet.box(x, 44, 26, 30, f"{letter.lower()}-wash")
        sheet.t(x + 13, 66, letter, f"20 bold {letter.lower()} mid")
    sheet.t(128, 66, say(FIGURE_NAME), "20 soft")
    for line in balance(title, 1080, 48, "bold"):
        sheet.line(60, pen.down(62, 48).text, line, "48 bold")
    top = pen.down(34).middle
    if page.name != "glossary":
        view = views.view(pictured.widget, Settings(pictured.model, pictured.prompt))
        shown = panel(pictured, view, figure_values(view), short=True)
        body = Sheet()
        body.box(EDGE, 0, SPAN, shown.height, "card", "line", 10)
        sheet.add(Group([*body.pieces, *shown.body], 31, top, scale=1.185))
        return drawing(*CARD_SIZE, sheet.pieces, LANG.get(), title)
    for line in lines(translate([page.summary])[0], 1080, 24):
        sheet.line(60, pen.down(38, 24).text, line, "24 soft")
    for chip in sum(chips(translate(term.word for term in GLOSSARY.values()), 60, pen.y + 34, 1080, 44, 10, 20), []):
        sheet.fill(chip.box, "card", "line", 6)
        sheet.t(chip.box.mid, chip.box.line.part(44, 0, 20).text, chip.text, "20 mid")
    return drawing(*CARD_SIZE, sheet.pieces, LANG.get(), title)


def lesson(shown: str | Page) -> Page:
    """The page of that name, which must be a lesson."""
    page = shown if isinstance(shown, Page) else page_named(shown)
    if not page.widget:
        raise UserError(
            "The page “%(name)s” has no figure; take one of: %(known)s.",
            name=page.name,
            known=", ".join(one.name for one in LESSONS),
        )
    return page


# ---- drawing --------------------------------------------------------------------------------------


def panel(page: Page, view: View, at: Mapping[str, Value], moving: bool = False, short: bool = False) -> Panel:
    """One case; `moving` leaves room for all that will come, so that nothing moves between two of them.

    `short` leaves out what stands before the main thing.
    """
    other = find_added(page.widget)
    if other and not (at and (hasattr(view, "tables") or other.template("figure.svg"))):
        raise UserError(
            "The lesson “%(name)s” has no figure; it needs a choice, and figure.svg or a view with tables.",
            name=page.name,
        )
    pen = Pen()
    sheet, made = draw.lesson(page, view, at, "body", pen, moving=moving, short=short)
    caption = balance(made.caption, SPAN, 17)
    alt = " ".join("".join(run.text for run in line) for line in caption)
    return Panel(sheet.pieces, pen.y, "".join(run.text for run in runs(made.about)).strip(), caption, alt)


def source(page: Page, settings: Settings, view: View, at: Mapping[str, Value], address: str = "") -> tuple[str, str]:
    """Where the page of a figure is, with all that it does not show by itself, and the link to it, if the site's own
    address is known."""
    usual, first = Settings(page.model, page.prompt)._asdict(), figure_values(view)
    asked: dict[str, object] = {name: value for name, value in settings._asdict().items() if value != usual[name]}
    asked |= {name: value for name, value in at.items() if value != first[name]}
    found = f"{address}{folder(LANG.get())}{page.name}.html{'?' if asked else ''}{urlencode(asked)}"
    return found, found if address else ""


def frame(page: Page, panels: list[Panel], source: str, href: str = "") -> Drawing:
    """The whole figure around its panels, of which the last one stands when nothing moves."""
    title, height = translate([page.title])[0], max(one.height for one in panels)
    sheet, pen, moves = Sheet(), Pen(EDGE), len(panels) > 1
    paper = sheet.ground()
    for line in balance(title, SPAN, 24, "bold"):
        sheet.line(EDGE, pen.down(32, 24).text, line, "24 bold")
    top, about = pen.y, pen.down(28, 15)
    pen.down(8)
    card = pen.down(height).top
    pen.down(16)
    caption = pen.branch()
    pen.down(26 * max(len(one.caption) for one in panels))
    for at, one in enumerate(panels):
        below, own = caption.branch(), Sheet()
        if moves:
            own.box(0, top, FIGURE_WIDTH, pen.since(top), "paper", round=0)
        own.t(EDGE, about.text, one.about, "15 soft")
        own.box(EDGE, card, SPAN, height, "card", "line", 10)
        own.add(Group(one.body, y=card))
        for line in one.caption:
            own.line(EDGE, below.down(26, 17).text, line, "17")
        hidden = moves and at < len(panels) - 1
        sheet.add(Group(own.pieces, opacity=0 if hidden else 1, name=f"{PANEL}{at}" if moves else ""))
    foot = Sheet()
    foot.t(EDGE, pen.down(40).text, fit(f"{say(FIGURE_NAME)} · {source}", 900), "soft")
    sheet.add(Group(foot.pieces, href=href))
    paper.box(0, 0, FIGURE_WIDTH, pen.down(4).bottom, "paper", round=0)
    style = in_turns(len(panels)) if moves else ""
    return drawing(FIGURE_WIDTH, pen.y, sheet.pieces, LANG.get(), title, panels[-1].alt, style)


def in_turns(n: int) -> str:
    """The style of n panels that come one after the other, where a reader lets things move."""
    rules = []
    for at, marks in enumerate(panel_times(n)):
        frames = " ".join(f"{when} {{ opacity: {opacity} }}" for when, opacity in marks)
        play = f"{PANEL}{at} {n * CASE_SECONDS + REST:.1f}s ease-in-out {LOOPS} both"
        rules.append(f"@keyframes {PANEL}{at} {{ {frames} }}\n.{PANEL}{at} {{ animation: {play} }}\n")
    return f"<style>\n@media screen and (prefers-reduced-motion: no-preference) {{\n{''.join(rules)}}}\n</style>\n"


def panel_times(n: int) -> list[list[tuple[str, int]]]:
    """For each of n panels that lie on each other, the later on top: points in time, and how opaque it is then.

    A panel comes over the one before, which goes when it is covered. The last one stays.
    """
    total = n * CASE_SECONDS + REST
    found = []
    for i in range(n):
        come, covered = i * CASE_SECONDS, (i + 1) * CASE_SECONDS + FADE
        marks = [(0.0, 0), (come, 0), (come + FADE, 1)] if i else [(0.0, 1)]
        marks += [(covered, 1), (covered + BLINK, 0), (total, 0)] if i < n - 1 else [(total, 1)]
        found.append([(f"{100 * t / total:.3f}%", opacity) for t, opacity in marks])
    return found
