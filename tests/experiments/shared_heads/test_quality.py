"""What sharing heads costs in quality: fair conditions for all models, and the losses that are kept."""

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from microgpt.backward import Grads
from microgpt.config import n_params, split
from microgpt.experiments.shared_heads import with_kv_heads
from microgpt.experiments.shared_heads.quality import (
    CONFIG,
    KINDS,
    N_HELD,
    RATE,
    SEEDS,
    TRAINING_STEPS,
    Names,
    fit,
    load_losses,
    loss,
    names_of,
    trial,
    widen_mlp,
)
from microgpt.recipes import DATA
from microgpt.train import loss_and_grads
from microgpt.weights import init, shipped


@pytest.fixture(scope="module")
def names() -> Names:
    return names_of((DATA / "names-1000.txt").read_text("utf-8").split(), n_held=100)


def test_no_model_learns_from_what_it_is_judged_by(names: Names) -> None:
    """Many names are in the list more than once."""
    lines = (DATA / "names-1000.txt").read_text("utf-8").split()
    assert len(set(lines)) < len(lines)
    learned, held = ({tuple(ids) for ids in one} for one in names)
    assert len(held) == len(names.held) == 100 and not learned & held
    assert len(learned) == len(names.learned) == len(set(lines)) - 100


def test_the_loss_is_that_of_training_token_by_token(names: Names) -> None:
    model = shipped("names")
    grads: Grads = {name: np.zeros_like(array) for name, array in model.params.items()}
    sums = [loss_and_grads(model.params, model.config, ids, grads) * (len(ids) - 1) for ids in names.held]
    assert loss(model.params, model.config, names.held) == pytest.approx(
        sum(sums) / sum(len(ids) - 1 for ids in names.held)
    )


@pytest.mark.parametrize("n", [4, 2, 1])
def test_a_wider_mlp_makes_up_for_the_weights_exactly(n: int) -> None:
    config = replace(CONFIG, n_kv_head=n)
    assert n_params(widen_mlp(config)) == n_params(CONFIG)
    assert widen_mlp(config).n_kv_head == n and (n_params(config) < n_params(CONFIG)) == (n < 4)


def test_a_trial_has_all_models_of_a_seed(names: Names) -> None:
    """A few steps; the averages are those of the first model, and going on from them for no step changes nothing."""
    found = trial(names, seed=1, steps=30, more=0)
    assert {n: set(kinds) for n, kinds in found.items()} == {4: {"trained", "continued"}, 2: set(KINDS), 1: set(KINDS)}
    params = fit(CONFIG, init(CONFIG, Random(1)), names.learned, 1, 30, RATE)
    assert found[4]["trained"] == found[4]["continued"] == loss(params, CONFIG, names.held)
    for n in (2, 1):
        assert found[n]["averaged"] == found[n]["continued"] == loss(*with_kv_heads(params, CONFIG, n), names.held)
        fresh = replace(CONFIG, n_kv_head=n)
        assert found[n]["trained"] < loss(split(init(fresh, Random(1)), fresh), fresh, names.held)
    assert trial(names, seed=1, steps=30, more=3)[1]["continued"] != found[1]["continued"]
    assert trial(names, seed=2, steps=30, more=0)[4]["trained"] != found[4]["trained"]


def test_every_seed_is_kept() -> None:
    kept = load_losses()
    assert {n: set(kinds) for n, kinds in kept.items()} == {4: {"trained", "continued"}, 2: set(KINDS), 1: set(KINDS)}
    assert {len(losses) for kinds in kept.values() for losses in kinds.values()} == {SEEDS}


@pytest.mark.thorough("one training of sixty thousand steps")
def test_the_losses_that_are_kept_are_those_of_a_training(names_txt: Path) -> None:
    names = names_of(names_txt.read_text("utf-8").split())
    assert len(names.held) == N_HELD
    config = replace(CONFIG, n_kv_head=1)
    params = fit(config, init(config, Random(0)), names.learned, 0, TRAINING_STEPS, RATE)
    again, kept = loss(params, config, names.held), load_losses()[1]["trained"]
    assert again == pytest.approx(kept[0], abs=4 * float(np.std(kept)))  # other processors add in another order
    assert again < min(load_losses()[1]["continued"])
