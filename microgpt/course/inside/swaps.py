"""One earlier token swapped for another, and which stops of the last token notice. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple

from microgpt.course.inside import path
from microgpt.experiments.validity import another
from microgpt.viz.text.formats import show
from microgpt.weights import Model


class Swap(NamedTuple):
    """The text once more, step by step, with another token at `at`."""

    state: str  # of the drawing: s0, s1, ...
    at: int
    old: str
    new: str
    text: list[str]  # up to the last token of the prompt
    ways: list[list[path.Stop]]  # of each of them
    off: list[float]  # at each stop of the last one the largest difference, exactly 0 where it is the same


def swaps_of(model: Model, ids: list[int]) -> list[Swap]:
    plain = path.step_by_step(model.params, model.config, ids)
    places = range(1 if len(ids) > 2 else 0, len(ids) - 1)[: path.MOST_SWAPS]  # of a longer prompt, its first
    found = []
    for i, at in enumerate(places):
        new = path.swap_token(ids, at, another(model.config, ids[at], model.tokenizer.start))
        trace = path.step_by_step(model.params, model.config, new)
        off = path.compare_stops(plain, trace, model.config, len(ids) - 1)
        text = [show(model.tokenizer.vocabulary[token_id]) for token_id in new]
        found.append(
            Swap(
                state=f"s{i}",
                at=at,
                old=show(model.tokenizer.vocabulary[ids[at]]),
                new=text[at],
                text=text,
                ways=[path.stops(trace, model.config, pos) for pos in range(len(ids))],
                off=off,
            )
        )
    return found
