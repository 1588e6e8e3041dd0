"""A figure as a PNG, which Chromium draws."""

from __future__ import annotations

import struct
from pathlib import Path
from xml.etree import ElementTree

from microgpt.viz.figures import figure
from microgpt.viz.settings import Settings
from tests.tools.test_figure import command


def size(png: bytes) -> tuple[int, int]:
    """Width and height, out of the header."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_a_png_has_so_many_pixels(tmp_path: Path) -> None:
    out, svg = tmp_path / "a.png", figure("old-rows", Settings("names-deep", "emma"))
    height = int(ElementTree.fromstring(svg).get("height", 0))
    assert command(["old-rows", "--scale", "1.5", "--out", str(out)]) == (0, "")
    assert size(out.read_bytes()) == (1440, round(1.5 * height))
