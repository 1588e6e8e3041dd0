"""Texts that a model writes with the cache, run again without it: in four formats of numbers, adding in two orders.

With the cache one token runs at a time, and its sums are taken in four lanes, as processors do for a single row: it
leaves them idle otherwise. Without it the whole text runs at once, and every sum is taken term by term, as it is when
there are rows enough to keep all busy. Each row of such a pass depends on the tokens before it alone, so one pass over
the finished text gives, to the last bit, the logits of every step's rerun. Knows no page.
"""

import json
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array, Params
from microgpt.data.sentences import sentences
from microgpt.decode import decode_step
from microgpt.experiments.exactness.rounding import FORMATS, round_to
from microgpt.model import forward
from microgpt.recipes import DATA
from microgpt.weights import SHIPPED, Model, shipped

AT_ONCE, BY_STEP = "one by one", "in lanes"  # the orders of adding, without the cache and with it
N_PROMPTS, N_LETTERS, N_WORDS = 200, 3, 5  # at most so many beginnings, so long
SHORTEST = "bfloat16 sums"  # the format of the examples


class Both(NamedTuple):
    """A text that the model has written, and the logits [step, vocab_size] of each choice, in both ways."""

    ids: list[int]
    n_prompt: int
    cached: Array
    again: Array

    @property
    def parting(self) -> int | None:
        """The first step at which the two choose different tokens."""
        apart = self.cached.argmax(axis=1) != self.again.argmax(axis=1)
        return int(apart.argmax()) if apart.any() else None


class Found(NamedTuple):
    """Of one format: how far any two logits were apart, and the beginnings that went on with another token."""

    difference: float
    flipped: list[str]


class Example(NamedTuple):
    """Two tokens between which the choice flips, the one that is chosen with the cache first, and their logits."""

    text: list[str]  # what stands before
    tokens: list[str]
    cached: list[float]
    again: list[float]
    exact: list[float]  # in float64


class Exactness(NamedTuple):
    """What was found for one model."""

    prompts: int
    choices: int  # of all texts together, in float64
    formats: dict[str, Found]
    example: Example


def prompts(model: Model) -> list[str]:
    """The different beginnings of the texts that such a model was trained on."""
    if model.name == "stories":
        starts = (" ".join(sentence.split()[:N_WORDS]) for sentence in islice(sentences(0), 5000))
    else:
        starts = (name[:N_LETTERS] for name in (DATA / "names-1000.txt").read_text("utf-8").split())
    return list(dict.fromkeys(starts))[:N_PROMPTS]


def weights(model: Model, format: str, order: str) -> Params:
    return {name: round_to(value, format, order) for name, value in model.params.items()}


def both(model: Model, prompt: str, format: str, orders: Sequence[str] = (BY_STEP, AT_ONCE)) -> Both:
    """Write on from the prompt, greedily, to the end of the text or of the context; then run all of it again."""
    config, stops, dtype = model.config, model.tokenizer.stops, FORMATS[format].dtype
    by_step, at_once = (weights(model, format, order) for order in orders)
    prompt_ids = model.tokenizer.encode(prompt)
    ids, cache, cached = list(prompt_ids), KVCache(config, dtype), []
    for token_id in ids:  # grows
        cached.append(decode_step(by_step, config, token_id, cache))
        chosen = int(cached[-1].argmax())
        if len(cached) < len(ids) or chosen in stops or len(ids) == config.n_ctx:
            continue
        ids.append(chosen)
    again = forward(at_once, config, ids, KVCache(config, dtype))
    first = len(prompt_ids) - 1
    return Both(ids, len(prompt_ids), np.array(cached, dtype)[first:], np.array(again, dtype)[first:])


def compare_runs(model: Model, format: str, some: Sequence[str]) -> Found:
    runs = {prompt: both(model, prompt, format) for prompt in some}
    differences = [np.abs(run.cached - run.again).max() for run in runs.values()]
    return Found(float(max(differences)), [prompt for prompt, run in runs.items() if run.parting is not None])


def example(model: Model, some: Sequence[str]) -> Example:
    """The first flip of those beginnings that is no tie, in the shortest format; else the first."""
    tries = [flip(model, prompt) for prompt in some]
    clear = [one for one in tries if one.cached[0] > one.cached[1] and one.again[0] < one.again[1]]
    return [*clear, *tries][0]


def flip(model: Model, prompt: str) -> Example:
    run, vocabulary = both(model, prompt, SHORTEST), model.tokenizer.vocabulary
    at = run.parting or 0
    ids = run.ids[: run.n_prompt + at]
    two = [int(logits[at].argmax()) for logits in (run.cached, run.again)]
    exact = forward(model.params, model.config, ids, KVCache(model.config))[-1]
    text = [vocabulary[i] for i in ids]
    sides = [[float(logits[i]) for i in two] for logits in (run.cached[at], run.again[at], exact)]
    return Example(text, [vocabulary[i] for i in two], *sides)


def measure_model(model: Model) -> Exactness:
    some = prompts(model)
    formats = {format: compare_runs(model, format, some) for format in FORMATS}
    choices = sum(len(both(model, prompt, "float64").cached) for prompt in some)
    return Exactness(len(some), choices, formats, example(model, formats[SHORTEST].flipped))


def load_exactness(name: str) -> Exactness:
    """What this command has found for the model of that name, one of those that ship."""
    kept: dict[str, Any] = json.loads((DATA / "exactness.json").read_text("utf-8"))[name]
    formats = {format: Found(*one) for format, one in kept["formats"].items()}
    return Exactness(**{**kept, "formats": formats, "example": Example(**kept["example"])})


if __name__ == "__main__":
    found = {name: measure_model(shipped(name)) for name in SHIPPED}
    print(json.dumps({name: {**one._asdict(), "example": one.example._asdict()} for name, one in found.items()}))
