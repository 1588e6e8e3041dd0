"""The summed forms are the sums of the steps, come to the published figures, and grow as O(n), O(n^2), O(n^3)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.config import Config
from microgpt.cost import PARTS, naive, step_macs
from microgpt.experiments.growth import BASELINES, GROUPS, crossing, group_macs, sum_macs
from tests.support.given.published import least_macs
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
