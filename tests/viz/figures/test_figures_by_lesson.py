"""Figures of single lessons: what they mark is what the view says; they say the view's numbers and no others."""

import re
from collections import Counter
from typing import Any

import pytest

from microgpt.course import page
from microgpt.course.training.lesson import SHOWN_LAYER
from microgpt.course.why_q import lesson as why_q
from microgpt.viz.drawing.kit.paint import HEAT, INK
from microgpt.viz.drawing.kit.places import length
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import difference, heat, number, percent, upper_bound
from microgpt.viz.text.language import LANGUAGES, language
from microgpt.weights import shipped
from tests.support.figures import EDGE, SVG, drawn, placed, printed, texts
from tests.support.pages import view_of

OLD, WHY, TRAINING = (page(name) for name in ("old-rows", "why-q", "training"))
NUMBER = r"−?\d+(?:\.\d+)?(?:e-\d+)?"


def rects(name: str, choice: dict[str, object], **having: str) -> list[dict[str, str]]:
    """The attributes of the rectangles that have these."""
    found = [one.attrib for one in drawn(page(name), choice).iter(f"{SVG}rect")]
    return [one for one in found if having.items() <= one.items()]


def test_a_stale_row_is_hatched_as_far_as_it_is_off_and_a_new_one_is_lit() -> None:
    for i, one in enumerate(view_of(OLD).experiments):
        bars = rects("old-rows", {"experiment": i}, fill="none", height="10")
        assert len(bars) == len(list(drawn(OLD, {"experiment": i}).iter(f"{SVG}path")))
        found = [int(bar["width"]) for bar in bars]
        percents = [percent(share) for row in one.rows for off, share in row.off if off]
        assert len(found) == one.n_stale == len(percents)
        assert found == [length(percent, max(found)) for percent in percents]
        lit = rects("old-rows", {"experiment": i}, fill=INK["new"])
        assert len(lit) == sum(row.changed for row in one.rows)


def test_a_cell_is_coloured_where_its_row_was_read() -> None:
    """From the first row's q to the last row's v."""
    for i in range(view_of(WHY).n):
        fills = iter(one.get("fill") for one in rects("why-q", {"old": i}, height="12"))
        for life in view_of(WHY).lives:
            for kind, read, count in life.tracks:
                cells = [next(fills) for _ in read]
                assert [fill == INK[kind] for fill in cells] == read
                assert cells.count(INK[kind]) == count
        assert list(fills) == []


def test_what_is_masked_is_dashed_and_every_weight_has_its_heat() -> None:
    view = view_of(TRAINING)
    for i, rows in enumerate(view.heads):
        cells = rects("training", {"pass-head": i}, height="35")
        wanted = []
        for row in rows:
            wanted += [HEAT[heat(cell.level)][0] for cell in row.weights.cells]
            wanted += ["none"] * (view.n - len(row.weights.cells))
        assert [cell["fill"] for cell in cells] == wanted
        assert ["stroke-dasharray" in cell for cell in cells] == [fill == "none" for fill in wanted]
        assert texts(drawn(TRAINING, {"pass-head": i})).count("−∞") == view.masked


def numbers_of_old_rows(view: Any, i: int) -> list[str]:
    one, layers = view.experiments[i], [str(layer) for layer in range(view.n_layer)]
    wanted = [*layers, *layers, *map(str, one.stale_by_layer), *map(str, range(len(one.rows)))]
    wanted += [found for row in one.rows for off, _ in row.off if off for found in re.findall(NUMBER, difference(off))]
    wanted += [str(one.at)] if one.kind in ("append", "unmasked", "change") else []
    wanted += [str(one.at)] if one.kind in ("change", "move") else []  # in what is on the button
    return [*wanted, str(one.n_stale), str(one.n_rows)]


def numbers_of_why_q(view: Any, i: int) -> list[str]:
    old = view.olds[i]
    wanted = [str(j + 1) for j in range(view.n)]
    wanted += [x for life in view.lives for x in (str(life.i), *(str(count) for _, _, count in life.tracks))]
    wanted += [str(i), *printed(old.q[0]), upper_bound(old.difference)]
    wanted += [number(weight) for _, (weight, *_) in old.weights if weight is not None]
    return [*wanted, str(i), str(old.later), str(old.later_reads)]  # of the caption


def numbers_of_training(view: Any, i: int) -> list[str]:
    wanted = [str(SHOWN_LAYER), str(i)]  # of the line below the title
    wanted += [text for row in view.heads[i] for text in printed(row.weights)]
    wanted += [number(row.loss) for row in view.heads[i]]
    return [*wanted, str(view.masked), upper_bound(view.apart)]


@pytest.mark.parametrize(
    ("one", "wanted"), [(OLD, numbers_of_old_rows), (WHY, numbers_of_why_q), (TRAINING, numbers_of_training)]
)
def test_it_says_the_numbers_of_the_view_and_no_others(one: Any, wanted: Any) -> None:
    choice = view_of(one).choices[0]
    for i in choice.values:
        said = re.findall(NUMBER, " ".join(texts(drawn(one, {choice.name: i}))[:-1]))  # without the source
        assert Counter(said) == Counter(wanted(view_of(one), i)), i


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_of_a_long_text_is_cut_or_beyond_the_card(lang: str) -> None:
    model = shipped("stories")
    words = sorted((t for t in model.tokenizer.vocabulary if t != "<s>"), key=len)[-12:]
    longest = Settings("stories", " ".join((words * 3)[: model.config.n_ctx - 1]))
    last = len(why_q.view(longest).lives) - 1
    assert last + 1 == model.config.n_ctx
    umbrellas = Settings("stories", " ".join(["umbrella"] * 22))
    with language(lang):
        trees = [
            drawn(WHY, {"old": last}, longest),
            drawn(OLD, {"experiment": view_of(OLD).first_change}),
            drawn(OLD, {"experiment": 1}, Settings(OLD.model, "opqrstuvwxyzopq")),
            drawn(TRAINING, None, umbrellas),
        ]
    for tree in trees:
        assert not [text for text in texts(tree)[:-1] if "…" in text]
        assert max(right for _, _, right, _ in placed(tree)) <= EDGE
    assert texts(trees[-1]).count("umbrella") > 3 * 22 - 1  # above its column, before its row, and as what should come
