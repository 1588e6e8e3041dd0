"""Training that can be stopped and looked at: microgpt's thousand steps, a few at a time.

It is the run of `python -m microgpt.train names`, with the same names, weights, losses and samples, or that of another
recipe. Knows no page.
"""

from collections.abc import Iterator
from itertools import islice
from random import Random

from microgpt.config import Params, split
from microgpt.recipes import Recipe, first_thousand
from microgpt.train import samples, train
from microgpt.weights import Model


class Trainer:
    """`losses` grows with every step; the weights are those after the last of them."""

    def __init__(self, run: Recipe | None = None) -> None:
        self.run = run or first_thousand()
        self.losses: list[float] = []
        self._steps: Iterator[float] = train(
            self.run.config, self.run.vector, self.run.texts, self.run.steps, self.run.rate, self.run.decay
        )

    @property
    def is_done(self) -> bool:
        return len(self.losses) >= self.run.steps

    def advance(self, steps: int) -> list[float]:
        """Take up to `steps` more; return their losses."""
        new = list(islice(self._steps, steps))
        self.losses += new
        return new

    def names(self, n: int) -> list[str]:
        """What the model writes now: after the last step, the first of microgpt's own samples."""
        rng = Random(len(self.losses))
        if self.is_done:
            rng.setstate(self.run.rng.getstate())
        return samples(self.run._replace(rng=rng), n)

    def model(self) -> Model:
        """The model as it is now, on weights of its own."""
        params: Params = split(self.run.vector.copy(), self.run.config)
        return Model("names", self.run.config, params, self.run.tokenizer)
