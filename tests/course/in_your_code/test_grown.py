"""A cache that is concatenated and one that is reserved: the same rows, and what is said is what was timed."""

from collections.abc import Iterator

import numpy as np
import pytest

from microgpt.architectures.known import PRESETS
from microgpt.cost import kv_bytes
from microgpt.course.in_your_code import growth
from microgpt.course.in_your_code.growth import (
    LAPS,
    LARGE_MODEL,
    N_LONG,
    TIMED_LOOPS,
    concatenate,
    fill_reserved,
    row_of,
)
from microgpt.viz.drawing import timing
from microgpt.viz.drawing.timing import medians
from microgpt.viz.patches import Patch, State
from microgpt.viz.session import dispatch


def test_both_hold_the_same_rows() -> None:
    row = np.arange(24, dtype=np.float16).reshape(3, 1, 8)
    assert concatenate(row, 5).shape == (3, 5, 8)
    assert np.array_equal(concatenate(row, 5), fill_reserved(row, 5))
    assert np.array_equal(fill_reserved(row, 5)[:, 3], row[:, 0])


def test_the_row_is_the_key_of_a_token_in_one_layer() -> None:
    config = PRESETS[LARGE_MODEL].config
    assert row_of().nbytes * 2 * config.n_layer == kv_bytes(config, 1, 2)
    assert row_of(numbers=False).size == 1
    for way, wanted in zip(TIMED_LOOPS, (row_of(), row_of(), row_of(numbers=False)), strict=True):
        assert way.run().shape == (wanted.shape[0], N_LONG, wanted.shape[2])


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text takes 5, 3 and 1 seconds, whatever is done."""
    monkeypatch.setattr(growth, "TIMED_LOOPS", [way._replace(run=lambda: row_of()) for way in TIMED_LOOPS])
    ticks = [tick for way in (5.0, 3.0, 1.0) for tick in (0.0, way)] * 2 * LAPS
    clock: Iterator[float] = iter(ticks)
    monkeypatch.setattr(timing, "clock", lambda: next(clock))


def send(state: State | None) -> tuple[State, list[Patch]]:
    state, patches = dispatch(state, "grow", {"page": "in-your-code", "browser": "a browser"})
    assert state is not None
    return state, patches


def test_it_goes_on_by_itself_lap_by_lap_and_says_both_ratios(ticking: None) -> None:
    state: State = {"kept": 1}
    for lap in range(1, LAPS):
        state, patches = send(state)
        assert f"Lap {lap} of {LAPS}" in patches[0]["html"] and {"again": "grow"} in patches
    state, patches = send(state)
    said = " ".join(patches[0]["html"].split())
    assert state == {"kept": 1, "grown": [[5.0, 3.0, 1.0]] * LAPS} and {"again": "grow"} not in patches
    assert "takes 1.7 times as long as reserving here. By the bytes written it would be 500.5 times" in said
    assert "still takes 33 percent of its time" in said and "Measured in: a browser" in said
    state, patches = send(state)
    assert len(state["grown"]) == 1  # it begins anew


def test_what_is_quick_goes_on_until_a_coarse_clock_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 0.02, 0.04, 0.06])
    monkeypatch.setattr(timing, "clock", lambda: next(ticks))
    assert growth.seconds(TIMED_LOOPS[2]) == pytest.approx(0.02)


def test_medians_are_of_each_way() -> None:
    assert medians([[1.0, 9.0], [3.0, 7.0], [2.0, 8.0]]) == [2.0, 8.0]
