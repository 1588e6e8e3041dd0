"""Equal width, trained: fair conditions for all kinds, and the losses that are kept."""

import math
import statistics
from itertools import islice

import numpy as np
import pytest

from microgpt.config import v_dim
from microgpt.data.sentences import sentences
from microgpt.experiments.shared_heads.widths import (
    HELD,
    KINDS,
    SEEDS,
    WITHIN,
    compare_pairs,
    config_of,
    load_losses,
    numbers_per_token,
    training_texts,
    trial,
)
from microgpt.recipes import prepare
from microgpt.weights import shipped


def test_all_are_equally_wide_and_keep_what_they_say() -> None:
    configs = {kind: config_of(kind) for kind in KINDS}
    assert {(c.n_embd, c.n_head, v_dim(c), c.n_mlp, c.n_layer) for c in configs.values()} == {(32, 4, 8, 64, 2)}
    assert {kind: numbers_per_token(c) for kind, c in configs.items()} == {"mha": 128, "gqa": 64, "mqa": 32, "mla": 32}
    assert configs["gqa"] == shipped("stories").config and configs["mla"] == shipped("stories-mla").config


def test_what_is_learned_follows_the_seed() -> None:
    tokenizer = prepare("stories", None).tokenizer
    one, again, other = (list(islice(training_texts(tokenizer, seed), 5)) for seed in (0, 0, 1))
    assert one == again != other
    assert one != [[*tokenizer.encode(s), tokenizer.start] for s in islice(sentences(HELD), 5)]


@pytest.mark.thorough("trains three times; by day tests/experiments/test_trainer.py does")
def test_a_few_steps_learn() -> None:
    one = trial("mla", 0, steps=1)
    assert trial("mla", 0, steps=5) < one == trial("mla", 0, steps=1)


def test_every_seed_is_kept() -> None:
    kept = load_losses()
    assert tuple(kept) == KINDS and {len(losses) for losses in kept.values()} == {SEEDS}


@pytest.mark.parametrize(("kind", "other"), [("mla", "mha"), ("mla", "mqa"), ("mqa", "mha"), ("gqa", "mha")])
def test_an_interval_without_zero_is_what_no_turning_of_signs_explains(kind: str, other: str) -> None:
    """If both kinds were alike, each difference could as well have the other sign: of all 4,096 ways to turn signs, few
    give so large a mean where the interval leaves zero out. The same is so without any one of the seeds."""
    above, found = np.array(load_losses()[kind]) - np.array(load_losses()[other]), compare_pairs(kind, other)
    assert found.mean == pytest.approx(np.mean(load_losses()[kind]) - np.mean(load_losses()[other]))
    assert found.worse == sum(a > b for a, b in zip(load_losses()[kind], load_losses()[other], strict=True))
    signs = 1 - 2 * (np.arange(2**SEEDS)[:, None] >> np.arange(SEEDS) & 1)
    as_large = float((np.abs(signs @ above) >= abs(above.sum()) - 1e-12).mean())
    assert (as_large < 0.05) == (found.low > 0) == (kind + other == "mlamha")
    half = WITHIN * statistics.stdev(above.tolist()) / math.sqrt(SEEDS)
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half))
    assert all((np.delete(above, i).mean() > 0.004) or kind + other != "mlamha" for i in range(SEEDS))


def test_the_interval_is_that_of_student() -> None:
    """His density of 11 degrees, summed up to the bound: 95 of 100 within it."""
    x, n = np.linspace(-WITHIN, WITHIN, 20_001), SEEDS - 1
    scale = math.gamma((n + 1) / 2) / math.sqrt(n * math.pi) / math.gamma(n / 2)
    assert np.trapezoid(scale * (1 + x**2 / n) ** (-(n + 1) / 2), x) == pytest.approx(0.95, abs=1e-5)


@pytest.mark.thorough("a training of twelve thousand steps")
def test_a_kept_loss_is_that_of_a_training() -> None:
    kept = load_losses()["mqa"]
    assert trial("mqa", 0) == pytest.approx(kept[0], abs=4 * float(np.std(kept)))  # others add in another order
