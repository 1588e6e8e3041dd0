"""The model with latent rows that the lesson runs. Of a reader's model, whose rows are those of heads, one is made: it
learns from what that model writes, since no finished model can be cut to latents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from random import Random

from microgpt.config import split
from microgpt.decode import generate
from microgpt.train import train
from microgpt.weights import Model, init, is_own, shipped

SHAPE = "stories-mla"  # whose shape it has
N_TEXTS, N_STEPS, RATE, DECAY, SEED = 200, 500, 0.005, 0.03, 42
_last: list[tuple[Model, Model]] = []  # a reader's model, and what has learned from it


def latent_model(name: str) -> Model:
    """The model of that name, or the one that has learned from it."""
    model = shipped(name)
    if not is_own(model) or model.config.kv_lora_rank:
        return model
    if not (_last and _last[0][0] is model):
        _last[:] = [(model, learn_from(model))]
    return _last[0][1]


def learn_from(model: Model) -> Model:
    """A model with latent rows that has learned from texts of `model`; deterministic."""
    config = replace(shipped(SHAPE).config, n_ctx=model.config.n_ctx, vocab_size=model.config.vocab_size)
    vector = init(config, Random(SEED))
    for _ in train(config, vector, cycle(texts_of(model)), N_STEPS, RATE, DECAY):
        pass
    return Model(model.name, config, split(vector, config), model.tokenizer, model.prompt)


def texts_of(model: Model) -> Iterator[list[int]]:
    """What it writes by itself, from the start token on."""
    start, rng = model.tokenizer.start, Random(SEED)
    for _ in range(N_TEXTS):
        yield [start, *generate(model.params, model.config, [start], model.config.n_ctx, 1.0, rng=rng, stop=start)]
