"""The weights move no further than the bound, and one case reaches it."""

import numpy as np
import pytest

from microgpt.caches.codes import Grid
from microgpt.caches.quantised import Rows
from microgpt.experiments.dropping.bits import through
from microgpt.experiments.dropping.shift import shift_of


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_the_weights_stay_within_the_bound(bits: int) -> None:
    random = np.random.default_rng(0)
    keys, query = random.normal(size=(40, 16)), random.normal(size=16)
    kind = through(Rows(Grid(bits)), keys[None, None])
    found = shift_of(query, kind.before[0, 0], kind.after[0, 0])
    assert 0 < found.distance <= found.limit < 1


def test_two_rows_reach_the_bound() -> None:
    found = shift_of(np.ones(1), np.array([[-1.0], [0.0]]), np.array([[0.0], [-1.0]]))
    assert found.distance == pytest.approx(0.462117, abs=1e-6) == found.limit
