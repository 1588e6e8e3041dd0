"""Three mistakes that people make with a cache, made for real: no mask, no position offset, no reset.

Each calls the same `forward`, in a wrong way: with a cache that lies about what it holds. What they do to the loss, on
average over many texts, lies in data/mistakes.json; the models that ship have made it with this command:

    python -m microgpt.experiments.mistakes > means.json && mv means.json microgpt/data/mistakes.json
"""

import json
from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Any, NamedTuple

import numpy as np

from microgpt.cache import Cache, KVCache
from microgpt.config import Array, Config, Params
from microgpt.data.sentences import sentences
from microgpt.decode import decode_step, generate
from microgpt.model import softmax
from microgpt.recipes import DATA
from microgpt.weights import SHIPPED, Model, is_own, shipped

N_TEXTS, TEXT_SEED = 200, 42  # of a mean
N_OWN = 30  # of one that is made while a reader waits
MISTAKE_KINDS = ("right", "no_mask", "no_offset", "no_reset")


def right(params: Params, config: Config, token_ids: Sequence[int]) -> Array:
    """The logits of every position, as they should be: [n, vocab_size]."""
    return stepwise(params, config, token_ids, KVCache(config, params["wte"].dtype))


def stepwise(params: Params, config: Config, token_ids: Sequence[int], cache: Cache) -> Array:
    return np.array([decode_step(params, config, token_id, cache) for token_id in token_ids])


class Standing(KVCache):
    """A cache that grows, but says it is empty: every token gets position 0."""

    next_position = 0


def no_offset(params: Params, config: Config, token_ids: Sequence[int]) -> Array:
    """The position offset forgotten: each step counts its positions from 0 again."""
    return stepwise(params, config, token_ids, Standing(config, params["wte"].dtype))


def no_reset(params: Params, config: Config, token_ids: Sequence[int], before: Sequence[int]) -> Array:
    """The reset forgotten: the rows of another text are still in the cache."""
    cache = KVCache(config, params["wte"].dtype)
    stepwise(params, config, before, cache)
    return stepwise(params, config, token_ids, cache)


class SeesAllLayer:
    """K and V [n_kv_head, n, head_dim]. A row is written in its place, and every step is handed all of them."""

    def __init__(self, n_kv_head: int, n: int, head_dim: int, dtype: np.dtype[Any]) -> None:
        self.keys: Array = np.zeros((n_kv_head, n, head_dim), dtype)
        self.values, self.at = np.zeros_like(self.keys), 0

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        self.keys[:, self.at], self.values[:, self.at] = k[0], v[0]
        return self.keys, self.values, range(self.keys.shape[1])


class SeesAll:
    """A cache of n rows that are all there from the beginning; `next_position` says whose turn it is."""

    def __init__(self, config: Config, n: int, dtype: np.dtype[Any]) -> None:
        self.layers = [SeesAllLayer(config.n_kv_head, n, config.head_dim, dtype) for _ in range(config.n_layer)]
        self.next_position = 0

    def __getitem__(self, layer: int) -> SeesAllLayer:
        return self.layers[layer]

    def check_room(self, n: int) -> None:
        """There is room: the rows are there already."""

    def go(self, i: int) -> None:
        self.next_position = i
        for layer in self.layers:
            layer.at = i


def no_mask(params: Params, config: Config, token_ids: Sequence[int]) -> Array:
    """The mask forgotten: every token reads every token. Logits [n, vocab_size]."""
    return see_all(params, config, token_ids)[0]


def see_all(params: Params, config: Config, token_ids: Sequence[int]) -> tuple[Array, SeesAll]:
    """The logits and the cached rows of a text in which every token reads every token.

    A row of one layer needs all rows of the layer below, so the text is swept once for each layer until the rows are
    right, and once more for the answer.
    """
    cache = SeesAll(config, len(token_ids), params["wte"].dtype)
    for _ in range(config.n_layer + 1):
        rows = []
        for i, token_id in enumerate(token_ids):
            cache.go(i)
            rows.append(decode_step(params, config, token_id, cache))
    return np.array(rows), cache


# ---- over many texts ------------------------------------------------------------------------------


class Mean(NamedTuple):
    """A mistake over many texts: the mean of their losses, and how many have a lower loss than without the mistake."""

    loss: float
    lower: int


def loss(logits: Array, token_ids: Sequence[int]) -> float:
    """The mean of -log p(next token) over a text that gave these logits; the last of its tokens is foretold only."""
    return float(-np.log(softmax(logits)[np.arange(len(logits)), token_ids[1:]]).mean())


def logits_of(kind: str, model: Model, token_ids: Sequence[int], before: Sequence[int]) -> Array:
    """The logits [n, vocab_size] of a text run with that mistake, or "right"; `before` is the text that went before."""
    params, config, room = model.params, model.config, model.config.n_ctx - len(token_ids)
    if kind == "no_reset":
        return no_reset(params, config, token_ids, before[:room])  # as much of it as leaves room
    without = {"right": right, "no_mask": no_mask, "no_offset": no_offset}
    return without[kind](params, config, token_ids)


def sample_texts(model: Model) -> list[list[int]]:
    """Texts such as the model was trained on: names out of a thousand, or sentences of the grammar, with their end; of
    a reader's model, what it writes itself."""
    if is_own(model):
        rng, stop, room = Random(TEXT_SEED), model.tokenizer.start, model.config.n_ctx
        made = [generate(model.params, model.config, [stop], room, 1.0, rng=rng, stop=stop) for _ in range(N_OWN)]
        return [[stop, *ids] for ids in made]
    if model.name == "stories":
        texts = list(islice(sentences(TEXT_SEED), N_TEXTS))
    else:
        texts = Random(TEXT_SEED).sample((DATA / "names-1000.txt").read_text("utf-8").split(), N_TEXTS)
    stop = model.tokenizer.start
    return [[*model.tokenizer.encode(text), stop][: model.config.n_ctx + 1] for text in texts]


def means(model: Model) -> dict[str, Mean]:
    """Each mistake, and none, over N_TEXTS texts, or N_OWN. The text before each is the one before it in the sample."""
    texts = sample_texts(model)
    losses = {
        kind: [loss(logits_of(kind, model, ids[:-1], texts[i - 1][:-1]), ids) for i, ids in enumerate(texts)]
        for kind in MISTAKE_KINDS
    }
    lower = {kind: sum(a < b for a, b in zip(losses[kind], losses["right"], strict=True)) for kind in MISTAKE_KINDS}
    return {kind: Mean(float(np.mean(losses[kind])), lower[kind]) for kind in MISTAKE_KINDS}


def load_means(name: str) -> dict[str, Mean]:
    """What `means` has found for the model of that name, one of those that ship."""
    found = json.loads((DATA / "mistakes.json").read_text("utf-8"))[name]
    return {kind: Mean(*mean) for kind, mean in found.items()}


if __name__ == "__main__":
    found = {name: means(shipped(name)) for name in SHIPPED}
    print(
        json.dumps({name: {k: (round(m.loss, 6), m.lower) for k, m in kinds.items()} for name, kinds in found.items()})
    )
