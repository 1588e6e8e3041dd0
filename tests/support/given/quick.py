"""HTML as our templates write it, parsed many times as fast as by the rules for all of HTML: each element is closed
where it ends, and stands where it may. Of any other text nothing is said: tests/support/markup.py asks html5lib then.
"""

import re
from collections import Counter
from functools import lru_cache
from html import unescape
from xml.etree.ElementTree import Element, TreeBuilder

from html5lib.constants import adjustSVGAttributes as CAMEL


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


EMPTY = words("area base br col hr img input link meta source wbr")
BLOCKS = words(  # before which a browser ends a paragraph
    "address article aside blockquote dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hr li main nav ol p pre section summary table ul"
)
RAW = words("script style textarea title")  # they hold no elements
HEADINGS = words("h1 h2 h3 h4 h5 h6")
ONCE = words("a button form select")  # not in one of their kind
ROWS = words("tbody thead tfoot")
HTML = (
    EMPTY | BLOCKS | RAW | ONCE | ROWS
    | words("abbr b bdi bdo body caption cite code colgroup datalist del em head html i iframe ins kbd label legend")
    | words("mark optgroup option output progress q s samp small span strong sub sup td th tr u var")
)  # fmt: skip
SVG = words("a circle defs desc ellipse g line path pattern polygon polyline rect svg symbol text title tspan use")
PARENTS = {  # of what stands in these alone
    **dict.fromkeys(("caption", "colgroup", *ROWS), words("table")), "tr": ROWS, "td": words("tr"), "th": words("tr"),
    "col": words("colgroup"), "li": words("ul ol"), "dt": words("dl"), "dd": words("dl"), "head": words("html"),
    "option": words("select datalist optgroup"), "optgroup": words("select"), "body": words("html"),
    "title": words("head"), "base": words("head"), "html": frozenset({""}),
}  # fmt: skip
CHILDREN = {  # of what holds these alone, and no words
    "table": ROWS | words("caption colgroup"), **dict.fromkeys(ROWS, words("tr")), "tr": words("td th"),
    "colgroup": words("col"), "select": words("option optgroup"), "optgroup": words("option"), "iframe": words(""),
    "html": words("head body"), "head": words("base link meta script style title"),
}  # fmt: skip
TOKEN = re.compile(r"<(/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z][a-zA-Z0-9-]*(?:=(?:\"[^\"]*\"|[\w.]+))?)*)\s*(/?)>([^<]*)")
ATTRIBUTE = re.compile(r"([a-zA-Z][a-zA-Z0-9-]*)(?:=(?:\"([^\"]*)\"|([\w.]+)))?")
STRANGE = re.compile(
    "[^\t\n -~\u00a0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0001fffd]|&(?!(?:amp|lt|gt|quot|#34|#39);)"
)
START = re.compile(r"<!doctype html>\s*(?=<html)")


@lru_cache(maxsize=4096)  # most are said again and again
def attributes(written: str, drawn: bool) -> dict[str, str] | None:
    """What a tag says besides its name; None where it says something twice."""
    found = [(name.lower(), unescape(quoted or bare)) for name, quoted, bare in ATTRIBUTE.findall(written)]
    said = {CAMEL.get(name, name) if drawn else name: value for name, value in found}
    return said if len(said) == len(found) else None


def quick(text: str, within: str = "") -> Element | None:
    """The page, or what is to stand in an element `within`, in a root; None where it is not written so plainly."""
    begin = START.match(text)
    if STRANGE.search(text) or bool(begin) == bool(within) or within in RAW:
        return None
    builder, stack, around, parts, drawn = TreeBuilder(), [within], Counter[str](), list[str](), 0
    at = begin.end() if begin else len(text.partition("<")[0])
    if not begin:
        builder.start("root", {})
        builder.data(unescape(text[:at]))
        if within in CHILDREN and text[:at].strip():
            return None
    while at < len(text):
        if not (token := TOKEN.match(text, at)):
            return None
        end, name, written, closed, data = token.groups()
        at, parent = token.end(), stack[-1]
        said = None if end else attributes(written, drawn > 0 or name == "svg")
        if end:
            if written or closed or len(stack) == 1 or stack.pop() != name:
                return None
            drawn, around[name] = max(0, drawn - 1), around[name] - 1
            if name not in ("html", "body"):  # what follows is of the body
                builder.end(name)
        elif said is None:
            return None
        elif drawn or name == "svg":
            if name not in SVG or (parent in ("title", "desc") if drawn else parent in CHILDREN):
                return None
            builder.start(f"{{http://www.w3.org/2000/svg}}{name}", dict(said))
            drawn += not closed
        elif (
            name not in HTML or (closed and name not in EMPTY)
            or (stack[-2] if parent == "div" and name in ("dt", "dd") else parent) not in PARENTS.get(name, (parent,))
            or name not in CHILDREN.get(parent, (name,))
            or (name in BLOCKS and around["p"]) or (name in ONCE and around[name])
            or (name in HEADINGS and any(around[one] for one in HEADINGS))
        ):  # fmt: skip
            return None
        else:
            builder.start(name, dict(said))
            closed = closed or name in EMPTY
            if name in ("html", "head", "body"):
                parts.append(name)
            elif name in RAW:
                at = text.find(f"</{name}>", token.start(5))
                data = text[token.start(5) : at]
                if at < 0 or "</" in data or "<!" in data:
                    return None
            if name in ("pre", "textarea"):
                data = data.removeprefix("\n")
        if not end and closed:
            builder.end(name)
        elif not end:
            stack.append(name)
            around[name] += 1
        if data and parts != ["html"]:  # before the head, no space stays
            inside = stack[-1]
            if not drawn and (inside in CHILDREN or not inside) and data.strip(" \t\n"):
                return None
            builder.data(
                data if inside in ("script", "style") and not drawn else unescape(data) if "&" in data else data
            )
    if len(stack) > 1 or parts != ["html", "head", "body"] * (not within):
        return None
    for name in ("body", "html") if begin else ("root",):
        builder.end(name)
    return builder.close()
