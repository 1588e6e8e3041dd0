"""A lesson from a checkpoint folder: two pages, what they load, their trace; and a sentence for what cannot be."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import build
from microgpt.checkpoints.folder import load_checkpoint
from microgpt.record import Recording
from microgpt.trace import from_json, to_json
from tests.support import checkpoints
from tests.tools.built import leads
from tools.output.folder import MANIFEST

FILES = {"index.html", "embed.html", "trace.json", "style.css", "host.js", "offline.js", "icon.svg"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In a folder with a name that wants escaping."""
    return checkpoints.llama(tmp_path_factory.mktemp("models") / "Tiny <b>&100%")


def baked(folder: Path, out: Path, *options: str) -> dict[str, str]:
    assert build.main(["--model", str(folder), "--prompt", "day day", "--out", str(out), *options]) == 0
    return {path.name: path.read_text("utf-8") for path in out.iterdir()}


@pytest.fixture(scope="module")
def files(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return baked(folder, tmp_path_factory.mktemp("a") / "lesson")


def test_the_folder_holds_both_forms_what_they_load_and_the_trace(files: dict[str, str]) -> None:
    assert files.keys() == {*FILES, MANIFEST}
    for form in ("index.html", "embed.html"):
        html = files[form]
        assert {*leads(html)} <= FILES
        assert "boot.js" not in html and "wasm-unsafe-eval" not in html and "<html data-no-python " in html
        assert "Your text" not in html
    trace = from_json(files["trace.json"])
    assert trace.about["dtype"] == "float32" and trace.about["model"] == "Tiny <b>&100%"
    assert trace.about["tokens"][0] == "<begin>"


def test_a_lesson_out_of_a_trace_is_that_of_its_model(files: dict[str, str], tmp_path: Path) -> None:
    """To the last byte of its pages, without the model; and who has recorded it elsewhere is named."""
    file, out = tmp_path / "trace.json", tmp_path / "lesson"
    file.write_text(files["trace.json"], "utf-8")
    assert build.main(["--trace", str(file), "--out", str(out)]) == 0
    again = {path.name: path.read_text("utf-8") for path in out.iterdir()}
    assert again.keys() == files.keys()
    for name in files.keys() - {MANIFEST, "trace.json"}:
        assert again[name] == files[name]
    for one, other in zip(from_json(again["trace.json"]), from_json(files["trace.json"]), strict=True):
        assert one[0] == other[0] and one[2:] == other[2:] and np.array_equal(one.value, other.value, equal_nan=True)
    part = from_json(files["trace.json"])
    part.about |= {"engine": "an engine 1.0", "dtype": "bfloat16", "device": "a card"}
    file.write_text(to_json(part), "utf-8")
    assert build.main(["--trace", str(file), "--out", str(out), "--lang", "es"]) == 0
    html = (out / "index.html").read_text("utf-8")
    assert "an engine 1.0, en bfloat16, en a card." in html
    assert build.main(["--trace", str(file), "--out", str(out)]) == 0
    assert "Recorded from an engine 1.0, in bfloat16, on a card." in (out / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "text", "said"),
    [
        (["--model", "names"], "{}", "--model is for a model that is run"),
        (["--prompt", "a"], "{}", "--prompt is for a model that is run"),
        ([], "{}", "not a trace that this version can read"),
        ([], None, "cannot be read"),
        ([], '{"format": "microgpt-trace", "version": 1, "about": {}, "events": []}', "config is missing"),
        (["--layers", "1"], "the lesson's", "cut.in_layers.heads"),
        ([], "spoilt", "whole.chances is missing"),
        (["--new", "0"], "{}", "--new is for a model that is run"),
    ],
)
def test_what_is_no_trace_for_a_lesson(
    options: list[str],
    text: str | None,
    said: str,
    files: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, out = tmp_path / "trace.json", tmp_path / "lesson"
    if text is not None:
        part = files["trace.json"].replace('"layers": [0, 1]', '"layers": [0]')
        spoilt = files["trace.json"].replace('"chances"', '"other"')
        file.write_text({"the lesson's": part, "spoilt": spoilt}.get(text, text), "utf-8")
    assert build.main(["--trace", str(file), "--out", str(out), *options]) == 1
    assert said in capsys.readouterr().err and not out.exists()


def test_the_page_speaks_of_the_folders_name_and_of_the_models_shape(files: dict[str, str]) -> None:
    html = files["index.html"]
    assert "<h1>Why does Tiny &lt;b&gt;&amp;100% keep K and V, and throw Q away?</h1>" in html
    assert "through 2 layers. In each, 4 heads ask, each with a query of 2 numbers, and share 2 heads" in html
    assert "Tiny <b>" not in html
    assert "starts every text" in html and "keys are kept after rotation" in html


def test_the_authors_choices_and_one_file(folder: Path, tmp_path: Path) -> None:
    options = ["--layers", "1", "--heads", "0,3", "--head", "3", "--step", "1", "--new", "1", "--dtype", "float64"]
    files = baked(folder, tmp_path / "lesson", *options, "--single-file", "--lang", "es")
    assert files.keys() == {"index.html", "embed.html", "trace.json", MANIFEST}
    heads = re.findall(r'<input[^>]*name="head" value="([\d.]+)"( checked)?', files["index.html"])
    assert heads == [("1.0", ""), ("1.3", " checked")]
    assert re.search(r'name="step" value="1"[^>]* checked', files["index.html"])
    assert '<html data-no-python lang="es"' in files["index.html"]
    trace = from_json(files["trace.json"])
    assert trace.about["dtype"] == "float64" and len(trace.about["tokens"]) == len(trace.about["ids"])
    assert build.main(["--model", str(folder), "--prompt", "day day", "--out", str(tmp_path / "lesson"), *options,
                       "--single-file", "--lang", "es", "--check"]) == 0  # fmt: skip
    baked(folder, tmp_path / "lesson", *options)  # and is replaced like a site


@pytest.mark.parametrize(("widget", "says"), [("why-q", "Who was read when"), ("with-and-without", "The same answer")])
def test_other_pages_of_the_course(folder: Path, tmp_path: Path, widget: str, says: str) -> None:
    html = baked(folder, tmp_path / "lesson", "--widget", widget)["index.html"]
    assert says in html and "Your text" not in html and "<html data-no-python " in html


def model_of(place: Path, huge: bool = False, **config: Any) -> Path:
    tensors = checkpoints.llama_tensors(np.random.default_rng(0))
    if huge:
        tensors["lm_head.weight"][:] = 3e38
    return checkpoints.write(place, checkpoints.LLAMA | config, tensors, checkpoints.byte_level())


def refused(folder: Path, prompt: str, widget: str, out: Path) -> bool:
    given = ["--model", str(folder), "--prompt", prompt, "--widget", widget, "--out", str(out)]
    return build.main(given) == 1 and not out.exists()


def test_a_window_bounds_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a page says of reads holds where all rows are seen."""
    folder = model_of(tmp_path / "m", model_type="mistral", sliding_window=5)
    files = baked(folder, tmp_path / "a", "--widget", "with-and-without", "--prompt", "day")
    trace = from_json(files["trace.json"])
    assert len(trace.about["tokens"]) == 5 and '"row">100,000<' not in files["index.html"]
    assert build.main(["--model", str(folder), "--prompt", "day " * 6, "--out", str(tmp_path / "b")]) == 1
    assert "The prompt has 7 tokens; a page shows at most 5." in capsys.readouterr().err


def first_choice(folder: Path, prompt: str) -> int:
    recording = Recording(load_checkpoint(folder), prompt, max_new=1)
    trace = recording.run()
    choice = trace.number("sample", recording.n_prompt - 1)
    assert choice is not None
    return choice


def test_where_the_model_stops_every_page_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    choice = first_choice(model_of(tmp_path / "m"), "day day")
    folder = model_of(tmp_path / "m", eos_token_id=choice)
    for widget in ("stepper", "with-and-without"):
        html = baked(folder, tmp_path / widget, "--widget", widget)["index.html"]
        assert ("the text is complete" if widget == "stepper" else "The model stops here") in html
    model_of(tmp_path / "m", eos_token_id=first_choice(folder, "day"))
    capsys.readouterr()
    for widget in ("stepper", "why-q", "with-and-without"):
        assert refused(folder, "day", widget, tmp_path / "x")
        assert "The model ends this text at once" in capsys.readouterr().err


def test_numbers_that_overflow_are_said_and_nothing_is_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = model_of(tmp_path / "m", huge=True)
    for widget in ("stepper", "why-q", "with-and-without"):
        assert refused(folder, "day", widget, tmp_path / "x")
        err = capfd.readouterr().err
        assert "The numbers of this model overflow at token " in err and "Warning" not in err


def test_the_largest_part_is_named_whichever_it_is(tmp_path: Path) -> None:
    """A small model with a large vocabulary works most for its logits."""
    html = baked(model_of(tmp_path / "m"), tmp_path / "a", "--widget", "with-and-without")["index.html"]
    assert "the largest part is another here, output head: " in html and "MLP is also the largest" not in html


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--layers", "7"], "There is no layer 7; this model has 0 to 1."),
        (["--layers", "1", "--heads", "0,4"], "There is no head 4; this model has 0 to 3."),
        (["--heads", "x"], "The heads to open are “x”; give numbers such as 0, 5, 11."),
        (["--new", "99"], "99 new ones are more than the 12 that a page shows"),
        (["--layer", "1", "--heads", "0", "--head", "3"], "Layer 1, head 3 is not open on this page"),
        (["--widget", "memory"], "cannot be made from a checkpoint; these can: stepper, with-and-without, why-q."),
        (["--widget", "why-q", "--layers", "1"], "layers and heads are for the stepper; leave them out."),
        (["--widget", "why-q", "--layer", "1"], "This page has no “layer” to choose; leave it out."),
        (["--widget", "nix"], "There is no widget “nix”; there is stepper, next-token"),
        (["--step", "77"], "step is 77; this page has 0 to"),
        (["--lang", "xx"], "language is “xx”; give one of en, es"),
        (["--prompt", "day " * 12], "tokens; a page shows at most 12. Shorten it."),
        (["--prompt", ""], "needs a text; give --prompt"),
        (["--model", "./nix"], "There is no folder nix."),
        (["--model", "./" + "a" * 300], "There is no folder aaa"),
        (["--model", "a" * 300, "--new", "1"], "--new is for a checkpoint; give its folder as --model."),
        (["--model", "names", "--layers", "0"], "--layers is for a checkpoint; give its folder as --model."),
        (["--base-url", "https://x.org"], "--base-url is for the site; leave it out of a lesson."),
        (["--prompt", "day \udcff"], "The prompt holds bytes that are not UTF-8; give it as text."),
    ],
)
def test_what_cannot_be_baked_gets_one_sentence(
    folder: Path, options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--model", str(folder), "--prompt", "day", *options, "--out", str(tmp_path / "lesson")]
    assert build.main(given) == 1
    error = [line for line in capsys.readouterr().err.splitlines() if not line.endswith("without")]
    assert len(error) == 1 and says in error[0]
    assert not list(tmp_path.iterdir())
