"""Which rows an adapter voids, layer by layer, and that it may run beside the weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.caches.blocks import BlockPool
from microgpt.caches.prefix import begin, publish
from microgpt.decode import recompute
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.serving.adapters import draw_adapter, merge, void
from microgpt.weights import shipped

DEEP, NAMES = shipped("names-deep"), shipped("names")
IDS = DEEP.tokenizer.encode("emmanuel")
EVERY = range(DEEP.config.n_layer)


@pytest.mark.parametrize(
    ("name", "keys", "values"),
    [
        ("wq", False, False),
        ("wo", False, False),
        ("fc1", False, False),
        ("fc2", False, False),
        ("wk", True, False),
        ("wv", False, True),
    ],
)
@pytest.mark.parametrize("at", EVERY)
def test_an_adapter_voids_the_rows_above_it_and_wk_and_wv_their_own(
    name: str, keys: bool, values: bool, at: int
) -> None:
    moved = void(DEEP.params, DEEP.config, draw_adapter(DEEP.config, [f"layer{at}.{name}"], 2), IDS)
    for layer in EVERY:
        expected = (False, False) if layer < at else (keys, values) if layer == at else (True, True)
        assert tuple(moved[layer] > 1e-6) == expected
        assert all(far == 0 for far, changed in zip(moved[layer], expected, strict=True) if not changed)


def test_an_adapter_whose_b_is_zero_voids_nothing() -> None:
    """And in a model of one layer an adapter of q leaves all rows as they are."""
    assert not void(DEEP.params, DEEP.config, draw_adapter(DEEP.config, ["wk", "wv"], 2, scale=0), IDS).any()
    assert not void(NAMES.params, NAMES.config, draw_adapter(NAMES.config, ["wq", "wo", "fc1"], 2), IDS).any()


@given(st.integers(0, 99), st.integers(1, 4), st.sampled_from(["wq", "wk", "wo", "fc1", "fc2"]))
def test_beside_the_weights_is_merged_into_them(seed: int, r: int, name: str) -> None:
    """The thin product beside the weights is the product with both; what has no adapter, and the base, stay."""
    adapter = draw_adapter(DEEP.config, [name], r, seed)._replace(alpha=2.0)
    before = {full: array.copy() for full, array in DEEP.params.items()}
    merged = merge(DEEP.params, adapter)
    for full, array in before.items():
        x = np.random.default_rng(seed).normal(0, 1, (3, array.shape[-1]))
        a, b = adapter.matrices.get(full, (np.zeros((1, array.shape[-1])), np.zeros((len(array), 1))))
        beside = x @ array.T + 2.0 / len(a) * (x @ a.T) @ b.T
        assert np.abs(beside - x @ merged[full].T).max() <= 1e-13 and (DEEP.params[full] == array).all()


def test_rows_of_another_adapter_give_wrong_logits_and_a_salt_keeps_them_apart() -> None:
    adapter = draw_adapter(DEEP.config, ["wk", "wv"], 2)
    ours, pool = merge(DEEP.params, adapter), BlockPool(DEEP.config, 20, 2)
    cache = begin(pool, IDS, salt="base")
    forward(DEEP.params, DEEP.config, IDS, cache)
    publish(cache, IDS, salt="base")
    right = recompute(ours, DEEP.config, IDS)
    for salt, equal in (("base", False), ("adapter", True)):
        found = begin(pool, IDS, salt)
        assert bool(len(found)) is not equal
        logits = forward(ours, DEEP.config, IDS[len(found) :], found)[-1]
        assert bool(np.abs(logits - right).max() <= 1e-12) is equal
        found.free()


def test_what_fits_no_matrix_is_refused() -> None:
    for names, r in ((["wte"], 2), (["layer9.wk"], 2), (["wk"], 0), ([], 1)):
        with pytest.raises(UserError, match="choose a rank of 1 or more and some of fc1, fc2, wk, wo"):
            draw_adapter(DEEP.config, names, r)
