"""A figure as a PNG, which Chromium draws."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from microgpt.viz.figures import figure
from microgpt.viz.settings import Settings
from microgpt.viz.text.place import ROOT
from tests.tools.built import png_size


@pytest.mark.thorough("starts a browser of its own; what it draws: tests/tools/test_figure.py")
def test_a_png_has_so_many_pixels(tmp_path: Path) -> None:
    out, svg = tmp_path / "a.png", figure("old-rows", Settings("names-deep", "emma"))
    height = int(ElementTree.fromstring(svg).get("height", 0))
    asked = [sys.executable, "-m", "tools.figure", "old-rows", "--scale", "1.5", "--out", str(out)]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert png_size(out.read_bytes()) == (1440, round(1.5 * height))
