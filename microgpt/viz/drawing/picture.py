"""Trace -> what a template needs: tokens, heat levels, numbers, counts. Templates place and format it.

Everything is looked up in the trace by position and layer; nothing is computed that the model should
have computed. Knows no HTML; classes such as "L0 H2" only say which layer and heads a piece belongs to.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from microgpt import cost
from microgpt.config import Array, Config
from microgpt.rope import frequencies
from microgpt.tokenizer import START
from microgpt.trace import Event, Reads, Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing import counters
from microgpt.viz.drawing.by_hand import ByHand, by_hand
from microgpt.viz.drawing.heat import Scale, Strip, round_up
from microgpt.viz.drawing.lens import MOST_CELLS, Lines, Share, Told, of_head, shares
from microgpt.viz.drawing.phases import PHASES
from microgpt.viz.text.answers import answers
from microgpt.viz.text.formats import show

MOST_TOKENS = 32  # that a page steps through without becoming slow
COLUMNS = {3: 16, 9: 8}  # letters of the longest token -> tokens in a line of a wide page
FEW = 5  # tokens in a line, where one is longer still
NEARLY_ALL = 0.99  # of a weight; one of 16 bits may be a little less than 1
NEAR = 0.02  # numbers of 16 bits are this exact: of the product of the lengths of q and k, or of a sum of weights
TEMPERATURES = ("0", "0.25", "0.5", "1", "1.5", "2")  # at which guesses are drawn
ASKED = ("q", "head_out", "attn_scores", "attn_weights")  # what a calculation is made of, with the rows
HALF = 10  # half as wide as bars are drawn
ROWS = ("q", "k", "v", "head_out", "k_read", "v_read")  # what is drawn on one scale; x, which is longer, has its own


class Meeting(NamedTuple):
    """q meets one key row: the score, the weight, and how often this row has been read so far."""

    row: int
    token: str
    score: float
    weight: float
    reads: int
    below: int  # percent of the sum under its slice of V: the weights of all older rows
    thick: int  # percent of the sum that its slice fills; with those of the other rows, 100
    earlier: float  # what the rows before those that are drawn get together
    under: int  # how many of those there are


class Row(NamedTuple):
    """A row of the cache as a step reads it: its token, K and V. A strip that the step does not read has no cells."""

    i: int
    token: str
    k: list[Any]
    v: list[Any]

    @property
    def there(self) -> bool:
        """Whether any layer has it."""
        return any(there for _, there in self.reads_by_head)

    @property
    def reads_by_head(self) -> list[tuple[str, bool]]:
        """The classes of heads that are drawn, and whether their step reads it; one entry without classes where that is
        the same in all."""
        found = [(str(strip.where), bool(getattr(strip, "cells", True))) for strip in self.k]
        return found if len({there for _, there in found}) > 1 else [("", found[0][1])]


class Past(NamedTuple):
    """The rows that q of a step reads in some layer."""

    where: str  # the classes of its heads that are drawn
    rows: int
    old: int
    full: bool  # whether they fill a window
    chunk: bool  # whether they are those of a chunk alone, of more that lie there


class Changes(NamedTuple):
    """What a step reads otherwise in one layer than the steps before: older rows, by their places in the whole text."""

    changed: list[int]
    gone: list[int]
    window: bool  # which those that are gone have left

    @property
    def any(self) -> bool:
        return bool(self.changed or self.gone)


class Listed(NamedTuple):
    """The numbers of one row, and the decimals that they are written with."""

    where: str
    kind: str
    values: list[float]
    digits: int


class Step(NamedTuple):
    """Everything that belongs to one step alone. A strip or the meetings of a head say to which head they belong."""

    i: int
    number: int
    token: str
    kind: str  # start, prompt or generated
    x: list[Any]
    bars: list[tuple[str, int, str]]  # x again, as the machine shows it
    q: list[Any]
    k: list[Any]
    v: list[Any]
    meetings: list[tuple[str, list[Meeting]]]
    mixed: list[Any]
    rows: int  # of the cache, afterwards
    added: int
    q_reads: int
    first_row_reads: int
    costs: list[counters.Cost]
    bytes: counters.Held
    guesses: list[counters.Guess]
    reshaped: list[list[float]]  # for each of these its probability at each temperature
    choice: str | None
    stops: bool
    given: str | None  # the next token, where the prompt goes on
    difference: float | None  # of the logits with and without the cache; None where they were not compared
    other: counters.Other | None  # where the likeliest token is another without the cache
    listed: list[Listed]  # the numbers behind the strips, where those have none


def most_tokens(config: Config) -> int:
    """How many tokens a picture can have: all that it says of reads holds where every token sees all before it."""
    return min(MOST_TOKENS, config.n_ctx, config.window or config.n_ctx)


def v_dim(about: Mapping[str, Any]) -> int:
    """Numbers of a row of V in each head; q and k have head_dim, which is the same in most families."""
    found: int = about.get("v_dim", about["config"]["head_dim"])
    return found


def lens_names(rows: int, cells: int) -> list[str]:
    """What can be asked where it comes from, by a letter and a place: the cells of the sum, guesses, and of each row
    score, weight, k and v."""
    of_rows = [f"{kind}{i}" for i in range(rows) for kind in "swkv"]
    return [*(f"o{at}" for at in range(cells)), *(f"g{at}" for at in range(counters.N_GUESSES)), *of_rows]


@dataclass(frozen=True)
class Picture:
    """A view of a trace. `picture.step(i)` and `picture.row(i)` are what the templates draw."""

    trace: Trace
    selected: int = -1  # the step that is shown first; -1 is the last one of the prompt
    layer: int = -1  # and head: those that are shown first; -1 are those whose weights differ most
    head: int = -1
    phase: int = 0  # the stage that is over; at first the step is still to come
    apart: bool = False  # what few ask for stands on a page of its own: numbers, costs and checks
    _steps: dict[int, Step] = field(default_factory=dict)
    _rows: dict[tuple[int, int], Row] = field(default_factory=dict)

    @property
    def about(self) -> dict[str, Any]:
        return self.trace.about

    @cached_property
    def config(self) -> Config:
        return Config(**self.about["config"])

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What can be on show: a step, a layer, a head and a stage of the step."""
        c, (step, phase) = self.config, self.moments
        return (
            step,
            Choice("layer", range(c.n_layer), self.clearest[0] if self.layer < 0 else self.layer),
            Choice("head", range(c.n_head), self.clearest[1] if self.head < 0 else self.head),
            phase,
        )

    @property
    def temperature(self) -> str:
        """That of the run, as it is typed."""
        return f"{self.about['temperature']:g}"

    @property
    def temperatures(self) -> tuple[str, ...]:
        """Those at which the guesses are drawn, that of the run among them; none of a model of others."""
        if "family" in self.about:
            return ()
        return tuple(sorted({*TEMPERATURES, self.temperature}, key=float))

    @property
    def moments(self) -> tuple[Choice, Choice]:
        """A step, and a stage of it."""
        return Choice("step", range(self.n), self.at), Choice("phase", range(len(PHASES) + 1), self.phase)

    @property
    def fields(self) -> tuple[Choice, ...]:
        """The check boxes beside the picture, and the temperature of its guesses."""
        return (
            *([Choice("temperature", self.temperatures, self.temperature)] if self.temperatures else []),
            Choice("once", ("1",), ""),
            Choice("play", ("1",), ""),
            Choice("hold", ("on",), ""),
            Choice("slow", ("1",), ""),
            Choice("check", ("on",), ""),
            Choice("lens", ("", *self.lens_names), ""),
        )

    @property
    def lens_names(self) -> list[str]:
        """See the function of that name; the cells of a long sum are too many to be pointed at."""
        return lens_names(self.n, self.v_dim if self.v_dim <= MOST_CELLS else 0)

    @property
    def open_heads(self) -> tuple[Any, ...]:
        """The heads that are drawn, where a model has too many to draw them all (viz/large); empty: all are."""
        return ()

    @property
    def groups(self) -> list[range]:
        """The heads that share one key head and one value head, together."""
        size = self.config.n_head // self.config.n_kv_head
        return [range(first, first + size) for first in range(0, self.config.n_head, size)]

    @property
    def in_pairs(self) -> bool:
        """Whether every two query heads share their rows, so that both can be drawn."""
        return self.config.n_head == 2 * self.config.n_kv_head

    @property
    def dial(self) -> bool:
        """Whether q and k are rotated so that their first pair turns by one radian a position, as the dial draws it."""
        known = "family" not in self.about  # of another than ours, only that it turns is known
        return known and self.config.position == "rope" and bool(frequencies(self.config)[0] == 1)

    @property
    def event_names(self) -> set[str]:
        """The names of the events that the trace has."""
        return {event.name for event in self.trace}

    @property
    def tokens(self) -> list[str]:
        return self.about["tokens"]  # type: ignore[no-any-return]

    @property
    def n(self) -> int:
        """Steps so far."""
        return len(self.tokens)

    @property
    def v_dim(self) -> int:
        """See the function of that name."""
        return v_dim(self.about)

    @property
    def before(self) -> int:
        """Tokens that ran before the first of these: their rows are in the cache, and are not drawn."""
        return self.about.get("before", 0)  # type: ignore[no-any-return]

    def marks(self, i: int) -> tuple[str, ...]:
        """What of row i a mark says something of: of a run that is compared with nothing, nothing."""
        return ()

    def place(self, i: int) -> int:
        """The position of token i in the whole text."""
        return self.before + i

    @property
    def at(self) -> int:
        """The step that is shown first."""
        return min(self.n, self.about["n_prompt"]) - 1 if self.selected < 0 else min(self.selected, self.n - 1)

    @property
    def columns(self) -> int:
        """How many tokens fit side by side on a wide page: letters, words, or anything."""
        longest = max(len(show(token)) for token in self.tokens)
        return next((columns for most, columns in COLUMNS.items() if longest <= most), FEW)

    @cached_property
    def scale(self) -> Scale:
        """One scale for all rows of the trace; decimals as a strip has room for."""
        return self.scale_for(*ROWS)

    @property
    def key(self) -> Strip:
        """What the legend shows: cells that are full and half full, above zero and below, without their numbers."""
        return self.scale.strip(self.scale.limit * np.array([1, 0.5, -0.5, -1]))._replace(digits=None)

    @cached_property
    def x_scale(self) -> Scale:
        return self.scale_for("attn_norm")

    def scale_for(self, *names: str) -> Scale:
        drawn = {*names}
        highest = max(peak(event) for event in self.trace if event.name in drawn)
        return Scale(round_up(highest), 2 if self.config.head_dim <= 4 else 1)

    @cached_property
    def clearest(self) -> tuple[int, int]:
        """Layer and head whose weights differ most from even ones, over all steps."""
        found = dict.fromkeys(itertools.product(range(self.config.n_layer), range(self.config.n_head)), 0.0)
        for i, layer in itertools.product(range(self.n), range(self.config.n_layer)):
            weights = self.trace["attn_weights", i, layer][:, 0]  # [head, row]
            for head, apart in enumerate(np.abs(weights - 1 / (i + 1)).sum(axis=-1).tolist()):
                found[layer, head] += apart
        return max(found, key=found.__getitem__)

    def of(self, pieces: Iterable[Any], layer: int = -1, head: int = -1) -> Any:
        """That of the pieces which belongs to a layer and a head, or else to the head whose weights differ most."""
        layer, head = (layer, head) if layer >= 0 else self.clearest
        for piece in pieces:
            where, found = (piece.where, piece) if hasattr(piece, "where") else piece
            classes = where.split()
            if f"L{layer}" in classes and (f"H{head}" in classes or "H" not in classes):
                return found
        raise LookupError(f"no piece of layer {layer}, head {head}")

    def strip(self, name: str, row: Array, layer: int) -> Strip:
        """A row of q, k, v or head_out as cells with their numbers."""
        return self.scale.strip(row)

    @cached_property
    def reads(self) -> dict[tuple[str, int, int], list[int]]:
        return cost.reads(self.trace)

    @cached_property
    def as_read(self) -> Reads:
        """The rows of K and V, as each step read them."""
        return Reads(self.trace)

    def value(self, name: str, pos: int, layer: int, at: int = -1) -> Array:
        """What was told at a position, its one row; of k and v what the step `at` read, where that is given. Empty
        where it read no such row."""
        if at < 0 or name not in ("k", "v"):
            found: Array = self.trace[name, pos, layer][0]
            return found
        row = self.as_read.row(name, pos, layer, at)
        return row if self.as_read.as_told or pos in self.as_read.positions(at, layer) else row[:, :0]

    @property
    def first_layer(self) -> int:
        """Of those that are drawn: where the reads of a row are counted."""
        return self.layers[0]

    @property
    def by_hand(self) -> ByHand:
        """A weight of the step, layer and head that are shown first."""
        found = {choice.name: int(choice.at) for choice in self.choices}
        return by_hand(self.trace, self.config, found["step"], found["layer"], found["head"])

    @property
    def k_reads(self) -> int:
        """How often a row of K was read, all rows of one layer together."""
        return sum(
            len(steps) for (kind, layer, _), steps in self.reads.items() if (kind, layer) == ("k", self.first_layer)
        )

    @property
    def if_mha(self) -> int:
        """Numbers that the cache would hold at the end, if every query head had rows of its own."""
        return self.step(self.n - 1).bytes.numbers * self.config.n_head // self.config.n_kv_head

    @property
    def token_adds(self) -> int:
        """Numbers that a token adds to the cache, all layers together."""
        return self.step(self.n - 1).bytes.numbers // (self.before + self.n)

    @property
    def one_more(self) -> dict[str, int]:
        """Numbers that the cache would hold after one more token; if q were kept as well; if k alone were counted."""
        c, held, token = self.config, self.step(self.n - 1).bytes.numbers, self.token_adds
        q = token * c.n_head // (2 * c.n_kv_head)
        return answers(held + token, with_q=(token + q) * (self.before + self.n + 1), only_k=(held + token) // 2)

    @property
    def attention_saves(self) -> bool:
        """Whether most of what the cache saves at the last step are scores and mixing: in long texts alone."""
        saved = {part.part: part.without - part.with_cache for part in self.step(self.n - 1).costs}
        return 2 * (saved["scores"] + saved["mixing"]) > saved["total"]

    @property
    def alone(self) -> dict[str, float]:
        """The weight that the first step gives to the one row there is; an even share of all rows; nothing.

        Empty where more than that row is read, or heads rest on something else than rows, as those of gpt-oss do.
        """
        weight = float(self.trace["attn_weights", 0, self.first_layer][0, 0, 0])
        if self.before or weight < NEARLY_ALL:
            return {}
        return answers(round(weight, 2), even=round(1 / self.n, 2), none=0.0)

    @property
    def read_again(self) -> str:
        """Which of q, k and v are read at a later step than their own."""
        found = {kind for (kind, _, row), steps in self.reads.items() if any(step > row for step in steps)}
        return ", ".join(kind for kind in "qkv" if kind in found)

    def rows_read(self, i: int) -> int:
        """Rows of K that step i reads, in one layer."""
        read = self.reads.items()
        return sum(kind == "k" and layer == self.first_layer and i in steps for (kind, layer, _), steps in read)

    def kind(self, i: int) -> str:
        """start, prompt or generated."""
        return "generated" if i >= self.about["n_prompt"] else "start" if i == 0 else "prompt"

    def per_layer(self, name: str, pos: int) -> list[Any]:
        return [
            self.x_scale.strip(self.trace[name, pos, layer][0], f"L L{layer}") for layer in range(self.config.n_layer)
        ]

    def bars(self, pos: int) -> list[tuple[str, int, str]]:
        """x of each layer, on a scale of its own: the classes of the layer, and as many bars to either side of a line,
        20 wide, as a path."""
        rows = [(f"L L{layer}", self.trace["attn_norm", pos, layer][0]) for layer in range(self.config.n_layer)]
        return [(where, len(row), bars(row, self.x_scale.limit)) for where, row in rows]

    def per_head(self, name: str, pos: int, at: int = -1) -> list[Any]:
        """One strip a layer and query head; a key or value head that several query heads share gets one strip.

        With `at`, k and v are as that step reads them.
        """
        strips: list[Strip] = []
        for layer in range(self.config.n_layer):
            rows = self.value(name, pos, layer, at)
            rows = rows.reshape(-1, self.config.head_dim) if rows.size else rows
            group = self.config.n_head // len(rows)
            for i, row in enumerate(rows):
                shared = " ".join(f"H{head}" for head in range(i * group, (i + 1) * group))
                strips.append(self.scale.strip(row, f"L L{layer} H {shared}"))
        return strips

    def row_token(self, i: int) -> str:
        return show(self.tokens[i])

    def row(self, i: int, at: int = -1) -> Row:
        """The row of position i in K and in V, as the step `at` reads it, or its own."""
        at = max(i, at)
        if (i, at) not in self._rows:
            self._rows[i, at] = Row(i, self.row_token(i), self.per_head("k", i, at), self.per_head("v", i, at))
        return self._rows[i, at]

    def lives(self, i: int) -> list[tuple[str, Row]]:
        """The row of position i, again for each step from which on it is another one in the cache, each after the
        classes that say at which steps; "" where at all."""
        begins = [i, *(at for at in range(i + 1, self.n) if i in self.differing_rows(at))]
        if len(begins) == 1:
            return [("", self.row(i))]
        ends = [*begins[1:], MOST_TOKENS]
        return [
            (f" life S{begin} R{end - 1} " + " ".join(f"at{at}" for at in range(begin, end)), self.row(i, begin))
            for begin, end in zip(begins, ends, strict=True)
        ]

    def differing_rows(self, at: int) -> list[int]:
        """The older rows that step `at` reads otherwise than the steps before, or not any more, in a layer drawn."""
        if self.as_read.as_told:
            return []
        return sorted(set().union(*(self.as_read.differing_rows(at, layer) for layer in self.layers)))

    def changes_in(self, layer: int, at: int) -> Changes:
        """The same of one layer."""
        if self.as_read.as_told:
            return Changes([], [], False)
        rows, read = sorted(self.as_read.differing_rows(at, layer)), {*self.as_read.positions(at, layer)}
        gone, window = [row for row in rows if row not in read], self.windows[layer] if self.windows else 0
        left = bool(window) and all(row <= at - window for row in gone)
        return Changes([self.place(row) for row in rows if row in read], [self.place(row) for row in gone], left)

    def changes(self, at: int) -> list[tuple[str, Changes]]:
        """The classes of heads that are drawn, and what has changed there; one entry without classes where that is the
        same in all."""
        found = {layer: self.changes_in(layer, at) for layer in self.layers}
        if all(rows == found[self.first_layer] for rows in found.values()):
            return [("", found[self.first_layer])]
        return [(self.of_layer(layer), rows) for layer, rows in found.items()]

    @property
    def windows(self) -> list[int]:
        """The sliding window of each layer, 0 where it has none; empty where no layer has one."""
        return self.about.get("windows", [])  # type: ignore[no-any-return]

    @property
    def layers(self) -> Sequence[int]:
        """Those that are drawn."""
        return range(self.config.n_layer)

    def of_layer(self, layer: int) -> str:
        """The classes of what belongs to all heads of a layer that are drawn."""
        return f"L L{layer}"

    def of_head(self, layer: int, head: int) -> str:
        """The classes of what belongs to one head alone; "" when it is not drawn."""
        return f"L L{layer} H H{head}"

    def meetings(self, i: int) -> list[tuple[str, list[Meeting]]]:
        """For each layer and head that is drawn: q of step i against the rows that it reads."""
        found = []
        for layer in range(self.config.n_layer):
            drawn = [(head, where) for head in range(self.config.n_head) if (where := self.of_head(layer, head))]
            if not drawn:
                continue
            scores, weights = self.trace["attn_scores", i, layer], self.trace["attn_weights", i, layer]
            places = self.as_read.positions(i, layer)
            counts = {row: sum(step <= i for step in self.reads["k", layer, row]) for row in places}
            under = max(0, self.rows_in(layer, i) - i - 1)
            for head, where in drawn:
                pairs = zip(places, scores[head, 0].tolist(), weights[head, 0].tolist(), strict=True)
                earlier = self.earlier(i, layer, head, weights[head, 0])
                ends = np.rint(100 * (earlier + np.cumsum([0, *weights[head, 0]]))).astype(int).tolist()
                meets = [
                    Meeting(row, show(self.tokens[row]), s, w, counts[row], end, ends[at + 1] - end, earlier, under)
                    for at, (end, (row, s, w)) in enumerate(zip(ends, pairs, strict=False))
                ]
                found.append((where, meets))
        return found

    @property
    def untold(self) -> str:
        """The classes of the heads that are drawn of which `lines` says nothing; "" where there are none."""
        return ""

    def lines(self, i: int) -> list[Lines]:
        """For each layer and head that is drawn: how the numbers of step i come about."""
        drawn = [(x, head, self.of_head(x, head)) for x in self.layers for head in range(self.config.n_head)]
        return [self.lines_of(i, layer, head, where) for layer, head, where in drawn if where]

    def lines_of(self, i: int, layer: int, head: int, where: str) -> Lines:
        """Those of one head, whose classes are given."""
        # a file has the fewest digits of a number of 32 bits: in its own type it is the same again
        kind = np.float32 if self.about.get("dtype") == "float32" else np.float64
        q, out, scores, weights = (self.trace[name, i, layer].astype(kind) for name in ASKED)
        q, out = (rows[0].reshape(self.config.n_head, -1)[head] for rows in (q, out))
        places, pile = self.as_read.positions(i, layer), head * self.config.n_kv_head // self.config.n_head
        keys, values = (np.array([self.as_read.row(name, at, layer, i)[pile] for at in places], kind) for name in "kv")
        cells = len(out) if len(out) <= MOST_CELLS else 0
        told = Told(scores[head, 0].tolist(), weights[head, 0].tolist(), out[:cells].tolist())
        return of_head(where, places, q, keys, values[:, :cells], told, self.scale.digits)

    def row_lines(self, i: int) -> list[tuple[int, str, int, int]]:
        """Each row that step i reads: its place, its token, the step that has computed it, how many have read it."""
        if not self.as_read.as_told:
            return []
        read = {row: self.reads["k", self.first_layer, row] for row in range(i + 1)}
        return [(row, self.row_token(row), self.place(row) + 1, sum(at <= i for at in read[row])) for row in read]

    def guess_lines(self, i: int) -> list[tuple[counters.Guess, list[Share | None]]]:
        """Each guess of step i with its softmax, at each of `temperatures` where there are any."""
        step = self.step(i)
        heats = [float(one) for one in self.temperatures] or [self.about["temperature"]]
        found = step.reshaped or [[guess.probability] for guess in step.guesses]
        logits = [guess.logit for guess in step.guesses]
        lines = [
            shares(logits, column, heat or 1.0) for heat, column in zip(heats, zip(*found, strict=True), strict=True)
        ]
        return [(guess, list(of_guess)) for guess, *of_guess in zip(step.guesses, *lines, strict=True)]

    def earlier(self, i: int, layer: int, head: int, weights: Array) -> float:
        """What the rows before those that are drawn get of this head together; of the others, `weights`."""
        if "earlier" in self.about:
            return float(self.about["earlier"][i][layer][head])
        return max(0.0, 1 - float(weights.sum())) if self.before else 0.0

    def below(self, meets: list[Meeting]) -> float:
        """What the rows before the first that is drawn get, where these rows get what they say."""
        return meets[0].earlier

    def rows_in(self, layer: int, i: int) -> int:
        """How many rows q of step i reads in a layer: all that are handed out, or those of its own chunk."""
        held = self.trace.number("cache_append", i, layer) or 0
        return min(held, self.place(i) % self.windows[layer] + 1) if layer in self.about.get("chunked", ()) else held

    def rows_at(self, i: int = 0) -> list[Past]:
        """What q of step i reads in the layers drawn; one entry without classes where it is the same in all."""
        step = self.step(i)
        return [Past("", step.rows, step.rows - step.added, False, False)]

    @property
    def grows_evenly(self) -> bool:
        """Whether each token adds a row of K and of V to every layer, and none has been given up by the last step."""
        if {"windows", "row", "no_rows"} & self.about.keys():
            return False
        at = self.n - 1
        return self.as_read.as_told or all(len(self.as_read.positions(at, layer)) == self.n for layer in self.layers)

    def sunk(self, meetings: list[tuple[str, list[Meeting]]]) -> list[tuple[str, float]]:
        """For each layer and head that is drawn what its weights come to, if those of some are less than one: such a
        head has learned a number that takes the rest and brings no row."""
        sums = [(where, self.below(meets) + sum(meet.weight for meet in meets)) for where, meets in meetings]
        return sums if any(share < 1 - NEAR for _, share in sums) else []

    def step(self, i: int) -> Step:
        """Everything that belongs to step i alone."""
        if i not in self._steps:
            self._steps[i] = self._step(i)
        return self._steps[i]

    def _step(self, i: int) -> Step:
        joined = self.row(i) if self.as_read.as_told else Row(i, "", self.per_head("k", i), self.per_head("v", i))
        return Step(
            i=i,
            number=self.before + i + 1,
            token=show(self.tokens[i]),
            kind=self.kind(i),
            x=self.per_layer("attn_norm", i),
            bars=self.bars(i),
            q=self.per_head("q", i),
            k=joined.k,
            v=joined.v,
            meetings=self.meetings(i),
            mixed=self.per_head("head_out", i),
            rows=self.trace.number("cache_append", i, self.first_layer) or 0,
            added=len(self.trace["k", i, self.first_layer]),
            q_reads=len(self.reads["q", self.first_layer, i]),
            first_row_reads=sum(step <= i for step in self.reads["k", self.first_layer, 0]),
            costs=self.costs(i),
            bytes=self.size_after(i),
            guesses=self.guesses(i),
            reshaped=self.reshape(i),
            choice=self.choice(i),
            stops=self.stops(i),
            given=show(self.tokens[i + 1]) if i + 1 < self.about["n_prompt"] and i + 1 < self.n else None,
            difference=self.difference(i),
            other=self.other(i),
            listed=self.numbers_of(i),
        )

    def costs(self, i: int) -> list[counters.Cost]:
        """Multiply-adds of step i, with the cache and without."""
        return counters.costs(self.trace, self.config, i)

    def size_after(self, i: int) -> counters.Held:
        """What K and V take after step i."""
        return counters.size_after(self.trace, i)

    def guesses(self, i: int) -> list[counters.Guess]:
        """The likeliest next tokens."""
        return counters.guesses(self.trace, i, self.vocabulary_token)

    def reshape(self, i: int) -> list[list[float]]:
        """For each of these its probability at each of `temperatures`."""
        return counters.reshape(self.trace, i, [float(one) for one in self.temperatures]) if self.temperatures else []

    @property
    def way_on(self) -> str:
        """The likeliest token that the last step has not chosen: where a text has ended, it goes on with this one."""
        return next(guess.token for guess in self.guesses(self.n - 1) if not guess.chosen)

    def numbers_of(self, i: int) -> list[Listed]:
        """The numbers behind strips that have none, of step i; here all strips have theirs."""
        return []

    def difference(self, i: int) -> float | None:
        """How far the logits with and without the cache are apart; None where they were not compared."""
        if ("recompute_logits", i) not in self.trace:
            return None
        return float(np.abs(self.trace["logits", i][0] - self.trace["recompute_logits", i]).max())

    def likeliest(self, i: int) -> tuple[int, int] | None:
        """The ids of the likeliest tokens with and without the cache; None where they were not compared."""
        if ("recompute_logits", i) not in self.trace:
            return None
        return int(self.trace["logits", i][0].argmax()), int(self.trace["recompute_logits", i].argmax())

    def other(self, i: int) -> counters.Other | None:
        """Step i, where its likeliest token is another without the cache."""
        found = self.likeliest(i)
        if found is None or found[0] == found[1]:
            return None
        return counters.Other(self.place(i) + 1, *map(self.vocabulary_token, found))

    @property
    def agreement(self) -> counters.Agreement | None:
        """Of all steps that were compared; None where none was."""
        found = {i: apart for i in range(self.n) if (apart := self.difference(i)) is not None}
        if not found:
            return None
        largest, bits = max(found.values()), self.step(max(found)).bytes.bits
        logits = max(float(np.abs(self.trace["logits", i]).max()) for i in found)
        others = [other for i in found if (other := self.other(i))]
        short = bits < 32
        return counters.Agreement(
            len(found), largest, others, bits, short, not short and largest <= counters.ROUNDING * logits
        )

    def vocabulary_token(self, token_id: int) -> str:
        return show(self.about["vocabulary"][token_id])

    def stops(self, i: int) -> bool:
        """Whether step i chose the token that ends a text."""
        return self.choice(i) == START

    def choice(self, i: int) -> str | None:
        """The token that step i chose, or None where the prompt goes on."""
        chosen = self.trace.number("sample", i)
        return None if chosen is None else self.vocabulary_token(chosen)


def bars(values: Array, limit: float, digits: int = 1) -> str:
    """A bar a number of `values` [n], one below the other, from the middle to the right where it is positive; with so
    many decimals."""
    sizes = np.round(np.clip(values / limit, -1, 1) * HALF, digits) + 0.0  # which has no -0
    return f"M{HALF} .1" + "m0 .2".join(f"h{size:.{digits}f}v.8H{HALF}" for size in sizes.tolist())


@lru_cache(maxsize=10_000)
def peak(event: Event) -> float:
    """The largest number of an event, either way; remembered, since a live trace is drawn anew at every step."""
    return float(np.nanmax(np.abs(event.value)))
