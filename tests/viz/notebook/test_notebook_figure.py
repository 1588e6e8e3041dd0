""".figure() of what a notebook shows: the same drawing as from the page, of a large model as from tools.figure."""

from pathlib import Path
from typing import Any

import pytest

from microgpt.checkpoints.folder import load_checkpoint
from microgpt.errors import UserError
from microgpt.trace import from_json, to_json
from microgpt.viz import show
from microgpt.viz.figures import figure, of_run
from microgpt.viz.large.picture import picture_of_model
from microgpt.viz.lesson import lesson_named
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import language
from tests.support import checkpoints


@pytest.mark.parametrize(
    ("widget", "chosen"),
    [("stepper", {"step": 2, "head": 1}), ("why-q", {"old": 1}), ("with-and-without", {"step": 2})],
)
def test_a_figure_is_that_of_the_page(widget: str, chosen: dict[str, Any], tmp_path: Path) -> None:
    page, settings = lesson_named(widget), Settings("names", "emm")
    shown = show("emm", "names", widget, **chosen)
    assert shown.figure(tmp_path / "one.svg").read_text("utf-8") == figure(page, settings, chosen)
    assert shown.figure(tmp_path / "all.svg", moving=True).read_text("utf-8") == figure(
        page, settings, chosen, moves=True
    )
    with language("es"):
        spanish = figure(page, settings, chosen)
    assert show("emm", "names", widget, lang="es", **chosen).figure(tmp_path / "es.svg").read_text("utf-8") == spanish


def test_of_a_checkpoint_and_of_a_trace_it_is_that_of_their_run(tmp_path: Path) -> None:
    folder = checkpoints.llama(tmp_path / "Tiny")
    asked: dict[str, Any] = {"step": 1, "layer": 1, "head": 3}
    run = picture_of_model(load_checkpoint(folder, "float32"), "day day", None, [0, 1], [0, 3])
    shown = show("day day", model=folder, layers=[0, 1], heads=[0, 3], **asked)
    assert shown.figure(tmp_path / "one.svg").read_text("utf-8") == of_run(run, asked)
    moving = shown.figure(tmp_path / "all.svg", moving=True).read_text("utf-8")
    assert moving == of_run(run, asked, moves=True) and "from a run of Tiny" in moving
    trace = from_json(to_json(run.excerpt()))
    again = show(trace, layers=[0, 1], heads=[0, 3], **asked).figure(tmp_path / "trace.svg")
    assert again.read_text("utf-8") == of_run(run, asked)
    with pytest.raises(UserError, match="the figure is that of the stepper"):
        show("day day", model=folder, widget="why-q").figure(tmp_path / "why.svg")


def test_what_is_no_svg_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"“.*step.png” is no SVG; give a name that ends in .svg."):
        show("emm").figure(tmp_path / "step.png")
    assert not list(tmp_path.iterdir())
