"""Fewer bits: a row on its grid, what that does to the weights, and a text in every format. Knows no HTML."""

from __future__ import annotations

import numpy as np

from microgpt.caches.codes import MANTISSA, Float8, Grid
from microgpt.caches.quantised import Rows
from microgpt.config import Array
from microgpt.course.fewer_bits.case import IN_STEPS, MOST_COLUMNS, Case, drawing, number_names
from microgpt.course.fewer_bits.outlier import TIMES, plant, rows_with, unevenness
from microgpt.course.fewer_bits.questions import FULL as FULL  # for the templates
from microgpt.course.fewer_bits.questions import asks, per_number
from microgpt.experiments.dropping.bits import HALF, compare_formats, shares, through
from microgpt.experiments.dropping.results import load_results
from microgpt.experiments.dropping.shift import shift_of
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings

__all__ = ["IN_STEPS", "TIMES", "view"]  # and what the templates read

CASES = ((8, False, False), (4, False, False), (2, False, False), (4, True, False), (4, True, True))
FIRST_CASE = 1  # the case on show
SHARED = ((8, 32, False), (4, 64, True), (4, 32, True), (2, 32, True))  # bits, numbers in a group, with a minimum
RECENT, YEAR = 128, 2026  # KIVI's newest rows; what engines do
# vLLM's option and a value; llama.cpp's; transformers'
ENGINE_OPTIONS = ("--kv-cache-dtype", "fp8", "q8_0", "QuantizedCache")
FORMULA = "tanh(e ÷ 2)"  # by the largest error of a score
MEMORY, SPEED = 2.6, (2.35, 3.47)  # KIVI in two bits: times less memory at the peak, times the throughput
LONG_ROWS = (1000, 128, 32)  # rows of a longer text, numbers in each, and rows that share a scale per channel


class View:
    """A row, its weights, and the formats."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.recording()
        recording.run_prompt()
        if recording.n_prompt == 1:
            recording.step()
        model, trace = recording.model, recording.trace
        n = max(2, recording.n_prompt)
        config = model.config
        keys, values = (
            np.array([[trace[name, i, layer][0] for i in range(n)] for layer in range(config.n_layer)]) for name in "kv"
        )  # [n_layer, n, n_kv_head, head_dim]
        queries = [trace["q", n - 1, layer][0] for layer in range(config.n_layer)]
        group = config.n_head // config.n_kv_head
        layer, head = max(
            np.ndindex(config.n_layer, config.n_head), key=lambda at: weight_shift(queries, keys, group, *at)
        )
        query, own = queries[layer][head], keys[layer, :, head // group]
        channel = int(np.argmin(np.abs(own[-1])))  # it is small, and will be large
        cases = [Case(query, own, channel, *one) for one in CASES]
        self.trace, self.channel, self.n, self.cases = trace, channel, n, cases
        self.choices = (Choice("bits", range(len(cases)), FIRST_CASE),)
        self.names = number_names(len(own[-1]))  # of what can be asked
        self.fields = (Choice("lens", ("", *self.names), "", in_figure=False),)
        self.model = model.name
        self.drawing = drawing(cases)
        self.long = shares(*LONG_ROWS, RECENT)  # of these, what a longer text of a larger model takes of sixteen bits
        self.formats = compare_formats(model, [int(i) for i in recording.ids[:n]])
        self.half = next(one for one in self.formats if one.name == f"int{cases[FIRST_CASE].bits}")
        # of the keys of this model, the most of all heads
        self.uneven = max(unevenness(rows[:, g]) for rows in keys for g in range(config.n_kv_head))
        self.uneven_values = max(unevenness(rows[:, g]) for rows in values for g in range(config.n_kv_head))
        self.trained = load_results()  # data/trained.json
        self.tokens = plant(rows_with(token=True), CASES[FIRST_CASE][0], token=True)
        # formats: bits, numbers in a group, whether it keeps a minimum, and what that comes to per number
        self.shared = [(bits, size, low, per_number(bits, size, low)) for bits, size, low in SHARED]
        # floats of eight bits: the largest, and the largest share of itself that a number is off by
        self.floats = [(kind, Float8(kind).largest, 2.0 ** -(MANTISSA[kind] + 1)) for kind in ("e4m3", "e5m2")]
        self.asks = asks()


view = View


def can_be_asked() -> list[str]:
    return number_names(MOST_COLUMNS)


def weight_shift(queries: list[Array], keys: Array, group: int, layer: int, head: int) -> float:
    """How far two bits move the weights of this head."""
    kind = through(Rows(Grid(2, scales=HALF)), keys[layer, :, head // group][None, None])
    return shift_of(queries[layer][head], kind.before[0, 0], kind.after[0, 0]).distance
