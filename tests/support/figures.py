"""Figures as they are drawn: parsed, what they say and where, and what every one of them must keep."""

import re
from functools import lru_cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from microgpt.viz import views
from microgpt.viz.controls import figure_values
from microgpt.viz.drawing.heat import Strip
from microgpt.viz.drawing.kit.paint import MONO, SMALL
from microgpt.viz.drawing.kit.places import FIGURE_WIDTH
from microgpt.viz.drawing.kit.sketch import Sketch
from microgpt.viz.drawing.kit.svg import Drawing
from microgpt.viz.drawing.kit.words import extent
from microgpt.viz.figures import figure, of_view
from microgpt.viz.page import Page
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import number
from microgpt.viz.text.language import LANG
from tests.support.pages import view_of

SVG = "{http://www.w3.org/2000/svg}"
EDGE = 936  # of the card; nothing of a page's own text stands right of it
DRAWN = {"svg", "title", "desc", "g", "rect", "line", "path", "text", "tspan", "a", "style"}


@lru_cache(maxsize=512)
def svg(one: Page, settings: Settings, choice: tuple[tuple[str, object], ...], lang: str) -> Drawing:
    """A figure in the language that is spoken, which is `lang`, as `figure` makes it, of a view that is made once."""
    own = settings == Settings(one.model, one.prompt)
    view = view_of(one) if own else views.view(one.widget, settings)
    return of_view(one, settings, view, figure_values(view, dict(choice) or None))


@lru_cache(maxsize=64)
def moving(one: Page) -> Drawing:
    """That of the page, through all its cases, in English."""
    return figure(one, Settings(one.model, one.prompt), moves=True)


def drawn(one: Page, choice: dict[str, object] | None = None, settings: Settings | None = None) -> Element:
    asked = tuple((choice or {}).items())
    return ElementTree.fromstring(svg(one, settings or Settings(one.model, one.prompt), asked, LANG.get()))


def choices(one: Page) -> list[dict[str, object]]:
    """Every case of a page; of a stepper, steps and stages at the ends and between."""
    known = {choice.name: choice.values for choice in view_of(one).choices if choice.in_figure}
    name, values = next(iter(known.items()))
    found: list[dict[str, object]] = [{name: value} for value in values]
    if "phase" in known:
        found += [{"step": values[-1], "phase": i, "head": known["head"][-1]} for i in known["phase"]]
        found += [{"layer": known["layer"][-1], "head": i} for i in known["head"]]
    return found


def texts(tree: Element) -> list[str]:
    return ["".join(e.itertext()) for e in tree.iter(f"{SVG}text")]


def check_whole(tree: Element) -> None:
    """Only what may be drawn; nothing that runs or is fetched; all text in the frame, none too small."""
    assert tree.tag == f"{SVG}svg" and tree.get("width") == str(FIGURE_WIDTH)
    for element in tree.iter():
        assert element.tag.removeprefix(SVG) in DRAWN
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
        assert not [value for value in element.attrib.values() if "url(" in value]
    assert tree.findtext(f"{SVG}title") and tree.findtext(f"{SVG}desc")
    walk(tree, float(tree.get("height", 0)), 0.0, "", SMALL)


def walk(element: Element, bottom: float, dy: float, font: str, size: int) -> None:
    font, size = element.get("font-family", font), int(element.get("font-size", size))
    assert size >= SMALL
    moved = re.match(r"translate\((-?\d+) (-?\d+)\)( rotate)?", element.get("transform", ""))
    if moved and moved[3]:
        return  # a slanted word of a column
    dy += float(moved[2]) if moved else 0.0
    if element.tag == f"{SVG}text":
        assert 0 < dy + float(element.get("y", 0)) <= bottom
        left, right = across(element, font, size)
        assert left >= 0 and right <= FIGURE_WIDTH, ("".join(element.itertext()), left, right)
    for child in element:
        walk(child, bottom, dy, font, size)


def across(element: Element, font: str, size: int) -> tuple[float, float]:
    """Where a text begins and ends, if it is drawn in the widest font."""

    def wide(text: str | None, one: Element) -> float:
        kind = ("tok " if one.get("font-family", font) == MONO else "") + ("bold" if one.get("font-weight") else "")
        return extent(text or "", size, kind)

    w = wide(element.text, element) + sum(wide(t.text, t) + wide(t.tail, element) for t in element)
    x = float(element.get("x", 0))
    return {"end": (x - w, x), "middle": (x - w / 2, x + w / 2)}.get(element.get("text-anchor", ""), (x, x + w))


def placed(element: Element, dy: float = 0.0) -> list[tuple[float, float, float, str]]:
    """Each text that is not slanted: on what line it stands, where it begins and ends."""
    moved = re.match(r"translate\(\d+ (\d+)\)( rotate)?", element.get("transform", ""))
    if moved and moved[2]:
        return []
    dy += float(moved[1]) if moved else 0.0
    if element.tag == f"{SVG}text":
        where = across(element, element.get("font-family", ""), int(element.get("font-size", SMALL)))
        return [(dy + float(element.get("y", 0)), *where, "".join(element.itertext()))]
    return [one for child in element for one in placed(child, dy)]


def check_apart(tree: Element) -> None:
    """No text runs into its neighbour on the line."""
    found = sorted(placed(tree))
    for (y, _, end, one), (below, start, _, other) in zip(found, found[1:], strict=False):
        assert y != below or end <= start + 2, (one, other, end, start)


def printed(strip: Strip) -> list[str]:
    """The numbers of a strip as they are written."""
    assert strip.digits is not None
    return [number(cell.value, strip.digits) for cell in strip.cells]


def boxes_of(picture: Sketch) -> dict[str, list[tuple[float, float, float, float]]]:
    """The boxes of a small picture by their kind: x, y, width and height."""
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for kind, path in picture.shapes:
        x = y = 0.0
        for dx, dy, width, height in re.findall(r"m(\S+) (\S+?)h([\d.]+)v([\d.]+)", path):
            x, y = round(x + float(dx), 1), round(y + float(dy), 1)
            found.setdefault(kind, []).append((x, y, float(width), float(height)))
    return found
