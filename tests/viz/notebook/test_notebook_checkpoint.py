"""A checkpoint in a notebook: frame, plain tables and arrays are those of its run; what cannot be is said."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgpt.checkpoints.folder import load_checkpoint
from microgpt.errors import UserError
from microgpt.record import Recording
from microgpt.trace import Trace, TraceArrays, from_json, to_json
from microgpt.viz import show
from microgpt.viz.drawing.strips import fold
from microgpt.viz.large.from_trace import trim
from microgpt.viz.lesson import lesson_named
from microgpt.viz.notebook import Shown
from microgpt.viz.rendering.style import own_style, style
from tests.support import checkpoints
from tests.support.controls import controls
from tests.support.large import view
from tests.support.pages import folded as words
from tests.support.pages import parse
from tests.viz.notebook import assert_left_whole, framed, tables

PROMPT = "day day"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoints.llama(tmp_path_factory.mktemp("models") / "Tiny")


def shown(folder: Path, **options: Any) -> Shown:
    return show(PROMPT, model=folder, **options)


def test_the_frame_is_the_page_of_that_model(folder: Path) -> None:
    page = framed(shown(folder, step=1, layer=1, heads=[0, 3], head=3))
    assert "Why does Tiny keep K and V" in page and own_style(lesson_named("stepper"), big=True) in page
    assert {name: controls(page)[name].default for name in ("step", "head")} == {"step": "1", "head": "1.3"}
    assert "layers=[…], heads=[…]" in page and "--layers" not in page
    tree = parse(page)
    assert not [e for e in tree.iter() if e.tag in ("script", "a", "img", "link") or {"src", "style"} & set(e.attrib)]
    spanish = framed(shown(folder, lang="es"))
    assert "Tiny" in spanish and "la caché" in spanish.lower()
    assert "How long does each q" in framed(shown(folder, widget="why-q"))


def test_the_folder_may_be_text_and_is_no_name_of_ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    html = shown(folder)._repr_html_()
    assert show(PROMPT, model=str(folder))._repr_html_() == html
    monkeypatch.chdir(folder.parent)
    assert show(PROMPT, model="Tiny")._repr_html_() == html
    (folder.parent / "names").mkdir()
    assert show("emma", model="names").trace.about["model"] == "names"


def test_arrays_are_those_of_the_run(folder: Path) -> None:
    trace = Recording(load_checkpoint(folder, "float64"), PROMPT, max_new=2).run()
    run = shown(folder, new=2, dtype="float64").trace
    assert len(run) == len(trace.events)
    for event in trace:
        key = (event.name, event.pos) if event.layer < 0 else (event.name, event.pos, event.layer)
        assert np.array_equal(run[key], event.value)


def test_a_trace_is_shown_as_the_run_that_it_is_of(folder: Path) -> None:
    """As the arrays of a page, as a trace, and out of the file that is cut for a page."""
    ran = shown(folder, step=1)
    html, trace = ran._repr_html_(), ran.trace.trace
    assert show(ran.trace, step=1)._repr_html_() == show(trace, step=1)._repr_html_() == html
    read = from_json(to_json(trim(trace)))
    assert show(read, step=1)._repr_html_() == html
    assert "la caché" in framed(show(read, lang="es")).lower()
    assert controls(framed(show(trace, heads=[0, 3], layer=1, head=3)))["head"].default == "1.3"


def test_a_trace_takes_nothing_that_a_run_would_need(folder: Path) -> None:
    trace = shown(folder).trace
    for wrong in ({"model": folder}, {"widget": "why-q"}, {"seed": 1}, {"new": 2}, {"dtype": "float64"}):
        with pytest.raises(UserError, match="drawn as it is, by the stepper"):
            show(trace, **wrong)
    with pytest.raises(UserError, match="^What this trace says about its run does not fit: config is missing"):
        show(Trace({}))
    broken = trim(trace.trace)
    del broken.about["whole"]["chances"]
    with pytest.raises(UserError, match="does not fit: whole.chances is missing"):
        show(broken)
    with pytest.raises(UserError, match="Layer 7, head 0 is not open"):
        show(trace, layer=7, head=0)


def test_arrays_of_an_excerpt_are_those_of_its_layers(folder: Path) -> None:
    whole, part = shown(folder).trace, TraceArrays(trim(shown(folder, layers=[1]).trace.trace, [1]))
    every, some = whole.arrays(), part.arrays()
    assert np.abs(some["attn_weights"] - every["attn_weights"]).max() < 1e-7, "of all layers, in 32 bits"
    assert np.abs(some["q"] - every["q"][[1]]).max() < 1e-6 and "resid_pre" not in some
    kept = part.about["vocabulary_ids"]
    assert np.abs(some["logits"] - every["logits"][:, kept]).max() < 1e-6


@pytest.mark.parametrize("options", [{}, {"layer": 1, "step": 2}])
def test_the_plain_form_is_left_whole_and_says_the_traces_numbers(folder: Path, options: dict[str, int]) -> None:
    found = shown(folder, **options)
    run, table = found.trace.arrays(), tables(found)
    assert_left_whole(table)
    layer, head = (int(x) for x in re.findall(r"layer (\d+), head (\d+)", words(table))[0])
    assert layer == options.get("layer", 0)
    heads, kv_heads = (found.trace.about["config"][name] for name in ("n_head", "n_kv_head"))
    steps = table.findall("details")
    opened = [i for i, step in enumerate(steps) if "open" in step.attrib]
    assert opened == [options.get("step", found.trace.about["n_prompt"] - 1)]
    for i, step in enumerate(steps):
        _, *rows, _ = step.findall(".//tbody/tr")
        assert len(rows) == i + 1
        for j, row in enumerate(rows):
            cells = [float(words(td).replace("−", "-")) for td in row if "background" in td.get("style", "")]
            kept = [run[kind][layer, j, head * kv_heads // heads] for kind in "kv"]
            assert np.abs(np.array(cells) - np.concatenate([fold(each, 8) for each in kept])).max() <= 0.0501
            assert f"{run['attn_weights'][layer, i, head, j]:.2f}" in [words(td) for td in row]


def test_a_long_row_shows_the_largest_of_its_neighbours() -> None:
    picture = view()
    row = picture.trace["k", 1, 0][0, 0]  # 64 numbers
    cells = [cell.value for cell in picture.strip("k", row, 0).cells]
    assert np.abs(np.abs(cells) - np.abs(row.reshape(8, 8)).max(axis=1)).max() <= 0.0501
    assert all(np.abs(row - cell).min() <= 0.0501 for cell in cells)  # with its sign


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"model": "no/such"}, "There is no folder no/such."),
        ({"model": "no/" + "a" * 300}, "There is no folder no/aaa"),
        ({"model": "a" * 300, "new": 1}, "give its folder as the model"),
        ({"temperature": 1.0}, "leave temperature, top_k and seed out"),
        ({"layers": 7}, "There is no layer 7; this model has 0 to 1."),
        ({"heads": [9]}, "There is no head 9; this model has 0 to 3."),
        ({"layer": 1, "heads": 0, "head": 3}, "Layer 1, head 3 is not open on this page"),
        ({"new": 99}, "99 new ones are more than the 12"),
        ({"dtype": "float16"}, "not in “float16”"),
        ({"widget": "training"}, "cannot be made from a checkpoint; these can: stepper, with-and-without, why-q."),
        ({"widget": "why-q", "heads": 1}, "layers and heads are for the stepper"),
        ({"step": 99}, "step is 99"),
        ({"model": "names", "new": 2}, "give its folder as the model"),
        ({"prompt": ""}, "The prompt is empty"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(folder: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        show(**{"prompt": PROMPT, "model": folder, **options})


def test_it_is_saved_as_a_page(folder: Path, tmp_path: Path) -> None:
    found = shown(folder)
    assert found.save(tmp_path / "a.html").read_text("utf-8") == framed(found)
    found.save(tmp_path / "b.html", assets="directory")
    rules = style() + own_style(lesson_named("stepper"), big=True)
    assert (tmp_path / "b_files" / "style.css").read_text("utf-8") == rules
