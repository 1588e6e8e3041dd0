"""Every line that says where a number comes from evaluates to the number that stands in the picture, printed digit by
printed digit: the lines are read from the page and computed again by what is printed alone."""

import re
from html import unescape

import pytest

from microgpt.course.kv_cache.lesson import piece
from microgpt.viz.controls import on_show
from microgpt.viz.drawing.lens import MOST_CELLS, MOST_PRODUCTS, MOST_TERMS
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import in_cell, number
from tests.support.lens import holds
from tests.support.sampled import sampled

RANDOM = [
    Settings("names", "emm"), Settings("names", "zoe", temperature=0.8, top_k=3, seed=4), Settings("names-deep", "al"),
    Settings("stories", "The next day is bright", seed=2), Settings("stories", "the sun", temperature=1.5),
]  # fmt: skip


def answers(html: str) -> list[tuple[str, dict[str, list[str]]]]:
    """The classes of each head, and its lines by what they answer, one at each temperature; the last is of guesses."""
    found = re.findall(r'<div class="replies ?([^"]*)">(.*?)</div>', html, re.S)
    lines = [(where, re.findall(r'<p class="(\w+)">(.*?)</p>', inside, re.S)) for where, inside in found]
    return [(where, {name: each(text) for name, text in told}) for where, told in lines]


def each(line: str) -> list[str]:
    parts = re.findall(r'<span class="deg deg\d+">(.*?)</span>', line, re.S) or [line]
    return [" ".join(unescape(re.sub("<.*?>", "", part)).split(" ")).strip() for part in parts]


@pytest.mark.parametrize(
    "settings", sampled(RANDOM, [RANDOM[0], RANDOM[-1]], "other texts"), ids=lambda one: f"{one.model} {one.prompt}"
)
def test_every_line_comes_to_the_number_that_it_answers_for(settings: Settings) -> None:
    picture = Picture(settings.trace())
    for i in range(picture.n):
        *heads, (_, of_guesses) = answers(piece(picture, "lines", i, on_show(picture)))
        step = picture.step(i)
        assert [where for where, _ in heads] == [where for where, _ in step.meetings]
        for (where, lines), (_, meets) in zip(heads, step.meetings, strict=True):
            (mixed,) = (strip for strip in step.mixed if strip.where == where)
            few = mixed.cells if len(mixed.cells) <= MOST_CELLS else []
            due = {f"s{meet.row}": number(meet.score) for meet in meets}
            due |= {f"w{meet.row}": number(meet.weight) for meet in meets}
            due |= {f"o{at}": in_cell(cell.value, mixed.digits or 0) for at, cell in enumerate(few)}
            assert {name: re.split(r"[\s\u00a0]", line)[-1] for name, (line,) in lines.items()} == due
            assert [line for (line,) in lines.values() if not holds(line)] == []
        for at, found in enumerate(step.reshaped):
            told = zip(found, of_guesses[f"g{at}"], strict=True)
            assert all(not share or (holds(line) and line.endswith(" " + number(share))) for share, line in told)


def test_of_many_products_the_largest_stand_there_and_the_others_together() -> None:
    picture = Picture(Settings("stories", "The next day is bright").trace())
    assert picture.config.head_dim > MOST_PRODUCTS
    for one in picture.lines(picture.n - 1):
        for _, line in one.scores:
            products = sorted((abs(a * b) for a, b in line.dot.pairs), reverse=True)
            assert len(products) == MOST_TERMS and line.dot.others == picture.config.head_dim - MOST_TERMS


def test_what_is_read_is_counted_from_the_trace() -> None:
    picture = Picture(Settings("names", "emm").trace())
    reads = [(row, number, read) for row, _, number, read in picture.row_lines(4)]
    assert reads == [(row, row + 1, 5 - row) for row in range(5)]
