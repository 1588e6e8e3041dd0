"""What a notebook shows, taken apart: the frame, and the plain tables beside it."""

import re
from xml.etree.ElementTree import Element

from microgpt.viz.notebook import Shown
from tests.support.pages import parse

# What JupyterLab 4 leaves of an output that is not trusted (@jupyterlab/apputils 4.7), as far as it is used here.
LEFT: dict[str, set[str]] = {
    **dict.fromkeys("div p b bdi summary thead tbody tr".split(), set()),
    **dict.fromkeys(("th", "td"), {"colspan"}),
    **{"details": {"open"}, "table": {"cellpadding"}},
}
LEFT_EVERYWHERE = {"class", "style"}
LEFT_STYLES = {"background", "color", "text-align", "padding", "white-space", "border-collapse", "margin"}


def framed(shown: Shown) -> str:
    """The page inside the frame, as a browser reads the attribute."""
    frame = parse(shown._repr_html_()).find(".//iframe")
    assert frame is not None
    return frame.get("srcdoc", "")


def tables(shown: Shown) -> Element:
    found = next(e for e in parse(shown._repr_html_()).iter("div") if e.get("class") == "microgpt-plain")
    return found


def assert_left_whole(plain: Element) -> None:
    """The plain form loses nothing where an output is not trusted."""
    for element in plain.iter():
        assert element.tag in LEFT
        assert set(element.attrib) <= LEFT[element.tag] | LEFT_EVERYWHERE
        assert set(re.findall(r"([\w-]+):", element.get("style", ""))) <= LEFT_STYLES
