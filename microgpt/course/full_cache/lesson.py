"""When the room is full: the rows that each step may read under each policy, and what that changes. Knows no HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array, Config
from microgpt.course.full_cache import sink
from microgpt.course.full_cache.policies import Outcome, after_shift, compare, text_of
from microgpt.course.full_cache.questions import asks
from microgpt.course.full_cache.timeline import MIDDLE, columns, drawing, stairs
from microgpt.course.full_cache.tray import Measure, tray
from microgpt.experiments.dropping.results import load_results
from microgpt.model import forward
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.heat import round_up
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import Model, shipped

SAME_SHARE = 1e-9  # a share of the prediction that is less has not moved
ROOM_SHARE, LEAST = 3, 4  # the room is so small a part of what the model can see, and so many rows at least
ALL, WINDOW, RING = "all", "window", "ring"
SHIFTED, ROWS_KEPT = "stories", 1  # the model whose cache is shifted for the table, and the rows that stay at its start
NO_SINKS, SINKS, N_SINKS, PUBLISHED_ROOM = 5158.07, 5.40, 4, 1024  # perplexities of Llama-2-13B: StreamingLLM's paper
SHARE_PLANTED, HELD = 0.95, 32  # of the weight that a planted first row gets; rows that may stay
WINDOWED = ("Mistral-7B", 4096, 32)  # was trained with a window of so many rows, in so many layers
ENGINE_FACTS = "2026", "2025", "length"  # as of; llama.cpp's shift is off since; what servers say


class Dropped(NamedTuple):
    """What a trained model writes when one row of the prompt is dropped; `token` is "" where all rows stay."""

    token: str
    text: str
    moved: float
    same: bool  # text as with all rows


class View:
    """One text under every policy."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.recording()
        recording.run_prompt()
        model = recording.model
        ids, n_prompt = text_of(model, settings.prompt)
        room = max(LEAST, model.config.n_ctx // ROOM_SHARE)
        found = {one.policy: one for one in compare(model, ids, n_prompt, room)}
        window, ring = found[WINDOW], found.pop(RING)
        words = [show(model.tokenizer.vocabulary[i]) for i in ids]
        cases = [Case(model, one, found[ALL]) for one in found.values()]
        story, shown = text_of(shipped(SHIFTED), "The next day is bright")[0], shipped(SHIFTED).config.n_ctx
        self.room, self.cases = room, cases
        self.trace = recording.trace
        # at first the step before which the window gives up its first row
        self.choices = (
            Choice("policy", range(len(cases)), 1),
            Choice("step", range(len(ids)), min(room, len(ids) - 1), in_figure=False),
        )
        self.model = model.name
        self.n = len(ids)
        self.words = words
        keys, values = rows_of(model, ids)
        self.tray = tray(words, [*found.values()], keys, values)
        self.scale = Measure(0, round_up(max(x for case in cases for x in case.off) or 1), 2)  # of what has moved
        self.lines = drawing(
            words, [one.reads for one in found.values()], [drop_rounding(one.variation) for one in found.values()]
        )
        self.stairs = [stairs(self.lines, i) for i in range(len(cases))]
        self.own = [(i, len(ids) - i - MIDDLE, 1) for i in range(len(ids))]
        self.moved = [columns(case.off, self.scale.high) for case in cases]
        # the largest difference between ring and window
        self.ring = float(np.abs(np.array(window.off) - np.array(ring.off)).max())
        self.shifted = after_shift(shipped(SHIFTED), story[:shown], ROWS_KEPT)  # by layer: K and V
        self.shifted_text = shown
        self.dropped = (shown - ROWS_KEPT) // 2
        self.learned = shipped("names").config.n_ctx  # positions that microgpt has
        self.planted = sink.plant(SHARE_PLANTED, HELD)
        self.trained = load_results()  # data/trained.json
        self.runs = runs_without_rows()
        # tokens back that a change can be noticed in WINDOWED
        self.reach = reach(Config(n_layer=WINDOWED[2], window=WINDOWED[1]))
        self.asks = asks()

    @property
    def first(self) -> Dropped:
        """Without the first row."""
        return self.runs[1]

    @property
    def others(self) -> list[Dropped]:
        """Without each other row, by how much of the prediction moves."""
        return sorted(self.runs[2:], key=lambda run: run.moved)

    def of(self, policy: str) -> Case | None:
        return next((case for case in self.cases if case.policy == policy), None)


view = View


def rows_of(model: Model, ids: Sequence[int]) -> tuple[Array, Array]:
    """K and V of the first head of the first layer, as they come: [n, head_dim] each."""
    cache = KVCache(model.config)
    forward(model.params, model.config, ids, cache)
    return cache.layers[0].keys[0], cache.layers[0].values[0]


class Case:
    """A policy, and what becomes of the text."""

    def __init__(self, model: Model, one: Outcome, full: Outcome) -> None:
        words, moved = model.tokenizer.vocabulary, drop_rounding(one.variation)
        here, there = ("", "") if one.first is None else (words[x.likeliest[one.first]] for x in (one, full))
        self.policy = one.policy
        self.held = max(one.held)  # rows at most
        self.last = one.held[-1]  # rows that the last step reads
        self.off = moved  # by step, the share of the chance of the next token that has gone to others
        self.mean = float(np.mean(moved))
        self.logits = max(one.off)
        self.first = one.first
        self.rows = max(map(len, one.first_head))  # that the head which is drawn reads at most
        # by step, the likeliest token
        self.writes = [show(words[i]) for i in one.likeliest]
        self.here = show(here) if here else ""  # what it would write there,
        self.there = show(there) if there else ""  # and what the model writes with all rows


def runs_without_rows() -> list[Dropped]:
    """With all rows, then without each."""
    told = load_results()["dropped"]
    texts = ["".join(run["written"]).strip() for run in told["runs"]]
    return [
        Dropped(show(told["prompt"][run["row"]]) if run["row"] >= 0 else "", text, run["moved"], text == texts[0])
        for run, text in zip(told["runs"], texts, strict=True)
    ]


def drop_rounding(variation: list[float]) -> list[float]:
    """What is only rounding is nothing: a bar of it would stand in one browser and not in another."""
    return [x if x > SAME_SHARE else 0.0 for x in variation]


def reach(config: Config) -> int:
    """How many tokens back a change can be noticed, over all layers with a window."""
    return config.n_layer * (config.window - 1)
