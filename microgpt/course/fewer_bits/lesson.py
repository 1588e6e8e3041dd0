"""Fewer bits: a row on its grid, what that does to the weights, and a text in every format. Knows no HTML."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from microgpt.caches.codes import MANTISSA, Float8, Grid
from microgpt.caches.quantised import Rows
from microgpt.config import Array
from microgpt.course.fewer_bits.grid import drawing
from microgpt.course.fewer_bits.outlier import TIMES, plant, rows_with, unevenness
from microgpt.course.fewer_bits.questions import FULL as FULL  # for the templates
from microgpt.course.fewer_bits.questions import asks, per_number
from microgpt.course.fewer_bits.states import MOST_COLUMNS, number_names
from microgpt.experiments.dropping.bits import HALF, Fewer, compare_formats, shares, through
from microgpt.experiments.dropping.results import load_results
from microgpt.experiments.dropping.shift import Shifted, shift_of
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.lens import as_printed, fewest, near
from microgpt.viz.settings import Settings

__all__ = ["TIMES", "view"]  # and what the templates read

CASES = ((8, False, False), (4, False, False), (2, False, False), (4, True, False), (4, True, True))
AS_PRINTED, IN_STEPS = 2, 1  # decimals of a number, and of how many steps of its grid it is
FIRST_CASE = 1  # the case on show
LARGER = 4.0  # times the largest number of all keys, which is added to the planted channel
SHARED = ((8, 32, False), (4, 64, True), (4, 32, True), (2, 32, True))  # bits, numbers in a group, with a minimum
RECENT, YEAR = 128, 2026  # KIVI's newest rows; what engines do
ENGINE_OPTIONS = (
    "--kv-cache-dtype",
    "fp8",
    "q8_0",
    "QuantizedCache",
)  # vLLM's option and a value; llama.cpp's; transformers'
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
        self.trace, self.layer, self.head, self.channel, self.n, self.cases = trace, layer, head, channel, n, cases
        self.choices = (Choice("bits", range(len(cases)), FIRST_CASE),)
        self.names = number_names(len(own[-1]))  # of what can be asked
        self.fields = (Choice("lens", ("", *self.names), "", in_figure=False),)
        self.model = model.name
        self.drawing = drawing(cases)
        self.long = shares(*LONG_ROWS, RECENT)  # of these, what a longer text of a larger model takes of sixteen bits
        self.formats = compare_formats(model, [int(i) for i in recording.ids[:n]])
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

    def codes_of(self, kind: str) -> dict[str, Any]:
        """Of the trained model, the line of k or v with so many bits as on show."""
        lines: list[dict[str, Any]] = self.trained["coded"]["lines"]
        return next(one for one in lines if (one["kind"], one["bits"]) == (kind, self.half_bits))

    @property
    def half(self) -> Fewer:
        """The text in the first of the formats with so many bits as on show."""
        return next(one for one in self.formats if one.name == f"int{self.half_bits}")

    @property
    def half_bits(self) -> int:
        return self.cases[FIRST_CASE].bits


view = View


def weight_shift(queries: list[Array], keys: Array, group: int, layer: int, head: int) -> float:
    """How far two bits move the weights of this head."""
    return through_codes(queries[layer][head], keys[layer, :, head // group], Rows(Grid(2, scales=HALF))).distance


def through_codes(query: Array, own: Array, rows: Rows) -> Shifted:
    """The weights of a query over keys [n, head_dim], before and after codes."""
    kind = through(rows, own[None, None])
    return shift_of(query, kind.before[0, 0], kind.after[0, 0])


class Coded(NamedTuple):
    """How a number becomes its code, and what the code stands for."""

    number: float
    low: float
    scale: float
    code: int
    back: float

    @property
    def digits(self) -> int:
        """Decimals with which both come true, as they are printed."""
        return fewest(self.true)

    @property
    def steps(self) -> float:
        return (self.number - self.low) / self.scale

    def true(self, digits: int) -> bool:
        number, low, scale = (as_printed(x, digits) for x in (self.number, self.low, self.scale))
        return (
            scale > 0
            and near((number - low) / scale, self.steps, IN_STEPS)
            and near(low + self.code * scale, self.back, AS_PRINTED)
        )


class Case:
    """One row in codes, and what the weights of the newest query become when all rows are."""

    def __init__(self, query: Array, own: Array, channel: int, bits: int, large: bool, per_channel: bool) -> None:
        """The newest row, [head_dim], among all rows; per channel, all rows but perhaps the first make a group."""
        keys = own.copy()
        if large:  # the same in all tokens: it adds as much to every score, and changes no weight
            keys[:, channel] += LARGER * np.abs(own).max()
        odd = len(keys) % 2 if per_channel else 0  # two codes fill a byte
        rows = Rows(Grid(bits, scales=HALF), per_channel, len(keys) - odd if per_channel else 0)
        kind = through(rows, keys[None, None, odd:])
        codes = rows.codes.encode(rows.split_groups(keys[None, odd:]))
        d = own.shape[1]
        scales, low = (np.broadcast_to(part[0, -1, :, 0].astype(float), d) for part in (codes.scale, codes.low))
        points = np.rint((kind.after[0, 0, -1] - low) / np.where(scales > 0, scales, 1)).astype(int)
        after = keys.copy()
        after[odd:] = kind.after[0, 0]
        off = np.abs(after[-1] - keys[-1])
        self.bits, self.per_channel = bits, per_channel
        self.large = large  # one channel is planted
        self.points = 2**bits
        self.before = keys[-1].tolist()
        self.after = after[-1].tolist()
        self.codes = points.tolist()
        self.scale = float(scales.max())  # the largest of those in use
        self.low = low.tolist()  # of each column
        self.scales = scales.tolist()  # of each column
        columns = zip(self.before, self.low, self.scales, self.codes, self.after, strict=True)
        coded = [Coded(*column) for column in columns][:MOST_COLUMNS]
        # by the name that it is asked by; none where all numbers are the same
        self.coded = {
            name: line
            for name, line in zip(number_names(d), coded, strict=True)
            if line.scale and line.true(line.digits)
        }
        # largest error of the row but for the planted number
        self.others = float((np.delete(off, channel) if large else off).max())
        self.shift = shift_of(query, keys, after)
        self.row_bytes = codes.nbytes / (len(keys) - odd)
        self.full_bytes = d * np.dtype(HALF).itemsize

    @property
    def limit(self) -> float:
        return self.scale / 2

    @property
    def off(self) -> float:
        return float(max(abs(a - b) for a, b in zip(self.after, self.before, strict=True)))
