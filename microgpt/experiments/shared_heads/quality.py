"""What fewer key and value heads cost in quality: the letter model trained with 4, 2 and 1 of them, from many seeds.

Every model is judged by the same names, which none has learned from. What came out lies in data/sharing.json; this
command has made it, in about ten minutes:

    python -m microgpt.experiments.shared_heads.quality names.txt > losses.json
    mv losses.json microgpt/data/sharing.json
"""

import json
import string
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from microgpt.config import Array, Config, Params, split
from microgpt.experiments.gradient import losses
from microgpt.experiments.shared_heads import choices, with_kv_heads
from microgpt.recipes import DATA
from microgpt.tokenizer import START, CharTokenizer
from microgpt.train import train
from microgpt.weights import init

KINDS = ("trained", "widened", "averaged", "continued")
SEEDS = 12  # of the weights, and of the order of the names
N_HELD, SPLIT = 2_000, 42  # names that no model learns from, and the seed that chooses them
TRAINING_STEPS, RATE = 60_000, 0.003  # of a training from the first step
MORE, MORE_RATE = 6_000, 0.001  # of the training that goes on from averages
CONFIG = Config()  # the model `names`
TOKENIZER = CharTokenizer([*string.ascii_lowercase, START])

Losses = dict[str, float]  # kind -> loss


class Names(NamedTuple):
    """The names as token ids, each once: those to learn from, and those to judge by."""

    learned: list[list[int]]
    held: list[list[int]]


def names_of(lines: Sequence[str], n_held: int = N_HELD) -> Names:
    """A list of names, cut in two; it has many of them twice, which must not come to lie on both sides."""
    names = list(dict.fromkeys(lines))
    Random(SPLIT).shuffle(names)
    ids = [[*TOKENIZER.encode(name), TOKENIZER.start][: CONFIG.n_ctx + 1] for name in names]
    return Names(ids[n_held:], ids[:n_held])


def loss(params: Params, config: Config, texts: Sequence[Sequence[int]]) -> float:
    """The mean of -log p(next token) over all tokens of these texts."""
    return float(np.concatenate([losses(params, config, ids) for ids in texts]).mean())


def fit(config: Config, vector: Array, texts: Sequence[Sequence[int]], seed: int, steps: int, rate: float) -> Params:
    """Train the weights in `vector` on the texts in the order of the seed; the same order for all configs."""
    order = cycle(Random(seed).sample(texts, len(texts)))
    for _ in train(config, vector, order, steps, rate):
        pass
    return split(vector, config)


def widen_mlp(config: Config) -> Config:
    """The config with an MLP so much wider that it has as many weights as with a key and value for every query head."""
    return replace(config, n_mlp=config.n_mlp + (config.n_head - config.n_kv_head) * config.head_dim)


def trial(names: Names, seed: int, steps: int = TRAINING_STEPS, more: int = MORE) -> dict[int, Losses]:
    """All models of one seed: key and value heads -> kind -> its loss on the names that are held back."""
    found: dict[int, Losses] = {}
    whole: Params = {}
    for n in choices(CONFIG):
        config = replace(CONFIG, n_kv_head=n)
        params = fit(config, init(config, Random(seed)), names.learned, seed, steps, RATE)
        whole = whole or params
        found[n] = {"trained": loss(params, config, names.held)}
        averages, _ = with_kv_heads(whole, CONFIG, n)
        if n < CONFIG.n_head:
            wide = widen_mlp(config)
            params = fit(wide, init(wide, Random(seed)), names.learned, seed, steps, RATE)
            found[n]["widened"] = loss(params, wide, names.held)
            found[n]["averaged"] = loss(averages, config, names.held)
        vector = np.concatenate([array.ravel() for array in averages.values()])
        params = fit(config, vector, names.learned, SEEDS + seed, more, MORE_RATE)
        found[n]["continued"] = loss(params, config, names.held)
    return found


def load_losses() -> dict[int, dict[str, list[float]]]:
    """What `trial` has found: key and value heads -> kind -> a loss a seed."""
    found = json.loads((DATA / "sharing.json").read_text("utf-8"))
    return {int(n): kinds for n, kinds in found.items()}


def main(path: str) -> None:
    names = names_of(Path(path).read_text("utf-8").split())
    trials = [trial(names, seed) for seed in range(SEEDS)]
    found = {n: {k: [round(one[n][k], 6) for one in trials] for k in kinds} for n, kinds in trials[0].items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
