"""The picture draws the cache: at each step the rows that were handed out to it, whatever has become of them."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from microgpt.cache import Cache, KVCache, KVLayer, Watched
from microgpt.caches.blocks import BlockPool
from microgpt.caches.evict import H2OCache
from microgpt.caches.paged import PagedCache
from microgpt.caches.quantised import QuantisedCache, kivi
from microgpt.caches.ring import RingCache
from microgpt.caches.shift import ShiftCache
from microgpt.caches.sinks import SinkCache
from microgpt.config import Array, Report
from microgpt.cost import reads
from microgpt.course.kv_cache.lesson import one_step
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.record import Recording
from microgpt.trace import READ, Reads, Trace, from_json, to_json
from microgpt.viz import controls, figures
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.large.from_trace import picture_of_excerpt, picture_of_trace
from microgpt.viz.large.picture import picture_of_run
from microgpt.viz.lesson import lesson_named
from microgpt.viz.rendering import render
from microgpt.viz.request import settings_for
from microgpt.weights import shipped

Handed = tuple[Array, Array, Sequence[int]]  # what `append` returns
FROM, MODEL = 3, shipped("stories")  # the position of the step that finds the cache broken, and what runs


def overwrites(keys: Array, values: Array, n: int) -> Handed:
    keys[:, 0] = 0.5
    return keys, values, range(n)


def swaps(keys: Array, values: Array, n: int) -> Handed:
    if n == FROM + 1:  # once, and it stays so
        values[:, [0, 2]] = values[:, [2, 0]]
    return keys, values, range(n)


def shifts(keys: Array, values: Array, n: int) -> Handed:
    if n == FROM + 1:
        keys[:, 1:], values[:, 1:] = keys[:, :-1].copy(), values[:, :-1].copy()
    return keys, values, range(n)


def rounds(keys: Array, values: Array, n: int) -> Handed:
    return keys.astype(np.float16), values.round(1), range(n)


def drops(keys: Array, values: Array, n: int) -> Handed:
    rows = [0, *range(2, n)]
    return keys[:, rows], values[:, rows], rows


def forgets(keys: Array, values: Array, n: int) -> Handed:
    return keys[:, 2:], values[:, 2:], range(2, n)


BROKEN: dict[Callable[[Array, Array, int], Handed], list[int]] = {  # -> the older rows that step FROM finds changed
    overwrites: [0],
    swaps: [0, 2],
    shifts: [1, 2],
    rounds: [0, 1, 2],
    drops: [1],
    forgets: [0, 1],
}


class Ran(NamedTuple):
    recording: Recording
    way: Callable[[Array, Array, int], Handed]
    handed: list[Handed]  # layer by layer, step by step: copied where the cache handed it out


@pytest.fixture(params=BROKEN, ids=lambda way: way.__name__)
def ran(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ran]:
    append, handed = KVLayer.append, list[Handed]()

    def broken(layer: KVLayer, k: Array, v: Array) -> Handed:
        keys, values, positions = append(layer, k, v)
        n = len(positions)
        found = request.param(keys, values, n) if n > FROM else (keys, values, positions)
        handed.append((np.array(found[0]), np.array(found[1]), list(found[2])))
        return found

    monkeypatch.setattr(KVLayer, "append", broken)
    yield Ran(Recording(MODEL, "the next day is", compares=False, max_new=2), request.param, handed)


def numbers(strips: list[Any], layer: int) -> list[list[float]]:
    return [[cell.value for cell in strip.cells] for strip in strips if f"L{layer}" in strip.where.split()]


def test_each_step_shows_the_rows_that_it_was_handed(ran: Ran) -> None:
    trace, n_layer = ran.recording.run(), MODEL.config.n_layer
    for shown in (Picture(trace), Picture(from_json(to_json(trace)))):
        assert shown.grows_evenly == (ran.way not in (drops, forgets))
        for at in range(shown.n):
            handed = ran.handed[at * n_layer :][:n_layer]
            for i in range(at + 1):
                row = shown.row(i, at)
                assert [row] == [life for where, life in shown.lives(i) if not where or f"at{at}" in where.split()]
                for layer, (keys, values, positions) in enumerate(handed):
                    for strips, cached in ((row.k, keys), (row.v, values)):
                        there = cached[:, positions.index(i)].tolist() if i in positions else [[]] * len(cached)
                        assert numbers(strips, layer) == there, (at, layer, i)
            for layer, (_, _, positions) in enumerate(handed):
                meets = next(meets for where, meets in shown.step(at).meetings if f"L{layer}" in where.split())
                assert [meet.row for meet in meets] == positions
                assert [meet.weight for meet in meets] == trace["attn_weights", at, layer][0, 0].tolist()
            assert shown.step(at).bytes.numbers == sum(part.size for one in handed for part in one[:2])
        changed = [shown.differing_rows(at) for at in range(shown.n)]
        assert changed == [[]] * FROM + [BROKEN[ran.way]] + [[]] * (shown.n - FROM - 1)
    found = reads(trace)
    assert all((at in found["k", 0, i]) == (i in ran.handed[2 * at][2]) for at in range(shown.n) for i in range(at + 1))


@pytest.mark.parametrize("ran", [overwrites, drops], ids=["overwrites", "drops"], indirect=True)
def test_page_and_figure_have_it_and_a_live_page_is_drawn_anew(ran: Ran) -> None:
    recording, stood = ran.recording, [False]
    recording.step()
    while not recording.has_ended:
        stood.append(one_step(recording, {}, -1)[1])
    assert not stood[FROM - 1] and stood[FROM]
    view, said = Picture(recording.trace, selected=FROM), "Row 1 is gone." if ran.way is drops else "Row 0 has changed"
    html = render.widget("kv_cache", view)
    for i in range(view.n):
        (row,) = re.findall(rf'<div class="row R{i}[ "].*?\n</div>', html, re.S)
        lives = view.lives(i)
        strips = re.findall(r'class="strip [kv] ([^"]*)"', row)
        assert len(strips) == 2 * len(lives) * MODEL.config.n_layer * MODEL.config.n_kv_head
        assert all(("life" in strip.split()) == (len(lives) > 1) for strip in strips)
        assert ("not read" in row) == (not all(life.there for _, life in lives))
    assert said in html
    page = lesson_named("stepper")
    svg = figures.of_view(page, settings_for(page, MODEL.name), view, {**controls.figure_values(view), "phase": 2})
    assert said in re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", svg))
    assert svg.count("not read") == sum(not view.row(i, FROM).there for i in range(FROM + 1))


def caches() -> dict[str, Cache]:
    pool = BlockPool(MODEL.config, 12, 2)
    return {
        "plain": KVCache(MODEL.config),
        "paged": PagedCache(pool),
        "ring": RingCache(replace(MODEL.config, window=4)),
    }


@pytest.mark.parametrize("kind", caches())
def test_of_a_right_cache_nothing_is_told(kind: str) -> None:
    """Of many rows at once, of single ones, after a crop, and where rows were there before."""
    cache, told, config = caches()[kind], list[Report](), MODEL.config
    forward(MODEL.params, config, [3, 1], cache)
    watched = Watched(cache, told.append)
    for ids in ([4, 1], [5], [9, 2, 6], [5], [3]):
        forward(MODEL.params, replace(config, window=4) if kind == "ring" else config, ids, watched)
        if len(ids) == 3 and isinstance(cache, KVCache):
            cache.crop(4)
    assert told == [] and watched.next_position == cache.next_position


def kept(cache: Any) -> list[tuple[Array, Array]]:
    """What a step can read of each layer of these caches, asked of them directly."""
    if isinstance(cache, QuantisedCache):
        return [(layer.keys.read(), layer.values.read()) for layer in cache.layers]
    if isinstance(cache, SinkCache):
        return [tuple(b[:, one._start : one._end] for b in (one._keys, one._values)) for one in cache.layers]  # type: ignore[misc]
    return [(layer.keys, layer.values) for layer in cache.layers]


@pytest.mark.parametrize(
    "cache",
    [
        QuantisedCache(MODEL.config, *kivi(4, 2, 2)),
        SinkCache(MODEL.config, sinks=1, recent=3),
        ShiftCache(MODEL.config, n_keep=1, rows=5),
        H2OCache(MODEL.config, heavy=2, recent=2),
    ],
    ids=lambda cache: type(cache).__name__,
)
def test_caches_that_round_and_drop_rows_tell_what_they_hold(cache: Any) -> None:
    """Step by step, what the trace has of K and V is what the cache can be asked for."""
    trace = Trace()
    watched, hook = Watched(cache, trace), cache.watch(trace) if isinstance(cache, H2OCache) else trace
    for token in (3, 1, 4, 1, 5, 9, 2, 6, 5):
        if hasattr(cache, "make_room"):
            cache.make_room()
        step = cache.next_position
        forward(MODEL.params, MODEL.config, [token], watched, hook)
        reads = Reads(trace)
        for layer, pair in enumerate(kept(cache)):
            positions = reads.positions(step, layer)
            for name, rows in zip("kv", pair, strict=True):
                found = np.stack([reads.row(name, i, layer, step) for i in positions], axis=1)
                assert np.array_equal(found, rows), (step, layer, name)
    assert {event.name for event in trace} & {*READ}


@pytest.mark.parametrize("ran", [swaps, forgets], ids=["swaps", "forgets"], indirect=True)
def test_the_excerpt_of_a_large_model_draws_them(ran: Ran) -> None:
    """Cut to opened heads, a trace has the rows as they were read, of these heads and of no others."""
    trace, config = ran.recording.run(), MODEL.config
    n = len(trace.about["tokens"])
    trace.about |= {"dtype": "float64", "stops": [], "started": True, "ids": ran.recording.ids[:n]}
    whole = picture_of_run(trace)
    part = whole.of_open_heads()
    for shown in (whole, picture_of_excerpt(from_json(to_json(part)))):
        for at, i, (index, one) in product(range(n), range(n), enumerate(shown.heads)):
            *rows, positions = ran.handed[at * config.n_layer + one.layer]
            for name, cached in zip("kv", rows, strict=True):
                told = [values for _, where, values in shown.rows(name, i, at) if f"O{index}" in where.split()]
                head = cached[one.head * config.n_kv_head // config.n_head]
                if i <= at:
                    assert np.array_equal(told, [head[positions.index(i)] if i in positions else []]), (name, at, i)


def test_a_file_is_drawn_and_what_is_wrong_in_it_is_said(ran: Ran) -> None:
    """Whole and as the excerpt that its page has; rows that there are not are refused by event and field."""
    text = to_json(ran.recording.run())
    shown = picture_of_trace(from_json(text))
    assert (
        picture_of_trace(from_json(to_json(shown.trace))).differing_rows(FROM)
        == BROKEN[ran.way]
        == shown.differing_rows(FROM)
    )
    data = json.loads(text)
    told = next((event for event in data["events"] if event["name"] in READ), data["events"][0])
    for field, change in WRONG.get(told["name"], []):
        other = [event | (change if event is told else {}) for event in data["events"]]
        with pytest.raises(UserError, match=f"{told['name']}, pos [0-9]+, layer 0 cannot be drawn: its “{field}” is"):
            picture_of_trace(from_json(json.dumps(data | {"events": other})))


FAR: list[tuple[str, dict[str, Any]]] = [("pos", {"pos": 99})]
LONG = [("shape", {"shape": [2, rows, 8], "values": [0.0] * 16 * rows}) for rows in (0, FROM + 2)]
WRONG = {
    "k_read": FAR + LONG,
    "v_read": FAR + LONG,
    "key_positions": [*FAR, ("values", {"values": [0, 1, 99]}), ("values", {"values": [0, 2, 2]})],
}


def test_a_row_that_one_layer_alone_has_lost_is_said_to_be_so_there() -> None:
    """In the table that is read aloud, and in the sentence of the step: where a window lets it go, that it has."""
    trace = Recording(MODEL, "the next day", compares=False, max_new=1).run()
    last = len(trace.about["tokens"]) - 1
    for about in ({}, {"windows": [0, last]}):
        told = Trace(trace.about | about)
        for name, value, pos, layer in (event.report for event in trace):
            short = pos == last and layer == 1 and name in ("attn_scores", "attn_weights")
            told((name, np.asarray(value)[..., 1:] if short else value, pos, layer))
        view = Picture(told)
        html = render.widget("kv_cache", view)
        (row,) = re.findall(r'<div class="row R0[ "].*?\n</div>', html, re.S)
        found = re.findall(r'<span class="of-L of-(L\d) [^"]*"><em class="[^"]*">([a-z ]+)', row.partition("c-s")[2])
        assert {*found} == {("L0", "cached"), ("L1", "not read")}
        assert [changes.gone for _, changes in view.changes(last)] == [[], [0]]
        assert ("Row 0 has left the window of this layer." if about else "Row 0 is gone.") in html
