"""Frames of every widget, to be looked at: python -m tools.sheets [PAGE ...] --out DIR writes DIR/<page>-<look>.png.

A sheet has the moments of a step that plays, or each choice of a widget: as a wide page, on a phone, and in the dark.
python -m tools.sheets --moving docs/machine.webp draws the picture that README.md opens with, which needs Pillow.
Nobody waits: Chromium's animations are stopped and set to their times.
"""

from __future__ import annotations

import argparse
import base64
import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser

from microgpt.course import LESSONS, page
from microgpt.course.kv_cache.states import pace
from microgpt.errors import UserError
from microgpt.files import write_whole
from microgpt.viz.text.place import ROOT
from tools.figure import browser
from tools.server import serving

MOST_CHOICES = 10  # choices of a kind on a sheet
MOMENTS = [0.1, 0.4, 0.75, 1.4, 2.3, 2.6, 3.4, 4.3, 4.7, 5.4, 6.3, 6.8]  # of a step, a unit a stage
PICTURE, FRAMES, MOTION_SECONDS = ("kv-cache", 3), 108, 9  # what README.md shows: which step, in how many frames

# the page at rest, without its own transitions; and a step at one moment, by its clocks
STILL = "() => document.getAnimations().forEach((a) => a.finish())"
PLAY = "() => { document.querySelector('[name=once]').click(); }"
AT = "(time) => document.getAnimations().forEach((a) => { a.pause(); a.currentTime = time; })"
CLIP = """() => {
  const tokens = document.querySelector("#tokens").getBoundingClientRect();
  const { left, bottom, width } = document.querySelector(".stage").getBoundingClientRect();
  return { x: left - 8, y: tokens.top - 8, width: width + 16, height: bottom - tokens.top + 16 };
}"""  # the tokens and the machine
CHOICES = """(most) => {
  const kinds = {};
  for (const { name, value } of document.querySelectorAll(".widget input[type=radio]"))
    (kinds[name] ??= []).push(value);
  return Object.entries(kinds).flatMap(([name, values]) => values.slice(0, most).map((value) => [name, value]));
}"""
CHOOSE = (
    """([name, value]) => document.querySelector(`.widget [name="${name}"][value="${CSS.escape(value)}"]`).click()"""
)


class Look(NamedTuple):
    """How a page is looked at; `across` frames stand side by side on a sheet, each `shown` wide."""

    width: int
    height: int
    dark: bool
    across: int
    shown: int


LOOKS = {
    "wide": Look(1280, 900, False, 3, 640),
    "phone": Look(390, 844, False, 6, 312),
    "dark": Look(1280, 900, True, 3, 640),
}
Frame = tuple[str, bytes]  # what it shows, and a PNG


def moment(t: float) -> float:
    """A time in stages, as a share of the time that a step takes."""
    over, k = pace(), int(t)
    return over[k] + (t - k) * (over[k + 1] - over[k])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.sheets", description="Draw frames of the widgets.")
    parser.add_argument("pages", metavar="PAGE", nargs="*", help="a lesson by its name (default: all of them)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the sheets go")
    parser.add_argument("--look", choices=LOOKS, action="append", help="only this one")
    parser.add_argument("--moving", type=Path, metavar="FILE.webp", help="the moving picture of the machine")
    options = parser.parse_args(argv)
    try:
        if not (options.out or options.moving):
            raise UserError("Say where to: --out DIR, or --moving FILE.webp")
        names = [page(name).name for name in options.pages] or [lesson.name for lesson in LESSONS]
        with browser() as chromium, tempfile.TemporaryDirectory() as folder:
            build_site(Path(folder) / "site")
            with serving(Path(folder) / "site") as url:
                if options.moving:
                    write(options.moving, moving(chromium, url))
                for name in names if options.out else []:
                    options.out.mkdir(parents=True, exist_ok=True)
                    for kind in options.look or LOOKS:
                        frames = list(frames_of(chromium, f"{url}{name}.html", LOOKS[kind]))
                        write(
                            options.out / f"{name}-{kind}.png", sheet(chromium, f"{name}, {kind}", frames, LOOKS[kind])
                        )
    except UserError as error:
        print(f"tools.sheets: {error}", file=sys.stderr)
        return 1
    return 0


def build_site(site: Path) -> None:
    done = subprocess.run([sys.executable, str(ROOT / "build.py"), "--out", str(site)], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"The site cannot be built: {done.stderr.strip()}")


def write(path: Path, data: bytes) -> None:
    write_whole({path: data})
    print(f"{path.name}: {len(data) / 1000:.0f} kB", flush=True)


def frames_of(chromium: Browser, url: str, look: Look) -> Iterator[Frame]:
    """The widget as it opens; then a step that plays, or each choice."""
    size: Any = {"width": look.width, "height": look.height}
    with chromium.new_context(viewport=size, color_scheme="dark" if look.dark else "light") as context:
        tab = context.new_page()
        tab.goto(url)
        tab.evaluate("() => document.fonts.ready")
        yield "as it opens", tab.screenshot()
        widget = tab.locator(".widget")
        if tab.locator("[name=once]").count():
            widget = tab.locator(".stepper")
            tab.evaluate(PLAY)
            for t in MOMENTS:
                tab.evaluate(AT, 1000 * MOTION_SECONDS * moment(t))
                yield f"{t:g}", widget.screenshot()
            return
        for name, value in tab.evaluate(CHOICES, MOST_CHOICES):
            tab.evaluate(CHOOSE, [name, value])
            tab.evaluate(STILL)
            yield f"{name} {value}", widget.screenshot()


def sheet(chromium: Browser, title: str, frames: list[Frame], look: Look) -> bytes:
    """All frames on one picture, each under what it shows."""
    cells = ""
    for what, png in frames:
        data = base64.b64encode(png).decode()
        cells += f'<figure><figcaption>{what}</figcaption><img src="data:image/png;base64,{data}"></figure>'
    style = (
        "body { font: 20px sans-serif; margin: 16px; background: #888 } figure { margin: 0 } div { align-items: start }"
        f"img {{ width: {look.shown}px; display: block }}"
        f"div {{ display: grid; grid-template-columns: repeat({look.across}, {look.shown}px); gap: 12px }}"
    )
    with chromium.new_context(viewport={"width": look.across * (look.shown + 12) + 32, "height": 400}) as context:
        tab = context.new_page()
        tab.set_content(f"<style>{style}</style><h1>{title}</h1><div>{cells}</div>")
        return tab.screenshot(full_page=True)


def moving(chromium: Browser, url: str) -> bytes:
    """A step of the machine, played once and again, as an animated WebP."""
    try:
        from PIL import Image
    except ImportError:
        raise UserError("The moving picture needs Pillow: pip install pillow") from None
    name, step = PICTURE
    with chromium.new_context(viewport={"width": 1080, "height": 1000}) as context:
        tab = context.new_page()
        tab.goto(f"{url}{name}.html?step={step}")
        tab.evaluate(PLAY)
        clip: Any = tab.evaluate(CLIP)
        pictures = []
        for i in range(FRAMES):
            tab.evaluate(AT, 1000 * MOTION_SECONDS * i / FRAMES)
            png = tab.screenshot(clip=clip, full_page=True)
            pictures.append(Image.open(io.BytesIO(png)).convert("RGB"))
    found = io.BytesIO()
    pictures[0].save(
        found, "WEBP", save_all=True, append_images=pictures[1:], duration=1000 * MOTION_SECONDS // FRAMES, loop=0,
        quality=70, method=4, minimize_size=True,
    )  # fmt: skip
    return found.getvalue()


if __name__ == "__main__":
    sys.exit(main())
