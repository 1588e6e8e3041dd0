"""The command that draws figures: files that are whole, sentences for people; and the cards of the site."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from microgpt.viz.figures import animated, figure
from microgpt.viz.settings import Settings
from tools import figure as tool

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def command(arguments: list[str]) -> tuple[int, str]:
    """Its exit code and what it said on stderr. A process of its own, as a browser driver runs once in each."""
    done = subprocess.run([sys.executable, "-m", "tools.figure", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stderr


def test_an_svg_is_what_the_figure_is(tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    assert tool.main(["kv-cache", "--prompt", "anna", "--step", "2", "--head", "1", "--out", str(out)]) == 0
    assert out.read_text("utf-8") == figure("kv-cache", Settings("names", "anna"), {"step": 2, "head": 1})
    assert tool.main(["kv-cache", "--animate", "--out", str(out)]) == 0
    assert out.read_text("utf-8") == animated("kv-cache", Settings("names", "emm"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


def test_any_choice_and_language(tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    assert tool.main(["memory", "--choose", "known=1", "--lang", "es", "--out", str(out)]) == 0
    tree = ElementTree.fromstring(out.read_text("utf-8"))
    assert tree.get("lang") == "es" and "SmolLM2-135M" in {e.text for e in tree.iter(f"{SVG}text")}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kv-cache", "--step", "99"], "step is 99; this page has 0 to 6."),
        (["kv-cache", "--choose", "way=1"], "This page has no “way” to choose; leave it out."),
        (["kv-cache", "--choose", "way"], "--choose is “way”; give a name and a value, such as step=4."),
        (["nowhere"], "There is no page “nowhere”."),
        (["glossary"], "The page “glossary” has no figure"),
        (["kv-cache", "--model", "gpt"], "gpt"),
        (["kv-cache", "--prompt", "Ünï"], "."),
        (["kv-cache", "--prompt", ""], "The prompt is empty; give at least one token."),
        (["kv-cache", "--scale", "much"], "--scale is “much”; give a number from 1 to 8."),
        (["kv-cache", "--scale", "99"], "--scale is “99”; give a number from 1 to 8."),
        (["kv-cache", "--scale", "nan"], "--scale is “nan”; give a number from 1 to 8."),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.svg"
    out.write_text("old")
    assert tool.main([*arguments, "--out", str(out)]) == 1
    error = capsys.readouterr().err
    assert said in error and error.startswith("tools.figure: ") and "Traceback" not in error
    assert out.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("a.pdf", [], "give --out a name that ends in .svg or .png"),
        ("a.png", ["--animate"], "A PNG cannot move"),
        ("missing/a.svg", [], "cannot be written"),
    ],
)
def test_where_it_cannot_go_is_said(
    name: str, more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tool.main(["kv-cache", *more, "--out", str(tmp_path / name)]) == 1
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "a.svg"
    out.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert tool.main(["kv-cache", "--out", str(out)]) == 1
    assert out.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_without_a_browser_there_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    code, said = command(["kv-cache", "--out", str(tmp_path / "a.png")])
    assert code == 1 and said.startswith("tools.figure: A PNG needs Chromium: ") and said.count("\n") == 1
