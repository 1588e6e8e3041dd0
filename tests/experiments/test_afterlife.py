"""An old query, asked again after the last step, gives what it gave; a trace that was tampered with would show it."""

import numpy as np
import pytest

from microgpt.config import Config
from microgpt.experiments.lifetimes import ask_again, furthest, rows_after
from microgpt.trace import Trace


def test_an_old_query_gives_nothing_new(trace: Trace) -> None:
    config, n = Config(**trace.about["config"]), len(trace.about["tokens"])
    for row in range(n):
        assert furthest(trace, config, row, n) < 1e-12
        weights, mixed = ask_again(trace, config, row, 0, n)
        assert weights.shape == (config.n_head, 1, row + 1)
        assert mixed.shape == (1, config.n_head * config.head_dim)
        np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-12)


def test_it_would_show_if_a_row_had_changed(trace: Trace) -> None:
    config, n = Config(**trace.about["config"]), len(trace.about["tokens"])
    other = Trace(trace.about)
    for e in trace:
        other((e._replace(value=np.add(e.value, 0.1)) if (e.name, e.pos) == ("v", 0) else e).report)
    assert furthest(other, config, n - 1, n) > 1e-3
    read = np.full((config.n_kv_head, n, config.head_dim), np.nan)
    read[:, 0] = 0.1
    late = Trace(trace.about, [*(e.report for e in trace), ("v_read", read, n - 1, 0)])
    assert furthest(late, config, 0, n - 1) < 1e-12 and furthest(late, config, 0, n) > 1e-3, "as the last step read it"


def test_rows_stand_in_the_order_of_the_cache(trace: Trace) -> None:
    config = Config(**trace.about["config"])
    assert rows_after(trace, "k", 0, 3).shape == (config.n_kv_head, 3, config.head_dim)
    assert np.array_equal(rows_after(trace, "v", 0, 3)[:, 2], trace["v", 2, 0][0])
    with pytest.raises(ValueError, match="row 3"):
        ask_again(trace, config, 3, 0, 3)
