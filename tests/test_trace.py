"""The trace says everything that the model computed, and survives the trip through JSON."""

import json
import math
import re

import numpy as np
import pytest

from microgpt.cache import KVCache
from microgpt.config import Config, Report
from microgpt.cost import MLP_INPUTS
from microgpt.decode import decode_step, prefill
from microgpt.errors import UserError
from microgpt.model import MLPS, forward
from microgpt.record import Recording
from microgpt.trace import ENGINE_EVENTS, EVENTS, Event, Trace, from_json, to_json
from microgpt.viz.drawing.counters import size_after
from microgpt.weights import shipped


def letters(config: Config, n: int, t: int) -> dict[str, int]:
    c = config
    own = {"n": n, "t": t, "d": c.n_embd, "H": c.n_head, "G": c.n_kv_head, "h": c.head_dim, "m": c.n_mlp}
    return own | {"Hh": c.n_head * c.head_dim, "V": c.vocab_size, "6": 6}


def equal(a: Event, b: Event) -> bool:
    return (a.name, a.pos, a.layer) == (b.name, b.pos, b.layer) and bool(np.array_equal(a.value, b.value))


def test_every_event_is_listed_with_its_shape(recording: Recording) -> None:
    config = recording.model.config
    seen = set()
    for event in recording.trace:
        expected = [letters(config, 1, event.pos + 1)[x] for x in EVENTS[event.name].shape.split()]
        assert list(np.shape(event.value)) == expected, event.name
        seen.add(event.name)
    assert seen == set(EVENTS) - set(ENGINE_EVENTS)


@pytest.mark.parametrize("max_new", [None, 0, 2])
def test_the_trace_knows_how_much_memory_was_reserved(max_new: int | None) -> None:
    """Room for what was run, in the numbers that were used; a page says so."""
    recording = Recording(shipped("names"), "emm", max_new=max_new)
    trace, c = recording.run(), recording.model.config
    rows = c.n_ctx if max_new is None else 4 + max_new
    expected = 2 * c.n_layer * c.n_kv_head * c.head_dim * rows * 8
    assert trace.about["nbytes_reserved"] == recording.cache.nbytes_reserved == expected
    assert size_after(trace, 3).reserved == expected


def test_json_loads_back_to_the_same_trace(trace: Trace) -> None:
    again = from_json(to_json(trace))
    assert again.about == json.loads(json.dumps(trace.about))
    assert len(again.events) == len(trace.events)
    assert all(map(equal, again, trace))


def test_json_of_a_masked_pass_loads_back() -> None:
    model = shipped("names")
    trace = Trace({})
    forward(model.params, model.config, [26, 4, 12], KVCache(model.config), trace)
    scores = from_json(to_json(trace))["attn_scores", 0, 0]
    assert scores[0, 0, 1] == -math.inf
    assert np.array_equal(scores, trace["attn_scores", 0, 0])


def with_event(event: str) -> str:
    return f'{{"format": "microgpt-trace", "version": 1, "about": {{}}, "events": [{event}]}}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        '{"format": "microgpt-trace", "version": 2}',
        "[" * 5000,
        '{"format": "microgpt-trace", "version": true, "about": {}, "events": []}',
    ],
)
def test_what_is_no_trace_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(UserError, match="not a trace"):
        from_json(text)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (
            '{"name": "q", "pos": 1e999, "shape": [1], "values": [0]}',
            "Event 0 of this trace (q): its “pos” is not what",
        ),
        (
            '{"name": "sample", "pos": 0, "shape": [], "values": [1e999]}',
            "Event 0 of this trace (sample) cannot be read",
        ),
        ('{"name": "q", "pos": 0, "shape": [1], "values": [%s]}' % ("9" * 400), "(q) cannot be read: "),
        ('{"name": ["q"], "pos": 0, "shape": [1], "values": [0]}', "its “name” is not what docs/trace.md says"),
        ('{"name": "q", "pos": 0, "shape": [2], "values": [0]}', "Event 0 of this trace (q) cannot be read: "),
        ('{"name": "q", "pos": 0, "shape": [1]}', "Event 0 of this trace (q): its “values” is not"),
        ('{"name": "q", "pos": 0, "shape": [], "values": []}', "Event 0 of this trace (q) cannot be read"),
        ('{"name": "q", "pos": 0, "layer": "a", "shape": [1], "values": [0]}', "its “layer” is not what docs/"),
        ("7", "Event 0 of this trace (None)"),
    ],
)
def test_an_event_that_is_none_is_refused_by_its_number_and_field(event: str, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        from_json(with_event(event))


def test_events_cannot_be_changed(trace: Trace) -> None:
    with pytest.raises(ValueError, match="read-only"):
        trace["q", 0, 0][0] = 1


def test_what_is_recorded_stays_what_it_was() -> None:
    """Reading late gives what was reported: forward never writes into it, nor can the caller."""
    model = shipped("stories")
    late, copies = Trace({}), []

    def hook(report: Report) -> None:
        late(report)
        copies.append(np.array(report[1]))

    cache = KVCache(model.config)
    prefill(model.params, model.config, [3, 1, 4], cache, hook)
    for token in (1, 5, 9):
        decode_step(model.params, model.config, token, cache, hook)[:] = math.nan
    cache.crop(1)
    decode_step(model.params, model.config, 2, cache)
    assert all(np.array_equal(event.value, copy) for event, copy in zip(late, copies, strict=True))


def test_the_cache_holds_the_rows_that_were_reported(recording: Recording) -> None:
    for layer in range(recording.model.config.n_layer):
        cached = recording.cache[layer]
        for pos in range(len(recording.cache)):
            assert np.array_equal(cached.keys[:, pos], recording.trace["k", pos, layer][0])
            assert np.array_equal(cached.values[:, pos], recording.trace["v", pos, layer][0])
            assert recording.trace.number("cache_append", pos, layer) == pos + 1


def test_mlp_inputs_name_every_mlp() -> None:
    assert MLP_INPUTS.keys() == MLPS.keys()
