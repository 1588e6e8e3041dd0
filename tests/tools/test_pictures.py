"""Sheets of frames are drawn by one command; README.md opens with a moving picture; a shared link has a card."""

from pathlib import Path

import pytest

from microgpt.course import PAGES
from tests.tools.built import png_size
from tools import sheets
from tools.browsers import which
from tools.cards import place_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(which("chromium") is None, reason="needs Chromium")
@pytest.mark.thorough("draws dozens of frames in a browser, for a tool that no reader sees")
def test_a_sheet_has_a_frame_for_each_choice_and_each_moment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    look = sheets.LOOKS["phone"]
    assert sheets.main(["memory", "--look", "phone", "--out", str(tmp_path / "new")]) == 0
    found = {path.name: png_size(path.read_bytes()) for path in (tmp_path / "new").iterdir()}
    assert set(found) == {"memory-phone.png"}
    for width, height in found.values():
        assert width == look.across * (look.shown + 12) + 32
        assert height > 1.5 * look.shown  # at least one row of frames that are taller than wide
    assert "memory-phone.png: " in capsys.readouterr().out


def test_what_cannot_be_drawn_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert sheets.main(["kv-cache"]) == 1
    assert "--out DIR" in capsys.readouterr().err
    assert sheets.main(["nowhere", "--out", "x"]) == 1
    assert "nowhere" in capsys.readouterr().err


def test_the_readme_opens_with_a_picture_that_moves_and_is_small() -> None:
    lines = [line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if line]
    pictures = [line for line in lines[:5] if line.startswith("![")]
    assert len(pictures) == 1 and pictures[0].endswith("](docs/machine.webp)")
    webp = (ROOT / "docs" / "machine.webp").read_bytes()
    assert webp[:4] == b"RIFF" and webp[8:12] == b"WEBP"
    assert b"ANIM" in webp[:64]
    assert webp.count(b"ANMF") > 50  # frames
    assert len(webp) < 1_000_000


def test_each_page_has_a_card_that_is_1200_by_630_and_light_and_no_card_is_left_over() -> None:
    cards = {page.name: place_of(page).read_bytes() for page in PAGES}
    assert len([*(ROOT / "site" / "cards").iterdir(), *(ROOT / "microgpt" / "course").rglob("*.png")]) == len(PAGES)
    assert [name for name, png in cards.items() if png_size(png) != (1200, 630) or len(png) >= 80_000] == []
