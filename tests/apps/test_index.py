"""The front page: its machine and its small pictures are drawn from traces, and no figure stands there twice."""

import re
from functools import cache
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.course import COURSE_PARTS, LESSONS, page
from microgpt.trace import Trace
from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.rendering.draw import thumb
from microgpt.viz.settings import Settings
from microgpt.weights import shipped
from tests.support.figures import boxes_of
from tests.support.pages import by_id, classes, find, folded, numbers, text, tree_of, view_of

FRONT = page("index")
NAMES = r"GPT-2 124M|SmolLM2-135M|Llama-3-8B"


@cache
def trace() -> Trace:
    return Settings(FRONT.model, FRONT.prompt).trace()


def head() -> tuple[int, int]:
    return Picture(trace()).clearest


def test_every_lesson_is_in_one_part_in_the_order_of_the_numbers() -> None:
    assert [one for part in COURSE_PARTS for one in part.lessons] == [*LESSONS]
    numbered = sorted({lesson.number for lesson in LESSONS})
    links = [e.get("href") for part in find(tree_of(FRONT), "chapter") for e in part.iter("a")]
    assert {f"{lesson.name}.html" for lesson in LESSONS} <= set(links)
    assert [numbers(e)[0] for e in find(tree_of(FRONT), "meta")] == numbered


def test_no_figure_stands_there_twice() -> None:
    """The numbers of lessons are names, and there are as many as lessons."""
    said = [re.sub(NAMES, "", text(e)) for e in find(tree_of(FRONT), "fact")]
    assert all(re.search(r"\d", one) for one in said)
    figures = [x for one in said for x in re.findall(r"1e-\d+|\d[\d,.]*\d|\d", one)]
    assert len(set(figures)) == len(figures)


def fills(strip: Element) -> list[int]:
    """The levels of a strip of the machine."""
    found = [cell.get("class", "") for cell in strip]
    return [0 if one == "z" else int(one[1:]) * (-1 if one[0] == "n" else 1) for one in found]


def levels(event: str, pos: int) -> list[int]:
    layer, which = head()
    config = shipped(FRONT.model).config
    row = trace()[event, pos, layer][0].reshape(-1, config.head_dim)
    values = row[which * len(row) // config.n_head]
    limit = Picture(trace()).scale.limit
    return [int(x) for x in np.clip(np.rint(LEVELS * values / limit), -LEVELS, LEVELS)]


def test_the_machine_holds_the_rows_of_the_trace() -> None:
    rows = find(tree_of(FRONT), "lies")
    for pos, row in enumerate(rows):
        assert text(find(row, "tok")[0]) == trace().about["tokens"][pos]
        assert fills(find(row, "strip", "k")[0]) == levels("k", pos)
        assert fills(find(row, "strip", "v")[0]) == levels("v", pos)
    steps = range(len(rows) - 3, len(rows))
    layer, which = head()
    parts = (find(tree_of(FRONT), name) for name in ("asks", "bands", "answer"))
    for pos, asks, bands, answer in zip(steps, *parts, strict=True):
        assert fills(find(asks, "strip", "q")[0]) == levels("q", pos)
        assert fills(find(answer, "strip", "o")[0]) == levels("head_out", pos)
        widths = [int(c[1:]) for band in bands for c in classes(band) if re.fullmatch(r"w\d+", c)]
        assert np.abs(np.array(widths) / 100 - trace()["attn_weights", pos, layer][which, 0]).max() <= 0.01
        assert trace().about["tokens"][pos + 1] == text(find(tree_of(FRONT), "chip")[pos + 1])
        assert trace().number("sample", pos) is not None


def kinds(name: str) -> dict[str, list[tuple[float, float, float, float]]]:
    """The boxes of a small picture, by their kind."""
    return boxes_of(thumb(page(name), view_of(name)))


def test_every_small_picture_lies_in_its_frame() -> None:
    """One of a lesson that draws none is its table's."""
    for lesson in LESSONS:
        found = [box for boxes in kinds(lesson.name).values() for box in boxes]
        width = thumb(lesson, view_of(lesson)).width
        assert found and width <= 304, lesson.name
        assert all(x >= -4 and y >= 0 and x + w <= width + 4 and y + h <= 100.1 for x, y, w, h in found), lesson.name


def test_the_small_pictures_count_what_their_pages_count() -> None:
    loop = kinds("next-token")
    assert (len(loop["again"]), len(loop["new"])) == (
        view_of("next-token").total_again,
        view_of("next-token").total_new,
    )
    both = kinds("with-and-without")
    n = view_of("with-and-without").n
    assert len(both["again"]) == len(both["kept"]) == n * (n - 1) // 2 and len(both["new"]) == 2 * n
    lives = kinds("why-q")
    assert {kind: len(lives[f"{kind} f3"]) for kind in "qkv"} == view_of("why-q").reads
    old = view_of("old-rows")
    changed = old.experiments[old.choices[0].at]
    rows = kinds("old-rows")
    assert (len(rows["again"]), len(rows["again"]) + len(rows["kept"])) == (changed.n_stale, changed.n_rows)
    assert len(kinds("training")["none"]) == view_of("training").masked
    passes = kinds("prefill-and-decode")
    assert len(passes["new"]) == len(view_of("prefill-and-decode").columns)
    assert len(kinds("kv-cache")["none"]) == view_of("kv-cache").n


def test_the_small_pictures_are_as_long_as_their_numbers() -> None:
    held = {kind: sum(width for _, _, width, _ in found) for kind, found in kinds("memory").items()}
    ours = sum(one.per_token for one in view_of("memory").known if one.model.sharing == "MLA")
    rest = sum(one.per_token for one in view_of("memory").known) - ours
    assert held["k f3"] == held["v f3"] and held["any f3"] / held["k f3"] == pytest.approx(2 * ours / rest, rel=0.05)
    (most,) = kinds("most-read")["q f3"]
    others = [width for _, _, width, _ in kinds("most-read")["q f1"]]
    assert most[2] / np.mean(others) > 2 and len(others) + 1 == view_of("most-read").n


def test_the_lead_says_what_goes_wrong_what_a_cache_is_and_what_one_must_know() -> None:
    (lead,) = find(tree_of(FRONT), "lead")
    said = folded(lead)
    wrong, cure, needs = "of its whole text again", "The KV cache keeps them", "You must be able to multiply and add"
    with_python = [lesson.name for lesson in LESSONS if "bug" in by_id(lesson)]
    assert "in nearly every lesson" in said and len(LESSONS) > len(with_python) > 0.9 * len(LESSONS)
    assert 0 < said.index(wrong) < said.index(cure) < said.index(needs) < said.index("Begin with the first lesson")
