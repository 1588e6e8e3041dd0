"""The journey, the experiment and the inventory on the page are the model's."""

import re
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.architectures import inventory
from microgpt.architectures.known import PRESETS
from microgpt.config import n_params, param_shapes
from microgpt.course import page
from microgpt.course.inside import path
from microgpt.trace import Trace
from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.rendering.style import own_style
from microgpt.weights import SHIPPED, shipped
from tests.support.pages import Run, classes, find, numbers, recording_of, runs, shown_as, text

RUNS = [("names", "emm"), ("names-deep", "a"), ("stories", "The next day is bright")]
run = runs("inside", RUNS)


def ways(run: Run) -> dict[str, list[path.Stop]]:
    """By state, the stops of the token that is followed, from the model itself."""
    made, recording = run[0], recording_of(run[0])
    config = recording.model.config
    found = {f"t{pos}": path.stops(recording.trace, config, pos) for pos in range(len(recording.cache))}
    for one in made.swaps:
        found[one.state] = path.stops(swapped(run, one.at, one.new), config, made.at)
    return found


def swapped(run: Run, at: int, new: str) -> Trace:
    recording = recording_of(run[0])
    model, ids = recording.model, recording.ids[: recording.n_prompt]
    token_ids = [*ids[:at], model.tokenizer.vocabulary.index(new), *ids[at + 1 :]]
    return path.step_by_step(model.params, model.config, token_ids)


def level(bar: Element, state: str) -> int:
    """Of a bar in one state; where it says nothing it is at zero."""
    found = [re.fullmatch(rf"{state}([pn])(\d+)", name) for name in classes(bar)]
    sizes = [int(one[2]) * (1 if one[1] == "p" else -1) for one in found if one]
    assert len(sizes) <= 1 and 0 not in sizes
    return sizes[0] if sizes else 0


def assert_drawn(bars: list[Element], by_state: dict[str, np.ndarray]) -> None:
    """All on one scale: the largest is not far from its end, and no bar is off by more than half a level."""
    for state, values in by_state.items():
        drawn = np.array([level(bar, state) for bar in bars])
        assert drawn.size == values.size, state
        largest = np.abs(values).argmax()
        assert np.abs(drawn).max() <= LEVELS and (drawn * values.ravel() >= 0).all()
        if abs(drawn[largest]) > 2:
            limits = np.abs(values).max() * LEVELS / (abs(drawn[largest]) + np.array([0.5, -0.5]))
            for limit in limits:
                assert np.abs(drawn - LEVELS * values.ravel() / limit).max() <= 2.5 + 1e-9


def test_every_stop_has_its_shape_and_its_numbers_in_every_state(run: Run) -> None:
    tree = run[1]
    items = find(tree, "stop")
    for state, stops in ways(run).items():
        assert len(stops) == len(items)
        for stop, item in zip(stops, items, strict=True):
            shapes = find(item, "shape", state) or find(item, "shape")
            assert text(shapes[0]) == str(list(stop.value.shape))
            (shown,) = find(item, "numbers", state)
            cells = [numbers(cell)[0] for cell in shown.iter("i")]
            shown_as(cells, stop.value, 2)
            assert len(list(shown)) == stop.value.size // stop.value.shape[-1]  # a line a head


def test_every_number_is_a_bar_that_is_there_in_every_state(run: Run) -> None:
    legs = [leg for leg in find(run[1], "leg") if any(name.startswith("at-") for name in classes(leg))]
    by_state = ways(run)
    drawn = [at for at, stop in enumerate(by_state["t0"]) if stop.name not in ("attn_scores", "attn_weights")]
    assert len(legs) == len(drawn)
    for leg, at in zip(legs, drawn, strict=True):
        assert f"at-{by_state['t0'][at].name}" in classes(leg)
        assert_drawn(find(leg, "u"), {state: stops[at].value for state, stops in by_state.items()})


def test_the_rows_of_k_and_v_are_those_of_the_cache(run: Run) -> None:
    made, tree = run
    recording = recording_of(made)
    config, n = recording.model.config, len(recording.cache)
    for layer, pile in enumerate(find(tree, "pile")):
        for pos, row in enumerate(find(pile, "J")):
            assert f"J{pos}" in classes(row) and ("later" in classes(row)) == (pos > made.at)
            traces = {f"t{pos}": recording.trace} | {
                one.state: swapped(run, one.at, one.new) for one in made.swaps if pos <= made.at
            }
            lit = set()
            for name in ("k", "v"):
                values = {state: trace[name, pos, layer] for state, trace in traces.items()}
                (tray,) = find(row, "bin", name)
                assert_drawn(find(tray, "c"), values)
                lit |= {state for state in values if (values[state] != recording.trace[name, pos, layer]).any()}
            assert {f"x{state}" for state in lit} == {name for name in classes(row) if name.startswith("xs")}
            instead = {(one.state, one.new) for one in made.swaps if one.at == pos}
            assert {(s, text(e)) for s, _ in instead for e in find(row, "tok", s)} == instead
        assert len(find(pile, "J")) == n
    assert len(find(tree, "pile")) == config.n_layer


