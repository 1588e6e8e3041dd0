"""The front page: its machine and its small pictures are drawn from traces, and no figure stands there twice."""

import re
from itertools import accumulate
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.apps.index.app import IN_A_LINE
from microgpt.course import COURSE_PARTS, LESSONS, ROAD, page
from microgpt.model import forward
from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.rendering.draw import thumb
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import LANGUAGES, folder
from microgpt.weights import shipped
from tests.support.figures import boxes_of
from tests.support.pages import classes, find, folded, numbers, parse, recorded, text, tree_of, view_of

FRONT = page("index")
NAMES = r"GPT-2 124M|SmolLM2-135M|Llama-3(\.1)?-8B"


TRACE = recorded(FRONT.model, FRONT.prompt).trace
LAYER, HEAD = Picture(TRACE).clearest


def test_every_lesson_is_in_one_part_and_once_on_the_page_in_the_order_of_the_numbers() -> None:
    assert [one for part in COURSE_PARTS for one in part.lessons] == [*LESSONS]
    numbered = sorted({lesson.number for lesson in LESSONS})
    links = [e.get("href") for part in find(tree_of(FRONT), "chapter") for e in part.iter("a")]
    assert {f"{lesson.name}.html" for lesson in LESSONS} <= set(links)
    assert {f"{part.sheet}.html" for part in COURSE_PARTS} <= set(links)
    (road,) = find(tree_of(FRONT), "road")
    assert [int(numbers(e)[0]) for e in find(road, "meta")] == [*range(1, len(ROAD) + 1)]
    core = [int(numbers((find(e, "nth") or [e])[0])[0]) for e in find(road, "meta")]
    others = [int(numbers(e)[0]) for shelf in find(tree_of(FRONT), "shelf") for e in find(shelf, "meta")]
    assert core == sorted(core) and others == sorted(others) and sorted(core + others) == numbered


def test_the_road_needs_nothing_else_and_takes_as_long_as_its_lessons_say(site: Path) -> None:
    for at, name in enumerate(ROAD):
        assert {*page(name).needs} <= {*ROAD[:at]}, name
    for lang in LANGUAGES:
        (road,) = find(tree_of(FRONT, lang), "road")
        said = [numbers(e)[0] for e in find(road, "takes")]
        pages = [(site / folder(lang) / f"{name}.html").read_text("utf-8") for name in ROAD]
        of_pages = [re.findall(r"(\d+) minut", re.findall(r'<p class="crumb">.*?</p>', one, re.S)[0]) for one in pages]
        assert [[f"{minutes:.0f}"] for minutes in said] == of_pages
        assert numbers(next(road.iter("header")))[:2] == [len(ROAD), sum(said)] and 60 <= sum(said) <= 100


def test_the_shelves_leave_no_hole() -> None:
    """The heading of a part takes what its lessons leave of a line; two that are half as wide stand side by side."""
    shelves = view_of(FRONT).shelves
    for shelf in shelves:
        assert (shelf.head + len(shelf.cards)) % shelf.wide == 0 < shelf.head <= shelf.wide
    filled = 0
    for shelf in shelves:
        filled = (filled + shelf.wide) % IN_A_LINE if filled + shelf.wide <= IN_A_LINE else -1
        assert filled >= 0, shelf.part.title
    assert filled == 0


def test_no_figure_stands_there_twice() -> None:
    """The numbers of lessons are names, and there are as many as lessons."""
    said = [re.sub(NAMES, "", text(e)) for e in find(tree_of(FRONT), "fact")]
    assert all(re.search(r"\d", one) for one in said)
    figures = [x for one in said for x in re.findall(r"1e-\d+|\d[\d,.]*\d|\d", one)]
    assert len(set(figures)) == len(figures)


def fills(strip: Element) -> list[int]:
    found = [cell.get("class", "") for cell in strip]
    return [0 if one == "z" else int(one[1:]) * (-1 if one[0] == "n" else 1) for one in found]


