"""What a notebook shows, without a notebook: the frame, the plain tables, the numbers, the saved page.

tests/hosts/test_notebook.py does the same in real ones.
"""

import json
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.course import LESSONS
from microgpt.errors import UserError
from microgpt.record import Recording
from microgpt.trace import EVENTS
from microgpt.viz import show
from microgpt.viz.controls import on_show
from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.lesson import lesson_named
from microgpt.viz.notebook import Shown
from microgpt.viz.page import Page
from microgpt.viz.rendering.policy import hash_source
from microgpt.viz.rendering.style import heat_colours, own_style, style
from microgpt.viz.settings import ran
from microgpt.viz.text.formats import number
from microgpt.weights import shipped
from tests.support.controls import controls
from tests.support.pages import folded, parse
from tests.support.sampled import sampled
from tests.viz.notebook import assert_left_whole, framed, tables

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"

SHOWS = [
    ("emma", {}),
    ("emma", {"model": "names-deep", "layer": 2, "head": 3, "step": 1}),
    ("The next day", {"model": "stories", "layer": 1, "head": 2, "step": 4}),
]


@pytest.mark.parametrize(("prompt", "options"), sampled(SHOWS, SHOWS[::2], "of a deeper model"))
def test_the_plain_form_steps_through_q_rows_and_weights_of_the_trace(prompt: str, options: dict[str, int]) -> None:
    shown = show(prompt, **options)  # type: ignore[arg-type]
    model = shipped(str(options.get("model", "names")))
    picture = Picture(Recording(model, prompt).run(), options.get("step", -1))
    first = on_show(picture)
    layer, head = (int(options.get(name, first[name])) for name in ("layer", "head"))
    run, c = shown.trace.arrays(), model.config
    shared = head // (c.n_head // c.n_kv_head)
    assert_left_whole(tables(shown))
    steps = tables(shown).findall("details")
    assert len(steps) == picture.n
    assert [i for i, step in enumerate(steps) if "open" in step.attrib] == [picture.at]
    for i, step in enumerate(steps):
        q, *rows, mixed = step.findall(".//tbody/tr")

        def said(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[str]:
            return [number(x, picture.scale.digits) for x in values.tolist()]

        def cells(row: Element) -> list[str]:
            return [folded(td) for td in row.findall("td") if "background" in td.get("style", "")]

        assert cells(q) == said(run["q"][layer, i, head])
        assert cells(mixed) == said(run["head_out"][layer, i].reshape(c.n_head, -1)[head])
        assert len(rows) == i + 1
        for j, row in enumerate(rows):
            assert cells(row) == said(run["k"][layer, j, shared]) + said(run["v"][layer, j, shared])
            assert f"{run['attn_weights'][layer, i, head, j]:.2f}" in [folded(td) for td in row.findall("td")]
            assert folded(row).endswith("new" if j == i else "cached")


@pytest.mark.slow("renders every lesson once more")
@pytest.mark.parametrize(
    "page", sampled(LESSONS, LESSONS[1::6], "the same around another lesson"), ids=lambda p: p.name
)
def test_every_lesson_is_framed_whole_without_script_or_address(page: Page) -> None:
    shown = show(widget=page.name)
    tree = parse(framed(shown))
    styles = [e.text or "" for e in tree.iter("style")]
    policy = next(e.get("content", "") for e in tree.iter("meta") if e.get("http-equiv"))
    assert styles == [style() + own_style(page)]
    assert hash_source(styles[0]) in policy
    for element in tree.iter():
        assert element.tag not in ("script", "a", "img", "link", "object")
        assert not {"src", "srcset", "style", "data-go"} & set(element.attrib)
        assert element.get("href", "#").startswith("#")  # a drawing of its own, once more
    frame = parse(shown._repr_html_()).find(".//iframe")
    assert frame is not None and frame.get("sandbox") == ""


def test_the_frame_hides_the_plain_form_beside_it_and_no_other() -> None:
    rule = next(e.text or "" for e in parse(show("emma")._repr_html_()).iter("style"))
    assert rule == ".microgpt-frame + .microgpt-plain { display: none; }"
    assert len(heat_colours()) == 2 * LEVELS + 1, "of the plain form, every one"


def test_what_is_asked_for_is_chosen() -> None:
    page = controls(framed(show("emma", step=2, head=1, phase=3, theme="dark")))
    assert {name: page[name].default for name in ("step", "head", "phase", "theme")} == {
        "step": "2",
        "head": "1",
        "phase": "3",
        "theme": "dark",
    }
    assert framed(show("emma", step=2)).count(" checked") == framed(show("emma")).count(" checked")
    assert controls(framed(show(widget="why-q", old=3)))["old"].default == "3"
    assert "la caché" in framed(show("emma", lang="es")).lower()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"prompt": "emm4"}, "does not know the character “4”"),
        ({"model": "gpt"}, "it has names, names-deep, stories"),
        ({"widget": "steper"}, "there is stepper, next-token"),
        ({"step": 9}, "step is 9; this page has 0 to 6."),
        ({"head": 4}, "head is 4; this page has 0 to 3."),
        ({"widget": "why-q", "head": 4}, "head"),
        ({"layer": 1}, "layer"),
        ({"widget": "why-q", "layer": -1}, "layer"),
        ({"theme": "blue"}, "give one of auto, light, dark."),
        ({"lang": "xx"}, "give one of en, es."),
        ({"zoom": 2}, "This page has no “zoom” to choose"),
        ({"temperature": -1.0}, "temperature"),
        ({"temperature": "warm"}, "temperature is warm; it must be a number from 0"),
        ({"seed": 2**53}, "The seed is 9007199254740992; it must be a whole number from 0 to 9007199254740991."),
        ({"top_k": 1.5}, "top-k is 1.5; it must be a whole number"),
        ({"head": "x"}, "head is x; this page has 0 to 3."),
        ({"head": 1.5}, "head is 1.5; this page has 0 to 3."),
        ({"layer": [1]}, "layer"),
        *(
            ({"prompt": x}, f"prompt is of the type {type(x).__name__}; give one of these: str, Trace, TraceArrays.")
            for x in (None, 5, b"x", ["a"])
        ),
        *(
            ({name: None}, f"{name} is of the type NoneType; give one of these: str")
            for name in ("model", "widget", "theme", "lang")
        ),
        ({"seed": [1]}, "seed is of the type list"),
        ({"heads": None}, "heads is of the type NoneType"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)) as raised:
        show(**options)  # type: ignore[arg-type]
    assert raised.value._render_traceback_() == [str(raised.value)]


