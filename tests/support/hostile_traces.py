"""Traces and excerpts as someone would make them who wishes us ill: a table, and who reads them.

    for case in CASES:
        drawn(case.laid(folder))     # must end in a UserError, soon, and in little memory

Knows the readers; no test framework, so that other programs can use the table.
"""

import json
import os
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from microgpt.record import Recording
from microgpt.trace import to_json
from microgpt.viz.large.checks import trace_in
from microgpt.viz.large.from_trace import picture_of_trace
from microgpt.weights import shipped
from tools.checkpoint import build_trace

HUGE, BIG = 1e308, 10**9
Data = dict[str, Any]


@cache
def good(kind: str) -> str:
    """A trace that is drawn: `whole`, or the `excerpt` of it that lies beside a page."""
    trace = Recording(shipped("names"), "emm").run()
    if kind == "whole":
        return to_json(trace)
    view = picture_of_trace(trace)
    return to_json(view.of_open_heads())


def drawn(path: Path, out: Path) -> None:
    """What build.py --trace does with it."""
    build_trace(trace_in(path), lambda line: None, out)


class Case(NamedTuple):
    """What is changed in a good one, or what is there in place of a file. The sentence must hold `says`."""

    name: str
    kind: str  # whole, excerpt or file
    change: Callable[[Any], object]
    says: str

    def laid(self, folder: Path) -> Path:
        path = folder / "trace.json"
        if self.kind == "file":
            self.change(path)
            return path
        data = json.loads(good(self.kind))
        self.change(data)
        path.write_text(json.dumps(data), "utf-8")
        return path


def about(says: str, **values: Any) -> tuple[Callable[[Data], object], str]:
    return lambda data: data["about"].update(deepcopy(values)), says


def config(**values: Any) -> tuple[Callable[[Data], object], str]:
    return lambda data: data["about"]["config"].update(values), f"config.{next(iter(values))} is "


def within(place: str, value: Any, says: str = "") -> tuple[Callable[[Data], object], str]:
    """Another value in `about`, at “cut.in_layers.layers”, say."""

    def change(data: Data) -> None:
        *above, last = place.split(".")
        found = data["about"]
        for part in above:
            found = found[part]
        found[last] = value

    return change, says or f"{place} is "


def event(name: str, field: str, value: Any, says: str) -> tuple[Callable[[Data], object], str]:
    """The same in the second event of that name; all its values for a single one."""

    def change(data: Data) -> None:
        found = [event for event in data["events"] if event["name"] == name][1]
        found[field] = [value] * len(found[field]) if field == "values" and not isinstance(value, list) else value

    return change, says


def more(name: str, layer: int, shape: list[int], values: list[Any], says: str) -> tuple[Callable[[Data], object], str]:
    """One event more, at position 1 of that layer, of which this is said."""
    where, own = ({"layer": layer}, f", layer {layer}") if layer >= 0 else ({}, "")
    told = {"name": name, "pos": 1, **where, "shape": shape, "values": values}
    return lambda data: data["events"].append(told), f"{name}, pos 1{own} cannot be drawn: its {says}"


def text(make: Callable[[], str], says: str) -> tuple[Callable[[Path], object], str]:
    return lambda path: path.write_text(make(), "utf-8"), says


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def everything_huge(data: Data) -> None:
    for event in data["events"]:
        if event["shape"]:
            event["values"] = [HUGE] * len(event["values"])