def levels(event: str, pos: int) -> list[int]:
    config = shipped(FRONT.model).config
    row = TRACE[event, pos, LAYER][0].reshape(-1, config.head_dim)
    shares = row[HEAD * len(row) // config.n_head] / Picture(TRACE).scale.limit
    return [int(x) for x in np.clip(np.rint(LEVELS * shares), -LEVELS, LEVELS)]


def test_the_machine_holds_the_rows_of_the_trace() -> None:
    rows = find(tree_of(FRONT), "lies")
    tokens = TRACE.about["tokens"]
    assert [text(find(row, "tok")[0]) for row in rows] == tokens == [text(e) for e in find(tree_of(FRONT), "chip")]
    for pos, row in enumerate(rows):
        assert fills(find(row, "strip", "k")[0]) == levels("k", pos)
        assert fills(find(row, "strip", "v")[0]) == levels("v", pos)
    parts = (find(tree_of(FRONT), name) for name in ("asks", "bands", "answer"))
    for pos, (asks, bands, answer) in enumerate(zip(*parts, strict=True), start=1):
        assert fills(find(asks, "strip", "q")[0]) == levels("q", pos)
        assert fills(find(answer, "strip", "o")[0]) == levels("head_out", pos)
        widths = [int(c[1:]) for band in bands for c in classes(band) if re.fullmatch(r"w\d+", c)]
        assert np.abs(np.array(widths) / 100 - TRACE["attn_weights", pos, LAYER][HEAD, 0]).max() <= 0.01
    meanings = {kind: find(find(tree_of(FRONT), "meanings")[0], "strip", kind)[0] for kind in "qkv"}
    assert all(fills(strip) == levels(kind, len(rows) - 1) for kind, strip in meanings.items())
    written = [pos for pos, chip in enumerate(find(tree_of(FRONT), "chip")) if "write" in classes(chip)]
    assert written == [pos + 1 for pos in range(len(tokens) - 1) if TRACE.number("sample", pos) is not None]


def runs(tree: Element, kind: str) -> list[int]:
    return [int(text(e)) for row in find(tree, "runs", kind) for e in row.iter("b")]


def test_the_counters_count_the_tokens_that_the_model_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    given = list[int]()

    def counting(params: Any, config: Any, ids: Any, *rest: Any) -> Any:
        given.append(len(ids))
        return forward(params, config, ids, *rest)

    monkeypatch.setattr("microgpt.decode.forward", counting)
    Settings(FRONT.model, FRONT.prompt).recording().run()  # each step with the cache, then without
    for kind, counted in (("cached", given[::2]), ("uncached", given[1::2])):
        assert runs(tree_of(FRONT), kind) == [*accumulate(counted)]
    said = folded(find(tree_of(FRONT), "verdict")[0])
    assert said == "The same letters, 4 times the token runs: 28 without a cache, 7 with it."


@pytest.mark.parametrize(("name", "letters"), [("Anna", "anna"), (" tom ", "tomia"), ("x", "xaria")])
def test_a_name_is_dropped_in(name: str, letters: str) -> None:
    _, patches = dispatch(None, "drop", {"page": "index", "lang": "en", "prompt": name})
    drawn = {one["target"]: parse(one["html"]) for one in patches}["#hero"]
    assert "".join(text(e) for e in find(drawn, "chip")) == f"<s>{letters}"
    n = len(letters) + 1
    assert (runs(drawn, "cached")[-1], runs(drawn, "uncached")[-1]) == (n, n * (n + 1) // 2)
    assert f"{letters[0]} asks" in text(drawn)
    assert f"kv-cache.html?prompt={name.strip().lower()}" in [e.get("href") for e in drawn.iter("a")]


@pytest.mark.parametrize(
    ("name", "says"), [("", "Type a name first."), ("José", "“é”"), ("a" * 16, "16 letters"), ("ann a", "“ ”")]
)
def test_a_name_that_the_model_cannot_read_is_one_sentence(name: str, says: str) -> None:
    _, patches = dispatch(None, "drop", {"page": "index", "lang": "en", "prompt": name})
    assert [one["target"] for one in patches] == ["#prompt-error"] and says in patches[0]["html"]


def kinds(name: str) -> dict[str, list[tuple[float, float, float, float]]]:
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
    assert len(both["again"]) == len(both["k kept"]) == n * (n - 1) // 2 and len(both["new"]) == 2 * n
    lives = kinds("why-q")
    assert {kind: len(lives[f"{kind} f3"]) for kind in "qkv"} == view_of("why-q").reads
    old = view_of("old-rows")
    changed = old.experiments[old.choices[0].at]
    rows = kinds("old-rows")
    assert (len(rows["again"]), len(rows["again"]) + len(rows["k kept"])) == (changed.n_stale, changed.n_rows)
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


def test_the_lead_says_what_goes_wrong_what_a_cache_is_and_what_one_must_know(site: Path) -> None:
    (lead,) = find(tree_of(FRONT), "front")
    said = folded(lead)
    wrong, cure, needs = "of its whole text again", "The KV cache keeps them", "You need powers and roots"
    with_python = [one.name for one in LESSONS if ' id="bug"' in (site / f"{one.name}.html").read_text("utf-8")]
    assert "in nearly every lesson" in said and len(LESSONS) > len(with_python) > 0.9 * len(LESSONS)
    assert 0 < said.index(wrong) < said.index(cure) < said.index(needs) < said.index("Begin with the first lesson")
