"""The page on what gets most attention: its sums are those of weights made anew from q and k."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.config import Config
from microgpt.course.most_read.lesson import View, even_shares, view, weights_by_step
from microgpt.viz.settings import Settings
from tests.support.pages import tree_of, view_of

TEXTS = {"names": ("emm", "zoe", "a"), "names-deep": ("emma", "jo"), "stories": ("the next day", "The", "the sun")}


def weights_anew(shown: View, layer: int, head: int, step: int) -> np.ndarray:
    """softmax(q K^T / sqrt(head_dim)) of one query, from the rows that the trace has of q and k."""
    c, trace = Config(**shown.trace.about["config"]), shown.trace
    group = c.n_head // c.n_kv_head
    q = trace["q", step, layer].reshape(c.n_head, c.head_dim)[head]
    keys = np.stack([trace["k", j, layer].reshape(c.n_kv_head, c.head_dim)[head // group] for j in range(step + 1)])
    raised = np.exp(keys @ q / np.sqrt(c.head_dim) - (keys @ q / np.sqrt(c.head_dim)).max())
    return np.asarray(raised / raised.sum())


@pytest.mark.parametrize(("model", "prompt"), [(model, prompt) for model, known in TEXTS.items() for prompt in known])
def test_the_weight_received_is_the_sum_of_weights_made_anew(model: str, prompt: str) -> None:
    shown = view(Settings(model, prompt))
    c = Config(**shown.trace.about["config"])
    for at, table in enumerate(shown.tables):
        layer, head = divmod(at, c.n_head)
        anew = np.zeros(shown.n)
        for step in range(shown.n):
            anew[: step + 1] += weights_anew(shown, layer, head, step)
        assert [row[1] for row in table.rows] == pytest.approx(anew.tolist(), abs=1e-9)
        assert [row[2] for row in table.rows] == [shown.n - j for j in range(shown.n)]


@settings(deadline=None, max_examples=20)
@given(st.sampled_from([(model, prompt) for model, known in TEXTS.items() for prompt in known]), st.integers(0, 9))
def test_each_step_gives_one_in_all(run: tuple[str, str], seed: int) -> None:
    shown = view(Settings(*run, temperature=1.0, seed=seed))
    total = weights_by_step(shown.trace, Config(**shown.trace.about["config"])).sum(axis=0)
    assert np.allclose(total.sum(axis=-1), shown.n) and np.isclose(even_shares(shown.n).sum(), shown.n)
    for head, table in zip(shown.heads, shown.tables, strict=True):
        rows = head.rows
        so_far = np.array([row.received for row in rows])  # [rows, steps]
        assert np.allclose(so_far.sum(axis=0), np.arange(1, shown.n + 1))
        assert np.allclose(np.array([row.even for row in rows]).sum(axis=0), np.arange(1, shown.n + 1))
        assert [row.gifts[-1][2] for row in rows] == pytest.approx([row[1] for row in table.rows])
        for step in range(shown.n):  # the slices of a step are a whole, and what a line adds up comes true as printed
            assert sum(dict((i, w) for i, w, _ in row.gifts).get(step, 0) for row in rows) == pytest.approx(1)
            for row in rows:
                printed = [round(w, row.digits) for i, w, _ in row.gifts if i <= step]
                assert abs(sum(printed) - round(row.received[step], 2)) <= 0.005 + 1e-9
    largest = max(row[3] for table in shown.tables for row in table.rows[: max(1, shown.n - 1)])
    assert shown.share == largest == pytest.approx(shown.received / even_shares(shown.n)[-shown.steps])


@pytest.mark.parametrize(("model", "prompt"), [(model, known[0]) for model, known in TEXTS.items()])
def test_q_meets_the_keys_that_it_has_read(model: str, prompt: str) -> None:
    """Of a head that shares its keys, those of the head that it shares."""
    shown = view(Settings(model, prompt))
    c = Config(**shown.trace.about["config"])
    for one in shown.heads:
        for name, strips, heads, at in (
            ("q", one.queries, c.n_head, one.head),
            ("k", [row.k for row in one.rows], c.n_kv_head, one.head // (c.n_head // c.n_kv_head)),
        ):
            for i, strip in enumerate(strips):
                row = shown.trace[name, i, one.layer].reshape(heads, -1)[at]
                assert [cell.value for cell in strip.cells] == row.tolist()


def test_the_head_with_the_row_that_stands_out_is_on_show() -> None:
    shown = view_of("most-read")
    checked = next(
        e for e in tree_of("most-read").iter("input") if e.get("name") == "head" and e.get("checked") is not None
    )
    assert shown.labels[int(str(checked.get("value")))] == f"{shown.layer}.{shown.head}"
