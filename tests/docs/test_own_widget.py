"""docs/own-widget.md: its two files are a lesson, and mistakes in them get a sentence."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from markupsafe import escape

import build
from microgpt.course import LESSONS, PAGES
from microgpt.errors import UserError
from microgpt.viz import lesson, views
from microgpt.viz.check import check
from microgpt.viz.figures import figure, of_view
from microgpt.viz.lesson import Choice, Table, Word, add, lesson_named
from microgpt.viz.notebook import show
from microgpt.viz.rendering.render import HERE, render_baked
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import language
from tests.support.own_widget import ROOT, blocks, written
from tools import build_lesson
from tools.watch import snapshot


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The lesson of the document; what is remembered of it goes with it."""
    known, loaded = dict(lesson.ADDED), set(sys.modules)
    yield written(tmp_path)
    lesson.ADDED.clear()
    lesson.ADDED.update(known)
    for name in set(sys.modules) - loaded:
        del sys.modules[name]


def test_a_lesson_that_is_added_anew_is_drawn_anew(folder: Path) -> None:
    add(folder)
    first = dispatch(None, "run", {"page": "loudest", "model": "names", "prompt": "zoe"})
    widget = folder / "widget.html"
    widget.write_text(f"<p>anew: {{{{ lesson.PAGE.label }}}}</p>{widget.read_text('utf-8')}", "utf-8")
    add(folder)
    second = dispatch(None, "run", {"page": "loudest", "model": "names", "prompt": "zoe"})
    assert "anew" not in str(first) and "<p>anew: Loudest key</p>" in str(second)


def test_the_name_of_a_folder_takes_nobodys_place(folder: Path) -> None:
    """A lesson may lie in a folder that is called as a module is, and bring modules of its own along."""
    import json

    other = folder.rename(folder.parent / "json")
    start = other / "__init__.py"
    for length in (1, 22):  # the second time, what was imported the first time is not there any more
        (other / "more.py").write_text(f"LENGTH = {length}\n", "utf-8")
        text = f"from . import more\nMORE = more.LENGTH\n{blocks('python')[0]}"
        start.write_text(text, "utf-8")
        module = lesson.ADDED[add(other).name].module
        assert module.MORE == length
    assert sys.modules["json"] is json
    (other / ".hidden.py").write_text("")
    (other / "link.py").symlink_to(__file__)
    files = lesson.ADDED["loudest"].files
    names = {name.removeprefix("microgpt_lessons/loudest/") for name in files}
    assert names == {"__init__.py", "widget.html", "more.py"}


@pytest.mark.parametrize(
    ("title", "head"), [("Which 10% of keys are longest?", "share in %"), ("Is <b>k</b> < v?", "<i>v</i> & k")]
)
def test_any_text_is_shown_as_it_is(folder: Path, title: str, head: str) -> None:
    start = folder / "__init__.py"
    text = start.read_text("utf-8").replace("Which key is the longest?", title).replace('"length"]', f'"{head}"]')
    start.write_text(text, "utf-8")
    check(folder)
    page = lesson_named("loudest")
    html = render_baked(page, views.of(page), HERE, False, "")
    assert f"<h1>{escape(title)}</h1>" in html and f'<th scope="col">{escape(head)}</th>' in html
    assert escape(head) in figure(page, Settings("names", "emm"))


