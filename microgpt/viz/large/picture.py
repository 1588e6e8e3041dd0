"""The picture of a large model: a few of its heads opened, their rows as thin strips, and all heads at once.

It is the stepper's picture with other strips: a piece carries the classes of the opened heads that it belongs to
("O O3") instead of its layer and head. Counters and costs are those of the whole trace. Knows no HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from microgpt import cost
from microgpt.config import Array, Config
from microgpt.decode import likeliest
from microgpt.errors import N_, UserError
from microgpt.record import Recording
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.counters import N_GUESSES
from microgpt.viz.drawing.heat import Strip
from microgpt.viz.drawing.lens import Lines
from microgpt.viz.drawing.picture import Listed, Past, Picture, bars, most_tokens
from microgpt.viz.drawing.strips import SCALE_SHARE, Thin, ThinScale, fold, run_length, thin_scale
from microgpt.viz.large.excerpt import EVENTS_KEPT, excerpt, of_heads, v_lengths
from microgpt.viz.large.heads import RANKS, Open, attention, check_numbers, choose_heads, earlier, tell_most, with_rows
from microgpt.viz.large.overview import Overview, overview
from microgpt.weights import Model

N_NEW = 8  # tokens that the model adds, if there is room
SCALES = {"q, k": ("q", "k"), "v": ("v", "head_out"), "x": ("attn_norm",)}  # q and k meet; v is what is mixed
SCALE_OF = {name: kind for kind, names in SCALES.items() for name in names}
COLUMNS = 8  # numbers of a row in a plain table
CELLS = 16  # of a row in a figure
ALL = 99  # heads: more than any page opens


@dataclass(frozen=True)
class BigPicture(Picture):
    """What the templates draw of a trace of which `heads` are opened; the one at `at_head` is shown first."""

    heads: tuple[Open, ...] = ()
    at_head: int = 0
    by_rule: bool = True  # the heads were not chosen by the author
    layers_by_rule: bool = True
    few: bool = False  # strips of a few cells, named by layer and head as those of small models: for a figure
    scale_share = SCALE_SHARE
    told: int = ALL  # of so many heads it says how their numbers come about, first of the one shown first

    @property
    def open_heads(self) -> tuple[Open, ...]:
        return self.heads

    @property
    def temperatures(self) -> tuple[str, ...]:
        """None: not all that have recorded such a model have kept all of its logits."""
        return ()

    @property
    def choices(self) -> tuple[Choice, ...]:
        """A step, an opened head and a stage of the step."""
        step, phase = self.moments
        if self.few:
            first = self.heads[self.at_head]
            heads = sorted({one.head for one in self.heads})
            return step, Choice("layer", self.layers, first.layer), Choice("head", heads, first.head), phase
        return step, Choice("head", [one.value for one in self.heads], self.heads[self.at_head].value), phase

    @property
    def fields(self) -> tuple[Choice, ...]:
        peeks = [thumb.value for thumb in self.map.peeks]
        return *super().fields, Choice("numbers", ("on",), ""), *([Choice("peek", peeks, peeks[0])] if peeks else [])

    @property
    def event_names(self) -> set[str]:
        """What the excerpt of the page has."""
        return super().event_names & EVENTS_KEPT

    @cached_property
    def heads_with_lines(self) -> list[int]:
        """The opened heads that are `told`, by their place."""
        by_turn = sorted(range(len(self.heads)), key=lambda at: at != self.at_head)
        return sorted(by_turn[: self.told])

    @property
    def untold(self) -> str:
        others = [at for at in range(len(self.heads)) if at not in self.heads_with_lines]
        return self.where(others) if others else ""

    def lines(self, i: int) -> list[Lines]:
        return [self.lines_at(i, at) for at in self.heads_with_lines]

    def lines_at(self, i: int, at: int) -> Lines:
        """How the numbers of step i come about, of the opened head at that place."""
        return self.lines_of(i, self.heads[at].layer, self.heads[at].head, self.where([at]))

    @cached_property
    def layers(self) -> list[int]:
        """The layers in which a head is opened."""
        return sorted({one.layer for one in self.heads})

    @cached_property
    def reads(self) -> dict[tuple[str, int, int], list[int]]:
        """Of the layers with an opened head: no others are drawn row by row."""
        return cost.reads(event for event in self.trace if event.layer in self.layers)

    @cached_property
    def map(self) -> Overview:
        weights = attention(self.trace, self.config, self.n)
        before = earlier(self.about, weights)
        return overview(weights, self.v_lengths, list(self.heads), self.about["ids"], with_rows(self.about), before)

    @cached_property
    def v_lengths(self) -> Array:
        """How long each V row is, [n_layer, n, n_kv_head]."""
        return v_lengths(self.trace, self.config, self.n)

    @property
    def run(self) -> tuple[int, int]:
        """How many numbers of x share a cell, at least and at most."""
        return run_length(self.config.n_embd)

    def rank(self, one: Open) -> str:
        return RANKS[one.rank] if one.rank >= 0 else ""

    @cached_property
    def scales(self) -> dict[tuple[str, int], ThinScale]:
        """A scale for each kind of row and each layer, over everything of it that the page draws.

        In a trained model the numbers of the first layers can be a tenth of those of the last and less: on one scale
        for all layers they would be blank.
        """
        found: dict[tuple[str, int], ThinScale] = {}
        for kind, names in SCALES.items():
            drawn = [row for name in names for i in range(self.n) for row in self.rows(name, i)]
            found |= {(kind, at): thin_scale(values for layer, _, values in drawn if layer == at) for at in self.layers}
        return found

    def legend(self) -> list[tuple[str, int, list[tuple[str, ThinScale]]]]:
        """For each layer with an opened head: the classes of its heads, its number and its scales."""
        return [
            (self.of_layer(layer), layer, [(kind, self.scales[kind, layer]) for kind in SCALES])
            for layer in self.layers
        ]

    @cached_property
    def heads_of(self) -> dict[int, dict[int, int]]:
        """The opened heads of each layer, by their place among all that are opened."""
        found: dict[int, dict[int, int]] = {layer: {} for layer in self.layers}
        for index, one in enumerate(self.heads):
            found[one.layer][index] = one.head
        return found

    def where(self, at: Sequence[int]) -> str:
        if self.few:
            return " ".join([f"L L{self.heads[at[0]].layer} H", *(f"H{self.heads[index].head}" for index in at)])
        return " ".join(["O", *(f"O{index}" for index in at)])

    def rows(self, name: str, pos: int, at: int = -1) -> Iterator[tuple[int, str, Array]]:
        """What is drawn of an event: layer, classes and numbers, of each opened head, or of each layer with one.

        With `at`, k and v are as that step reads them; there are no numbers where it does not.
        """
        for layer, here in self.heads_of.items():
            values = self.value(name, pos, layer, at)
            if name == "attn_norm":
                yield layer, self.where(list(here)), fold(values)
                continue
            rows = values if name in ("k", "v") else values.reshape(self.config.n_head, -1)
            group = self.config.n_head // len(rows)
            for i, row in enumerate(rows):
                if owners := [index for index, head in here.items() if head // group == i]:
                    yield layer, self.where(owners), row

    def of_layer(self, layer: int) -> str:
        return self.where(list(self.heads_of[layer]))

    def rows_at(self, i: int = 0) -> list[Past]:
        found = []
        for layer in self.layers:
            rows, held = self.rows_in(layer, i), self.trace.number("cache_append", i, layer)
            full = bool(self.windows) and rows == self.windows[layer] and layer not in self.about.get("chunked", ())
            found.append(Past(self.of_layer(layer), rows, rows - 1, full, rows != held))
        same = len({one.rows for one in found}) == 1 and not any(one.full or one.chunk for one in found)
        return super().rows_at(i) if same else found

    def strips(self, name: str, pos: int, at: int = -1) -> list[Thin | Strip]:
        kind = SCALE_OF[name]
        found = [
            Strip(where, [self.scales[kind, layer].cell(x) for x in fold(values, CELLS).tolist()], None)
            if self.few or not len(values)
            else self.scales[kind, layer].strip(values, where)
            for layer, where, values in self.rows(name, pos, at)
        ]
        # to who does not see a strip its page of numbers says them all, and here they would be said a thousand times
        return [one._replace(largest=[]) if self.apart and isinstance(one, Thin) else one for one in found]

    def per_layer(self, name: str, pos: int) -> list[Any]:
        return self.strips(name, pos)

    def per_head(self, name: str, pos: int, at: int = -1) -> list[Any]:
        return self.strips(name, pos, at)

    def bars(self, pos: int) -> list[tuple[str, int, str]]:
        limits = {layer: self.scales[SCALE_OF["attn_norm"], layer].limit for layer in self.layers}
        rows = self.rows("attn_norm", pos)
        # where there are so many, each is a few pixels long, and a tenth of one is not seen
        return [(where, len(values), bars(values, limits[layer], digits=0)) for layer, where, values in rows]

    def strip(self, name: str, row: Array, layer: int) -> Strip:
        """As few cells as a table has room for; on the scale of its layer."""
        scale = self.scales[SCALE_OF[name], layer]
        return Strip("", [scale.cell(x) for x in fold(row, COLUMNS).tolist()], scale.digits)

    def of_head(self, layer: int, head: int) -> str:
        at = next((index for index, one in enumerate(self.heads) if (one.layer, one.head) == (layer, head)), None)
        return "" if at is None else self.where([at])

    def kind(self, i: int) -> str:
        """start, prompt or generated; not every model has a token that starts a text."""
        return "prompt" if i == 0 and not self.about["started"] else super().kind(i)

    def numbers_of(self, i: int) -> list[Listed]:
        """The numbers behind the strips of step i: its q, k, v, their mixture and its x."""
        return [
            Listed(where, kind, values.tolist(), self.scales[SCALE_OF[name], layer].digits)
            for name, kind in (("q", "q"), ("k", "k"), ("v", "v"), ("head_out", "o"), ("attn_norm", "x"))
            for layer, where, values in self.rows(name, i, i)
        ]

    def stops(self, i: int) -> bool:
        return self.trace.number("sample", i) in self.about["stops"]

    def token_ids(self) -> list[int]:
        """The tokens that appear on the page: those of the text, the chosen ones, and the likeliest of each step."""
        found = set(self.about["ids"])
        for i in range(self.n):
            found |= set(likeliest(self.trace["logits", i][0], N_GUESSES))
            found |= {self.trace.number("sample", i)} - {None}
            found |= {*(self.likeliest(i) or ())}
        return sorted(found)

    def excerpt(self, digits: int = 0) -> Trace:
        """What is drawn of the trace, and what is said of all of it, see excerpt.py; `digits` 0: as they are."""
        return excerpt(self.trace, self.layers, self.token_ids(), digits)

    def of_open_heads(self) -> Trace:
        """The same with the rows of the open heads alone, which is what lies beside a page."""
        return of_heads(self.excerpt(), [(one.layer, one.head, one.rank) for one in self.heads])


def tokens_for(model: Model, prompt: str, new: int | None) -> int:
    """How many tokens the model may add. Raises UserError for a text that is longer than a page shows."""
    n, limit = len(model.tokenizer.encode(prompt)), most_tokens(model.config)
    if new is not None and new < 0:
        raise UserError("The model cannot add %(new)s tokens; give 0 or more.", new=new)
    if n > limit:
        raise UserError("The prompt has %(n)s tokens; a page shows at most %(limit)s. Shorten it.", n=n, limit=limit)
    if new is not None and n + new > limit:
        sentence = N_(
            "%(n)s tokens and %(new)s new ones are more than the %(limit)s that a page shows; "
            "there is room for %(room)s."
        )
        raise UserError(sentence, n=n, new=new, limit=limit, room=limit - n)
    new = min(N_NEW, limit - n) if new is None else new
    if n and n + new < 2:
        raise UserError("A text of one token has nothing to look back at; give a longer prompt, or more new tokens.")
    return new


def picture_of_model(
    model: Model, prompt: str, new: int | None = None, layers: Sequence[int] = (), heads: Sequence[int] = ()
) -> BigPicture:
    """Run `prompt` and what the model adds, and open heads: those that are asked for, or those of the rule."""
    check_numbers("layers", layers, model.config.n_layer)  # before the run, which can take minutes
    check_numbers("heads", heads, model.config.n_head)
    recording = Recording(model, prompt, max_new=tokens_for(model, prompt, new))
    recording.run()
    if len(recording.cache) < 2:
        raise UserError(
            "The model ends this text at once, and one token has nothing to look back at; give a longer text."
        )
    return picture_of_run(complete_trace(recording), layers, heads)


def complete_trace(recording: Recording) -> Trace:
    """The trace of what was run, which knows what a picture of a checkpoint asks for besides."""
    recording.trace.about |= {
        "dtype": str(recording.model.params["wte"].dtype),
        "stops": sorted(recording.stops),
        "started": recording.ids[0] == recording.model.tokenizer.start,
        "ids": recording.ids[: len(recording.cache)],
    }
    return recording.trace


def picture_of_run(trace: Trace, layers: Sequence[int] = (), heads: Sequence[int] = ()) -> BigPicture:
    """The picture of a run whose trace is whole, with heads open as in `picture_of_model`."""
    config = Config(**trace.about["config"])
    weights = attention(trace, config, len(trace.about["tokens"]))
    found = choose_heads(weights, config.head_dim, layers, heads, with_rows(trace.about), earlier(trace.about, weights))
    first, _ = tell_most(weights, found)
    return BigPicture(trace, heads=tuple(found), at_head=first, by_rule=not heads, layers_by_rule=not layers)
