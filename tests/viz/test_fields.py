"""What a lesson or an app lists for its pages is read: by its templates, a figure, or Python that travels."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from microgpt.course import PAGES
from microgpt.viz.text.place import PACKAGE, ROOT

SHOWN = sorted({page.folder for page in PAGES if page.view_name and page.app != "exercises"})
FRAME = tuple(path for at in ("templates", "microgpt/viz") for path in (ROOT / at).rglob("*.*") if path.is_file())
CODE = re.compile(r"{[{%].*?[}%]}", re.DOTALL)  # of a template
MADE = ["Text.new"]  # with what tools/trained.py makes the trace of a page
NAME = r"[a-z_]\w*"


@cache
def read_in(path: Path) -> set[tuple[str, str]]:
    """What a file reads: ("view", "trace") for view.trace; where it is not said of what, ("", "trace")."""
    if path.suffix == ".py":
        found = [one for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.Attribute)]
        return {(ast.unparse(one.value), one.attr) for one in found if isinstance(one.ctx, ast.Load)}
    if path.suffix not in (".html", ".svg", ".css"):
        return set()
    code = " ".join(CODE.findall(path.read_text()))
    parts = re.findall(rf"""["']({NAME})["']""", code)
    for targets in re.findall(r"{% (?:for|set) ([\w, ()]+?) (?:in|=)", code):
        parts += re.findall(NAME, targets)  # the parts of a tuple
    return {*re.findall(rf"(?=(\b{NAME}|[)\]])\.({NAME}))", code), *(("", part) for part in parts)}


def listed(tree: ast.AST) -> list[tuple[str, str]]:
    """Type and field, of a module's tuples and data classes, and of what says its numbers as it is made."""
    kinds, found = [kind for kind in ast.walk(tree) if isinstance(kind, ast.ClassDef)], []
    for kind in kinds:
        if "NamedTuple" in map(ast.unparse, kind.bases) or kind.decorator_list:
            found += [(kind.name, ast.unparse(one.target)) for one in kind.body if isinstance(one, ast.AnnAssign)]
        said = [one for one in ast.walk(kind) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)]
        found += [(kind.name, one.attr) for one in said if ast.unparse(one.value) == "self"]
    return found


def constant(tree: ast.AST) -> list[str]:
    """What a View says that no run changes, which templates read from the module; but for what the frame asks for."""
    views = [kind for kind in ast.walk(tree) if isinstance(kind, ast.ClassDef) and kind.name == "View"]
    said = [one for kind in views for one in ast.walk(kind) if isinstance(one, ast.Assign)]
    return [
        one.targets[0].attr
        for one in said
        if isinstance(one.targets[0], ast.Attribute) and one.targets[0].attr not in ("choices", "fields", "legend")
        if all(part.id.isupper() for part in ast.walk(one.value) if isinstance(part, ast.Name))
    ]


@cache
def read_of_views(frame: tuple[Path, ...]) -> set[str]:
    return {name for path in frame for of, name in read_in(path) if of == "view"}


def unread(own: list[Path], frame: tuple[Path, ...]) -> list[str]:
    """The fields that no file reads: of a View, as one of its own; of others, at least in a file beside them."""
    read = {one for path in own for one in read_in(path)}
    names = {name for _, name in read}
    of_views = {name for of, name in read if of in ("view", "shown", "self")}
    of_views |= {"fields", *read_of_views(frame)}  # some have them
    fields = {one for path in own if path.suffix == ".py" for one in listed(ast.parse(path.read_text()))}
    return sorted(f"{kind}.{name}" for kind, name in fields if name not in (of_views if kind == "View" else names))


@pytest.mark.parametrize("shown", SHOWN)
def test_every_field_is_read(shown: str) -> None:
    texts = [path.read_text("utf-8") for path in (PACKAGE / shown).glob("*.html")]
    folders = {shown, *(folder for text in texts for folder in re.findall(r'include "((?:apps|course)/\w+)/', text))}
    own = [path for folder in folders for path in (PACKAGE / folder).rglob("*.*") if path.is_file()]
    assert own and unread(own, FRAME) in ([], MADE)
    modules = [path for path in own if path.suffix == ".py"]
    assert [field for path in modules for field in constant(ast.parse(path.read_text()))] == []


def test_a_field_that_nobody_reads_is_found(tmp_path: Path) -> None:
    module, template = tmp_path / "lesson.py", tmp_path / "widget.html"
    module.write_text(
        "class Row(NamedTuple):\n    k: int\n    v: int\n    q: int\n\n"
        "class View:\n    def __init__(self):\n        self.rows, self.n = [], 1\n        self.k = 2\n"
    )
    template.write_text(
        "{% for row in view.rows %}{{ row.k }}{% endfor %}{% for q, _ in view.n %}{{ q }}{% endfor %} .v"
    )
    assert unread([module, template], ()) == ["Row.v", "View.k"]
    assert constant(ast.parse(module.read_text())) == ["k"]
