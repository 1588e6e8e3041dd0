"""The style of a lesson or an app reaches nothing else: a selector has a class, or an id, that its pages alone use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from microgpt.viz.text.place import ROOT

TEMPLATES = ROOT / "templates"
STYLES = sorted(TEMPLATES.glob("*/*/style.css"))
BESIDE = {"look": "own_model"}  # two apps, one style
SHARED = {  # what others have too and may look like this
    ".chart .line.each", ".prose blockquote", ".prose blockquote p", ".live button.go", ".file-start",
    ".file-start span",
}  # fmt: skip


def used(paths: Iterable[Path]) -> set[str]:
    """The classes that these templates write."""
    found = [one for path in paths for one in re.findall(r'class="([^"]*)"', path.read_text("utf-8"))]
    return {name for one in found for name in re.findall(r"[\w-]+", re.sub(r"\{\{.*?\}\}|\{%.*?%\}", " ", one))}


def selectors(sheet: str) -> list[str]:
    """Each selector of each rule; those of keyframes are percentages."""
    bare = re.sub(r"/\*.*?\*/", "", sheet, flags=re.S)
    bare = re.sub(r"@keyframes [\w-]+ \{(?:[^{}]*\{[^{}]*\})*\s*\}", "", bare)
    heads = [head for head in re.findall(r"([^{}]+)\{[^{}]*\}", bare) if not head.strip().startswith("@")]
    while any(re.search(r"\([^()]*\)", head) for head in heads):  # what stands in brackets may have commas too
        heads = [re.sub(r"\(([^()]*)\)", lambda m: "‹" + m[1].replace(",", "¦") + "›", head) for head in heads]
    return [one.strip() for head in heads for one in head.split(",")]


def foreign(sheet: str, own: set[str]) -> list[str]:
    """The selectors without a class of its own and without an id."""
    return [one for one in selectors(sheet) if not own & set(re.findall(r"\.([a-zA-Z][\w-]*)", one)) and "#" not in one]


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.parent.name)
def test_every_selector_is_under_a_class_of_its_own(path: Path) -> None:
    folders = [path.parent, path.parent.parent / BESIDE.get(path.parent.name, path.parent.name)]
    mine = [one for folder in folders for one in folder.glob("*.html")]
    own = used(mine) - used(set(TEMPLATES.rglob("*.html")) - set(mine))
    assert set(foreign(path.read_text("utf-8"), own)) - SHARED == set()


def test_a_selector_that_reaches_further_is_found() -> None:
    sheet = ".a .x, .lit:is(.b, .c) { color: red } @media print { .part { top: 0 } } #id p { left: 0 }"
    assert foreign(sheet, {"a"}) == [".lit:is‹.b¦ .c›", ".part"]
