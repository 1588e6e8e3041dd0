"""docs/own-widget.md: its two files are a lesson, and each mistake that one can make in them gets a sentence."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import build
from microgpt.errors import UserError
from microgpt.viz import lesson, views
from microgpt.viz.check import check
from microgpt.viz.course import LESSONS, PAGES
from microgpt.viz.figures import figure
from microgpt.viz.lesson import Table, add, lesson_named
from microgpt.viz.notebook import show
from microgpt.viz.rendering.render import HERE, environment, render_baked
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import language
from tests.support.own_widget import ROOT, blocks, written


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The lesson of the document; what is remembered of it goes with it."""
    known, loaded = dict(lesson.ADDED), set(sys.modules)
    yield written(tmp_path)
    lesson.ADDED.clear()
    lesson.ADDED.update(known)
    for name in set(sys.modules) - loaded:
        del sys.modules[name]
    environment.cache_clear()


def test_it_costs_two_files_and_no_edit(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["__init__.py", "widget.html"]
    assert len("".join([*blocks("python")[:1], *blocks("jinja")]).strip().splitlines()) <= 45
    check(folder)


def test_its_own_test_passes(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_loudest.py"], cwd=folder.parent,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_shows_what_the_trace_holds(folder: Path) -> None:
    page = add(folder)
    shown = views.view(page.widget, Settings("names", "zoe"))
    assert isinstance(shown, lesson.View)
    heads = shown.trace.about["config"]["n_kv_head"]
    for head, table in enumerate(shown.tables):
        rows = [shown.trace["k", i, 0].reshape(heads, -1)[head] for i in range(len(table.rows))]
        assert [row[1] for row in table.rows] == pytest.approx([float(np.sqrt((row**2).sum())) for row in rows])
        said = figure(page, Settings("names", "zoe"), {"head": head})
        assert all(f">{row[1]:.2f}<" in said for row in table.rows)


def test_the_frame_speaks_spanish_and_the_lesson_its_own_language(folder: Path) -> None:
    page = add(folder)
    with language("es"):
        html = render_baked(page, views.of(page), HERE, False, "")
    assert "Which key is the longest?" in html and "Tu propio texto" in html
    bare = page._replace(try_="", notice="")
    with language("es"):  # the empty text is the head of a catalogue
        assert "Project-Id-Version" not in render_baked(bare, views.of(page), HERE, False, "")


def test_readers_and_notebooks_find_it_by_its_name(folder: Path) -> None:
    page = add(folder)
    assert lesson_named("loudest") == page == lesson.page_named("loudest")
    _, patches = dispatch(None, "run", {"page": "loudest", "model": "names", "prompt": "zoe"})
    assert any(patch.get("target") == "#widget" and "key of" in patch["html"] for patch in patches)
    assert "Which key is the longest?" in show("zoe", widget="loudest", head=2)._repr_html_()
    with pytest.raises(UserError, match="head is 9; this page has 0 to 3"):
        show("zoe", widget="loudest", head=9)


def test_it_belongs_to_no_page_of_the_course(folder: Path) -> None:
    add(folder)
    assert "loudest" not in [page.name for page in (*PAGES, *LESSONS)]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("widget.html", None, "is no lesson: it has no widget.html"),
        ("__init__.py", None, "is no lesson: it has no __init__.py"),
        ("__init__.py", "PAGE = 1", "its __init__.py needs PAGE, a Page, and view"),
        ("__init__.py", "1 / 0", "cannot be loaded (ZeroDivisionError: division by zero)"),
        ("__init__.py", "syntax error", "cannot be loaded (SyntaxError"),
        ("__init__.py", blocks("python")[0].replace('"loudest"', '"kv-cache"'), "take small letters and a name"),
        ("__init__.py", blocks("python")[0].replace('"loudest"', '"../x"'), "take small letters and a name"),
    ],
)  # fmt: skip
def test_what_is_no_lesson_gets_one_sentence(
    folder: Path, file: str, text: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(text, "utf-8")
    out = folder.parent / "out"
    assert build.main(["--lesson", str(folder), "--out", str(out)]) == 1
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error and error.count("\n") == 1
    assert not out.exists()


def test_a_widget_and_a_lesson_are_one_too_many(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["--lesson", str(folder), "--widget", "memory"]) == 1
    assert "--lesson brings its own widget" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("range(heads)),)", "range(heads + 1)),)"), "“head” has 5 values and 4 buttons"),
        (('Choice("head"', 'Choice("case"'), "at"),
    ],
)
def test_check_finds_a_choice_without_its_buttons(folder: Path, change: tuple[str, str], said: str) -> None:
    start = folder / "__init__.py"
    start.write_text(start.read_text("utf-8").replace(*change), "utf-8")
    with pytest.raises(Exception, match=said):
        check(folder)


def test_a_bar_is_as_long_as_its_share() -> None:
    table = Table(["a", "b", "c"], [["x", 2.0, 9.0], ["y", -0.5, 1.0]])
    assert [table.share(row[1]) for row in table.rows] == [1.0, 0.25]  # type: ignore[arg-type]
    assert Table(["a", "b"], [["x", 0.0]]).share(0.0) == 0.0


def test_a_lesson_of_the_course_costs_seven_new_files_and_two_edits() -> None:
    """That on what is read most, as it was added. The other edited file is the translation, from which all else of the
    catalogue is made.
    """
    new = [
        "microgpt/viz/lessons/most_read.py", "templates/lessons/most_read/widget.html",
        "templates/lessons/most_read/prose.html", "tests/viz/lessons/test_most_read.py", "site/cards/most-read.png",
    ]  # fmt: skip
    assert all((ROOT / name).is_file() for name in new) and len(new) <= 7
    folders = [ROOT / name for name in ("microgpt", "templates", "site", "tools")]
    paths = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".html", ".svg", ".css")
    ]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}
    named = {name for name, text in texts.items() if re.search(r"[\"'/]most[-_]read\b", text)}
    assert named - {*new, "tests/docs/test_own_widget.py"} == {"microgpt/viz/course.py"}
