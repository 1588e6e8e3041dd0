"""What every answer to a page must be: well-formed, nothing of it unescaped, its state the same after a trip through
JavaScript. Knows no page."""

import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from typing import Any

from tests.attack.texts import MARK

FORMS = ({"target", "html", "how"}, {"file", "text", "type"}, {"again"}, {"ahead"})
HOW = {"inner", "outer", "append"}
SAFE = 2**53 - 1  # beyond it JavaScript knows no whole number from the next


def wrong_in(state: Any, patches: Any) -> str:
    """What is wrong with an answer; "" if nothing."""
    if not (state is None or isinstance(state, dict)) or not isinstance(patches, list):
        return f"no answer: {type(state).__name__}, {type(patches).__name__}"
    try:
        text = json.dumps({"state": state, "patches": patches}, allow_nan=False)
    except (TypeError, ValueError) as error:
        return f"not JSON: {error}"
    for patch in patches:
        if set(patch) - {"optional"} not in FORMS or not all(isinstance(value, str) for value in patch.values()):
            return f"no patch: {str(patch)[:200]}"
        if "html" in patch and (patch["how"] not in HOW or not re.fullmatch(r"#[a-z0-9-]+", patch["target"])):
            return f"leads nowhere: {patch['target']} {patch['how']}"
        if not all(re.fullmatch(r"[a-z-]+", patch.get(hook, "next")) for hook in ("again", "ahead")):
            return f"no hook: {str(patch)[:200]}"
        if found := unescaped(patch.get("html", "")) or unsafe_file(patch):
            return found
    if through_javascript(json.loads(text)["state"]) != state:
        return f"state is another one after JavaScript: {str(state)[:200]}"
    return ""


class Reader(HTMLParser):
    """Finds marks that have become tags, or names or values of attributes that do something."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if MARK in tag or tag in ("script", "iframe", "object", "embed", "base", "meta", "link"):
            self.found.append(f"<{tag}>")
        for name, value in attributes:
            if MARK in name or name.startswith("on") or name == "style":
                self.found.append(f"<{tag} {name}>")
            harmless = not re.match(r"\s*(javascript|data|vbscript):", value or "", re.IGNORECASE)
            if name in ("href", "src", "action", "formaction", "xlink:href") and not harmless:
                self.found.append(f"<{tag} {name}={value}>")

    def handle_comment(self, data: str) -> None:
        if MARK in data:
            self.found.append(f"<!--{data}-->")


def unescaped(html: str) -> str:
    """Marks that are more than text. Only HTML that holds one is read with care."""
    if MARK not in html:
        return ""
    reader = Reader()
    reader.feed(html)
    reader.close()
    return f"unescaped: {reader.found[0]}" if reader.found else ""


def unsafe_file(patch: dict[str, str]) -> str:
    """A file that is offered: its name is one, a drawing is XML without scripts, a trace is JSON."""
    if "file" not in patch:
        return ""
    name, text, kind = patch["file"], patch["text"], patch["type"]
    if not re.fullmatch(r"[\w.-]+", name) or len(name) > 200:
        return f"no name of a file: {name[:80]!r}"
    if kind in ("image/svg+xml", "image/png"):  # the second is drawn from the first
        try:
            tags = {element.tag.partition("}")[2] or element.tag for element in ElementTree.fromstring(text).iter()}
        except (ElementTree.ParseError, UnicodeEncodeError) as error:
            return f"{name} is not XML: {error}"
        if bad := {tag for tag in tags if MARK in tag or tag in ("script", "foreignObject", "iframe")}:
            return f"{name} holds {bad}"
    elif kind == "application/json":
        json.loads(text)
    return ""


def through_javascript(value: Any) -> Any:
    """What JSON.stringify makes of what JSON.parse made of it."""
    if isinstance(value, dict):
        return {key: through_javascript(one) for key, one in value.items()}
    if isinstance(value, list):
        return [through_javascript(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > SAFE:
        return int(float(value)) if abs(value) < 2**1023 else None
    return value