@pytest.mark.parametrize(("model", "prompt"), [("names", "emma"), ("names-deep", "emma"), ("stories", "The next day")])
def test_arrays_hold_every_number_that_was_reported(model: str, prompt: str) -> None:
    trace, reported = show(prompt, model).trace, Recording(shipped(model), prompt).run()
    run, held = trace.arrays(), 0
    assert len(trace) == len(list(trace)) == len(reported.events)
    for event in reported:
        key = (event.name, event.pos) if event.layer < 0 else (event.name, event.pos, event.layer)
        assert np.array_equal(trace[key], event.value)
        row = run[event.name][event.pos] if event.layer < 0 else run[event.name][event.layer, event.pos]
        if event.name in ("attn_scores", "attn_weights"):
            row = row[:, : event.pos + 1]
        assert np.array_equal(np.ravel(row), np.ravel(event.value))
        held += np.size(event.value)
    n = len(trace.about["tokens"])
    unseen = np.triu_indices(n, 1)
    assert (run["attn_weights"][..., unseen[0], :, unseen[1]] == 0).all()
    assert np.isneginf(run["attn_scores"][..., unseen[0], :, unseen[1]]).all()
    assert (run["sample"][: trace.about["n_prompt"] - 1] == -1).all()
    assert set(run) <= set(EVENTS)
    with pytest.raises(KeyError, match=f"positions 0 to {n - 1}"):
        trace["q", n, 0]


def test_a_saved_page_is_the_framed_one_or_has_its_style_beside_it(tmp_path: Path) -> None:
    shown = show("emma", step=2)
    inline = shown.save(tmp_path / "deep" / "emma.html").read_text("utf-8")
    assert inline == framed(shown)
    page = shown.save(str(tmp_path / "two.html"), assets="directory").read_text("utf-8")
    assert (tmp_path / "two_files" / "style.css").read_text("utf-8") == style() + own_style(lesson_named("stepper"))
    assert 'href="two_files/style.css"' in page and "<style>" not in page
    assert re.search("<main.*", page, re.S)[0] == re.search("<main.*", inline, re.S)[0]  # type: ignore[index]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ("deep emma.html style.css two.html two_files").split()


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, path = show("emma"), tmp_path / "emma.html"
    path.write_text("old")

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        for assets in ("inline", "directory"):
            with pytest.raises(UserError, match="No space left on device"):
                shown.save(path, assets=assets)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["emma.html"]
    with pytest.raises(UserError, match="inline, directory"):
        shown.save(path, assets="zip")


def test_an_installed_package_finds_what_lies_inside_it(tmp_path: Path) -> None:
    """As the wheel lays it out; tests/hosts/test_notebook.py installs a real one."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "microgpt", tmp_path / "microgpt", ignore=ignore)
    for name in ("templates", "site", "locale"):
        shutil.copytree(ROOT / name, tmp_path / "microgpt" / name)
    code = "from microgpt.viz import show; import microgpt; print(microgpt.__file__); print(show('emma')._repr_html_())"
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True, encoding="utf-8")
    where, html = found.stdout.split("\n", 1)
    assert Path(where).is_relative_to(tmp_path)
    assert html.strip() == show("emma")._repr_html_().strip()


def test_the_wheel_names_every_package_and_what_lies_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = dict[str, Any]()
    monkeypatch.setattr("setuptools.setup", setup.update)
    monkeypatch.chdir(ROOT)
    runpy.run_path("setup.py")
    ours = {".".join(p.parent.relative_to(ROOT).parts) for p in (ROOT / "microgpt").rglob("__init__.py")}
    beside = {f"microgpt.{name}": name for name in ("templates", "site", "locale")}
    assert set(setup["packages"]) == ours | set(beside)
    assert setup["package_dir"] == beside
    data = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    assert set(beside) <= set(data)


def test_the_notebook_holds_no_outputs_and_its_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 5 and not any(cell["outputs"] or cell["execution_count"] for cell in code)
    names: dict[str, object] = {}
    for cell in code:
        exec("".join(cell["source"]), names)
    assert isinstance(names["shown"], Shown)


@pytest.mark.parametrize("widget", ["stepper", "why-q", "memory", "fewer-heads", "inside", "training", "most-read"])
def test_a_text_is_run_once(widget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page draws and what its tables say come of one run."""
    steps, step = list[int](), Recording.step

    def counted(self: Recording) -> None:
        steps.append(len(self.cache))
        step(self)

    monkeypatch.setattr(Recording, "step", counted)
    ran.cache_clear()
    shown = show("oli", model="names", widget=widget)
    assert steps == list(range(len(shown.trace.about["tokens"])))
