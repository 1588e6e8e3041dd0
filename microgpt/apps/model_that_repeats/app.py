"""A model that repeats itself: the same sentence in each of its rounds, and the same prompt at several temperatures.

All is read from the record that lies beside the traces; `python -m tools.trained` makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from microgpt.apps.records import record
from microgpt.experiments.repeating.rounds import circle
from microgpt.experiments.repeating.temperatures import RUN, mark_repeats
from microgpt.viz.controls import Choice
from microgpt.viz.large.overview import HALF_WEIGHT
from microgpt.viz.settings import Settings

__all__ = ["RUN", "view"]  # and what the templates read

REPEATS = "smollm2-repeats.json"
TEXT_SEED = 8  # of the text that is shown at each temperature


class Turn(NamedTuple):
    """A round; what its heads give to what came next in the rounds before."""

    n: int  # from one
    sure: Sure
    look: float  # of the head that gives most in the last round
    heads: int  # that give more than half
    held: list[int]  # cases in which its rows are in the cache: the last has those of the last round alone


class View:
    def __init__(self, _: Settings) -> None:
        self.told = told = record(REPEATS)
        ids, words, self.circle = told["ids"], told["vocabulary"], circle(told["ids"])
        assert self.circle, "measure() refuses a text that does not go in circles"
        turns, looks = self.circle.rounds(len(ids)), np.array(told["looks"])
        self.layer, self.head = (int(x) for x in np.unravel_index(looks[-1].argmax(), looks[-1].shape))
        self.words = [words[str(ids[i])] for i in turns[0]]  # of a round
        self.turns = list[Turn]()
        for at, (steps, look) in enumerate(zip(turns, looks, strict=True)):
            round_ = Sure([told["chances"][i - 1] for i in steps], self.words)
            held = list(range(at, len(turns) + (steps == turns[-1])))
            of_head = float(look[self.layer, self.head])
            self.turns.append(Turn(at + 1, round_, of_head, int((look > HALF_WEIGHT).sum()), held))
        self.before_share = self.circle.start / len(ids)  # of all rows at the end, those before the first round
        self.round_share = self.circle.period / len(ids)  # and those of a round
        self.written = len(ids) - told["n_prompt"]  # tokens of the whole text
        self.without = Sure(told["without"], self.words)  # the last round, the rows of the others gone
        self.heats = heats(told)
        rounds, by_heat = range(len(self.turns) + 1), range(len(self.heats))
        self.choices = (Choice("round", rounds), Choice("temperature", by_heat))


view = View


class Sure:
    """How sure the model was of the tokens of a round."""

    def __init__(self, chances: Sequence[float], words: Sequence[str]) -> None:
        at = int(np.argmin(chances))
        self.chances = list(chances)
        self.mean = float(np.mean(chances))
        self.least = chances[at]
        self.token = words[at]  # the one with the least


def heats(told: dict[str, Any]) -> list[TemperatureRow]:
    """The likeliest tokens first, as many as the other texts have at most; then each temperature."""
    n, end = told["n_prompt"], told["n_prompt"] + told["short"]
    first = {
        "temperature": 0.0,
        "seed": TEXT_SEED,
        "ids": told["ids"][:end],
        "chances": told["chances"][n - 1 : end - 1],
    }
    by_heat = groupby([first, *told["texts"]], key=lambda text: text["temperature"])
    return [TemperatureRow(at, list(texts), n, told["vocabulary"]) for at, texts in by_heat]


class TemperatureRow:
    """A temperature: the text with TEXT_SEED, and figures of all its texts."""

    def __init__(self, temperature: float, texts: list[dict[str, Any]], n: int, words: dict[str, str]) -> None:
        """The first n tokens of each text were given."""
        again = [mark_repeats(text["ids"])[n:] for text in texts]
        shown = next(i for i, text in enumerate(texts) if text["seed"] == TEXT_SEED)
        pieces = zip(texts[shown]["ids"][n:], again[shown], strict=True)
        every = [chance for text in texts for chance in text["chances"]]
        self.temperature = temperature
        # what is shown of a token, and whether it only repeats
        self.pieces = [(words[str(token)], seen) for token, seen in pieces]
        self.texts = len(texts)
        self.again = sum(map(sum, again)) / len(every)  # share of the tokens that only repeat
        self.mean = float(np.mean(every))  # of the chances of all tokens
