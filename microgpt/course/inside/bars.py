"""The drawing of the way: one bar a number, which is there in every state and has a level in each. Knows no HTML.

A state is the token that is followed, t0, t1, ..., or an earlier one swapped, s0, s1, ... The last token of the prompt
is followed then. Bars that one state lacks, as the scores of rows that are not there yet, are at zero in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from microgpt.config import Array
from microgpt.course.inside.lines import Reason, Told
from microgpt.course.inside.path import ATTENTION, MET, MLP, QKV, Stop
from microgpt.course.inside.route import StopView
from microgpt.course.inside.swaps import Swap
from microgpt.viz.drawing.heat import Scale, scale_for

Levels: TypeAlias = list[tuple[str, int]]  # of one number: a state and its level, where that is not zero
Ways: TypeAlias = dict[str, list[Stop]]  # by state, all stops of the token that is followed
STREAM = ("resid_pre", "resid_mid", "resid_final")
# each on a scale of its own, which is told
ALONE = ("embed", "head_out", "attn_out", "mlp_hidden", "mlp_out", "logits")
BEHIND_LAYER = "after"  # the stream behind a layer, whatever it is called


class StopPlace(NamedTuple):
    """A stop in all its states; `bars` are in groups, by head where there are heads."""

    stop: StopView
    order: int  # on the way
    kind: str  # of its bars: x, q, k or v
    bars: list[list[Levels]]
    values: dict[str, Array]  # its numbers, by state
    off: list[tuple[str, float]]  # how far each swap puts it off, at most
    lit: list[str]  # the swaps that it notices
    replies: dict[int, list[tuple[str, int, Reason]]]  # by what is asked: a state, the place in the row, its line
    n_head: int
    limit: float | None  # what a full bar is, where that is told

    def head(self, key: int) -> int | None:
        """Which head a number belongs to, if to one: of scores and weights these follow one another row by row."""
        if self.stop.event in MET:
            return key % self.n_head
        return key // (self.values["t0"].size // self.n_head) if self.stop.event == "head_out" else None

    def keys_at(self, pos: int) -> list[int]:
        """Of scores and weights, what is asked of the row at this position."""
        return [key for key in self.replies if key // self.n_head == pos]

    def zeros(self, state: str) -> int:
        return int((self.values[state] == 0).sum())


class CacheRow(NamedTuple):
    """One position in one layer: what the cache holds of it, and how each head of the followed token meets it."""

    pos: int
    token: str
    instead: list[tuple[str, str]]  # a swap, and the token that it puts here
    k: list[list[Levels]]
    v: list[list[Levels]]
    scores: list[Levels]
    weights: list[Levels]
    lit: list[str]  # the swaps in which it differs
    later: bool  # than the token that is followed when one is swapped


class Branch(NamedTuple):
    """One layer with the stream before and behind it: all that is on show at once."""

    layer: int
    places: list[tuple[str, StopPlace]]  # each under the name of its event, but for the last of the stream
    rows: list[CacheRow]


def drawing(
    tokens: Sequence[str], stops: list[StopView], ways: Ways, swaps: list[Swap], told: dict[str, list[Told]]
) -> tuple[list[StopPlace], list[Branch]]:
    """The whole way, and once more layer by layer; `stops` are those of the token that is followed first, `ways` those
    of every state, and `told` their lines, where there are some."""
    scales = bar_scales(ways)
    places = stop_places(stops, ways, {one.state: one.off for one in swaps}, scales, told)
    begins = [at for at, stop in enumerate(stops) if stop.event == ATTENTION[0]]
    rows = [layer_rows(tokens, ways, swaps, layer, scales) for layer in range(len(begins))]
    return places, [branch(places, begin, found) for begin, found in zip(begins, rows, strict=True)]


def branch(places: list[StopPlace], begin: int, rows: list[CacheRow]) -> Branch:
    """The layer whose attention begins there; what comes before the first and behind the last is there with these."""
    layer, end = places[begin].stop.layer, begin + len(ATTENTION) + 1 + len(MLP)  # the stream is joined between the two
    *first, before = places[begin - 1 : begin] if layer else places[:begin]
    after, head = places[end : end + 2]
    found = [(place.stop.event, place) for place in (*first, *places[begin:end])]
    found += [("resid_pre", before), (BEHIND_LAYER, after)]
    return Branch(layer, found + [("logits", head)] * (head.stop.part == "head"), rows)


def bar_scales(ways: Ways) -> dict[str, Scale]:
    """By event. The stream has one in all its places; so do the norms, and so do q, k and v. What is added to the
    stream is so much smaller that nothing of it would be seen on that scale."""
    together = [STREAM, ("attn_norm", "mlp_norm"), QKV]
    values: dict[str, list[Array]] = {}
    for stop in (stop for way in ways.values() for stop in way):
        values.setdefault(stop.name, []).append(stop.value)
    found = {"attn_weights": Scale(1.0)}
    for names in [*together, *([name] for name in ("attn_scores", *ALONE))]:
        known = [name for name in names if name in values]
        found |= dict.fromkeys(known, scale_for(*(value for name in known for value in values[name])))
    return found


def stop_places(
    stops: list[StopView],
    ways: Ways,
    off: dict[str, list[float]],
    scales: dict[str, Scale],
    told: dict[str, list[Told]],
) -> list[StopPlace]:
    """Every stop; `off` is, by swap, the largest difference at each."""
    found, n_head = [], next(stop.value.shape[0] for way in ways.values() for stop in way if stop.name == MET[0])
    for at, (stop, values) in enumerate(zip(stops, zip(*ways.values(), strict=True), strict=True)):
        by_state = {state: one.value for state, one in zip(ways, values, strict=True)}
        found.append(
            StopPlace(
                stop=stop,
                order=at + 1,
                kind=stop.event if stop.event in QKV else "x",
                bars=[] if stop.event in MET else bars(by_state, scales[stop.event]),
                values=by_state,
                off=[(state, row[at]) for state, row in off.items()],
                lit=[state for state, row in off.items() if row[at]],
                replies=replies({state: lines[at] for state, lines in told.items()}, stop.asked),
                n_head=n_head,
                limit=scales[stop.event].limit if stop.event in ALONE else None,
            )
        )
    return found


def replies(told: dict[str, Told], each: bool) -> dict[int, list[tuple[str, int, Reason]]]:
    """The lines of one stop by what is asked: each number of it, or the largest, which has another place each time."""
    found: dict[int, list[tuple[str, int, Reason]]] = {}
    for state, lines in told.items():
        for at, line in lines:
            found.setdefault(at if each else 0, []).append((state, at, line))
    return dict(sorted(found.items()))


def bars(values: dict[str, Array], scale: Scale) -> list[list[Levels]]:
    """One bar a number of arrays of one shape, by state: [1, d], or in groups [1, heads, head_dim]."""
    cells = zip(*(value.ravel().tolist() for value in values.values()), strict=True)
    found = [levels(dict(zip(values, cell, strict=True)), scale) for cell in cells]
    size = next(iter(values.values())).shape[-1]
    return [found[at : at + size] for at in range(0, len(found), size)]


def levels(values: dict[str, float], scale: Scale) -> Levels:
    """The level of one number in each state; zero is left out."""
    found = [(state, scale.cell(value).level) for state, value in values.items()]
    return [(state, level) for state, level in found if level]


def layer_rows(
    tokens: Sequence[str], ways: Ways, swaps: list[Swap], layer: int, scales: dict[str, Scale]
) -> list[CacheRow]:
    """The rows of K and V in one layer."""
    found, n_head = [], len(value_at(ways["t0"], MET[0], layer))
    for pos, token in enumerate(tokens):
        here, known = f"t{pos}", [one for one in swaps if pos < len(one.text)]  # a row is written when its token runs
        cached = {here: ways[here]} | {one.state: one.ways[pos] for one in known}
        k, v = ({state: value_at(way, name, layer) for state, way in cached.items()} for name in "kv")
        scores, weights = (
            [levels_at(ways, name, layer, head, pos, scales[name]) for head in range(n_head)] for name in MET
        )
        found.append(
            CacheRow(
                pos=pos,
                token=token,
                instead=[(one.state, one.new) for one in known if one.at == pos],
                k=bars(k, scales["k"]),
                v=bars(v, scales["v"]),
                scores=scores,
                weights=weights,
                lit=[state for state in cached if (k[state] != k[here]).any() or (v[state] != v[here]).any()],
                later=not known,
            )
        )
    return found


def levels_at(ways: Ways, name: str, layer: int, head: int, pos: int, scale: Scale) -> Levels:
    """What one head has for the row at `pos`, in each state that has the row."""
    values = {state: value_at(way, name, layer)[head, 0] for state, way in ways.items()}  # of [t]
    return levels({state: float(row[pos]) for state, row in values.items() if pos < len(row)}, scale)


def value_at(way: list[Stop], name: str, layer: int) -> Array:
    return next(stop.value for stop in way if (stop.name, stop.layer) == (name, layer))
