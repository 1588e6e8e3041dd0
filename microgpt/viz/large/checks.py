"""Whether a trace, or the excerpt of one, can be drawn: what it says of its run and every event, before anything is.

ABOUT is the table of what a file says of its run. The table of events in trace.py says what each of them has: its
letters stand for sizes that the run's config implies, so that an event which joins it is checked too. Others are passed
over, as docs/trace.md promises. What is refused is refused in a sentence with the event and the field. Knows no HTML.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, get_args, get_type_hints

import numpy as np

from microgpt.config import Array, Config
from microgpt.cost import PARTS
from microgpt.errors import N_, UserError
from microgpt.files import read_text
from microgpt.trace import ENGINE_EVENTS, EVENTS, READ, Event, Trace, from_json
from microgpt.viz.drawing.picture import MOST_TOKENS, v_dim
from microgpt.viz.large.excerpt import HEADS_AT
from microgpt.viz.large.heads import room_for, with_rows

BYTES, NUMBERS_READ, THINGS = 300_000_000, 20_000_000, 2_000_000  # of a file: what it may hold of each
MOST_LETTERS, MOST_PROMPT = 1_000, 4_000_000  # of a token or a name, and of a whole text
MOST, HUGE = 2**24, 2**62  # of what is counted in a model; of bytes and multiply-adds
LARGEST_FLOAT = float(np.finfo(np.float32).max)  # that a number of 32 bits can be
WEIGHT = 1.01  # a weight of few bits may be a little more than 1
HEADS = 2**15  # of all layers: the largest models have half as many
MOST_SIZES = dict.fromkeys(("n_layer", "n_head", "n_kv_head", "head_dim"), 2**10)
MOST_SIZES |= {"n_embd": 2**17, "n_ctx": MOST, "vocab_size": MOST}
DRAWN = ("attn_norm", "q", "k", "v", "cache_append", "attn_scores", "attn_weights", "head_out")  # of an open layer
MAPPED = ("attn_weights", "cache_append")  # of every layer
NAMES = [*EVENTS]
INSIDE = {*NAMES[NAMES.index("resid_pre") : NAMES.index("mlp_out") + 1], *READ, "cache_evict"}  # told once a layer
OUTSIDE = {*NAMES} - INSIDE - {*ENGINE_EVENTS}
NO_FILE = N_("%(path)s cannot be read (%(why)s).")


class FieldKind(NamedTuple):
    """What a field has to be."""

    wanted: str
    fits: Callable[[Any], bool]


def text(most: int = MOST_LETTERS) -> FieldKind:
    return FieldKind(f"a text of up to {most:,} letters", lambda x: type(x) is str and len(x) <= most and encodes(x))


def encodes(text: str) -> bool:
    """Whether it holds whole characters alone."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def whole(least: int = 0, most: int = MOST) -> FieldKind:
    return FieldKind(f"a whole number from {least:,} to {most:,}", lambda x: type(x) is int and least <= x <= most)


def number(least: float, most: float) -> FieldKind:
    return FieldKind(f"a number from {least:g} to {most:g}", lambda x: type(x) in (int, float) and least <= x <= most)


def some(kind: FieldKind, least: int = 0, most: int = MOST) -> FieldKind:
    def fits(x: Any) -> bool:
        return type(x) is list and least <= len(x) <= most and all(map(kind.fits, x))

    return FieldKind(f"a list of {least:,} to {most:,}, each {kind.wanted}", fits)


def numbers(*sizes: int, least: float = 0, most: float = HUGE) -> FieldKind:
    """Lists in lists, of so many each; of no numbers where one is None."""

    def fits(x: Any) -> bool:
        try:
            found = np.array(x)
        except (ValueError, OverflowError):
            return False
        right = found.dtype.kind in "iuf" and found.shape == sizes
        return right and bool(((found >= least) & (found <= most)).all())

    return FieldKind(f"numbers from {least:g} to {most:g}, {' × '.join(map(str, sizes))} of them", fits)


