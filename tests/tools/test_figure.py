"""The command that draws figures: files that are whole, sentences for people; and the cards of the site."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from microgpt.checkpoints.folder import load_checkpoint
from microgpt.files import write_whole
from microgpt.trace import to_json
from microgpt.viz.figures import figure, of_run
from microgpt.viz.large.from_trace import picture_of_trace
from microgpt.viz.large.picture import picture_of_model
from microgpt.viz.settings import Settings
from tests.support import checkpoints
from tools import figure as tool

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def test_an_svg_is_what_the_figure_is(tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    assert tool.main(["kv-cache", "--prompt", "anna", "--step", "2", "--head", "1", "--out", str(out)]) == 0
    assert out.read_text("utf-8") == figure("kv-cache", Settings("names", "anna"), {"step": 2, "head": 1})
    assert tool.main(["kv-cache", "--animate", "--out", str(out)]) == 0
    assert out.read_text("utf-8") == figure("kv-cache", Settings("names", "emm"), moves=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


def test_any_choice_and_language(tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    assert tool.main(["memory", "--choose", "known=1", "--lang", "es", "--out", str(out)]) == 0
    tree = ElementTree.fromstring(out.read_text("utf-8"))
    assert tree.get("lang") == "es" and "SmolLM2-135M" in {e.text for e in tree.iter(f"{SVG}text")}


def test_of_a_checkpoint_and_of_its_trace_the_figure_is_the_same(tmp_path: Path) -> None:
    folder, out, traced = checkpoints.llama(tmp_path / "Tiny"), tmp_path / "a.svg", tmp_path / "trace.json"
    picture = picture_of_model(load_checkpoint(folder), "day day", None, [1], [2])
    at = {"step": 2, "layer": 1, "head": 2}
    chosen = [f"--{name}={value}" for name, value in at.items()]
    run = ["--checkpoint", str(folder), "--prompt", "day day"]
    assert tool.main(["kv-cache", *run, *chosen, "--out", str(out)]) == 0
    assert (svg := out.read_text("utf-8")) == of_run(picture, at) and "from a run of Tiny" in svg
    write_whole({traced: to_json(picture.trace)})
    assert tool.main(["kv-cache", "--trace", str(traced), *chosen, "--out", str(out)]) == 0
    assert out.read_text("utf-8") == svg
    assert tool.main(["kv-cache", "--trace", str(traced), "--animate", "--out", str(out)]) == 0
    assert out.read_text("utf-8") == of_run(picture_of_trace(picture.trace), {}, True)


CHECKPOINT = ["--checkpoint", "Tiny", "--prompt", "day day"]
REFUSED: list[tuple[list[str], str]] = [
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
    (["kv-cache", "--out", "a.pdf"], "give --out a name that ends in .svg, .png or .gif"),
    (["kv-cache", "--out", "a.png", "--animate"], "A PNG cannot move"),
    (["kv-cache", "--out", "/proc/nothing/a.svg"], "cannot be written"),
    (["kv-cache", "--trace", "none"], "cannot be read"),
    (["kv-cache", "--new", "3"], "--new is for a checkpoint"),
    (["kv-cache", "--step", "1.5", *CHECKPOINT], "--step is “1.5”; give a whole number."),
    (["kv-cache", "--layer", "9", *CHECKPOINT], "There is no layer 9; this model has 0 to 1."),
    (["kv-cache", "--step", "99", *CHECKPOINT], "step is 99; this page has 0 to"),
    (["kv-cache", "--model", "names", *CHECKPOINT], "--model does not go with"),
    (["kv-cache", "--trace", "trace.json", *CHECKPOINT], "--checkpoint does not go with"),
    (["why-q", *CHECKPOINT], "Of a checkpoint or a trace the figure is that of the stepper"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED, ids=[" ".join(arguments) for arguments, _ in REFUSED])
def test_what_is_wrong_is_said_and_nothing_is_written(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoints.llama(tmp_path / "Tiny")
    Path("a.svg").write_text("old")
    assert tool.main([arguments[0], "--out", "a.svg", *arguments[1:]]) == 1
    error = capsys.readouterr().err
    assert said in error and error.startswith("tools.figure: ") and "Traceback" not in error
    assert Path("a.svg").read_text() == "old" and {path.name for path in tmp_path.iterdir()} == {"a.svg", "Tiny"}


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
    asked = [sys.executable, "-m", "tools.figure", "kv-cache", "--out", str(tmp_path / "a.png")]  # a driver a process
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("tools.figure: A PNG needs Chromium: ")
    assert done.stderr.count("\n") == 1
