"""The three mistakes are what they say: each is harmless exactly where what was forgotten does not matter."""

import numpy as np
import pytest
from hypothesis import given, settings

from microgpt.experiments.mistakes import (
    N_TEXTS,
    load_means,
    loss,
    means,
    no_mask,
    no_offset,
    no_reset,
    right,
    sample_texts,
)
from microgpt.model import softmax
from microgpt.record import Recording
from microgpt.train import loss_and_grads
from microgpt.weights import SHIPPED, shipped
from tests.support.examples import examples
from tests.support.strategies import Case, cases, parallel


@given(cases())
@settings(max_examples=examples(60))
def test_right_is_right(case: Case) -> None:
    np.testing.assert_allclose(
        right(case.params, case.config, case.token_ids),
        parallel(case.params, case.config, case.token_ids),
        rtol=1e-9,
        atol=1e-11,
    )


@given(cases())
@settings(max_examples=examples(40))
def test_one_token_needs_neither_mask_nor_offset(case: Case) -> None:
    one = case.token_ids[:1]
    good = right(case.params, case.config, one)
    np.testing.assert_allclose(no_mask(case.params, case.config, one), good, rtol=1e-9, atol=1e-11)
    assert np.array_equal(no_offset(case.params, case.config, one), good)


def test_without_a_mask_every_token_mixes_all_rows() -> None:
    """By hand, from the rows of the right run: in one layer they are the same without a mask."""
    model = shipped("names")
    p, c = model.params, model.config
    trace = Recording(model, "emma").run()
    n = len(trace.about["tokens"])
    q, k, v = (np.concatenate([trace[name, i, 0] for i in range(n)]) for name in "qkv")  # [n, n_head, head_dim]
    weights = softmax(np.einsum("ihd,jhd->hij", q, k) / np.sqrt(c.head_dim))
    mixed = np.einsum("hij,jhd->ihd", weights, v).reshape(n, -1)
    x = np.concatenate([trace["resid_pre", i, 0] for i in range(n)]) + mixed @ p["layer0.wo"].T
    m = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + c.norm_eps)
    x = x + np.maximum(m @ p["layer0.fc1"].T, 0) @ p["layer0.fc2"].T
    ids = [model.tokenizer.start, *model.tokenizer.encode("".join(trace.about["tokens"][1:]))[1:]]
    np.testing.assert_allclose(no_mask(p, c, ids[:n]), x @ p["lm_head"].T, rtol=1e-9, atol=1e-11)


def test_without_an_offset_nothing_changes_if_all_places_are_alike() -> None:
    model = shipped("names")
    ids = model.tokenizer.encode("emma")
    assert np.abs(no_offset(model.params, model.config, ids) - right(model.params, model.config, ids)).max() > 0.1
    alike = {**model.params, "wpe": np.tile(model.params["wpe"][:1], (model.config.n_ctx, 1))}
    assert np.array_equal(no_offset(alike, model.config, ids), right(alike, model.config, ids))


@given(cases(min_tokens=3))
@settings(max_examples=examples(40))
def test_without_a_reset_the_text_goes_on_from_the_old_one(case: Case) -> None:
    old, new = case.token_ids[:1], case.token_ids[1:]
    joined = right(case.params, case.config, case.token_ids)
    assert np.array_equal(no_reset(case.params, case.config, new, old), joined[1:])


OTHERS = [pytest.param(name, marks=pytest.mark.thorough("hundreds of passes, token by token")) for name in SHIPPED[1:]]


@pytest.mark.parametrize("name", [SHIPPED[0], *OTHERS])
def test_the_means_that_are_kept_come_out_again(name: str) -> None:
    """What is kept comes out again; every mistake makes the mean worse, though the loss of some texts lower."""
    kept, made = load_means(name), means(shipped(name))
    assert kept.keys() == made.keys()
    for kind, mean in kept.items():
        assert mean.loss == pytest.approx(made[kind].loss, abs=1e-6) and mean.lower == made[kind].lower
        assert kind == "right" or (mean.loss > kept["right"].loss and mean.lower < N_TEXTS / 2)
    assert kept["right"].lower == 0


@pytest.mark.parametrize("name", SHIPPED)
def test_the_right_mean_is_the_loss_of_training(name: str) -> None:
    """By the parallel pass, which shares no code with the cached one but the model."""
    model = shipped(name)
    texts = sample_texts(model)
    grads = {key: np.zeros_like(value) for key, value in model.params.items()}
    losses = [loss_and_grads(model.params, model.config, ids, grads) for ids in texts]
    assert len(texts) == N_TEXTS
    assert load_means(name)["right"].loss == pytest.approx(float(np.mean(losses)), abs=1e-6)
    assert loss(right(model.params, model.config, texts[0][:-1]), texts[0]) == pytest.approx(losses[0])
