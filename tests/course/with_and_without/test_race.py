"""The race by a clock that ticks as told: what each runner runs, what is counted, how it goes on from its state."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from microgpt.cache import KVCache
from microgpt.course.with_and_without.race import LAP, LAPS, LENGTHS, course_of
from microgpt.decode import decode_step, recompute
from microgpt.experiments import growth
from microgpt.viz.drawing import timing
from microgpt.viz.patches import Patch, State
from microgpt.viz.session import dispatch
from tests.support.sampled import sampled

FIELDS = {"page": "with-and-without", "model": "names", "prompt": "emm", "race_length": "16"}


@pytest.fixture(autouse=True)
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at the clock takes a second: a slice is one token."""
    ticks: Iterator[int] = iter(range(10**9))
    monkeypatch.setattr(timing, "clock", lambda: next(ticks))


def send(state: State | None, **fields: str) -> tuple[State | None, list[Patch]]:
    return dispatch(state, "race", {**FIELDS, **fields})


def to_the_end(state: State | None = None, **fields: str) -> tuple[State, str, int]:
    for answers in range(1, 2000):
        state, patches = send(state, **fields)
        if not any("again" in patch for patch in patches):
            assert state is not None
            return state, patches[0]["html"], answers
    raise AssertionError("it never ends")


@pytest.mark.parametrize("length", sampled(LENGTHS, LENGTHS[:1], "the same for longer"))
def test_it_goes_on_by_itself_to_the_last_lap_and_says_both_ratios(length: int) -> None:
    state, html, answers = to_the_end(race_length=str(length))
    assert answers == LAPS * LAP and len(state["race"]["laps"]) == LAPS
    assert state["race"]["laps"] == [[1.0, 1.0]] * LAPS  # a token of either takes a tick
    course = course_of(FIELDS, length)
    macs = [growth.group_macs(course.config, way, "total", length) for way in ("naive", "cached")]
    assert f"is 1.00 times as quick here. By multiply-adds it would be {macs[0] / macs[1]:.2f} times" in html
    assert html.count("1000.000 ms") == 2 or html.count("1,000.000 ms") == 2


def test_the_median_of_the_laps_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    name = [16, "names", "emm"]
    before = {"race": {"name": name, "done": [0, 0], "laps": [[1.0, 8.0], [5.0, 9.0]]}}
    _, html, _ = to_the_end(before)
    assert re.findall(r"([\d,.]+) ms", html) == ["1,000.000", "8,000.000"]
    assert "is 8.00 times as quick" in html


def test_both_run_the_same_tokens_and_come_to_the_same_logits() -> None:
    for model, prompt in (("names", "emm"), ("stories", "the next day")):
        course = course_of({**FIELDS, "model": model, "prompt": prompt}, LENGTHS[-1])
        assert len(course.ids) == LENGTHS[-1] and course.config.n_ctx >= LENGTHS[-1]
        cache = KVCache(course.config)
        for t, token_id in enumerate(course.ids, start=1):
            logits = decode_step(course.params, course.config, token_id, cache)
            if t % 50 == 0:
                again = recompute(course.params, course.config, course.ids[:t])
                np.testing.assert_allclose(logits, again, rtol=1e-9, atol=1e-9)


def test_a_lap_that_nobody_remembers_begins_anew_and_another_length_is_another_race() -> None:
    state, _ = send(None)
    state, _ = send(state)
    assert state and state["race"]["done"] == [2, 2]
    send(None, prompt="zoe")  # another page's: the runners are those of its text now
    state, _ = send(state)
    assert state and state["race"]["done"] == [1, 1]
    state, _ = send(state, race_length="64")
    assert state and state["race"]["name"][0] == 64 and state["race"]["done"] == [1, 1]
    end, _, _ = to_the_end(state, race_length="64")
    fresh, patches = send(end, race_length="64")
    assert fresh and fresh["race"]["laps"] == [] and any("again" in patch for patch in patches)


def test_a_length_that_is_not_on_the_list_is_told_in_a_sentence() -> None:
    for wrong in ("", "0", "100000", "<b>"):
        state, (said, *_) = send(None, race_length=wrong)
        assert said["target"] == "#prompt-error" and "no length of this race" in said["html"] and state is None
