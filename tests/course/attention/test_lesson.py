"""Attention by hand: all of it made anew with plain Python, and again from what is printed, as a reader would."""

import math
import re
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.config import Config
from microgpt.course import page
from microgpt.course.attention.lesson import Asked as Rows
from microgpt.course.attention.lesson import View, slack, view
from microgpt.viz import views
from microgpt.viz.rendering.draw import thumb
from microgpt.viz.settings import Settings
from tests.support.figures import boxes_of
from tests.support.pages import classes, drawn, find, numbers, numbers_of, said_on, text

OURS = page("attention")
RUNS = [("names", "emm"), ("names", "zoe"), ("names", "a"), ("names", "bartholomew"), ("names-deep", "emma")]


@pytest.fixture(scope="module", params=RUNS, ids="-".join)
def shown(request: pytest.FixtureRequest) -> View:
    return view(Settings(*request.param))


def rows(shown: View, name: str) -> list[list[float]]:
    """The rows of the head on show, of all steps."""
    c, n = Config(**shown.trace.about["config"]), len(shown.labels)
    cut = slice(shown.head * c.head_dim, (shown.head + 1) * c.head_dim)
    return [shown.trace[name, i, shown.layer].reshape(-1)[cut].tolist() for i in range(n)]


def weights_of(shown: View, i: int, n: int, root: float) -> list[float]:
    """softmax(q · Kᵀ / root) of query i and the first n keys, in plain Python."""
    q, keys = rows(shown, "q")[i], rows(shown, "k")[:n]
    raised = [math.exp(sum(a * b for a, b in zip(q, k, strict=True)) / root) for k in keys]
    return [x / sum(raised) for x in raised]


def test_the_head_is_the_one_whose_weights_differ_most(shown: View) -> None:
    c, apart = Config(**shown.trace.about["config"]), {}
    assert c.n_head == c.n_kv_head and shown.head_dim == c.head_dim
    for layer in range(c.n_layer):
        for head in range(c.n_head):
            given = [shown.trace["attn_weights", i, layer][head, 0] for i in range(len(shown.labels))]
            apart[layer, head] = sum(float(np.abs(w - 1 / len(w)).sum()) for w in given)
    assert apart[shown.layer, shown.head] == pytest.approx(max(apart.values()))


def test_all_is_as_when_it_is_made_anew(shown: View) -> None:
    step, root = shown.last_key, math.sqrt(shown.head_dim)
    weights, v = weights_of(shown, step, step + 1, root), rows(shown, "v")
    assert [key.weight for key in shown.keys] == pytest.approx(weights)
    assert [key.score for key in shown.keys] == pytest.approx([key.total / root for key in shown.keys])
    assert [key.raised for key in shown.keys] == pytest.approx([math.exp(key.score) for key in shown.keys])
    for key in shown.keys:
        assert key.total == pytest.approx(sum(a * b for a, b in key.pairs))
        assert [cell.value for cell in key.slices.cells] == pytest.approx([key.weight * x for x in v[key.i]])
    summed = [sum(w * row[j] for w, row in zip(weights, v, strict=False)) for j in range(shown.head_dim)]
    assert [cell.value for cell in shown.answer.cells] == pytest.approx(summed)
    assert sum(key.thick for key in shown.keys) == 100 and shown.whole == pytest.approx(1)
    assert shown.most.weight == pytest.approx(max(weights))


def test_the_triangle_has_a_row_a_step_and_hides_what_is_later(shown: View) -> None:
    n = len(shown.labels)
    for i, row in enumerate(shown.rows):
        assert row.weights == pytest.approx([*weights_of(shown, i, i + 1, shown.root), *[0.0] * (n - 1 - i)])
        assert (len(row.scores), row.earlier) == (i + 1, sum(range(i + 1)))
    assert shown.total + shown.masked == n * n
    board = find(tree_for(shown), "triangle")[0]
    assert len(find(board, "masked")) == shown.masked


def test_the_small_picture_is_the_triangle(shown: View) -> None:
    assert sum(map(len, boxes_of(thumb(page("attention"), shown)).values())) == shown.total


def tree_for(shown: View) -> Element:
    return drawn("attention", shown.trace.about["model"], shown.trace.about["prompt"])[1]


def near(made: float, printed: float, within: float) -> None:
    assert abs(round(made, 2) - printed) <= within + 1e-9, (made, printed)


