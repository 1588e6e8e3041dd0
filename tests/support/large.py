"""Models of the shape of large ones with random weights, for the tests of what is drawn of them.

python -m tests.support.large gpt2 OUT: a lesson from such a model, for a look at it.
"""

import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from build import say
from microgpt.architectures.known import GPT2, LLAMA
from microgpt.config import Config, param_shapes
from microgpt.errors import N_, UserError
from microgpt.viz.large.picture import BigPicture, picture_of_model
from microgpt.weights import Model
from tools.checkpoint import build_checkpoint

WORDS = """the next day is bright and sun shines over all of them a dog ran to its house where he had seen her before
they went away with two friends who came from far lands beyond sea so it was late when I saw moon rise""".split()
SHAPES = {
    "gpt2": Config(12, 768, 12, 12, 64, 256, 1024, 320, **GPT2),
    "smollm": Config(30, 576, 9, 3, 64, 256, 8192, 320, **LLAMA, tied=True),
    "llama": Config(32, 512, 32, 8, 128, 256, 131_072, 320, **LLAMA),
}


class Words:
    """Pieces with their leading space, as a byte-pair tokenizer has them; no token starts a text."""

    joiner = ""

    def __init__(self, size: int) -> None:
        words = [f" {word}" for word in dict.fromkeys(WORDS)]
        self.vocabulary = [*words, *(f" w{i}" for i in range(size - len(words) - 1)), "<|end|>"]
        self.ids = {token: i for i, token in enumerate(self.vocabulary)}
        self.start = self.ids["<|end|>"]
        self.stops = frozenset({self.start})

    def split(self, text: str) -> list[str]:
        return re.findall(r" ?\S+", f" {text.strip()}") if text.strip() else []

    def encode(self, text: str) -> list[int]:
        for piece in self.split(text):
            if piece not in self.ids:
                raise UserError(N_("This model does not know “%(piece)s”."), piece=piece)
        return [self.ids[piece] for piece in self.split(text)]

    def decode(self, ids: Any) -> str:
        return "".join(self.vocabulary[i] for i in ids)


def large(name: str, seed: int = 1, dtype: Any = np.float32, **fields: Any) -> Model:
    """A model of that shape whose heads differ in sharpness, and in which a few numbers are huge."""
    config, rng = replace(SHAPES[name], **fields), np.random.default_rng(seed)
    params = {}
    for key, shape in param_shapes(config).items():
        if key.endswith("norm") or key.endswith("norm.bias"):
            params[key] = np.ones(shape, dtype) if not key.endswith("bias") else np.zeros(shape, dtype)
            continue
        size = 1.0 if key in ("wte", "wpe") else 1.3 * shape[-1] ** -0.5
        params[key] = (rng.standard_normal(shape) * size).astype(dtype)
        if key.endswith(("wq", "wk")):  # a few channels of huge values, and heads of different sharpness
            heads = params[key].reshape(-1, config.head_dim, shape[1])
            heads *= rng.uniform(0.3, 1.8, (len(heads), 1, 1)).astype(dtype)
            heads[:, 5] *= 4
    return Model(name, config, params, Words(config.vocab_size))


PROMPT = "the next day is bright and sun shines over all of them"
SMALL: dict[str, Any] = {"n_embd": 48, "n_mlp": 32}  # the width of the residual stream is not what makes a page large


@cache
def small(name: str = "smollm", n_layer: int = 7) -> Model:
    """A model with all the heads of a layer of that shape, and no more of the rest than it takes."""
    return large(name, **SMALL, n_layer=n_layer, n_ctx=64)


@cache
def view(name: str = "smollm") -> BigPicture:
    """What is drawn of a run of it."""
    return picture_of_model(small(name), PROMPT, 3)


if __name__ == "__main__":
    build_checkpoint(large(sys.argv[1]), PROMPT, say, Path(sys.argv[2]), widget=(sys.argv[3:] or ["stepper"])[0])