EITHER: dict[str, tuple[Callable[[Data], object], str]] = {
    "every value is 1e308": (everything_huge, "its “values” is 1e+308"),
    "a latent of 1e308": config(kv_lora_rank=HUGE),
    "10^9 layers": config(n_layer=BIG),
    "a million heads": config(n_head=1 << 20),
    "no heads of keys": config(n_kv_head=0),
    "half a layer": config(n_layer=0.5),
    "a rotation that is none": config(position="\ud800"),
    "a field that config has not": (lambda d: d["about"]["config"].update({"<b>" * 9_999: 1}), "config has no field"),
    "a million tokens": about("tokens is a list", tokens=["a"] * 1_000_000),
    "a token of 5 MB": about("tokens is a list", tokens=["a" * 5_000_000, "b", "c", "d"]),
    "half a character": about("prompt is ", prompt="\ud800"),
    "no prompt": about("n_prompt is 0", n_prompt=0),
    "more prompt than tokens": about("n_prompt is 31", n_prompt=31),
    "a type that there is not": about("dtype is 'V9'", dtype="V9"),
    "no number": about("infinite, or none", temperature=float("nan")),
    "a count of no step": about("counted is a list, not a step, 0 to ", counted=[32, 1]),
    "layers without rows, all": about("no_rows is ", no_rows=[0]),
    "layers without rows, 10^9": about("no_rows is ", no_rows=[BIG]),
    "a number without end": about("a number that is infinite", source={"a": [float("inf")]}),
    **{
        f"{name}: {value!r}": about(f"{name} is ", **{name: value})
        for name in ("held", "windows", "again", "earlier", "counted", "chunked")
        for value in ([BIG], [[0.5]], "a", [[[-1]]])
    },
    "about is a list": (lambda data: data.update(about=[]), "about is a list"),
    "config is a list": about("config is a list", config=[]),
    "an event of another layer": more("logits", 2, [1], [0], "“layer” is 2"),
    "a layer that there is not": more("k", 7, [1], [0], "“layer” is 7"),
    "rows read of too many heads": more("k_read", 0, [9, 1, 4], [0] * 36, "“shape” is [9, 1, 4]"),
    "more rows read than there are": more("v_read", 0, [4, 9, 4], [None] * 144, "“shape” is [4, 9, 4]"),
    "rows read that are huge": more("v_read", 0, [4, 1, 4], [HUGE] * 16, "“values” is 1e+308"),
    "a row read at no position": more("key_positions", 0, [2], [BIG, 1], "“values” is [1000000000"),
    "a row read at half a position": more("key_positions", 0, [2], [0.5, 1], "“values” is [0.5"),
    "a row read in no layer": more("k_read", -1, [4, 1, 4], [0] * 16, "“layer” is left out"),
    "no layer": event("q", "layer", None, "(q): its “layer” is not"),
    "a step that there is not": event("q", "pos", BIG, "q, pos 1000000000, layer"),
    "another text": event("q", "seq", 3, "its “seq” is 3"),
    "told twice": (lambda data: data["events"].append(data["events"][-1]), "its “name” is "),
    "a shape that is a text": event("k", "shape", ["1"], "(k): its “shape” is not"),
    "a shape below zero": event("k", "shape", [-1], "(k): its “shape” is not"),
    "a shape of 10^36": event("k", "shape", [10**18, 10**18, 0], "(k) cannot be read: "),
    "another shape": event("attn_weights", "shape", [1, 1, 8], "its “shape” is [1, 1, 8], not [4, 1, 2]."),
    "values that are texts": event("k", "values", ["1"], "(k): its “values” is not"),
    "values in lists": event("k", "values", [[1.0]], "(k): its “values” is not"),
    "a weight of -1": event("attn_weights", "values", -1, "its “values” is -1"),
    "a weight that is left out": event("attn_weights", "values", None, "its “values” is null"),
    "a logit that is infinite": event("logits", "values", float("inf"), "its “values” is inf"),
    "rows that there are not": event("cache_append", "values", BIG, "cache_append, pos"),
    "a token that there is not": event("sample", "values", BIG, "sample, pos"),
    "an event that is missing": (lambda data: data["events"].clear(), "does not tell logits, pos 0."),
}
EXCERPT = {
    "half a token": within("vocabulary_ids", 0.5),
    "tokens twice": (lambda d: d["about"].update(vocabulary_ids=[1] * len(d["about"]["vocabulary"])), "vocabulary_ids"),
    "the whole is a text": within("whole", "all of it"),
    "a cut that is none": within("cut", None, "cut is missing"),
    "no layers": within("cut.in_layers", 5),
    "layers that are none": within("cut.in_layers.layers", [BIG]),
    "heads of no layer": within("cut.in_layers.heads", [[9, 0, 0]]),
    "a head twice": within("cut.in_layers.heads", [[0, 0, 0]] * 2),
    **{
        f"whole.{name}: {value!r}": within(f"whole.{name}", value)
        for name in ("macs", "chances", "apart", "v_lengths", "k_peaks", "resid_lengths", "likeliest")
        for value in ([HUGE], 0.5, [["a"]], [[1], [1, 2]])
    },
}
FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (lambda path: os.mkfifo(path), "a pipe or a device"),
    "zeros without end": (lambda path: path.symlink_to("/dev/zero"), "a pipe or a device"),
    "a folder": (lambda path: path.mkdir(), "s a directory"),
    "itself": (lambda path: path.symlink_to(path), "cannot be read"),
    "a terabyte": (sparse, "longer than the 300 MB"),
    "no UTF-8": (lambda path: path.write_bytes(b"\xff"), "is not UTF-8"),
    "lists": text(lambda: "[]," * 3_000_000, "more than 2,000,000 things"),
    "nested lists": text(lambda: "[" * 1_000_000, "not a trace"),
    "numbers": text(lambda: "0," * 21_000_000, "20,000,000 numbers"),
    "a number of 10^7 digits": text(lambda: "1" * 10_000_000, "not a trace"),
    "a version of 10^6 letters": text(
        lambda: json.dumps({"format": "x" * 10**6, "version": 1, "about": 1, "events": []}), "not a trace"
    ),
    "events that are a number": text(
        lambda: '{"format": "microgpt-trace", "version": 1, "about": {}, "events": 5}', "not a trace"
    ),
}
CASES = [
    *(Case(f"{kind}: {name}", kind, *made) for kind in ("whole", "excerpt") for name, made in EITHER.items()),
    *(Case(f"excerpt: {name}", "excerpt", *made) for name, made in EXCERPT.items()),
    *(Case(f"file: {name}", "file", *made) for name, made in FILES.items()),
]