OBJECT = FieldKind("an object", lambda x: isinstance(x, Mapping))
TOKENS, COUNTED = some(text(), 2, MOST_TOKENS), whole(0, HUGE)
NEEDED = {"config": OBJECT, "model": text(), "prompt": text(MOST_PROMPT), "tokens": TOKENS}
NEEDED |= {"n_prompt": whole(1, MOST_TOKENS), "vocabulary": some(text(), 1)}
PRECISIONS = ("bfloat16", "float16", "float32", "float64")
OPTIONAL = {
    **dict.fromkeys(("cut", "whole"), OBJECT),
    **dict.fromkeys(("family", "engine", "device", "quantised"), text()),
    **dict.fromkeys(("before", "top_k"), whole()),
    **dict.fromkeys(("latent", "row"), whole(1)),
    **dict.fromkeys(("seed", "nbytes_reserved", "state"), COUNTED),
    **dict.fromkeys(("ids", "stops", "no_rows", "windows", "again", "chunked", "vocabulary_ids"), some(whole())),
    **dict.fromkeys(("macs", "macs_without", "held"), some(some(COUNTED))),
    "counted": some(COUNTED, 2, 2),
    "started": FieldKind("true or false", lambda x: type(x) is bool),
    "temperature": number(0, 1e6),
    "v_dim": whole(1, MOST_SIZES["head_dim"]),
    "dtype": FieldKind("bfloat16, float16, float32 or float64", lambda x: x in PRECISIONS),
    "earlier": some(FieldKind("lists of numbers", lambda x: type(x) is list)),
}
ABOUT = NEEDED | OPTIONAL
OF_EXCERPT = ("ids", "stops", "started", "dtype", "nbytes_reserved", "vocabulary_ids", "cut")  # needed there, too


def trace_in(path: Path) -> Trace:
    """The trace, or the excerpt of one, in a file. Raises UserError for what is none, soon and in bounded memory."""
    try:
        data = read_text(path, BYTES)
    except OSError as error:
        raise UserError(NO_FILE, path=path, why=error.strerror or error) from None
    if data.count("[") + data.count("{") > THINGS or data.count(",") > NUMBERS_READ:
        why = f"more than {THINGS:,} things or {NUMBERS_READ:,} numbers; an excerpt of it has fewer"
        raise UserError(NO_FILE, path=path, why=why)
    trace = from_json(data)
    try:
        json.dumps(trace.about, allow_nan=False)  # it is written again beside the page
    except (ValueError, RecursionError):
        raise UserError(NO_FILE, path=path, why="its “about” has a number that is infinite, or none") from None
    return trace


def check_trace(trace: Trace) -> None:
    """Raises UserError unless all of it fits together, so that it can be drawn; whole, or an excerpt."""
    about = trace.about
    check_field(about, "about", OBJECT)
    for name, kind in ABOUT.items():
        if name in about or name in NEEDED or (name in OF_EXCERPT and "whole" in about):
            check_field(about.get(name), name, kind)
    config = config_of(about["config"])
    for name, kind in kinds_by_config(about, config):
        check_field(value_at(about, name), name, kind)
    check_events(trace, config)


def check_field(value: Any, name: str, kind: FieldKind) -> None:
    if not kind.fits(value):
        plain = repr(value) if isinstance(value, (str, int, float)) else f"a {type(value).__name__}"
        sentence = N_("What this trace says about its run does not fit: %(field)s is %(value)s, not %(wanted)s.")
        raise UserError(sentence, field=name, value="missing" if value is None else short(plain), wanted=kind.wanted)


def short(said: str) -> str:
    return said if len(said) <= 60 else f"{said[:60]}…"


