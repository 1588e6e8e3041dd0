"""The page on training shows what was computed; live, it trains, stops, begins anew, and is a function of its state."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from microgpt.config import Array, split
from microgpt.course import page
from microgpt.course.training import lesson as training
from microgpt.course.training import live
from microgpt.experiments.gradient import losses
from microgpt.experiments.mistakes import logits_of
from microgpt.recipes import first_thousand
from microgpt.train import loss_and_grads
from microgpt.viz import views
from microgpt.viz.patches import Patch, State
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import percent
from microgpt.weights import Model, shipped
from tests.support.listings import run_python
from tests.support.pages import drawn, find, folded, text, tree_of

FIELDS = {"page": "training", "model": "names", "prompt": "emma"}


def send(state: State | None, hook: str) -> tuple[State | None, dict[str, Patch]]:
    state, patches = dispatch(state, hook, FIELDS)
    return state, {patch.get("target", "again" if "again" in patch else ""): patch for patch in patches}


def test_training_goes_on_by_itself_until_it_is_paused_or_done() -> None:
    state, patches = send(None, "train")
    assert state == {"steps": live.AT_ONCE}
    assert patches["again"] == {"again": "train"}
    assert "3.0664" not in patches["#trained"]["html"] and "3.2209" in patches["#trained"]["html"]
    state, patches = send(state, "pause")
    assert state == {"steps": live.AT_ONCE} and "again" not in patches
    state, patches = send({"steps": 1000 - live.AT_ONCE}, "train")
    assert state == {"steps": 1000} and "again" not in patches
    assert "kamon" in patches["#written"]["html"]
    same, patches = send(state, "train")
    assert same == state
    assert "1000" in patches["#prompt-error"]["html"]


def test_it_is_a_function_of_the_state() -> None:
    _, first = send({"steps": 40}, "train")
    send({"steps": 700}, "train")
    send(None, "reset")
    _, second = send({"steps": 40}, "train")
    assert first == second


def test_the_curve_joins_where_it_stopped_and_counts_every_step() -> None:
    state: State | None = None
    points: list[str] = []
    for _ in range(4):
        state, patches = send(state, "train")
        each = re.findall(r'each" points="([^"]+)"', patches["#loss-lines"]["html"])[0].split()
        if points:
            assert each[0] == points[-1]
            each = each[1:]
        points += each
    assert len(points) == 4 * live.AT_ONCE


def test_reset_begins_anew_and_a_text_of_the_readers_own_leaves_training_alone() -> None:
    state, _ = send({"steps": 60}, "run")
    assert state and state["steps"] == 60
    state, patches = send(state, "reset")
    assert state and state["steps"] == 0
    assert patches["#loss-lines"]["html"] == ""
    _, patches = send(state, "train")
    assert "3.2209" in patches["#trained"]["html"]
    assert 'id="stepper"' in send({"steps": 100}, "watch")[1]["#watch"]["html"]


def test_the_loop_that_is_shown_runs_and_prints_what_the_page_says() -> None:
    ours = page("training")
    shown = views.of(ours)
    assert isinstance(shown, training.View)
    assert run_python(str(training.HERE / "listings" / "loop.py")).rstrip("\n") == training.LOOP_PRINTS
    (block,) = (one for one in tree_of(ours).iter("details") if one.get("id") == "right-loop")
    assert training.LOOP in text(block) and f"It prints: {training.LOOP_PRINTS}." in folded(block)
    assert f"first {shown.first_loss:.4f}," in training.LOOP_PRINTS


def test_the_loop_that_is_shown_has_the_loss_of_training_and_of_names_that_are_cached_anew() -> None:
    """Step by step, with gradients as training makes them; the losses of a name through a cache of its own, too."""
    found, run = dict[str, Any](), first_thousand()
    exec(compile(training.LOOP, "loop.py", "exec"), found)
    gradient = np.zeros_like(run.vector)
    params, grads = split(run.vector, run.config), split(gradient, run.config)
    for loss, ids in zip(found["losses"], run.texts, strict=False):
        assert loss == pytest.approx(losses(params, run.config, ids, cached=True).mean(), abs=1e-12)
        assert loss == pytest.approx(loss_and_grads(params, run.config, ids, grads), abs=1e-12)
        run.vector[:] -= 0.1 * gradient
    assert np.allclose(found["vector"], run.vector, rtol=0, atol=1e-12)
    assert np.mean(found["losses"][-50:]) < found["losses"][0] - 0.5


@pytest.mark.parametrize("model", ["names", "names-deep", "stories"])
def test_what_the_page_says_of_gradients_and_mistakes(model: str) -> None:
    prompt = "the next day" if model == "stories" else "emma"
    view = training.view(Settings(model, prompt))
    assert view.differs == (["W_K", "W_V"] if view.n_layer == 1 else ["W_Q", "W_K", "W_V"])
    assert view.last_later == pytest.approx(0, abs=1e-12)
    assert view.first_loss == pytest.approx(3.3660, abs=5e-5)
    assert [one.change > 0 for one in view.tried] == [False, True, True, True]
    assert [one.mean > view.tried[0].mean for one in view.tried] == [False, True, True, True]
    assert view.misleads.lower == max(one.lower for one in view.tried) < view.n_tried
    masks = sum(view.n - len(line.weights.cells) for line in view.heads[0])
    assert masks == view.masked


@pytest.mark.parametrize(("model", "prompt"), [("names", "emma"), ("names-deep", "ab")])
def test_a_row_hears_from_itself_and_from_all_that_come_after_it(model: str, prompt: str) -> None:
    """The picture has a step for each token, then all of them; what is drawn below a row adds up to its figures."""
    shown, tree = drawn("training", model, prompt)
    steps = [one for one in tree.iter("input") if one.get("name") == "at-once"]
    assert len(steps) == shown.n + 1 and [one.get("value") for one in steps if one.get("checked") is not None] == [
        str(shown.n - 1)
    ]
    for head, (lines, kept) in enumerate(zip(shown.heads, shown.kept, strict=True)):
        table = find(find(tree, "pass")[head], f"w{shown.n}")[0]
        assert (
            all(line.same for line in lines)
            and [len(find(table, kind)) for kind in ("kept", "k", "v")] == [shown.n] * 3
        )
        widths = [[int(n) for n in re.findall(r"w(\d+)", str(cell.get("class")))] for cell in find(table, "heat")]
        assert widths == [[percent(cell.value)] for line in lines for cell in line.weights.cells]
        assert len(kept) == shown.n
    for table, layer in zip(find(tree, "learned"), shown.layers, strict=True):
        assert [[len(find(line, kind)) for kind in ("own", "later", "none")] for line in table.iter("tr")][1:-2] == [
            [1, i, shown.n - 1 - i] for i in range(shown.n)
        ]
        for i, (_, sides) in enumerate(layer.rows):
            for side, (_, own, later) in enumerate(sides):
                heard = [line[i][side] for line in layer.losses[i:]]
                most = max(max(pair) for line in layer.losses for pair in line)
                assert most == 1 and bool(later) == any(heard[1:])
                assert later <= own / heard[0] * sum(heard[1:]) * (1 + 1e-9) if heard[0] else own == 0
    assert all(a == b if same else a > b for _, (a, b), same in shown.matrices)


@pytest.mark.parametrize("kind", training.SKETCHES)
def test_a_sketch_of_a_mistake_is_what_each_query_reads(kind: str) -> None:
    """A query has read the rows without whose token its logits are others, and the positions without whose vector."""
    model, (positions, reads) = shipped("names"), training.SKETCHES[kind]
    tokens, old = [3, 9, 14, 1, 5, 20, 2][: len(positions)], len(positions) - len(reads)

    def run(model: Model, tokens: list[int]) -> Array:
        return logits_of(kind, model, tokens[old:], tokens[:old])

    there = run(model, tokens)
    moved = [(run(model, [*tokens[:j], 7, *tokens[j + 1 :]]) != there).any(axis=1) for j in range(len(tokens))]
    assert reads == tuple(
        "".join("." if not row[i] else "#" if 0 <= j - old <= i else "x" for j, row in enumerate(moved))
        for i in range(len(reads))
    )
    wpe = model.params["wpe"]
    others = [
        replace(model, params={**model.params, "wpe": wpe + (np.arange(len(wpe)) == at)[:, None]}) for at in range(9)
    ]
    assert {at for at, other in enumerate(others) if (run(other, tokens) != there).any()} == set(map(int, positions))
