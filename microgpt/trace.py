"""The trace: what the hooks reported, in order. It is the whole contract between the maths and the pages.

A `Trace` is a hook: it keeps each report, (name, value, pos, layer), and hands it out as an `Event`. EVENTS
says what each name means and what shape its value has. The JSON form (`to_json`) carries every value in
full precision, so that anyone can check a drawn number against another implementation.

Knows no model, no page and no file.

The JSON form is described in docs/trace.md, and by a schema beside it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from microgpt.config import Array, Hook, Report
from microgpt.errors import N_, UserError


class EventKind(NamedTuple):
    """What an event name stands for."""

    sentence: str
    shape: str  # in the letters of model.py: n new rows, t rows so far, e of them; "" is one whole number


EVENTS = {
    "embed": EventKind(N_("The token's row of wte, plus its position's row of wpe where the model has one."), "n d"),
    "resid_pre": EventKind(N_("The residual stream as it enters a layer."), "n d"),
    "attn_norm": EventKind(N_("The normalised vector that is projected to q, k and v."), "n d"),
    "q": EventKind(N_("The query rows of this step's tokens, after rotation where the model rotates."), "n H h"),
    "k": EventKind(N_("The key rows of this step's tokens, as they join the cache."), "n G h"),
    "v": EventKind(N_("The value rows of this step's tokens, as they join the cache."), "n G h"),
    "cache_append": EventKind(N_("k and v have joined the cache; the value is the number of rows it now holds."), ""),
    "attn_scores": EventKind(N_("Each query row times every key row it may see, over the root of head_dim."), "H n t"),
    "attn_weights": EventKind(N_("The softmax of the scores: how much of each value row is taken."), "H n t"),
    "head_out": EventKind(N_("The weighted sums of the value rows, heads side by side."), "n Hh"),
    "attn_out": EventKind(N_("What attention adds to the residual stream."), "n d"),
    "resid_mid": EventKind(N_("The residual stream between attention and MLP."), "n d"),
    "mlp_norm": EventKind(N_("The normalised vector that enters the MLP."), "n d"),
    "mlp_hidden": EventKind(N_("The inside of the MLP, after its activation."), "n m"),
    "mlp_out": EventKind(N_("What the MLP adds to the residual stream."), "n d"),
    "resid_final": EventKind(N_("The residual stream after the last layer."), "n d"),
    "logits": EventKind(N_("One logit for every token of the vocabulary: what may come next."), "n V"),
    "sample": EventKind(N_("The id of the token that was chosen to come next."), ""),
    "recompute_logits": EventKind(N_("The same logits, computed again from the whole text without a cache."), "V"),
    "recompute_macs": EventKind(N_("Multiply-adds of that computation: qkv, scores, mixing, out, MLP, head."), "6"),
}

# What caches and engines tell, besides what forward tells of each text.
ENGINE_EVENTS = {
    "k_read": EventKind(
        N_("Rows of K as this step reads them, from the first that has changed to the newest."), "G e h"
    ),
    "v_read": EventKind(
        N_("Rows of V as this step reads them, from the first that has changed to the newest."), "G e h"
    ),
    "key_positions": EventKind(
        N_("The positions of the rows that this step reads, where they are not one after the other up to its own."), "t"
    ),
    "cache_evict": EventKind(
        N_("Rows have left the cache between two steps: their positions in the text, for each key and value head."),
        "G e",
    ),
    "block_alloc": EventKind(N_("A text has taken a block of a pool; the value is the number of the block."), ""),
    "block_free": EventKind(N_("A block that no text holds any more; the value is its number."), ""),
    "block_copy": EventKind(N_("A text writes into a block that others hold; the value is its own copy."), ""),
    "schedule": EventKind(N_("How many tokens of this text the next step of an engine runs."), ""),
    "preempt": EventKind(N_("This text has given its rows back and waits; the value is the tokens it has so far."), ""),
    "draft": EventKind(N_("The id of a token that a draft proposes."), ""),
    "verify": EventKind(N_("The target has run the newest token and the drafted ones; the value is how many."), ""),
    "accept": EventKind(N_("The id of a drafted token that is kept, and its row with it."), ""),
    "reject": EventKind(N_("The id of a drafted token that is not kept; its row is cropped."), ""),
}
EVENTS |= ENGINE_EVENTS


class Event(NamedTuple):
    """A report, kept: `value` is a read-only array or a whole number; layer is -1 outside the layers.

    `seq` is the sequence that it belongs to, where several texts share one trace. `forward` runs one sequence and does
    not know its number: `Trace.sequence` does.
    """

    name: str
    value: Array | int
    pos: int
    layer: int = -1
    seq: int = 0

    @property
    def report(self) -> Report:
        """As the hook was told it."""
        return self.name, self.value, self.pos, self.layer

    def __eq__(self, other: object) -> bool:
        return self is other  # arrays do not compare to one yes or no

    def __hash__(self) -> int:
        return id(self)


Key: TypeAlias = tuple[str, int] | tuple[str, int, int] | tuple[str, int, int, int]  # name, position, layer, sequence


@dataclass
class Trace:
    """A hook that records. `about` describes the run; events can be read in order or looked up."""

    about: dict[str, Any] = field(default_factory=dict)
    _raw: list[Report | tuple[str, Any, int, int, int]] = field(default_factory=list)
    _events: list[Event] = field(default_factory=list)
    _index: dict[tuple[str, int, int, int], Event] = field(default_factory=dict)

    @property
    def keep(self) -> Hook:
        """The hook itself: forward(..., trace.keep) does what forward(..., trace) does, sooner."""
        return self._raw.append

    def sequence(self, seq: int) -> Hook:
        """The hook of one of several texts: its reports stand among the others' in the order in which they came."""
        return lambda report: self._raw.append((*report, seq))

    def __call__(self, report: Report) -> None:
        # forward never writes into what it has reported: copied and frozen when first read, off the model's clock
        self._raw.append(report)

    @property
    def events(self) -> list[Event]:
        """All events, in the order in which they were reported."""
        for name, value, pos, layer, *rest in self._raw:
            if not isinstance(value, int):
                value = np.array(value)
                value.flags.writeable = False
            event = Event(name, value, pos, layer, *rest)
            self._events.append(event)
            self._index[name, pos, layer, event.seq] = event
        self._raw.clear()
        return self._events

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __getitem__(self, key: Key) -> Array:
        """The array of trace["q", pos, layer] or trace["logits", pos], with the sequence behind the layer where there
        are several. KeyError when it was never reported."""
        return self._index[self._whole(key)].value  # type: ignore[return-value]

    def __contains__(self, key: Key) -> bool:
        """Whether it was reported."""
        return self._whole(key) in self._index

    def number(self, name: str, pos: int, layer: int = -1, seq: int = 0) -> int | None:
        """The whole number that was reported as `name`, or None."""
        event = self._index.get(self._whole((name, pos, layer, seq)))
        return None if event is None else int(event.value)

    def _whole(self, key: Key) -> tuple[str, int, int, int]:
        _ = self.events  # what was reported since is looked up too
        name, pos, *rest = key
        layer, seq = (*rest, *(-1, 0)[len(rest) :])
        return name, pos, layer, seq