def value_at(about: Mapping[str, Any], name: str) -> Any:
    """What stands at “cut.in_layers”, say; None where nothing does."""
    found: Any = about
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def config_of(given: Mapping[str, Any]) -> Config:
    """Its fields, each of its type and within what a page can draw."""
    types, known = get_type_hints(Config), {field.name for field in fields(Config)}
    for name in [*MOST_SIZES, *(name for name in given if name not in MOST_SIZES)]:
        if name not in known:
            raise UserError(
                "What this trace says about its run does not fit: config has no field %(name)s.", name=short(repr(name))
            )
        kinds = {
            int: whole(1 if name in MOST_SIZES else 0, MOST_SIZES.get(name, MOST)),
            float: number(-1e12, 1e12),
            bool: FieldKind("true or false", lambda x: type(x) is bool),
        }
        choices = get_args(types[name])
        kind = FieldKind(f"one of {', '.join(choices)}", lambda x, choices=choices: x in choices)  # type: ignore[misc]
        check_field(given.get(name), f"config.{name}", kinds.get(types[name], kind))
    return Config(**given)


def kinds_by_config(about: Mapping[str, Any], config: Config) -> Iterator[tuple[str, FieldKind]]:
    """Fields, and what each has to be since others are what they are."""
    c, n, known = config, len(about["tokens"]), len(about["vocabulary"])
    part = FieldKind(f"a part of n_head, which is {c.n_head}", lambda x: c.n_head % x == 0)
    yield "config.n_kv_head", part
    yield "config.n_layer", FieldKind(f"at most {HEADS:,} heads together", lambda x: x * c.n_head <= HEADS)
    yield "n_prompt", whole(1, n)
    if "no_rows" in about:
        layers = whole(0, c.n_layer - 1)
        yield "no_rows", some(layers)
        yield "no_rows", FieldKind("without a layer at least", lambda x: len({*x}) < c.n_layer)
    if about.get("before") or "macs" in about:
        yield "macs", numbers(n, len(PARTS))
        yield "macs_without", numbers(n, len(PARTS))
    engine = {
        "held": numbers(n, 2),
        "windows": some(whole(), c.n_layer, c.n_layer),
        "again": some(whole(0, n - 1)),
        "earlier": numbers(n, c.n_layer, c.n_head, most=WEIGHT),
    }
    yield from ((name, kind) for name, kind in engine.items() if name in about)
    chunks = FieldKind(
        "layers with a window",
        lambda x: all(at < c.n_layer and about.get("windows", [])[at:][:1] > [0] for at in x or ()),
    )
    yield "chunked", chunks
    yield "counted", FieldKind(f"a step, 0 to {n - 1}, and its count", lambda x: x is None or x[0] < n)
    if "whole" in about:
        yield from of_excerpt(about, c, n, known)
        return
    yield "vocabulary", FieldKind(f"as many as vocab_size, {c.vocab_size:,}", lambda x: len(x) == c.vocab_size)
    if about.get("ids"):
        yield "ids", some(whole(0, known - 1), n, n)
    else:
        tokens = {*about["vocabulary"]}
        yield "tokens", some(FieldKind("one of the vocabulary", tokens.__contains__))


def of_excerpt(about: Mapping[str, Any], c: Config, n: int, known: int) -> Iterator[tuple[str, FieldKind]]:
    """The same of what an excerpt says of the whole."""
    kept, named = with_rows(about), {*about["vocabulary_ids"]}
    different = f"{known:,} different numbers, one for each text of vocabulary"
    yield "vocabulary_ids", FieldKind(different, lambda x: len(x) == known == len(named))
    yield "ids", some(FieldKind("one of vocabulary_ids", named.__contains__), n, n)
    yield "cut.in_layers", OBJECT
    layers = FieldKind("of a layer that keeps rows", {*kept}.__contains__)
    yield "cut.in_layers.layers", some(layers, 1, len(kept))
    if value_at(about, "cut.in_layers.heads") is not None:
        yield "cut.in_layers.heads", kind_of_heads(about["cut"]["in_layers"]["layers"], c, n)
    yield "whole.macs", numbers(n, len(PARTS))
    yield "whole.chances", numbers(n, known, most=WEIGHT)
    yield "whole.v_lengths", numbers(c.n_layer, n, c.n_kv_head, most=LARGEST_FLOAT)
    yield "whole.k_peaks", numbers(c.n_layer, c.n_kv_head, 2, most=LARGEST_FLOAT)
    lengths = numbers(c.n_layer, n, most=LARGEST_FLOAT)
    yield "whole.resid_lengths", FieldKind(f"{lengths.wanted}, or none", lambda x: x == [] or lengths.fits(x))
    if "likeliest" in about["whole"]:
        both = some(FieldKind("", named.__contains__), 2, 2)
        yield (
            "whole.likeliest",
            some(FieldKind("two of vocabulary_ids, or null", lambda x: x is None or both.fits(x)), n, n),
        )
    apart = number(0, LARGEST_FLOAT)
    yield "whole.apart", some(FieldKind(f"{apart.wanted}, or null", lambda x: x is None or apart.fits(x)), n, n)


