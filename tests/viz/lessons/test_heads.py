"""Every way on the page is a model that was run: its rows, its cost and what became of it are drawn as they were."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.architectures.known import PRESETS
from microgpt.cache import KVCache
from microgpt.experiments.sharing import change, choices, latent, run, with_kv_heads, with_latent
from microgpt.model import forward
from microgpt.record import Recording
from microgpt.viz.course import page
from microgpt.viz.lessons.heads import View, view
from microgpt.viz.rendering.render import prose, widget
from microgpt.viz.settings import Settings
from microgpt.weights import shipped
from tests.viz.test_pages import find, numbers, numbers_of, parse, shown_as, text

RUNS = [("stories", "The next day is bright"), ("names", "emm"), ("names-deep", "a")]


@pytest.fixture(scope="module", params=RUNS, ids=lambda run: run[0])
def made(request: pytest.FixtureRequest) -> tuple[Recording, View, Element]:
    name, prompt = request.param
    recording = Recording(shipped(name), prompt)
    recording.run()
    shown = view(Settings(name, prompt))
    return recording, shown, parse(widget("heads", shown, page=page("fewer-heads")))


def boards(tree: Element) -> list[Element]:
    return [board for board in find(tree, "board", "way") if find(board, "moved")]


def ways(recording: Recording) -> list[tuple[Any, Any]]:
    """Parameters and config of every way, in the order of the page."""
    params, config = recording.model.params, recording.model.config
    shared = [with_kv_heads(params, config, n) for n in choices(config)]
    return [*shared, (with_latent(params, config, config.n_embd // 2), config)]


def test_every_newest_row_is_what_the_changed_model_computed(made: tuple[Recording, View, Element]) -> None:
    recording, _, tree = made
    ids, digits = recording.ids[: len(recording.cache)], 2 if recording.model.config.head_dim <= 4 else 1
    for board, (params, config) in zip(boards(tree), ways(recording), strict=True):
        trace = run(params, config, ids)
        queries = [numbers_of(s) for s in find(find(board, "groups")[0], "strip", "q")]
        shown_as([x for row in queries for x in row], trace["q", 0, 0][-1], digits)
        where = find(board, "rebuilt") or [board]
        for kind in ("k", "v"):
            wanted = ("strip", kind) if find(board, "rebuilt") else ("strip", kind, "newest")
            drawn = [x for s in find(where[0], *wanted) for x in numbers_of(s)]
            shown_as(drawn, trace[kind, 0, 0][-1], digits)
        if find(board, "rebuilt"):
            down, _ = latent(recording.model.params, 0, config.n_embd // 2)
            (short,) = find(board, "strip", "c", "newest")
            shown_as(numbers_of(short), down @ trace["attn_norm", 0, 0][-1], digits)


def test_the_kept_rows_are_as_many_as_the_cache_of_that_model_holds(made: tuple[Recording, View, Element]) -> None:
    recording, shown, tree = made
    n = len(recording.cache)
    for board, way, (params, config) in zip(boards(tree), shown.ways, ways(recording), strict=True):
        cells = [cell for s in find(board, "stays") for strip in find(s, "strip") for cell in strip]
        assert len(cells) == n * way.row
        if way.n:
            cache = KVCache(config)
            forward(params, config, recording.ids[:n], cache)
            assert len(cells) == cache.nbytes // 8 // config.n_layer
        assert len(find(board, "stays")) == len(find(board, "wires")) == (way.n or 1)


def test_the_table_holds_what_was_measured(made: tuple[Recording, View, Element]) -> None:
    recording, shown, tree = made
    ids, config = recording.ids[: len(recording.cache)], recording.model.config
    before = run(recording.model.params, config, ids)["logits", 0]
    (table,) = find(tree, "all-ways")
    rows = list(table.iter("tr"))[1:]
    short = [(with_latent(recording.model.params, config, way.row), config) for way in shown.rows if not way.n]
    for row, (params, changed) in zip(rows, [*ways(recording)[:-1], *short], strict=True):
        after = run(params, changed, ids)["logits", 0]
        cells = [text(td) for td in row.iter("td")]
        same = int((before.argmax(axis=1) == after.argmax(axis=1)).sum())
        assert cells[2] == f"{same} of {len(ids)}"
        most = float(np.abs(before - after).max())
        if "below" in cells[3]:
            assert most < float(cells[3].removeprefix("below ")) <= 1e-9
        else:
            shown_as([float(cells[3])], np.array([most]), 2)
    for board, (params, changed) in zip(boards(tree), ways(recording), strict=True):
        moved = change(run(recording.model.params, config, ids), run(params, changed, ids), config).moved
        shown_as([numbers(b)[0] for b in find(board, "moved")[0].iter("b")], 100 * moved, 0)
    own = [row for row in rows if row.get("class") == "own"]
    assert len(own) == 1
    told = [t for t in recording.trace.about["tokens"][1:]]
    assert [text(b) for b in own[0].iter("bdi")] == told


def test_sharing_costs_what_the_formula_says_for_smollm2(made: tuple[Recording, View, Element]) -> None:
    _, shown, tree = made
    drawn = [board for board in find(tree, "board", "way") if find(board, "boxes")]
    assert [len(find(board, "box", "q")) for board in drawn] == [9, 9, 9]
    assert [len(find(board, "box", "k")) for board in drawn] == [9, 3, 1]
    for board, one in zip(drawn, shown.variants, strict=True):
        (line,) = find(board, "line")
        *factors, product = numbers(line)
        assert np.prod(factors) == product == one.per_token
    assert [one.per_token for one in shown.variants] == [69_120, 23_040, 7_680]
    assert shown.smol == shown.variants[1] and (shown.mha, shown.mqa) == (shown.variants[0], shown.variants[-1])


def test_questions_have_one_right_answer(made: tuple[Recording, View, Element]) -> None:
    _, shown, _ = made
    llama = PRESETS["Llama-3-8B"]
    assert shown.times[shown.times_right] == llama.bytes_if_mha() / llama.bytes_per_token()
    assert len(set(shown.times)) == len(shown.times)
    assert shown.rows_in_all[shown.rows_right] == 576 and len(set(shown.rows_in_all)) == 3
    assert shown.readings[shown.readings_right] == (3, 64) and len(set(shown.readings)) == 3


@pytest.mark.parametrize(("name", "prompt"), [("names", "a"), ("stories", "the " * 23), ("names-deep", "z" * 15)])
def test_the_prose_stands_for_any_text(name: str, prompt: str) -> None:
    shown = view(Settings(name, prompt.strip()))
    said = " ".join(text(parse(prose("heads", shown, page=page("fewer-heads"), live=True))).split())
    assert ("each query head its own copy" in said) == (name == "stories")
    assert ("The rest was never new" in said) == (name != "stories")


@pytest.mark.parametrize(("model", "prompt"), [*RUNS, ("stories", "The next day, ")])
def test_what_is_written_is_what_the_tokenizer_makes_of_it(model: str, prompt: str) -> None:
    """Marks of every kind follow the word before them without a space, as anywhere else."""
    shown, tokenizer = view(Settings(model, prompt)), shipped(model).tokenizer
    ids = [tokenizer.vocabulary.index(token) for token in shown.fewest.text]
    assert shown.fewest_text == shown.fewest.sentence == tokenizer.decode(ids)
    assert shown.spaced == (" " in tokenizer.decode(ids[:2]))
