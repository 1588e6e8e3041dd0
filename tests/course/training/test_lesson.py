"""The page on training shows what was computed; live, it trains, stops, begins anew, and is a function of its state."""

import re

import pytest

from microgpt.course.training import lesson as training
from microgpt.course.training import live
from microgpt.viz.patches import Patch, State
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings

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