def kind_of_heads(layers: list[int], c: Config, n: int) -> FieldKind:
    """What an excerpt says of its open heads: layer, head and rank of each; no more than a page has room for."""
    most = room_for(c.head_dim, n)

    def head(x: Any) -> bool:
        if type(x) is not list or [type(one) for one in x] != [int] * 3:
            return False
        layer, at, rank = x
        return layer in layers and 0 <= at < c.n_head and -1 <= rank <= 2

    def fits(x: Any) -> bool:
        return some(FieldKind("", head), 1, most).fits(x) and len({(layer, at) for layer, at, _ in x}) == len(x)

    return FieldKind(f"1 to {most} different heads, each by layer, head and rank", fits)


# ---- the events -----------------------------------------------------------------------------------


def check_events(trace: Trace, config: Config) -> None:
    """Each is where it can be, has the sizes that config implies, and numbers that can be drawn; none is missing."""
    about, n, told = trace.about, len(trace.about["tokens"]), set[tuple[str, int, int]]()
    excerpt, kept = "whole" in about, with_rows(about)
    heads, letters = open_heads(about), sizes_of(about, config)
    for event in trace:
        if event.name not in EVENTS:
            continue
        check_place(event, n, config.n_layer)
        key = event.name, event.pos, event.layer
        if key in told and event.name not in ENGINE_EVENTS:
            wrong(event, "name", event.name, "told once")
        told.add(key)
        if EVENTS[event.name].shape:
            check_shape(event, letters | {"t": rows_read(event, trace)}, v_dim(about))
            check_numbers(event, config, heads)
        else:
            check_number(event, about)
    layers = about["cut"]["in_layers"]["layers"] if excerpt else kept
    keys = [("logits", i, -1) for i in range(n)]
    keys += [(name, i, layer) for i in range(n) for layer in kept for name in (DRAWN if layer in layers else MAPPED)]
    for name, i, layer in keys:
        if (name, i, layer) not in told:
            raise UserError("This trace does not tell %(event)s.", event=place(name, i, layer))


def place(name: str, pos: int, layer: int) -> str:
    """An event by what the file has of it."""
    return f"{name}, pos {pos}" + (f", layer {layer}" if layer >= 0 else "")


def wrong(event: Event, field: str, found: object, wanted: str) -> NoReturn:
    raise UserError(
        "In this trace, %(event)s cannot be drawn: its “%(field)s” is %(found)s, not %(wanted)s.",
        event=place(event.name, event.pos, event.layer),
        field=field,
        found=short(str(found)),
        wanted=wanted,
    )


def check_place(event: Event, n: int, n_layer: int) -> None:
    """It tells of a step, a layer and a text that there are."""
    if not 0 <= event.pos < n:
        wrong(event, "pos", event.pos, f"from 0 to {n - 1}")
    if event.seq:
        wrong(event, "seq", event.seq, "left out; a page draws one text")
    if event.name in INSIDE and not 0 <= event.layer < n_layer:
        wrong(event, "layer", event.layer if event.layer >= 0 else "left out", f"from 0 to {n_layer - 1}")
    if event.name in OUTSIDE and event.layer >= 0:
        wrong(event, "layer", event.layer, "left out")


def sizes_of(about: Mapping[str, Any], config: Config) -> dict[str, int]:
    """What the letters of the table of events stand for, where they are the same at every step."""
    c = config
    own = {"n": 1, "d": c.n_embd, "H": c.n_head, "G": c.n_kv_head, "h": c.head_dim, "6": len(PARTS)}
    return own | {"Hh": c.n_head * v_dim(about), "V": len(about["vocabulary"])}


