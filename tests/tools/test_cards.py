"""The pictures of shared links: one for each page and none besides, as large as those who show them expect."""

from __future__ import annotations

from microgpt.viz.course import PAGES
from tests.support.built import png_size
from tools.cards import CARDS


def test_each_page_has_a_card_that_is_1200_by_630_and_light_and_no_card_is_left_over() -> None:
    cards = {path.name: path.read_bytes() for path in CARDS.iterdir()}
    assert cards.keys() == {f"{page.name}.png" for page in PAGES}
    assert [name for name, png in cards.items() if png_size(png) != (1200, 630) or len(png) >= 80_000] == []