def test_what_is_printed_follows_from_what_is_printed(shown: View) -> None:
    """As a reader does it: from the numbers on the page alone, rounded to two decimals, within what the page says."""
    tree, within = tree_for(shown), round(shown.slack, 2)
    dots, soft, taken = find(tree, "sums")[0]
    (q,) = [numbers_of(strip) for strip in find(dots, "strip", "q")]
    keys = [numbers_of(strip) for strip in find(dots, "strip", "k")]
    products = [numbers_of(strip) for strip in find(dots, "strip", "products")]
    lines = [[numbers(cell)[0] for cell in row.iter("td")] for body in soft.iter("tbody") for row in body]
    for k, product, (total, score, raised, _) in zip(keys, products, lines, strict=True):
        for a, b, c in zip(q, k, product, strict=True):
            near(a * b, c, within)
        near(sum(product), total, within)
        near(total / math.sqrt(len(q)), score, within)
        near(math.exp(score), raised, within)
    (together,) = [[numbers(cell)[0] for cell in row.iter("td")] for foot in soft.iter("tfoot") for row in foot]
    near(sum(line[2] for line in lines), together[0], within)
    assert together[1] == 1
    for line in lines:
        near(line[2] / together[0], line[3], within)
    values = [numbers_of(strip) for strip in find(taken, "strip", "v")]
    for v, piece, line in zip(values[::2], values[1::2], lines, strict=True):
        for a, b in zip(v, piece, strict=True):
            near(line[3] * a, b, within)
    (answer,) = [numbers_of(strip) for strip in find(taken, "strip", "o")]
    for j, x in enumerate(answer):
        near(sum(piece[j] for piece in values[1::2]), x, within)
    *each, total = numbers(find(tree, "fs")[0])  # softmax in the formula
    assert total == together[0] and abs(sum(each) - total) <= 0.005 + 1e-9
    assert numbers(find(tree, "fd")[0]) == [len(q), round(math.sqrt(len(q)), 2)]


def test_the_slack_is_no_larger_than_it_must_be() -> None:
    row = [np.array([x]) for x in (0.25, 1.0, 0.25)]
    assert slack(Rows(np.array([0.5]), np.array([[0.5]]), np.array([[0.25]]), *row)) == 0
    shown = views.of(OURS)
    assert isinstance(shown, View) and round(shown.slack, 2) == 0.01
    assert "off by 0.01 at most" in said_on(OURS)["rounding"]


def test_the_formula_is_lit_where_the_choice_is(shown: View) -> None:
    tree, lit = tree_for(shown), dict[int, set[str]]()
    for part in find(tree, "part"):
        first, last = (int(next(c[1:] for c in classes(part) if re.fullmatch(rf"{x}\d+", c))) for x in "bw")
        for case in range(first, last + 1):
            lit.setdefault(case, set()).add("".join(text(part).split()))
    assert set(lit) == set(shown.choices[0].values)
    assert "".join(text(find(tree, "formula")[0]).split()) == "softmax(q·KTd)·V"  # the root is drawn
    assert "q·KTd" in lit[0] and "softmax" in lit[shown.softmax_at] and "·V" in lit[shown.sum_at]


def test_the_root_keeps_the_spread() -> None:
    """The claim about sums of products, with random numbers; and the weights that follow from it."""
    generator = np.random.default_rng(1)
    shown = views.of(OURS)
    assert isinstance(shown, View)
    for _, head_dim, spread, weight in shown.spreads:
        q, k = generator.standard_normal((2, 20_000, head_dim))
        assert float((q * k).sum(axis=-1).std()) == pytest.approx(spread, rel=0.03)
        assert weight == pytest.approx(1 / (1 + math.exp(-spread)))
    assert shown.even == pytest.approx(1 / (1 + math.exp(-1)))
    assert shown.undivided == pytest.approx(max(weights_of(shown, shown.last_key, shown.last_key + 1, 1)))


def test_the_page_says_what_was_computed() -> None:
    shown, said = views.of(OURS), said_on(OURS)
    assert isinstance(shown, View)
    assert f"For the key of {shown.most.token} it is {shown.most.total:.2f}." in said["dot"].replace("−", "-")
    assert f"√{shown.head_dim} = {shown.root:.0f}" in said["root"]
    assert f"the largest weight is {shown.most.weight:.2f}; without the division it would be 0.67" in said["sharp"]
    last = shown.rows[-1]
    assert f"{shown.total} scores stay, {shown.masked} are masked" in said["mask"]
    assert (
        f"only {len(last.scores)} scores are new, and the {last.earlier} others are not needed again" in said["cache"]
    )
