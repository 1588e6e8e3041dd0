"""The journey, the experiment and the inventory on the page are the model's."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.architectures import inventory
from microgpt.architectures.known import PRESETS
from microgpt.config import n_params, param_shapes
from microgpt.experiments import journey
from microgpt.record import Recording
from microgpt.viz.course import page
from microgpt.viz.lessons.inside import View, view
from microgpt.viz.rendering.render import widget
from microgpt.viz.settings import Settings
from microgpt.weights import shipped
from tests.viz.test_pages import classes, find, numbers, numbers_of, parse, shown_as, text

RUNS = [("names", "emm"), ("names-deep", "a"), ("stories", "The next day is bright")]
Run = tuple[Recording, View, Element]


@pytest.fixture(scope="module", params=RUNS, ids=lambda run: f"{run[0]}-{run[1][:5]}")
def run(request: pytest.FixtureRequest) -> Run:
    name, prompt = request.param
    recording = Recording(shipped(name), prompt)
    recording.run()
    made = view(Settings(name, prompt))
    return recording, made, parse(widget("inside", made, page=page("inside")))


def test_every_stop_has_the_traces_shape_and_numbers(run: Run) -> None:
    recording, _, tree = run
    config, drawn = recording.model.config, 0
    ways = find(tree, "way")
    assert len(ways) == len(recording.cache)
    for pos, way in enumerate(ways):
        stops = journey.stops(recording.trace, config, pos)
        assert len(stops) == len(list(way))
        for stop, item in zip(stops, way, strict=True):
            assert text(find(item, "shape")[0]) == str(list(stop.value.shape))
            (strip,) = find(item, "strip")
            assert len(list(strip)) == stop.value.size
            if "fine" not in classes(strip):
                shown_as(numbers_of(strip), stop.value, 2)
                drawn += 1
            assert bool(find(item, "kept")) == (stop.name in ("k", "v"))
            assert bool(find(item, "gone")) == (stop.name not in ("k", "v"))
    assert drawn >= len(ways) * 2


def test_heat_of_the_fine_strips_has_the_sign_of_the_number(run: Run) -> None:
    recording, _, tree = run
    for pos, way in enumerate(find(tree, "way")):
        stops = journey.stops(recording.trace, recording.model.config, pos)
        for stop, item in zip(stops, way, strict=True):
            (strip,) = find(item, "strip")
            for cell, x in zip(strip, stop.value.ravel().tolist(), strict=True):
                assert {"n": x < 0, "p": x > 0, "z": True}[cell.get("class", "")[0]]


def test_the_sums_are_those_of_the_stops(run: Run) -> None:
    recording, _, tree = run
    for pos, sentence in enumerate(find(tree, "sum")):
        stops = journey.stops(recording.trace, recording.model.config, pos)
        kept = sum(s.value.size for s in stops if s.name in ("k", "v"))
        assert numbers(sentence)[-2:] == [sum(s.value.size for s in stops), kept]


def test_weights_are_named_with_their_own_shapes(run: Run) -> None:
    recording, _, tree = run
    shapes = {name.split(".")[-1]: list(shape) for name, shape in param_shapes(recording.model.config).items()}
    named = set()
    for item in find(tree, "tensors"):
        for code in item.iter("code"):
            name = text(next(code.iter("b")))
            assert text(code) == f"{name} {shapes[name]}"
            named.add(name)
    assert named == shapes.keys() - {"embd_norm"}


def test_the_experiment_says_what_notices(run: Run) -> None:
    recording, made, tree = run
    model, n = recording.model, recording.n_prompt
    ids = recording.ids[:n]
    tables = [next(board.iter("table")) for board in find(tree, "meet")]
    assert len(tables) == len(made.swaps) == max(1, n - 2)
    for swap, table in zip(made.swaps, tables, strict=True):
        new = model.tokenizer.vocabulary.index(swap.new)
        found = journey.changed(model.params, model.config, ids, swap.at, new)
        found.pop("resid_pre", None)
        rows = list(table.iter("tr"))[1:]
        for (name, off), row in zip(found.items(), rows, strict=True):
            cells = list(row.iter("td"))
            assert [text(cell) == "the same" for cell in cells] == [x == 0 for x in off], name
            for cell, x in zip(cells, off, strict=True):
                if x >= 0.005:
                    shown_as(numbers(cell)[:1], np.array([x]), 2)


@pytest.mark.parametrize("at", range(4))
def test_the_inventory_adds_up(run: Run, at: int) -> None:
    recording, made, tree = run
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
