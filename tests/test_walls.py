"""compute -> record -> show, one direction: who may import whom, and how large a module may grow."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "microgpt").rglob("*.py"))
STDLIB_ONLY_BUT = {"numpy", "microgpt"}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return found


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_maths_knows_nothing_of_pages_and_pages_touch_no_browser(path: Path) -> None:
    used, name = imports(path), name_of(path)
    if not name.startswith("microgpt.viz"):
        assert not [u for u in used if u.startswith(("microgpt.viz", "jinja2", "tools", "build"))]
    if name != "microgpt.viz.browser":
        assert not [u for u in used if u.split(".")[0] in ("js", "pyodide", "pyodide_js")]
    assert not [u for u in used if u.split(".")[0] in ("torch", "pickle", "requests")]


def test_the_model_knows_only_the_cache_and_the_rotation() -> None:
    ours = {u for u in imports(ROOT / "microgpt" / "model.py") if u.startswith("microgpt")}
    assert ours == {"microgpt.cache", "microgpt.cache.KVCache", "microgpt.rope", "microgpt.rope.ROTATIONS"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_the_build_and_training_write_files(path: Path) -> None:
    writers = {"microgpt.weights", "microgpt.train", "microgpt.files"}  # the last: what a notebook saves
    text = path.read_text("utf-8")
    if name_of(path) not in writers:
        assert not re.search(r"write_text|write_bytes|open\([^)]*[\"']w|np\.savez|mkdir|unlink", text)


def test_templates_do_no_arithmetic_on_values() -> None:
    """Sums, products and rounding belong into the model, steps.py or panels.py; i + 1 for a label is not arithmetic."""
    for path in (ROOT / "templates").rglob("*.html"):
        for expression in re.findall(r"\{[{%](.*?)[}%]\}", path.read_text("utf-8"), re.S):
            bare = re.sub(
                r"\"[^\"]*\"|'[^']*'|\w+ [+-] 1\b|[+-]?\bi [+-] 1|\.rows - 1|\.n - 1|LEVELS \+ 1|-view",
                "",
                expression,
            )
            assert not re.search(r"[\w)] ?[*/] ?[\w(]|\|round|\|sum", bare), (path.name, expression)


@pytest.mark.parametrize("path", [*MODULES, ROOT / "build.py", *sorted((ROOT / "tools").glob("*.py"))], ids=name_of)
def test_modules_are_small_and_say_what_they_are(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 300
    assert ast.get_docstring(ast.parse(text))


def test_scripts_are_four_and_small_enough_to_be_read() -> None:
    """boot.js and worker.js carry messages, host.js reads the address and talks to a frame's host, offline.js keeps."""
    scripts = {p.name: p.read_text("utf-8").splitlines() for p in (ROOT / "site").rglob("*.js")}
    assert scripts.keys() == {"boot.js", "worker.js", "host.js", "offline.js"}
    assert sum(map(len, scripts.values())) <= 350
    assert {p.suffix for p in (ROOT / "site").rglob("*") if p.is_file()} <= {".js", ".css", ".svg", ".png"}
