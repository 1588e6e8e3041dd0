"""The gated delta rule against transformers' Qwen3-Next, which computes it in 32 bits: `make references`."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.attention.states import write_delta
from tests.references.pytorch import torch
from tests.support.examples import examples

pytestmark = pytest.mark.references


@given(st.integers(1, 40), st.sampled_from([1, 4, 16]), st.sampled_from([1, 3, 8]), st.integers(0, 10_000))
@settings(max_examples=examples(60))
def test_a_text_and_its_last_state(n: int, d_k: int, d_v: int, seed: int) -> None:
    """It takes decays as logarithms, and divides queries by the root of their width."""
    theirs_of = import_module("transformers.models.qwen3_next.modeling_qwen3_next").torch_recurrent_gated_delta_rule
    rng = np.random.default_rng(seed)
    q, k, v = rng.normal(size=(n, d_k)), rng.normal(size=(n, d_k)), rng.normal(size=(n, d_v))
    k /= np.linalg.norm(k, axis=1, keepdims=True)
    beta, decay = rng.uniform(0.1, 1, n), rng.uniform(0.5, 1, n)
    theirs, state = theirs_of(
        *(torch.tensor(x, dtype=torch.float32)[None, :, None] for x in (q, k, v)),
        torch.tensor(np.log(decay), dtype=torch.float32)[None, :, None],
        torch.tensor(beta, dtype=torch.float32)[None, :, None],
        initial_state=None,
        output_final_state=True,
    )
    ours = np.zeros((d_k, d_v))
    for i in range(n):
        ours = write_delta(ours, k[i], v[i], beta[i], decay[i])
        assert np.abs(theirs[0, i, 0].double().numpy() - q[i] @ ours / np.sqrt(d_k)).max() < 2e-5
    assert np.abs(state[0, 0].double().numpy() - ours).max() < 2e-5
