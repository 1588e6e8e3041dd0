"""The same prompt at several temperatures, many times: how much of each text has stood in it before."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from microgpt.config import Array
from microgpt.decode import generate
from microgpt.experiments.repeating.rounds import chances
from microgpt.weights import Model

RUN = 5  # tokens that must have stood in the text before, in this order, for the last of them to count as repeated


class Written(NamedTuple):
    """A text at a temperature: its tokens, the prompt among them, and the chance of each that the model wrote."""

    temperature: float
    seed: int
    ids: list[int]
    chances: list[float]  # at temperature 1, whatever the text was written at


def mark_repeats(ids: Sequence[int], run: int = RUN) -> list[bool]:
    """Whether each token ends `run` tokens that stood in the text before, in the same order."""
    seen, found = set[tuple[int, ...]](), list[bool]()
    for end in range(1, len(ids) + 1):
        last = tuple(ids[max(0, end - run) : end])
        found.append(len(last) == run and last in seen)
        seen.add(last)
    return found


def texts(
    model: Model, prompt: Sequence[int], temperatures: Sequence[float], seeds: Sequence[int], most: int
) -> Iterator[Written]:
    """What the model writes: up to `most` tokens at each temperature with each seed; at 0, once."""
    for temperature in temperatures:
        for seed in seeds if temperature else seeds[:1]:
            stops = model.tokenizer.stops
            new = generate(model.params, model.config, prompt, most, temperature, 0, Random(seed), stops)
            ids = [*prompt, *new]
            found: Array = chances(model, ids)[len(prompt) - 1 :]
            yield Written(temperature, seed, ids, found.tolist())
