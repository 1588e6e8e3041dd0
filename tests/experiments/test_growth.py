"""The summed forms are the sums of the steps, come to the published figures, and grow as O(n), O(n^2), O(n^3)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.config import Config
from microgpt.cost import PARTS, least_macs, naive, step_macs
from microgpt.experiments.growth import BASELINES, GROUPS, crossing, exponent, group_macs, log_spaced, sum_macs
from tests.support.given.published import GPT2
from tests.support.strategies import configs

FORMS = {"cached": step_macs, "naive": naive, "needed": least_macs}


@given(configs(), st.integers(1, 40), st.sampled_from(BASELINES))
def test_a_sum_is_the_sum_of_its_steps(config: Config, n: int, baseline: str) -> None:
    steps = np.sum([FORMS[baseline](config, t) for t in range(1, n + 1)], axis=0)
    assert sum_macs(config, baseline, n).tolist() == steps.tolist()


@given(configs(), st.integers(1, 500))
def test_the_cache_never_costs_more_and_groups_make_up_the_total(config: Config, n: int) -> None:
    with_cache, needed_only, again = (sum_macs(config, baseline, n) for baseline in BASELINES)
    assert (with_cache <= needed_only).all() and (needed_only <= again).all()
    parts = [part for group in GROUPS if group != "total" for part in GROUPS[group]]
    assert sorted(parts) == sorted(PARTS)


@given(configs(), st.integers(1, 10**6))
def test_the_formulas_of_the_reference(config: Config, n: int) -> None:
    """n (12 d^2 L + V d) + L d n (n + 1), for a GPT-2-shaped model of width d."""
    d, heads = config.n_embd, config.n_head
    gpt2 = Config(config.n_layer, d * heads, heads, heads, d, 4 * d * heads, vocab_size=config.vocab_size)
    d, layers = gpt2.n_embd, gpt2.n_layer
    linear = n * (12 * d * d * layers + gpt2.vocab_size * d)
    assert group_macs(gpt2, "cached", "total", n) == linear + layers * d * n * (n + 1)
    assert crossing(gpt2) == pytest.approx(6 * d)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (Config(n_layer=1), {"cached": (1, 1, 2, 2), "needed": (2, 1, 2, 2), "naive": (2, 2, 3, 3)}),
        (Config(n_layer=4), {"cached": (1, 1, 2, 2), "needed": (2, 2, 3, 3), "naive": (2, 2, 3, 3)}),
    ],
    ids=["one layer", "four layers"],
)
def test_exponents(config: Config, expected: dict[str, tuple[int, ...]]) -> None:
    """In the end; at a thousand tokens the total is still on its way."""
    for baseline, orders in expected.items():
        for group, order in zip(("projections", "mlp", "attention", "total"), orders, strict=True):
            assert exponent(config, baseline, group, 10**5) == pytest.approx(order, abs=5e-3), (baseline, group)
    assert 1.5 < exponent(config, "cached", "total", 1000) < 1.95


def test_attention_equals_the_rest_at_the_published_lengths() -> None:
    assert crossing(Config()) == 96
    assert crossing(GPT2) == 4_608 > GPT2.n_ctx


def test_a_curve_goes_from_one_to_n() -> None:
    points = log_spaced(1000)
    assert points[0] == 1 and points[-1] == 1000
    assert points == sorted(set(points)) and len(points) > 20
