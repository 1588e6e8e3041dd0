"""What a row of latents costs in quality: `stories` trained with 4, 2 and 1 key heads, and with MLA, from many seeds.

All are equally wide: the same residual stream, four query heads, eight numbers that each head mixes. Every model is
judged by the same sentences, which none has learned from. What came out lies in data/widths.json; this command has
made it, in about ten minutes:

    python -m microgpt.experiments.shared_heads.widths > widths.json && mv widths.json microgpt/data/widths.json
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random
from typing import NamedTuple

import numpy as np

from microgpt.config import Config, row_dims, split
from microgpt.data.sentences import sentences
from microgpt.experiments.shared_heads.quality import loss
from microgpt.recipes import DATA, prepare
from microgpt.tokenizer import Tokenizer
from microgpt.train import train
from microgpt.weights import init, shipped

SEEDS = 12  # of the weights, and of the sentences
N_HELD, HELD = 2_000, 1_000_000  # sentences to judge by, and their seed
FIRST_SEED = 100  # seeds of the sentences that are learned begin here: 0 has made the vocabulary, 1 the shipped weights
KINDS = ("mha", "gqa", "mqa", "mla")
WITHIN = 2.201  # Student's t of SEEDS - 1: a mean lies within so many of its errors in 95 of 100 such experiments


def config_of(kind: str) -> Config:
    """The architecture: `gqa` is that of `stories`, `mla` that of `stories-mla`."""
    config = shipped("stories-mla" if kind == "mla" else "stories").config
    return replace(config, n_kv_head={"mha": config.n_head, "mqa": 1}.get(kind, config.n_kv_head))


def numbers_per_token(config: Config) -> int:
    """What the cache keeps of a token: a key and a value per key head, or a short key and a latent, in each layer."""
    return config.n_layer * config.n_kv_head * sum(row_dims(config))


def training_texts(tokenizer: Tokenizer, seed: int) -> Iterator[list[int]]:
    """Sentences without end."""
    return ([*tokenizer.encode(sentence), tokenizer.start] for sentence in sentences(FIRST_SEED + seed))


def trial(kind: str, seed: int, steps: int | None = None) -> float:
    """The loss of one model on the sentences that are held back; its weights and its sentences have the same seed."""
    run, config = prepare("stories", None, steps), config_of(kind)
    vector = init(config, Random(seed))
    for _ in train(config, vector, training_texts(run.tokenizer, seed), run.steps, run.rate, run.decay):
        pass
    held = [[*run.tokenizer.encode(one), run.tokenizer.start] for one in islice(sentences(HELD), N_HELD)]
    return loss(split(vector, config), config, held)


def load_losses() -> dict[str, list[float]]:
    """What `trial` has found: kind -> a loss a seed."""
    found: dict[str, list[float]] = json.loads((DATA / "widths.json").read_text("utf-8"))
    return found


class Paired(NamedTuple):
    """By how much the loss of one kind is above that of another, seed by seed."""

    mean: float
    low: float  # ends of the interval that holds the true mean in 95 of 100 such experiments
    high: float
    worse: int  # seeds in which it is above


def compare_pairs(kind: str, other: str) -> Paired:
    """Both have the same seed and the same sentences in each pair, so what a seed adds to both falls out."""
    found = load_losses()
    above = np.array(found[kind]) - np.array(found[other])
    mean, error = float(above.mean()), float(above.std(ddof=1)) / len(above) ** 0.5
    return Paired(mean, mean - WITHIN * error, mean + WITHIN * error, int((above > 0).sum()))


def main() -> None:
    print(json.dumps({kind: [round(trial(kind, seed), 6) for seed in range(SEEDS)] for kind in KINDS}))


if __name__ == "__main__":
    main()
