"""What cached rows learn: against the parallel gradient, and against derivatives that need no backward code."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings

from microgpt.cache import KVCache, KVLayer
from microgpt.config import Array, Config, Params
from microgpt.decode import decode_step
from microgpt.experiments.gradient import arrivals, by_query, gradients, losses
from microgpt.weights import shipped
from tests.support.examples import examples
from tests.support.strategies import Case, cases, normal_like

TINY = 1e-40


class Forgetful(KVLayer):
    """Rows keep their numbers and lose their history: a complex step that moved them is dropped once they are old."""

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        self._keys.imag[:, : len(self)] = self._values.imag[:, : len(self)] = 0
        return super().append(k, v)


def mean_loss(params: Params, config: Config, token_ids: Sequence[int], forget: bool) -> complex:
    """The loss of a text run token by token through a cache, in complex numbers."""
    cache = KVCache(config, complex)
    if forget:
        cache.layers = [
            Forgetful(config.n_kv_head, config.n_ctx, config.head_dim, complex) for _ in range(config.n_layer)
        ]
    logits = np.array([decode_step(params, config, token, cache) for token in token_ids[:-1]])
    picked = logits[np.arange(len(logits)), token_ids[1:]]
    return complex((np.log(np.exp(logits).sum(axis=-1)) - picked).mean())


@pytest.mark.parametrize("detached", [False, True], ids=["live", "detached"])
@given(case=cases(min_tokens=3))
@settings(max_examples=examples(32))
def test_the_gradient_is_that_of_the_cached_run(detached: bool, case: Case) -> None:
    grads, rng = gradients(case.params, case.config, case.token_ids, detached), np.random.default_rng(4)
    size = max(1.0, *(float(np.abs(grad).max()) for grad in grads.values()))
    for name, grad in grads.items():
        direction = normal_like(grad, rng)
        moved = {n: value + 0j for n, value in case.params.items()}
        moved[name] += 1j * TINY * direction
        expected = mean_loss(moved, case.config, case.token_ids, detached).imag / TINY
        scale = size * float(np.abs(direction).sum())
        assert abs(float((grad * direction).sum()) - expected) <= 1e-11 * max(scale, abs(expected))


def test_detaching_changes_w_k_and_w_v_and_w_q_from_two_layers_on() -> None:
    for name, also_q in (("names", False), ("names-deep", True)):
        model = shipped(name)
        ids = [*model.tokenizer.encode("emma"), model.tokenizer.start]
        live, cut = (gradients(model.params, model.config, ids, detached) for detached in (False, True))
        last = model.config.n_layer - 1
        changed = {n.split(".")[-1] for n in live if np.abs(live[n] - cut[n]).max() > 1e-9}
        assert {"wk", "wv"} <= changed
        assert ("wq" in changed) == also_q
        assert np.abs(live[f"layer{last}.wq"] - cut[f"layer{last}.wq"]).max() < 1e-12


@given(cases(min_tokens=3))
@settings(max_examples=examples(40))
def test_rows_hear_from_their_own_and_later_queries_never_from_earlier_ones(case: Case) -> None:
    found = by_query(case.params, case.config, case.token_ids)
    n = found.shape[2]
    for j in range(n):
        assert not found[:, :, :j, j].any()
    own, later = arrivals(found)
    assert own.shape == later.shape == (2, case.config.n_layer, n)
    assert np.abs(later[:, :, -1]).max() == 0


@given(cases(min_tokens=2))
@settings(max_examples=examples(60))
def test_losses_with_a_cache_are_those_of_the_parallel_pass(case: Case) -> None:
    one, other = (losses(case.params, case.config, case.token_ids, cached) for cached in (False, True))
    np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
