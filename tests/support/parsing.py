"""Sound HTML as a tree, as html5lib makes it, in a third of its time: what a browser would mend is not mended, and
no end tag may be left out. That pages are so, and that both trees are the same, is what
tests/viz/test_markup.py finds."""

from html.parser import HTMLParser
from xml.etree.ElementTree import Element, SubElement

VOID = {*"area base br col embed hr img input link meta source track wbr".split()}
SPACES = {"svg": "{http://www.w3.org/2000/svg}", "math": "{http://www.w3.org/1998/Math/MathML}"}
AS_WRITTEN = {
    one.lower(): one
    for one in (
        "viewBox preserveAspectRatio refX refY markerWidth markerHeight markerUnits pathLength gradientUnits "
        "gradientTransform patternUnits patternTransform textLength lengthAdjust clipPathUnits "
        "attributeName repeatCount calcMode keyTimes keyPoints keySplines linearGradient radialGradient clipPath "
        "foreignObject textPath"
    ).split()
}


class Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("html")
        self.head, self.body = SubElement(self.root, "head"), SubElement(self.root, "body")
        self.open, self.spaces, self.fresh = [self.root], [""], False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.open[-1] is self.root and tag not in ("html", "head", "body"):
            self.open.append(self.body)
            self.spaces.append("")
        known = {"html": self.root, "head": self.head, "body": self.body}.get(tag)
        space = SPACES.get(tag) or ("" if self.open[-1].tag.endswith(("foreignObject", "mtext")) else self.spaces[-1])
        if tag == "tr" and self.open[-1].tag == "table":
            self.handle_starttag("tbody", [])
        name = tag if not space else space + AS_WRITTEN.get(tag, tag)
        one = SubElement(self.open[-1], name) if known is None else known
        for key, value in attrs:
            one.set(AS_WRITTEN.get(key, key) if space else key, value or "")
        if space or tag not in VOID:
            self.open.append(one)
            self.spaces.append(space)
        self.fresh = tag in ("pre", "textarea", "listing")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self.spaces[-1] and tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self.fresh = False
        if tag == "table" and self.open[-1].tag == "tbody":
            self.handle_endtag("tbody")
        if tag not in ("html", "body"):
            last = self.open.pop()
            self.spaces.pop()
            assert last.tag.rpartition("}")[2].lower() == tag, f"{last.tag} is not closed before {tag}"

    def handle_data(self, data: str) -> None:
        data, self.fresh = data.removeprefix("\n") if self.fresh else data, False
        above = self.open[-1]
        if above is self.root:
            self.head.tail = data if len(self.head) else None
        elif len(above) == 0:
            above.text = (above.text or "") + data
        else:
            above[-1].tail = (above[-1].tail or "") + data


def parse(text: str) -> Element:
    """The element `html`; a piece of a page stands in its body."""
    tree = Tree()
    tree.feed(text)
    tree.close()
    return tree.root
