"""The pictures of shared links: one for each page and none besides, as large as those who show them expect."""

from __future__ import annotations

import struct

import pytest

from microgpt.viz.course import PAGES
from tools.cards import CARDS


def test_each_page_has_a_card_and_no_card_is_left_over() -> None:
    assert {path.name for path in CARDS.iterdir()} == {f"{page.name}.png" for page in PAGES}


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_a_card_is_1200_by_630_and_light(name: str) -> None:
    png = (CARDS / f"{name}.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", png[16:24]) == (1200, 630)
    assert len(png) < 80_000