def test_between_the_rows_stand_the_scores_and_weights_of_each_head(run: Run) -> None:
    tree, n_head = run[1], recording_of(run[0]).model.config.n_head
    for layer, pile in enumerate(find(tree, "pile")):
        rows = [find(row, "u") for row in find(pile, "J")]
        assert {len(row) for row in rows} == {2 * n_head}
        for part, name in enumerate(("attn_scores", "attn_weights")):
            bars = [row[part * n_head + head] for head in range(n_head) for row in rows]
            values = {}
            for state, stops in ways(run).items():
                (value,) = (s.value[:, 0] for s in stops if (s.name, s.layer) == (name, layer))  # [n_head, t]
                values[state] = np.pad(value, ((0, 0), (0, len(rows) - value.shape[1])))
            assert_drawn(bars, values)
            if name == "attn_weights":
                assert max(level(bar, "t0") for bar in bars) == LEVELS  # the first token has itself alone


def test_the_sums_are_those_of_the_stops(run: Run) -> None:
    tree, recording = run[1], recording_of(run[0])
    sentences = [sentence for sentence in find(tree, "sum") if "makes" in text(sentence)]
    assert len(sentences) == len(recording.cache)
    for pos, sentence in enumerate(sentences):
        stops = path.stops(recording.trace, recording.model.config, pos)
        kept = sum(s.value.size for s in stops if s.name in ("k", "v"))
        assert numbers(sentence)[-2:] == [sum(s.value.size for s in stops), kept]


def test_only_k_and_v_are_said_to_stay(run: Run) -> None:
    legs = [leg for leg in find(run[1], "leg") if find(leg, "kept")]
    assert {name for leg in legs for name in classes(leg) if name.startswith("at-")} == {"at-k", "at-v"}
    assert len(legs) == 2 * run[0].config.n_layer


def test_weights_are_named_with_their_own_shapes(run: Run) -> None:
    tree, recording = run[1], recording_of(run[0])
    shapes = {name.split(".")[-1]: list(shape) for name, shape in param_shapes(recording.model.config).items()}
    named = set()
    for item in find(tree, "stop"):
        for code in (code for weights in find(item, "weights") for code in weights.iter("code")):
            name = text(code).split()[0]
            assert text(code) == f"{name} {shapes[name]}"
            named.add(name)
    assert named == shapes.keys() - {"embd_norm"}


def test_the_drawing_says_what_notices_a_swap(run: Run) -> None:
    made, tree = run
    recording = recording_of(made)
    model, n = recording.model, recording.n_prompt
    ids, items = recording.ids[:n], find(tree, "stop")
    assert len(made.swaps) == max(1, n - 2)
    before = path.stops(path.step_by_step(model.params, model.config, ids), model.config, made.at)
    for swap, sentence in zip(made.swaps, [s for s in find(tree, "sum") if "becomes" in text(s)], strict=True):
        after = path.stops(swapped(run, swap.at, swap.new), model.config, made.at)
        off = [float(np.abs(a.value - b.value).max()) for a, b in zip(before, after, strict=True)]
        assert numbers(sentence)[-2:] == [len(off), sum(x > 0 for x in off)]
        for item, x in zip(items, off, strict=True):
            (said,) = [one for one in find(item, "V", swap.state) if {"off", "same"} & classes(one)]
            assert (text(said) == "the same") == ("same" in classes(said)) == (x == 0)
            if x > 0:  # a bound: rounded up
                assert 0 <= numbers(said)[0] - x < 0.01
        lit = [f"x{swap.state}" in classes(leg) for leg in find(tree, "leg") if "met" not in classes(leg)]
        alone = [x for x, stop in zip(off, before, strict=True) if stop.name not in ("attn_scores", "attn_weights")]
        assert sum(lit) == sum(x > 0 for x in alone)


def test_the_style_knows_every_state_and_every_level() -> None:
    rules = own_style(page("inside"))
    longest = max(shipped(name).config.n_ctx for name in SHIPPED)
    states = [f"t{i}" for i in range(longest)] + [f"s{i}" for i in range(path.MOST_SWAPS)]
    for state in states:
        assert all(f".{state}{sign}{n}{{--{state}:" in rules for sign in "pn" for n in range(1, LEVELS + 1)), state
    assert not {f".t{longest}p1{{", f".s{path.MOST_SWAPS}p1{{"} & set(re.findall(r"\.[ts]\d+p1\{", rules))


@pytest.mark.parametrize("at", range(4))
def test_the_inventory_adds_up(run: Run, at: int) -> None:
    made, tree = run
    recording = recording_of(made)
    name = made.inventories[at].name
    config = PRESETS[name].config if at else recording.model.config
    board = find(tree, "made")[at]
    rows = [row for row in board.iter("tr") if row.find("th/code") is not None and len(row.findall("td")) == 3]
    last = [numbers(row.findall("td")[-1]) for row in rows]
    assert sum(found[0] for found in last if found) == n_params(config)
    assert numbers(next(board.iter("tfoot")))[-1] == n_params(config)
    dds = [dd for dl in find(board, "shares") for dd in dl.iter("dd")]
    shares = [(numbers(dd.findall("span")[-1])[0], numbers(next(dd.iter("b")))[0]) for dd in dds]
    assert [share[0] for share in shares] == list(inventory.totals(config).values())
    assert abs(sum(share[1] for share in shares) - 100) < 0.3
    assert bool(re.search("no tensor", text(board))) == (config.tied or config.position == "rope")
    for row, tensor in zip(
        [r for r, found in zip(rows, last, strict=True) if found], inventory.tensors(config), strict=True
    ):
        assert text(row.findall("td")[0]) == " + ".join(str(list(shape)) for shape in tensor.shapes)
        assert numbers(row.findall("td")[1]) == [tensor.size]
