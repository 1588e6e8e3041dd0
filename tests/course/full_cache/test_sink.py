"""A planted sink: its share is what is asked for, and it is what a window loses."""

import numpy as np
import pytest

from microgpt.course.full_cache.sink import N_ROWS, off, plant


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_with_all_rows_nothing_is_off(share: float) -> None:
    assert max(plant(share, N_ROWS)) < 1e-12


def test_the_more_weight_it_has_the_more_a_window_loses_and_the_less_a_sink() -> None:
    windows, sinks = zip(*(plant(share, 32) for share in (0.3, 0.6, 0.9, 0.99)), strict=True)
    assert list(windows) == sorted(windows) and list(sinks) == sorted(sinks, reverse=True)
    assert windows[-1] > 3 and sinks[-1] < 0.05


def test_off_by_hand() -> None:
    """Two rows of equal weight, one of which is dropped: the answer was their mean."""
    values = np.array([[1.0, 0.0], [0.0, 1.0]])
    scores = np.zeros(2)
    assert off(scores, values, np.array([1]), np.array([0.5, 0.5])) == pytest.approx(1)
