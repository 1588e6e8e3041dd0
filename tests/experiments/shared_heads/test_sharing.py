"""Sharing heads and short rows: what must stay the same, and what exactly is kept."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.config import Config
from microgpt.decode import prefill
from microgpt.experiments.shared_heads import (
    Change,
    change,
    choices,
    continue_text,
    latent,
    off,
    record_pass,
    with_kv_heads,
    with_latent,
)
from microgpt.model import softmax
from microgpt.record import Recording
from microgpt.weights import shipped
from tests.support.strategies import Case, assert_close, cases


def test_choices_are_whole_groups() -> None:
    assert choices(Config(n_head=4, n_kv_head=4)) == choices(Config(n_head=4, n_kv_head=2)) == [4, 2, 1]
    assert choices(Config(n_head=9, n_kv_head=3)) == [9, 3, 1]
    assert choices(Config(n_head=6, n_kv_head=2)) == [6, 2, 1]


@given(cases())
def test_repeated_heads_change_nothing(case: Case) -> None:
    """Sharing is what every-head-its-own is when the heads of a group are equal."""
    whole = with_kv_heads(case.params, case.config, case.config.n_head)
    assert whole[1].n_kv_head == case.config.n_head
    before, after = record_pass(case.params, case.config, case.token_ids), record_pass(*whole, case.token_ids)
    assert_close(after["logits", 0], before["logits", 0], 1e-10)
    back = with_kv_heads(*whole, case.config.n_kv_head)
    assert all(np.allclose(back[0][name], case.params[name], atol=1e-14) for name in case.params)


@given(cases(), st.data())
def test_averaged_heads_are_the_averages_of_the_rows(case: Case, data: st.DataObject) -> None:
    """In layer 0, whatever the positions: the mean of the heads' rows, rotated or not; but for normalised ones."""
    assume(not case.config.qk_norm)
    c, m = case.config, data.draw(st.sampled_from([g for g in choices(case.config) if g <= case.config.n_kv_head]))
    params, config = with_kv_heads(case.params, c, m)
    before, after = record_pass(case.params, c, case.token_ids), record_pass(params, config, case.token_ids)
    for name in ("k", "v"):
        rows = before[name, 0, 0]  # [n, n_kv_head, head_dim]
        mean = rows.reshape(len(rows), m, c.n_kv_head // m, c.head_dim).mean(axis=2)
        assert_close(after[name, 0, 0], mean)
    cache = KVCache(config)
    prefill(params, config, case.token_ids, cache)
    assert cache.nbytes * c.n_kv_head == m * 2 * 8 * c.n_layer * c.n_kv_head * c.head_dim * len(case.token_ids)


@given(cases())
def test_a_row_of_full_width_loses_nothing(case: Case) -> None:
    before = record_pass(case.params, case.config, case.token_ids)
    after = record_pass(with_latent(case.params, case.config, case.config.n_embd), case.config, case.token_ids)
    assert_close(after["logits", 0], before["logits", 0], 1e-8)


@pytest.mark.parametrize("name", ["names", "stories"])
def test_the_short_row_is_the_best_of_its_width(name: str) -> None:
    """Eckart and Young: the squared error is the sum of the squared singular values that are left out."""
    model = shipped(name)
    stacked = np.concatenate([model.params["layer0.wk"], model.params["layer0.wv"]])
    values = np.linalg.svd(stacked, compute_uv=False)
    for d_c in (1, 5, model.config.n_embd):
        down, up = latent(model.params, 0, d_c)
        assert down.shape == (d_c, model.config.n_embd) and up.shape == (len(stacked), d_c)
        error = np.linalg.norm(up @ down - stacked)
        assert error == pytest.approx(np.sqrt((values[d_c:] ** 2).sum()), abs=1e-12)
        assert (down[np.arange(d_c), np.abs(down).argmax(axis=1)] > 0).all()  # the sign does not hang on the library


def test_keys_need_not_be_rebuilt() -> None:
    """Without rotation, q times (up times c) is (q times up) times c: the heads can read the short rows directly."""
    model = shipped("names")
    c, ids = model.config, [26, 4, 12, 12, 0]
    trace = record_pass(with_latent(model.params, c, 6), c, ids)
    down, up = latent(model.params, 0, 6)
    rows = trace["attn_norm", 0, 0] @ down.T  # [n, d_c]: all that is kept
    up_k, up_v = np.split(up, 2)
    up_k, up_v = up_k.reshape(c.n_head, c.head_dim, 6), up_v.reshape(c.n_head, c.head_dim, 6)
    asks = np.einsum("nhx,hxc->hnc", trace["q", 0, 0], up_k)
    scores = asks @ rows.T * c.head_dim**-0.5 + np.triu(np.full((5, 5), -np.inf), 1)
    assert_close(softmax(scores), trace["attn_weights", 0, 0])
    mixed = np.einsum("hnc,hxc->nhx", softmax(scores) @ rows, up_v).reshape(5, -1)
    assert_close(mixed, trace["head_out", 0, 0])


def test_change_of_nothing_is_nothing_and_of_all_is_all() -> None:
    model = shipped("names")
    before = record_pass(model.params, model.config, [26, 4, 12])
    still = change(before, before, model.config)
    assert (still.moved.tolist(), still.same, still.logits) == ([0.0] * 4, 3, 0.0)
    assert off(before, before) == 0
    nothing = {**model.params, "layer0.wv": model.params["layer0.wv"] * 0, "layer0.wk": model.params["layer0.wk"] * 0}
    after = record_pass(nothing, model.config, [26, 4, 12])
    assert off(before, after) == pytest.approx(1)
    assert isinstance(change(before, after, model.config), Change)


def test_moved_is_the_share_of_attention_that_went_elsewhere() -> None:
    model = shipped("names")
    sharp = record_pass({**model.params, "layer0.wq": model.params["layer0.wq"] * 1000}, model.config, [26, 4, 12])
    none = record_pass({**model.params, "layer0.wq": model.params["layer0.wq"] * 0}, model.config, [26, 4, 12])
    moved = change(sharp, none, model.config).moved  # all on one row, against a half or a third on each
    assert moved == pytest.approx([(1 / 2 + 2 / 3) / 2] * 4, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "prompt"), [("names", "emm"), ("stories", "The next day is bright"), ("names", "z" * 15)]
)
def test_unchanged_it_writes_what_the_recording_writes(name: str, prompt: str) -> None:
    recording = Recording(shipped(name), prompt)
    recording.run()
    prompt_ids = recording.ids[: recording.n_prompt]
    after = [i for i in recording.ids[recording.n_prompt : recording.model.config.n_ctx] if i != recording.stop]
    assert continue_text(recording.model.params, recording.model.config, prompt_ids, recording.stop) == after
