"""The page that looks inside a file: from a double click, in a sandboxed frame. Nothing is sent."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from microgpt.course import page as page_named
from microgpt.viz import views
from microgpt.viz.rendering import render
from microgpt.viz.rendering.style import own_style
from tests.browser.conftest import Open
from tests.browser.hosts import WATCH, carrying
from tests.browser.live import LINE, STATE
from tools.browsers import Page
from tools.server import serving

FIELD = "input[type=file]"
FRAME = '<!doctype html><title>host</title><iframe width="1200" height="900" sandbox="allow-scripts" src="{}"></iframe>'

DROP = """(field, bytes) => {
  const dropped = new DataTransfer();
  dropped.items.add(new File([new Uint8Array(bytes)], "model.safetensors"));
  field.files = dropped.files;
  field.dispatchEvent(new Event("change", { bubbles: true }));
}"""

# what is asked in the picture of that file, by a press on an area of it: which lines are on show, to their colon
PRESS = """document.querySelector("#looked .picture .r-wk").dispatchEvent(new MouseEvent("click", { bubbles: true })),
  [...document.querySelectorAll("#looked .replies p")].filter((line) => line.clientHeight)
  .map((line) => line.textContent.split(":")[0].trim())"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the names of the Llama family, and one name of its own that would turn the text around."""
    shapes = {"model.embed_tokens": (40, 8), "model.norm": (8,), "vis\u202eion": (3, 3)}
    for layer in range(3):
        shapes |= {f"model.layers.{layer}.self_attn.{n}_proj": (8, 8) for n in "qkvo"}
    arrays = {f"{name}.weight": np.zeros(shape, np.float16) for name, shape in shapes.items()}
    path = tmp_path_factory.mktemp("weights") / "model.safetensors"
    save_file(arrays, path)
    return path


@pytest.fixture(scope="module")
def alone(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with all of Python in it."""
    page, out = page_named("look-inside"), tmp_path_factory.mktemp("alone")
    text = render.render_page(page, views.of(page), assets=carrying(site).with_rules(own_style(page)))
    (out / "page.html").write_text(text, "utf-8")
    (out / "host.html").write_text(FRAME.format("page.html"), "utf-8")
    return out


def chosen(page: Page, path: Path) -> None:
    page.choose(FIELD, path)
    page.wait(f'["ready", "failed"].includes({STATE})')
    assert page.run(STATE) == "ready", page.run(LINE)


@pytest.mark.parametrize("width", [1280, 700, 390])
def test_what_belongs_together_stands_on_one_line(new_tab: Open, address: str, width: int) -> None:
    """A kind of tensor with its share; a sign of a product with its factor. By how much they overlap in height."""
    page = new_tab(f"{address}look-inside.html", width=width)
    shares, signs = page.run(
        """[".shares dd", ".product > span:has(.times)"].map((what) =>
        [...document.querySelectorAll(".examples " + what)].filter((e) => e.clientHeight)
        .map((e) => [...e.children].map((part) => part.getBoundingClientRect()).filter((box) => box.height))
        .map((boxes) => Math.min(...boxes.map((b) => b.bottom)) - Math.max(...boxes.map((b) => b.top))))"""
    )
    assert len(shares) > 8 and len(signs) > 3
    assert min(shares) > 0 and min(signs) > 0


@pytest.mark.thorough("such a file is opened in tests/browser/hosting/test_single_file.py")
def test_a_double_click_is_enough(new_tab: Open, engine: str, alone: Path, file: Path) -> None:
    page = new_tab()
    page.open((alone / "page.html").as_uri() + f"?{file.name}=x&weights=x")  # an address cannot choose a file
    page.run(WATCH)
    chosen(page, file)
    if engine == "webkit":  # whose workers read no file where the page comes from one: then the page says so
        assert "over http" in page.run('document.querySelector("#prompt-error").textContent')
    else:
        assert page.run('document.querySelectorAll("#looked details").length') == 4
        assert page.run(PRESS) == ["W_K"]
    assert page.run("violations") == page.errors == []
    assert [url for url in page.requests if not url.startswith(("file:", "blob:", "data:"))] == []


def test_it_reads_in_a_sandboxed_frame(new_tab: Open, engine: str, alone: Path, file: Path) -> None:
    with serving(alone) as url:
        page = new_tab(f"{url}host.html")
        if engine == "webkit":
            page.driver.switch_to.frame(0)  # type: ignore[attr-defined]
            page.choose(FIELD, file)
            page.wait('document.querySelectorAll("#looked details").length === 4')
        else:
            frame = page.tab.frame_locator("iframe")  # type: ignore[attr-defined]
            if engine == "firefox":  # whose driver chooses no file in such a frame
                frame.locator(FIELD).evaluate(DROP, list(file.read_bytes()))
            else:
                frame.locator(FIELD).set_input_files(file)
            frame.locator("#looked details").nth(3).wait_for(timeout=60_000)
