"""The catalogue of all text, extracted anew; and the texts of single files."""

import ast
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from jinja2 import nodes

from tests.support.templates import parsed

ROOT = Path(__file__).resolve().parents[2]


@cache
def extracted() -> str:
    """The .pot of all text, by the command of the Makefile."""
    (words,) = re.findall(r"^\t\$\(BABEL\) (extract .+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "messages.pot"
        options = [str(made) if word == "locale/messages.pot" else word for word in words.split()]
        command = [sys.executable, "-m", "babel.messages.frontend", "--quiet", *options]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        return made.read_text("utf-8")


MARKS = {"N_", "gettext", "_", "UserError"}
PLACES = {"gettext": 1, "ngettext": 2}  # how many of its arguments are messages


def marked(path: Path) -> list[str]:
    """The texts that a module marks with N_ or raises. They stand there as they are; what is raised may have a name."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    named = [(call.func.id, call.args[0]) for call in calls if isinstance(call.func, ast.Name) and call.args]
    written = (ast.Constant, ast.JoinedStr)
    texts = [text for name, text in named if name in MARKS and (name != "UserError" or isinstance(text, written))]
    computed = [text.lineno for text in texts if not isinstance(text, ast.Constant)]
    assert not computed, f"{path.name}, lines {computed}: the catalogue gets no text that is put together"
    return [str(text.value) for text in texts if isinstance(text, ast.Constant)]


def messages_of(source: str) -> list[str]:
    """The texts that a template has translated; {% trans %} becomes such a call."""
    calls = parsed(source).find_all(nodes.Call)
    asked = [call for call in calls if isinstance(call.node, nodes.Name) and call.node.name in PLACES]
    texts = [text for call in asked for text in call.args[: PLACES[getattr(call.node, "name", "")]]]
    return [text.value for text in texts if isinstance(text, nodes.Const)]


def messages_in(files: Iterable[Path]) -> set[str]:
    """The texts of modules and templates."""
    found = set[str]()
    for path in files:
        if path.suffix in (".html", ".svg"):
            found |= {*messages_of(path.read_text("utf-8"))}
        elif path.suffix == ".py" and path.parent.name != "listings":
            found |= {*marked(path)}
    return found
