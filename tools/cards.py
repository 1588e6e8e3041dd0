"""The pictures that a shared link shows: python -m tools.cards [PAGE ...] writes card.png into the folder of a lesson,
and site/cards/<page>.png for another page, 1200 x 630.

Made from the figures, by Chromium. With Pillow installed they get a palette, which makes them a third as large.
To be run again when a figure or a title changes; build.py only copies them.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from microgpt.course import PAGES, page
from microgpt.errors import UserError
from microgpt.files import write_whole
from microgpt.viz.figures import card
from microgpt.viz.page import Page
from tools.figure import pngs
from tools.output.sources import CARD_FILE

ROOT = Path(__file__).resolve().parents[1]
COLOURS = 256  # of a palette


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.cards", description="Draw what links to pages show.")
    parser.add_argument("pages", metavar="PAGE", nargs="*", help="a page by its name (default: all of them)")
    try:
        pages = [page(name) for name in parser.parse_args(argv).pages] or PAGES
        drawn = pngs(card(one) for one in pages)
        for shown, png in zip(pages, drawn, strict=True):
            small = with_palette(png)
            write_whole({place_of(shown): small})
            print(f"{shown.name}.png: {len(small) / 1000:.0f} kB")
    except UserError as error:
        print(f"tools.cards: {error}", file=sys.stderr)
        return 1
    return 0


def place_of(page: Page) -> Path:
    """The file of its card."""
    folder = ROOT / "microgpt" / "course" / page.name.replace("-", "_")
    return folder / CARD_FILE if folder.is_dir() else ROOT / "site" / "cards" / f"{page.name}.png"


def with_palette(png: bytes) -> bytes:
    """The same picture in its most frequent colours, and so in all that fill an area; as it is without Pillow."""
    try:
        from PIL import Image
    except ImportError:
        return png
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    counted = sorted(picture.getcolors(picture.width * picture.height) or [], reverse=True)[:COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in counted if isinstance(colour, tuple) for part in colour])
    found = io.BytesIO()
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(found, "PNG", optimize=True)
    return found.getvalue()


if __name__ == "__main__":
    sys.exit(main())