def test_it_costs_two_files_and_no_edit(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["__init__.py", "widget.html"]
    assert len("".join([*blocks("python")[:1], *blocks("jinja")]).strip().splitlines()) <= 45
    check(folder)


@pytest.mark.slow("starts a pytest of its own")
def test_its_own_test_passes(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_loudest.py"],
        cwd=folder.parent,
        capture_output=True,
        text=True,
    )
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
    assert "Which key is the longest?" in html and "Tu texto" in html
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


START = blocks("python")[0]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("widget.html", None, "is no lesson: it has no widget.html"),
        ("__init__.py", None, "is no lesson: it has no __init__.py"),
        ("__init__.py", "PAGE = 1", "its __init__.py needs PAGE, a Page, and view"),
        ("__init__.py", "1 / 0", "fails (ZeroDivisionError: division by zero; __init__.py:1)"),
        ("__init__.py", "syntax error", "fails (SyntaxError: invalid syntax; __init__.py:1)"),
        ("more.py", "a = 1\nif a\n", "fails (SyntaxError: expected ':'; more.py:2)"),
        ("__init__.py", "raise SystemExit(0)", "fails (SystemExit: 0; __init__.py:1)"),
        ("widget.html", "<p>\n{% include 'none.html' %}", "fails (TemplateNotFound: none.html; widget.html:2)"),
        ("style.css", "p" * 50_000_001, "holds more than the 2000 files or 50 MB"),
        ("__init__.py", START.replace('"loudest"', '"kv-cache"'), "take small letters and a name"),
        ("__init__.py", START.replace('"loudest"', '"../x"'), "take small letters and a name"),
        ("__init__.py", START.replace('"loudest"', '"loop"'), "take small letters and a name"),
        ("__init__.py", START.replace("    trace = ", "    1 / 0\n    trace = "), "division by zero; __init__.py:"),
        ("__init__.py", START.replace('"loudest"', "7"), "take small letters and a name"),
        ("__init__.py", START.replace('Choice("head"', 'Choice("case"'), "fails (UndefinedError"),
        ("widget.html", "<p>\n{% nothing %}", "unknown tag 'nothing'.; widget.html:2)"),
    ],
)
def test_what_is_no_lesson_gets_one_sentence(
    folder: Path,
    file: str,
    text: str | None,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(build_lesson, "pack_beside", lambda *_: "runtime-0")
    if text is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(text, "utf-8")
    out = folder.parent / "out"
    assert build.main(["--lesson", str(folder), "--out", str(out)]) == 1
    error = capsys.readouterr().err
    assert said in error.splitlines()[-1] and "Traceback" not in error
    assert not out.exists()


def test_no_link_is_followed_and_nothing_is_built_into_the_lesson_itself(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links to itself, twice, and to the whole disk: all that looks through the folder leaves them out, and says so."""
    monkeypatch.setattr(build_lesson, "pack_beside", lambda *_: "runtime-0")
    for name, target in {"a": ".", "b": ".", "disk": "/", "style.css": __file__}.items():
        (folder / name).symlink_to(target)
    assert {Path(path).name for path in snapshot([folder])} == {"__init__.py", "widget.html"}
    out = folder.parent / "out"
    assert build.main(["--lesson", str(folder), "--out", str(out)]) == 0
    said = capsys.readouterr().err
    assert [line for line in said.splitlines() if "left out" in line] == [
        f"left out: {name}, a link" for name in ("a", "b", "disk", "style.css")
    ]
    assert "telling" not in (out / "style.css").read_text("utf-8") and not lesson.ADDED["loudest"].style
    assert len(lesson.ADDED["loudest"].files) == 2
    (folder.parent / "alias").symlink_to(folder)
    for place in (folder / "out", folder, folder.parent / "alias" / "out", ROOT / "templates" / "new"):
        options = [] if place.is_relative_to(ROOT) else ["--lesson", str(folder)]
        assert build.main([*options, "--out", str(place)]) == 1
        assert "whose files go along into what is built" in capsys.readouterr().err
    assert not (folder / "out").exists() and not (ROOT / "templates" / "new").exists()


def test_a_full_disk_is_no_lessons_fault(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(build_lesson, "pack_beside", full)
    assert build.main(["--lesson", str(folder), "--out", str(folder.parent / "out")]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert "No space left on device" in said and "lesson" not in said.replace(str(folder), "").split("(")[0]


def test_a_widget_and_a_lesson_are_one_too_many(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["--lesson", str(folder), "--widget", "memory"]) == 1
    assert "--lesson brings its own widget" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("range(heads)),)", "range(heads + 1)),)"), r"has the values \['0', '1', '2', '3', '4'\], and"),
        (("range(heads)),)", "range(1, heads + 1), 1),)"), r"has the values \['1', '2', '3', '4'\], and"),
        (("range(heads)),)", "range(heads), 7),)"), r"begins with 7, and \[\] is pressed"),
        (('(Choice("head", range(heads)),)', "()"), "a lesson has a choice"),
        (("settings.trace()", "Settings('names', 'zoe').trace()"), "a wrong text must give a sentence"),
    ],
)
def test_check_finds_what_does_not_hold(folder: Path, change: tuple[str, str], said: str) -> None:
    start = folder / "__init__.py"
    text = start.read_text("utf-8")
    assert change[0] in text
    start.write_text(text.replace(*change), "utf-8")
    with pytest.raises(AssertionError, match=said):
        check(folder)


def test_a_view_without_tables_needs_a_figure(folder: Path) -> None:
    page = add(folder)
    with pytest.raises(UserError, match="has no figure; it needs a choice, and figure.svg or a view with tables"):
        of_view(page, Settings("names", "emm"), SimpleNamespace(choices=(Choice("head", range(2)),)), {"head": 0})


@pytest.mark.parametrize("value", ["gone_for_good", "loudest:PAGE", "loudest"])
def test_an_entry_point_is_a_lesson_or_gets_a_sentence(
    folder: Path, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder.parent))
    point = metadata.EntryPoint("loudest", value, lesson.GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point])
    if value == "loudest":
        assert lesson_named("loudest").title == "Which key is the longest?"
    else:
        with pytest.raises(UserError, match="The lesson in “.*” fails"):
            lesson_named("loudest")


def test_a_bar_is_as_long_as_its_share() -> None:
    table = Table(["a", "b", "c"], [["x", 2.0, 9.0], ["y", -0.5, 1.0], ["z", "–", 1]])
    assert [table.share(value) for value in (2.0, -0.5)] == [1.0, 0.25]
    assert Table(["a", "b"], [["x", 0.0]]).share(0.0) == 0.0
    cells = ["–", Word("stays", "old"), 3, np.int64(3), 0.5, np.float32(0.5)]
    assert [table.kind(cell) for cell in cells] == ["text", "word", "whole", "whole", "number", "number"]


def test_a_lesson_of_the_course_costs_seven_written_files_and_two_edits() -> None:
    """That on an edited text, which has a style of its own, beside its tests; its card.png is drawn by a command. The
    other edited file is the translation, from which all else of the catalogue is made.
    """
    written = "__init__.py lesson.py questions.py widget.html prose.html style.css words.html"
    new = {f"microgpt/course/edited_text/{name}" for name in (*written.split(), "card.png")}
    new |= {f"tests/course/edited_text/{name}" for name in ("__init__.py", "test_lesson.py", "questions.py")}
    folders = [ROOT / name for name in ("microgpt", "templates", "site", "tools", "tests")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    there = {path.relative_to(ROOT).as_posix(): path for path in files}
    assert {name for name in there if re.search(r"edited[-_]text", name)} == new
    read = {name for name in there if re.search(r"^(?!tests/).*\.(py|html|svg|css)$", name)}
    named = {name for name in read if re.search(r"[\"'/]edited[-_]text\b", there[name].read_text("utf-8"))}
    assert named - new == {"microgpt/course/__init__.py"}
