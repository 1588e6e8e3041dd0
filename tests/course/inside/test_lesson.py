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
from microgpt.course.inside.lines import MOST_ASKED
from microgpt.trace import Trace
from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.rendering.style import own_style
from microgpt.viz.text.formats import number
from microgpt.weights import SHIPPED, shipped
from tests.support.lens import holds
from tests.support.pages import Run, classes, find, folded, numbers, recording_of, runs, text

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


def answers(hits: Element) -> list[tuple[str, list[tuple[str, str]]]]:
    """What is asked, and its line in each state."""
    names = [one.get("value", "") for one in hits.iter("input")]
    lines = [[(next(iter(classes(one) - {"V"})), folded(one)) for one in find(p, "V")] for p in hits.iter("p")]
    return list(zip(names, lines, strict=True))


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


def places(run: Run) -> list[tuple[int, Element]]:
    """What is drawn of each stop, by its place on the way; the stream between two layers is there with both."""
    order = [(stop.name, stop.layer) for stop in ways(run)["t0"]]
    found = []
    for layer, flow in enumerate(find(run[1], "flow")):
        for item in find(flow, "stop"):
            (name,) = (name[3:] for name in classes(item) if name.startswith("at-"))
            near = [(name, layer), (name, -1), ("embed", -1)]
            if name == "after":
                near = [("resid_pre", layer + 1), ("resid_final", -1)]
            found.append((next(order.index(one) for one in near if one in order), item))
        for name, item in zip(path.MET, find(flow, "over"), strict=True):
            found.append((order.index((name, layer)), item))
    assert {at for at, _ in found} == set(range(len(order)))
    return found


def test_every_stop_has_its_shape_in_every_state(run: Run) -> None:
    by_state = ways(run)
    told = {text(shape) for how in find(run[1], "how") for shape in find(how, "shape")}
    for at, item in places(run):
        shapes = {str(list(stops[at].value.shape)) for stops in by_state.values()}
        if by_state["t0"][at].name in path.MET:
            assert shapes <= told
        else:
            assert {text(shape) for shape in find(item, "shape")} == shapes


def test_what_is_asked_is_answered_by_a_line_that_comes_to_it(run: Run) -> None:
    """Each number of a row, of a longer one the largest; what rotary positions have turned has no line."""
    asked = {one.get("value", "") for one in run[1].iter("input") if one.get("name") == "lens"}
    assert asked == {*run[0].fields[0].values}
    replies = dict(one for hits in find(run[1], "hits") for one in answers(hits))
    answered = 0
    for state, stops in ways(run).items():
        for at, stop in enumerate(stops):
            each = stop.name in path.MET or stop.value.size <= MOST_ASKED
            values = stop.value[:, 0].T.ravel() if stop.name in path.MET else stop.value.ravel()
            for key, value in enumerate(values.tolist() if each else [np.abs(values).max()]):
                said = [line for where, line in replies.get(f"{at + 1}-{key}", []) if where == state]
                assert said or state[0] == "s" or run[0].trace.about["model"] != "names" or value == 0
                for line in said:
                    assert holds(line) and line.split()[-1].lstrip("−") == number(abs(value)).lstrip("−"), line
                answered += len(said)
    assert answered > 1000
    others = [line for i in range(3) for _, line in replies[f"g{i}"]]
    others += [folded(line).split(": ")[1] for one in find(run[1], "weights") for line in one.iter("p")]
    assert [line for line in others if not holds(line)] == []


def test_every_number_is_a_bar_that_is_there_in_every_state(run: Run) -> None:
    for at, item in places(run):
        if "over" not in classes(item):
            assert_drawn(find(item, "u"), {state: stops[at].value for state, stops in ways(run).items()})


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
    sentences = [one for one in find(find(tree, "how")[-1], "V") if "makes" in text(one)]
    assert len(sentences) == len(recording.cache)
    for pos, sentence in enumerate(sentences):
        stops = path.stops(recording.trace, recording.model.config, pos)
        kept = sum(s.value.size for s in stops if s.name in ("k", "v"))
        assert numbers(sentence)[-2:] == [sum(s.value.size for s in stops), kept]


def test_only_k_and_v_are_said_to_stay(run: Run) -> None:
    said = [[text(one)[-1] for one in find(pile, "kept")] for pile in find(run[1], "pile")]
    assert said == [["K", "V"]] * run[0].config.n_layer


def test_weights_are_named_with_their_own_shapes(run: Run) -> None:
    tree, recording = run[1], recording_of(run[0])
    shapes = {name.split(".")[-1]: list(shape) for name, shape in param_shapes(recording.model.config).items()}
    named = set()
    for weights in (weights for called in find(tree, "called") for weights in find(called, "weights")):
        (line,) = map(folded, weights.iter("p"))
        name, sizes = line.split(": ")
        assert sizes.startswith(" × ".join(map(str, shapes[name])) + " = ")
        named.add(name)
    assert named == shapes.keys() - {"embd_norm"}


def test_the_drawing_says_what_notices_a_swap(run: Run) -> None:
    made, tree = run
    recording = recording_of(made)
    model, n = recording.model, recording.n_prompt
    ids, items = recording.ids[:n], places(run)
    assert len(made.swaps) == max(1, n - 2)
    before = path.stops(path.step_by_step(model.params, model.config, ids), model.config, made.at)
    for swap, sentence in zip(made.swaps, [s for s in find(tree, "sum") if "becomes" in text(s)], strict=True):
        after = path.stops(swapped(run, swap.at, swap.new), model.config, made.at)
        off = [float(np.abs(a.value - b.value).max()) for a, b in zip(before, after, strict=True)]
        assert numbers(sentence)[-2:] == [len(off), sum(x > 0 for x in off)]
        for at, item in items:
            (said,) = [one for one in find(item, "V", swap.state) if {"off", "same"} & classes(one)]
            assert (text(said) == "the same") == ("same" in classes(said)) == (off[at] == 0)
            assert (f"x{swap.state}" in classes(item)) == (off[at] > 0)
            if off[at] > 0:  # a bound: rounded up
                assert 0 <= numbers(said)[0] - off[at] < 0.01


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