def to_json(trace: Trace) -> str:
    """The trace as JSON text, see the module's docstring. `from_json` gives the same trace back."""
    events = [json.dumps(event_to_dict(event), allow_nan=False) for event in trace]
    about = json.dumps(trace.about, allow_nan=False)
    head = f'{{"format": "microgpt-trace", "version": 1,\n"about": {about},\n"events": [\n'
    return head + ",\n".join(events) + "\n]}\n"


def event_to_dict(event: Event) -> dict[str, Any]:
    where = {"pos": event.pos} | ({"layer": event.layer} if event.layer >= 0 else {})
    where |= {"seq": event.seq} if event.seq else {}
    if isinstance(event.value, int):
        return {"name": event.name, **where, "shape": [], "values": [event.value]}
    values = [x if math.isfinite(x) else None for x in event.value.ravel().tolist()]
    return {"name": event.name, **where, "shape": list(event.value.shape), "values": values}


def from_json(text: str) -> Trace:
    """Read what `to_json` wrote. Raises UserError for anything else."""
    try:
        data = json.loads(text)
        if (data["format"], data["version"]) != ("microgpt-trace", 1) or data["version"] is True:  # which equals 1
            raise ValueError(f"format {data['format']!r:.40}, version {data['version']!r:.40}")
        trace = Trace(about=data["about"])
        events = list(data["events"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError("This is not a trace that this version can read (%(why)s).", why=error) from None
    for i, event in enumerate(events):
        tell_again(trace, i, event)
    return trace


def tell_again(trace: Trace, i: int, event: Any) -> None:
    """Event `i` of a file. Raises UserError, which names it and what of it is wrong."""
    fields: dict[str, Any] = event if isinstance(event, dict) else {}
    name: Any = fields.get("name") if isinstance(fields.get("name"), str) else None
    for part, fits in FIELDS.items():
        if not fits(fields.get(part)) and (part in fields or part not in ("layer", "seq")):
            sentence = N_("Event %(i)s of this trace (%(name)s): its “%(field)s” is not what docs/trace.md says.")
            raise UserError(sentence, i=i, name=str(name)[:40], field=part)
    numbers, shape, missing = fields["values"], fields["shape"], -math.inf if name == "attn_scores" else math.nan
    try:
        if len(numbers) != math.prod(shape) or not (shape or isinstance(numbers[0], int)):
            raise ValueError(f"{len(numbers)} values of the shape {shape!s:.40}")
        value = np.array([missing if x is None else x for x in numbers], np.float64).reshape(shape)
    except (ValueError, OverflowError) as error:
        raise UserError(
            "Event %(i)s of this trace (%(name)s) cannot be read: %(why)s.", i=i, name=str(name)[:40], why=error
        ) from None
    trace.sequence(fields.get("seq", 0))((name, value if shape else numbers[0], fields["pos"], fields.get("layer", -1)))


def is_list_of(*kinds: type) -> Callable[[Any], bool]:
    return lambda x: type(x) is list and {*map(type, x)} <= {*kinds}


FIELDS: dict[str, Callable[[Any], bool]] = {  # of an event in a file
    "name": lambda x: type(x) is str,
    "pos": lambda x: type(x) is int and x >= 0,
    "layer": lambda x: type(x) is int and x >= 0,
    "seq": lambda x: type(x) is int and x >= 1,
    "shape": lambda x: is_list_of(int)(x) and len(x) <= 8 and min(x, default=0) >= 0,
    "values": is_list_of(int, float, type(None)),
}


# ---- the rows of the cache, as each step read them ------------------------------------------------


class Reads:
    """K and V as the steps of a trace read them, one token a step: as they joined the cache, but for what `k_read`,
    `v_read` and `key_positions` tell."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._changes: dict[tuple[str, int, int], list[tuple[int, Array]]] = {}  # k or v, position, layer -> from when
        self._changed: dict[tuple[int, int], set[int]] = {}  # step, layer -> positions
        self.as_told = True  # whether every step read all rows so far, as they joined
        for event in trace:
            if event.name not in OF_ROWS:
                continue
            if event.name in READ:
                self._note(event)
            elif event.name == "attn_weights":
                _, n, t = np.shape(event.value)
                self.as_told = self.as_told and t == event.pos + n
            elif self._changes:  # another row, where there was one
                self._changes.pop((event.name, event.pos, event.layer), None)

    def _note(self, event: Event) -> None:
        self.as_told = False
        if event.name == "key_positions":
            return
        name, step, layer, rows = event.name[0], event.pos, event.layer, np.swapaxes(event.value, 0, 1)
        for position, row in zip(self.positions(step, layer)[-len(rows) :], rows, strict=True):
            if (name, position, layer) in self._trace and not np.isnan(row).all():
                now = np.where(np.isnan(row), self.row(name, position, layer, step), row)
                self._changes.setdefault((name, position, layer), []).append((step, now))
                self._changed.setdefault((step, layer), set()).add(position)

    def positions(self, step: int, layer: int) -> list[int]:
        """Of the rows that the step at that position read, in the order of the columns of its weights."""
        if ("key_positions", step, layer) in self._trace:
            return [int(at) for at in self._trace["key_positions", step, layer]]
        return list(range(step + 1 - self._trace["attn_weights", step, layer].shape[2], step + 1))

    def row(self, name: str, position: int, layer: int, step: int) -> Array:
        """A row of k or v, [n_kv_head, row_dim], as it was when that step read it."""
        row: Array = self._trace[name, position, layer][0]
        for at, changed in self._changes.get((name, position, layer), ()):
            row = changed if at <= step else row
        return row

    def differing_rows(self, step: int, layer: int) -> set[int]:
        """The positions before its own of which that step read another row of K or V than the steps before, or none."""
        others, before = self._changed.get((step, layer), set()), self.positions(step - 1, layer) if step else []
        return (others | {*before} ^ {*self.positions(step, layer)}) & {*range(step)}


READ = ("k_read", "v_read", "key_positions")
OF_ROWS = {*READ, "k", "v", "attn_weights"}


# ---- a run as arrays ------------------------------------------------------------------------------

OVER_KEYS = {"attn_scores": -np.inf, "attn_weights": 0.0}  # one number a key: what stands for keys yet to come


class TraceArrays(Mapping[Key, "Array | int"]):
    """trace["q", 3, 0] is what the hook reported as q at position 3 in layer 0; trace.arrays() stacks all of it."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._found: dict[Key, Array | int] = {
            (e.name, e.pos) if e.layer < 0 else (e.name, e.pos, e.layer): e.value for e in trace
        }

    @property
    def about(self) -> dict[str, Any]:
        """What describes the run: model, config, prompt, tokens, vocabulary, ..."""
        return self.trace.about

    def __getitem__(self, key: Key) -> Array | int:
        if key not in self._found:
            names, n = ", ".join(sorted({known[0] for known in self._found})), len(self.about["tokens"])
            raise KeyError(
                f"There is no {key}. Ask for (name, position, layer), or (name, position) outside the layers: "
                f"positions 0 to {n - 1}, layers 0 to {self.about['config']['n_layer'] - 1}, names {names}."
            )
        return self._found[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<{len(self)} reports over {len(self.about['tokens'])} positions; .arrays() stacks them by name>"

    def arrays(self) -> dict[str, Array]:
        """One new array a name; n is the number of positions, and layers stand in front where a name has them.

        q                          [n_layer, n, n_head, head_dim]
        k, v                       [n_layer, n, n_kv_head, head_dim]
        attn_scores, attn_weights  [n_layer, n, n_head, n]: query, head, key; -inf and 0 for keys yet to come
        head_out                   [n_layer, n, n_head * head_dim]
        resid_pre, attn_norm, attn_out, resid_mid, mlp_norm, mlp_out [n_layer, n, n_embd]; mlp_hidden wider
        embed, resid_final         [n, n_embd]
        logits, recompute_logits   [n, vocab_size]
        cache_append               [n_layer, n]: rows that the cache then holds
        sample                     [n]: the id that was chosen, -1 where the prompt goes on
        recompute_macs             [n, 6]: multiply-adds without a cache, by part

        What a cache tells of rows that are read otherwise than they joined it is not among them: see `Reads`.
        Of an excerpt, layers and tokens of the vocabulary are those that it holds, in their order: see about["cut"].
        """
        n, layers = len(self.about["tokens"]), dict[str, set[int]]()
        for name, _, *layer in self._found:
            if name not in READ:
                layers.setdefault(name, set()).update(layer)
        return {
            name: np.stack([self._over_steps(name, n, layer) for layer in sorted(inside)])
            if inside
            else self._over_steps(name, n)
            for name, inside in layers.items()
        }

    def _over_steps(self, name: str, n: int, *layer: int) -> Array:
        """Everything of one name in one layer, a row a position."""
        rows = []
        for pos in range(n):
            value = np.asarray(self._found.get((name, pos, *layer), -1))  # type: ignore[arg-type]
            if name in OVER_KEYS:  # [head, 1, keys so far]
                missing = np.full((len(value), n - value.shape[-1]), OVER_KEYS[name])
                value = np.concatenate([value[:, 0], missing], axis=1)
            elif value.ndim > 1:
                value = value[0]  # the one new row
            rows.append(value)
        return np.stack(rows)
