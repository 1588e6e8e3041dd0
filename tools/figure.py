"""A figure of any step of any widget, as a file for slides, papers and books.

    python -m tools.figure kv-cache --prompt emm --step 4 --out step.svg
    python -m tools.figure with-and-without --choose step=4 --out compare.png --scale 3
    python -m tools.figure kv-cache --animate --out steps.svg
    python -m tools.figure kv-cache --prompt emm --out steps.gif
    python -m tools.figure kv-cache --checkpoint path/to/SmolLM2-135M --prompt "The next day is" --out step.svg
    python -m tools.figure kv-cache --trace trace.json --layer 17 --head 4 --out step.svg

What can be chosen are the page's radio buttons, by the names and values that its address has (?step=4&head=1). A PNG
and the pictures of a GIF are drawn by Chromium. A file is replaced only by a whole one.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np

from microgpt.checkpoints.folder import load_checkpoint
from microgpt.config import Array
from microgpt.errors import UserError
from microgpt.files import write_whole
from microgpt.viz.drawing.kit.film import frames
from microgpt.viz.drawing.kit.gif import gif
from microgpt.viz.drawing.kit.svg import Drawing, Film, Shot, drawing
from microgpt.viz.figures import figure, film, film_of_run, lesson, of_run
from microgpt.viz.large.checks import trace_in
from microgpt.viz.large.from_trace import picture_of_trace
from microgpt.viz.large.picture import BigPicture, picture_of_model
from microgpt.viz.page import Page
from microgpt.viz.rendering.render import sentence
from microgpt.viz.request import START_CHOICES, settings_for
from microgpt.viz.settings import parse_number
from microgpt.viz.text.language import LANGUAGES, language

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
# a drawing on a canvas of that size, as the base64 of its pixels
PIXELS = """async ([svg, width, height]) => {
  const image = Object.assign(new Image(), { src: "data:image/svg+xml," + svg });
  await image.decode();
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(image, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, width, height), parts = [];
  for (let at = 0; at < data.length; at += 32768) parts.push(String.fromCharCode(...data.subarray(at, at + 32768)));
  return btoa(parts.join(""));
}"""
MOST_PIXELS = 8  # pixels for one unit of the drawing, each way


def main(argv: list[str] | None = None) -> int:
    options = arguments().parse_args(argv)
    with language(options.lang):
        try:
            make(options)
        except UserError as error:
            print(f"tools.figure: {sentence(error)}", file=sys.stderr)
            return 1
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.figure", description="Draw what a page shows, as a file.")
    parser.add_argument("page", help="kv-cache, with-and-without, ...: the page, as in its address")
    parser.add_argument("--prompt", metavar="TEXT", help="the text (default: the page's)")
    parser.add_argument("--model", metavar="NAME", help="the model (default: the page's)")
    for name in START_CHOICES:
        parser.add_argument(
            f"--{name}", metavar="N", help="as in the page's address (a step by the position of its token, from 0)"
        )
    parser.add_argument("--choose", metavar="NAME=VALUE", action="append", default=[], help="any other choice")
    large = parser.add_argument_group("the stepper of a large model")
    large.add_argument("--checkpoint", type=Path, metavar="FOLDER", help="run --prompt in this one")
    large.add_argument("--trace", type=Path, metavar="FILE", help="or draw what has been recorded")
    large.add_argument("--new", type=int, metavar="N", help="how many tokens the checkpoint adds")
    parser.add_argument("--animate", action="store_true", help="go through all steps or cases, in one SVG")
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="the language of the figure")
    parser.add_argument("--address", default="", metavar="URL", help="where the site is, for the link in the figure")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="FILE.svg, .png or .gif")
    parser.add_argument("--scale", metavar="N", help="pixels for each unit (default: 2; of a GIF, 1)")
    return parser


def make(options: argparse.Namespace) -> None:
    """Draw and write what is asked for. Raises UserError."""
    out = options.out
    kind = out.suffix.lower()
    if kind not in (".svg", ".png", ".gif"):
        raise UserError("“%(path)s” is no picture; give --out a name that ends in .svg, .png or .gif.", path=out)
    if kind == ".png" and options.animate:
        raise UserError("A PNG cannot move; give --out a name that ends in .svg or .gif, or leave --animate out.")
    text = options.scale or ("1" if kind == ".gif" else "2")
    scale = parse_number(text, float, "--scale is “%(text)s”; give a number from 1 to 8.")
    if not 1 <= scale <= MOST_PIXELS:
        raise UserError("--scale is “%(text)s”; give a number from 1 to 8.", text=text)
    choice = {name: value for name in START_CHOICES if (value := getattr(options, name)) is not None}
    for text in options.choose:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError("--choose is “%(text)s”; give a name and a value, such as step=4.", text=text)
        choice[name] = value
    shown = lesson(options.page)
    made = drawing_of(shown, options, choice, kind == ".gif")
    if isinstance(made, Film):
        write_whole({out: moving(made, scale)})
    else:
        write_whole({out: pngs([made], scale)[0] if kind == ".png" else made})


def drawing_of(shown: Page, options: argparse.Namespace, choice: Mapping[str, str], as_film: bool) -> Drawing:
    """What is asked for, with all its states if it is a film. Raises UserError."""
    if options.checkpoint or options.trace:
        at = {name: whole_number(name, value) for name, value in choice.items()}
        run = run_of(shown, options, at)
        return film_of_run(run, at) if as_film else of_run(run, at, options.animate)
    if options.new is not None:
        raise UserError("--new is for a checkpoint; name its folder with --checkpoint.")
    settings = settings_for(shown, options.model or "", options.prompt)
    if as_film:
        return film(shown, settings, choice, options.address)
    return figure(shown, settings, choice, options.address, options.animate)


def run_of(page: Page, options: argparse.Namespace, at: Mapping[str, int]) -> BigPicture:
    """The run of a checkpoint, or that of a file, with the head open that is asked for. Raises UserError."""
    if page.widget != "kv_cache":
        raise UserError("Of a checkpoint or a trace the figure is that of the stepper.")
    layers, heads = ([at[name]] if name in at else [] for name in ("layer", "head"))
    runs = {"model", "checkpoint", "prompt", "new"} if options.trace else {"model"}
    for name in sorted(runs):
        if getattr(options, name) is not None:
            raise UserError("--%(name)s does not go with a checkpoint’s or a trace’s figure; leave it out.", name=name)
    if options.checkpoint:
        return picture_of_model(load_checkpoint(options.checkpoint), options.prompt or "", options.new, layers, heads)
    return picture_of_trace(trace_in(options.trace), layers, heads)


def whole_number(name: str, text: str) -> int:
    found: int = parse_number(text, int, "--%(name)s is “%(text)s”; give a whole number.", name=name)
    return found


def moving(made: Film, scale: float) -> bytes:
    """A film as a GIF. Raises UserError when there is no Chromium."""
    size = round(scale * made.height), round(scale * made.width)

    def paint(shot: Shot) -> Array:
        svg = drawing(made.width, made.height, shot.pieces, "", "")
        data: str = page.evaluate(PIXELS, [quote(svg), size[1], size[0]])
        return np.frombuffer(base64.b64decode(data), np.uint8).reshape(*size, 4)[..., :3]

    with tab(javascript=True) as page:
        return b"".join(gif(*frames(made, paint, scale)))


def pngs(drawings: Iterable[str], scale: float = 1) -> list[bytes]:
    """Each drawing as a PNG with so many pixels for a unit of it. Raises UserError when there is no Chromium."""
    found = []
    with tab(device_scale_factor=scale) as page:
        for svg in drawings:
            root = ElementTree.fromstring(svg)
            width, height = int(root.get("width", 0)), int(root.get("height", 0))
            page.set_viewport_size({"width": width, "height": height})
            page.set_content(f'<body style="margin: 0"><div style="line-height: 0">{svg}</div>')
            found.append(page.screenshot())
    return found


@contextmanager
def tab(javascript: bool = False, **options: Any) -> Iterator[Any]:
    """A tab of Chromium. Raises UserError when there is none."""
    with browser() as started:
        yield started.new_context(java_script_enabled=javascript, **options).new_page()


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium. Raises UserError when there is none, or when it fails."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise UserError("A PNG needs Playwright: pip install playwright. An SVG needs nothing.") from None
    try:
        with sync_playwright() as playwright:
            path = chromium(playwright.chromium.executable_path)
            started = playwright.chromium.launch(executable_path=path, args=FLAGS)
            yield started
            started.close()
    except Error as error:
        why = str(error).strip().splitlines()[0]
        raise UserError("Chromium could not draw the PNG (%(why)s). An SVG needs no browser.", why=why) from None


def chromium(own: str) -> str:
    """Playwright's own Chromium, or that of this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
    found = own if Path(own).exists() else next((path for name in names if (path := shutil.which(name))), None)
    if not found:
        raise UserError("A PNG needs Chromium: python -m playwright install chromium. An SVG needs no browser.")
    return found


if __name__ == "__main__":
    sys.exit(main())
