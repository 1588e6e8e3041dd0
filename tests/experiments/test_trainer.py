"""Training in pieces is training at once: the published losses and names, from the names in the package alone."""

from random import Random

import numpy as np

from microgpt.experiments.trainer import Trainer
from microgpt.weights import shipped

PUBLISHED = [3.3660, 3.4243, 3.1778, 3.0664, 3.2209, 2.9452, 3.2894, 3.3245, 2.8990, 3.2229, 2.7964, 2.9345, 3.0544]
WRITTEN = (
    "kamon ann karai jaire vialan karia yeran anna areli kaina konna keylen "
    "liole alerin earan lenne kana lara alela anton"
)


def test_in_pieces_of_any_size_it_gives_the_published_losses_and_names() -> None:
    trainer, rng = Trainer(), Random(0)
    while not trainer.is_done:
        trainer.advance(rng.randint(1, 60))
        trainer.names(2)  # looking does not disturb
    np.testing.assert_allclose(trainer.losses[:13], PUBLISHED, atol=5e-5)
    assert len(trainer.losses) == 1000
    assert " ".join(trainer.names(20)) == WRITTEN
    assert trainer.advance(5) == []
    for name, value in shipped("names").params.items():
        np.testing.assert_allclose(trainer.model().params[name], value, rtol=2**-23, atol=1e-9)  # kept as float32


def test_the_model_of_a_moment_stays_as_it_was() -> None:
    trainer = Trainer()
    before = trainer.model()
    kept = before.params["wte"].copy()
    trainer.advance(3)
    assert np.array_equal(before.params["wte"], kept)
    assert not np.array_equal(trainer.model().params["wte"], kept)
