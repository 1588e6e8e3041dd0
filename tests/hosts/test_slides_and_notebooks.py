"""Slides, notebooks and plain pages: stepped through in a browser; what plays and what resizes is heard."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.hosts.around import HOSTILE, NODE, assert_steps_inside, code, frame, run
from tests.hosts.conftest import Visit

pytestmark = pytest.mark.hosts

DECK = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A lecture</title>
<link rel="stylesheet" href="dist/reveal.css"><link rel="stylesheet" href="dist/theme/white.css"></head>
<body><div class="reveal"><div class="slides"><section>Before</section>
{slide}
<section>After</section></div></div>
<script src="dist/reveal.js"></script><script>Reveal.initialize({{transition: "none"}});</script></body></html>"""


def deck(folder: Path, slide: str) -> Path:
    if not (NODE / "reveal.js").exists():
        pytest.skip("reveal.js is not installed: run make hosts")
    shutil.copytree(NODE / "reveal.js" / "dist", folder / "dist")
    (folder / "index.html").write_text(DECK.format(slide=slide), "utf-8")
    return folder


def test_the_widget_is_loaded_with_its_slide_and_steps(visit: Visit, address: str, tmp_path: Path) -> None:
    shown = frame(address, note=HOSTILE)
    tab = visit(deck(tmp_path, code("reveal", shown)), "index.html")
    expect(tab.locator("section.present")).to_have_text("Before")
    assert tab.locator("iframe").get_attribute("src") is None
    tab.keyboard.press("ArrowRight")
    assert_steps_inside(tab, shown)


def test_what_plays_starts_with_its_slide_and_stops_when_it_is_left(visit: Visit, address: str, tmp_path: Path) -> None:
    """data-preload keeps the frame, so that it can be asked after its slide has been left."""
    slide = code("reveal", frame(address, play="1")).replace("<iframe ", "<iframe data-preload ")
    tab = visit(deck(tmp_path, slide), "index.html")
    play = tab.frame_locator("iframe").locator("[name=play]")
    for key, plays in (("ArrowRight", True), ("ArrowRight", False), ("ArrowLeft", True), ("ArrowLeft", False)):
        tab.evaluate(f"Reveal.{'next' if key == 'ArrowRight' else 'prev'}()")
        expect(play).to_be_checked(checked=plays)
    assert not tab.frame_locator("iframe").locator("[data-wrong]").inner_text()


def test_the_frame_of_a_slide_that_is_left_is_gone(visit: Visit, address: str, tmp_path: Path) -> None:
    shown = frame(address, play="1")
    tab = visit(deck(tmp_path, code("reveal", shown)), "index.html")
    tab.evaluate("Reveal.next()")
    expect(tab.frame_locator("iframe").locator("[name=play]")).to_be_checked()
    tab.evaluate("Reveal.next()")
    expect(tab.locator("iframe")).not_to_have_attribute("src", shown.url)
    assert len(tab.frames) == 1 or tab.frames[1].url in ("", "about:blank")


def test_the_widget_steps_inside_an_executed_notebook(visit: Visit, address: str, tmp_path: Path) -> None:
    shown = frame(address, note=HOSTILE)
    cell: dict[str, object] = {"cell_type": "code", "id": "a", "execution_count": None, "metadata": {}, "outputs": []}
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": [{**cell, "source": code("jupyter", shown)}], "metadata": about}
    text = json.dumps({**notebook, "nbformat": 4, "nbformat_minor": 5})
    (tmp_path / "lecture.ipynb").write_text(text, "utf-8")
    run(tmp_path, sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "lecture.ipynb")
    tab = visit(tmp_path, "lecture.html")
    assert_steps_inside(tab, shown)


@pytest.mark.parametrize("slug", ["html", "moodle", "canvas"])
def test_the_widget_steps_inside_a_plain_page(visit: Visit, address: str, tmp_path: Path, slug: str) -> None:
    shown = frame(address, note=HOSTILE)
    (tmp_path / "index.html").write_text(f"<!doctype html><title>A lecture</title>{code(slug, shown)}", "utf-8")
    assert_steps_inside(visit(tmp_path, "index.html"), shown)


# What Canvas does: a message with this subject sets the height of the frame that it comes from.
CANVAS = """addEventListener("message", ({ data, source }) => {
  const message = typeof data === "string" ? JSON.parse(data) : data;
  if (message.subject !== "lti.frameResize") return;
  for (const e of document.querySelectorAll("iframe")) if (e.contentWindow === source) e.height = message.height;
});"""


def test_a_host_that_listens_as_canvas_does_shows_the_whole_widget(visit: Visit, address: str, tmp_path: Path) -> None:
    pasted = code("canvas", frame(address))
    page = f"<!doctype html><title>A lecture</title><script>{CANVAS}</script>{pasted}<p>And now?</p>"
    (tmp_path / "index.html").write_text(page, "utf-8")
    tab = visit(tmp_path, "index.html")
    element = tab.locator("iframe")
    expect(element).not_to_have_attribute("height", "450")
    inner = tab.frame_locator("iframe").locator("html")
    sizes = []
    for _ in range(4):  # it comes to rest
        tab.wait_for_timeout(300)
        sizes.append((element.get_attribute("height"), inner.evaluate("(e) => [e.scrollHeight, innerHeight]")))
    height, (needs, has) = sizes[-1]
    assert sizes[-2] == sizes[-1]
    assert int(height or 0) > 450
    assert abs(needs - has) <= 1