def rows_read(event: Event, trace: Trace) -> int:
    """How many of the rows so far its step reads: all of them, or as many as its cache says."""
    key = "cache_append", event.pos, event.layer
    held: object = trace[key] if key in trace else None
    return max(1, min(event.pos + 1, held)) if isinstance(held, int) else event.pos + 1


def check_shape(event: Event, letters: Mapping[str, int], v: int) -> None:
    """A letter that has no size here may stand for any; but e rows are rows of the step."""
    sizes = {**letters} | ({"h": v} if event.name in ("v", "v_read") else {})
    found, named = np.shape(event.value), EVENTS[event.name].shape.split()
    wanted = [sizes.get(letter, letter) for letter in named]
    if len(found) != len(wanted) or any(a != b for a, b in zip(found, wanted, strict=True) if not isinstance(b, str)):
        wrong(event, "shape", list(found), f"[{', '.join(map(str, wanted))}]")
    if event.name in READ and not 0 < found[-1 if event.name == "key_positions" else 1] <= sizes["t"]:
        wrong(event, "shape", list(found), f"of 1 to {sizes['t']} rows")


def check_number(event: Event, about: Mapping[str, Any]) -> None:
    """A whole number: a count of rows, or a token that a page can name."""
    value, most = event.value, HUGE
    if type(value) is not int:
        wrong(event, "shape", list(np.shape(value)), "[]")
    if event.name == "cache_append":
        most = about.get("before", 0) + event.pos + 1
    known = about.get("vocabulary_ids", range(len(about["vocabulary"])))
    if event.name == "sample" and value not in known:
        wrong(event, "values", value, "the id of a token in the vocabulary")
    if not 0 <= value <= most:
        wrong(event, "values", value, f"a whole number from 0 to {most:,}")


def check_numbers(event: Event, config: Config, heads: Mapping[int, list[int]] | None) -> None:
    """Numbers that can be drawn, or null where one may be left out: a score that is hidden, and heads that are closed.

    `heads` are the open ones of each layer, of an excerpt that has their rows alone.
    """
    value = np.asarray(event.value)
    least, most = (0.0, WEIGHT) if event.name == "attn_weights" else (-LARGEST_FLOAT, LARGEST_FLOAT)
    if value.dtype.kind not in "iuf":
        wrong(event, "values", value.dtype, "numbers")
    if event.name == "key_positions" and len({*value.tolist()} & {*range(event.pos + 1)}) < len(value):
        wrong(event, "values", value.tolist(), f"different whole numbers from 0 to {event.pos}")
    if event.name in READ:
        value = value[~np.isnan(value)]  # what is as it was told
    if value.max(initial=0) <= most and value.min(initial=0) >= least:  # of NaN, neither
        return
    if heads is not None and event.name in HEADS_AT and event.name not in READ:
        value = of_open(event.name, value, config, heads.get(event.layer, []))
    outside = ~((value >= least) & (value <= most))
    if event.name == "attn_scores":
        outside &= ~np.isneginf(value)
    if outside.any():
        x = float(value[outside][0])
        wrong(event, "values", "null" if math.isnan(x) else x, f"numbers from {least:g} to {most:g}")


def of_open(name: str, value: Array, config: Config, heads: Sequence[int]) -> Array:
    """The rows of these heads alone, of an event that has rows of each head."""
    if name == "head_out":
        value = value.reshape(len(value), config.n_head, -1)
    if name in ("k", "v"):
        heads = sorted({head * config.n_kv_head // config.n_head for head in heads})
    return value.take(np.array(heads, int), axis=HEADS_AT[name])


def open_heads(about: Mapping[str, Any]) -> dict[int, list[int]] | None:
    """By layer; None where an excerpt has the rows of all heads, and of what is whole."""
    told: list[tuple[int, int, int]] | None = value_at(about, "cut.in_layers.heads")
    if told is None or "whole" not in about:
        return None
    return {layer: [head for other, head, _ in told if other == layer] for layer, _, _ in told}
