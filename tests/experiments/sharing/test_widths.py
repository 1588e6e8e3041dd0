"""Equal width, trained: fair conditions for all kinds, and the losses that are kept."""

from itertools import islice

import numpy as np
import pytest

from microgpt.config import v_dim
from microgpt.experiments.sharing.widths import (
    HELD,
    KINDS,
    SEEDS,
    config_of,
    learned,
    measured,
    numbers_per_token,
    trial,
)
from microgpt.recipes import prepare, sentences
from microgpt.weights import shipped


def test_all_are_equally_wide_and_keep_what_they_say() -> None:
    configs = {kind: config_of(kind) for kind in KINDS}
    assert {(c.n_embd, c.n_head, v_dim(c), c.n_mlp, c.n_layer) for c in configs.values()} == {(32, 4, 8, 64, 2)}
    assert {kind: numbers_per_token(c) for kind, c in configs.items()} == {"mha": 128, "gqa": 64, "mqa": 32, "mla": 32}
    assert configs["gqa"] == shipped("stories").config and configs["mla"] == shipped("stories-mla").config


def test_what_is_learned_follows_the_seed() -> None:
    tokenizer = prepare("stories", None).tokenizer
    one, again, other = (list(islice(learned(tokenizer, seed), 5)) for seed in (0, 0, 1))
    assert one == again != other
    assert one != [[*tokenizer.encode(s), tokenizer.start] for s in islice(sentences(HELD), 5)]


def test_a_few_steps_learn() -> None:
    few = trial("mla", 0, steps=30)
    assert few < trial("mla", 0, steps=1) and trial("mla", 0, steps=30) == few


def test_every_seed_is_kept() -> None:
    kept = measured()
    assert tuple(kept) == KINDS and {len(losses) for losses in kept.values()} == {SEEDS}


@pytest.mark.thorough("a training of twelve thousand steps")
def test_a_kept_loss_is_that_of_a_training() -> None:
    kept = measured()["mqa"]
    assert trial("mqa", 0) == pytest.approx(kept[0], abs=4 * float(np.std(kept)))  # others add in another order
