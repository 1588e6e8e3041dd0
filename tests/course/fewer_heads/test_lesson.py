"""Every way on the page is a model that was run: its rows, its cost and what became of it are drawn as they were."""

import re
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.cache import KVCache
from microgpt.course import page
from microgpt.course.fewer_heads import training
from microgpt.course.fewer_heads.lesson import view
from microgpt.experiments.shared_heads import change, choices, latent, record_pass, with_kv_heads, with_latent
from microgpt.experiments.shared_heads.quality import load_losses
from microgpt.model import forward
from microgpt.record import Recording
from microgpt.viz.rendering.render import prose
from microgpt.viz.settings import Settings
from microgpt.weights import shipped
from tests.support.pages import (
    Run,
    classes,
    find,
    folded,
    numbers,
    numbers_of,
    parse,
    recording_of,
    runs,
    shown_as,
    text,
)

RUNS = [("stories", "The next day is bright"), ("names", "emm"), ("names-deep", "a")]
made = runs("fewer-heads", RUNS)


def drawings(tree: Element) -> tuple[Element, Element]:
    """The running model with its heads shared, and SmolLM2: each drawn once for all its ways."""
    ours, smol = find(tree, "drawing")
    return ours, smol


def kept(drawing: Element) -> list[Element]:
    """What each way keeps."""
    return find(drawing, "D")


def boards(tree: Element) -> list[Element]:
    """What is said of each way of the running model."""
    return [panel for panel in find(tree, "C") if find(panel, "moved")]


def ways(recording: Recording) -> list[tuple[Any, Any]]:
    """Parameters and config of every way, in the order of the page."""
    params, config = recording.model.params, recording.model.config
    shared = [with_kv_heads(params, config, n) for n in choices(config)]
    return [*shared, (with_latent(params, config, config.n_embd // 2), config)]


def test_every_newest_row_is_what_the_changed_model_computed(made: Run) -> None:
    view, tree = made
    recording = recording_of(view)
    ids, digits = recording.ids[: len(recording.cache)], 2 if recording.model.config.head_dim <= 4 else 1
    ours, _ = drawings(tree)
    for part, (params, config) in zip(kept(ours), ways(recording), strict=True):
        trace = record_pass(params, config, ids)
        queries = [numbers_of(s) for s in find(find(ours, "queries")[0], "strip", "q")]
        shown_as([x for row in queries for x in row], trace["q", 0, 0][-1], digits)  # those of every way
        where = find(part, "rebuilt") or [part]
        for kind in ("k", "v"):
            wanted = ("strip", kind) if find(part, "rebuilt") else ("strip", kind, "newest")
            shown = [x for s in find(where[0], *wanted) for x in numbers_of(s)]
            shown_as(shown, trace[kind, 0, 0][-1], digits)
        if find(part, "rebuilt"):
            down, _ = latent(recording.model.params, 0, config.n_embd // 2)
            (short,) = find(part, "strip", "c", "newest")
            shown_as(numbers_of(short), down @ trace["attn_norm", 0, 0][-1], digits)


def test_the_kept_rows_are_as_many_as_the_cache_of_that_model_holds(made: Run) -> None:
    shown, tree = made
    recording = recording_of(shown)
    n = len(recording.cache)
    for part, way, (params, config) in zip(kept(drawings(tree)[0]), shown.ways, ways(recording), strict=True):
        cells = [cell for s in find(part, "stays") for strip in find(s, "strip") for cell in strip]
        assert len(cells) == n * way.row
        if way.n:
            cache = KVCache(config)
            forward(params, config, recording.ids[:n], cache)
            assert len(cells) == cache.nbytes // 8 // config.n_layer
        stays = find(part, "stays")
        assert len(stays) == (way.n or 1)
        for kind in "kv":  # each strip lies under the letter of what it holds
            named = [one for stay in stays for one in find(stay, kind) if one.tag == "small"]
            assert bool(named) == bool(way.n) and all(
                one.text and one.text.strip().startswith(kind.upper()) for one in named
            )


def test_each_line_says_what_query_heads_read_and_how_an_average_is_made(made: Run) -> None:
    """By what is printed alone; the widest readers read all that is kept."""
    shown, tree = made
    for panel, way in zip(boards(tree), shown.ways, strict=True):
        lines = list(find(panel, "replies")[0])
        assert [" ".join(classes(line)) for line in lines] == [one.name for one in shown.asked]
        for line in lines:
            first, last = shown.asked[lines.index(line)]
            pairs, each, numbers_read, *cell = numbers(line)[1 if first == last else 2 :]
            assert pairs * each == numbers_read
            assert pairs == (max(1, way.n * (last - first + 1) // len(shown.queries)) if way.n else 1)
            if cell:
                *factors, value = cell
                products = [a * b for a, b in zip(factors[::2], factors[1::2], strict=True)]
                assert way.origin == "averaged" and abs(sum(products) - value) <= 0.5 * 10**-shown.digits + 1e-9
        assert (way.origin == "averaged") == any(len(numbers(line)) > 5 for line in lines)
        assert numbers(lines[-1])[4] == way.row


def test_what_is_kept_stands_below_those_that_share_it(made: Run) -> None:
    """Each box has its number and its way's heads that share: the style places it by the two, and by the choice's."""
    shown, tree = made
    of_both = [[one.size for one in shown.ways], [one.group for one in shown.variants]]
    for drawing, sizes in zip(drawings(tree), of_both, strict=True):
        (lanes,) = find(drawing, "lanes")
        heads = len(find(drawing, "queries")[0])
        assert f"w{heads}" in classes(lanes)
        assert len(find(drawing, "wires")[0]) == heads
        for part, size in zip(kept(drawing), sizes, strict=True):
            assert f"w{size}" in classes(part)
            boxes = find(part, "stays")
            assert len(boxes) * size == heads
            if not find(part, "half"):
                assert [one.get("class") for one in boxes] == [f"stays b{i}" for i in range(len(boxes))]
    for choice, sizes in zip(find(tree, "pick"), of_both, strict=True):
        chosen = [(one.get("class") or "").split()[1] for one in choice.iter("input") if one.get("type") == "radio"]
        assert chosen == [f"by{size}" for size in sizes]


def test_the_table_holds_what_was_measured(made: Run) -> None:
    shown, tree = made
    recording = recording_of(shown)
    ids, config = recording.ids[: len(recording.cache)], recording.model.config
    before = record_pass(recording.model.params, config, ids)["logits", 0]
    (table,) = find(tree, "all-ways")
    rows = list(table.iter("tr"))[1:]
    short = [(with_latent(recording.model.params, config, way.row), config) for way in shown.rows if not way.n]
    for row, (params, changed) in zip(rows, [*ways(recording)[:-1], *short], strict=True):
        after = record_pass(params, changed, ids)["logits", 0]
        cells = [text(td) for td in row.iter("td")]
        same = int((before.argmax(axis=1) == after.argmax(axis=1)).sum())
        assert cells[2] == f"{same} of {len(ids)}"
        most = float(np.abs(before - after).max())
        if "below" in cells[3]:
            assert most < float(cells[3].removeprefix("below ")) <= 1e-9
        else:
            shown_as([float(cells[3])], np.array([most]), 2)
    for way, board, (params, changed) in zip(shown.ways, boards(tree), ways(recording), strict=True):
        moved = change(
            record_pass(recording.model.params, config, ids), record_pass(params, changed, ids), config
        ).moved
        said = [numbers(b)[0] for b in find(board, "moved")[0].iter("b")]
        assert bool(said) == way.moves == (moved.max() > 0.005)  # where none goes elsewhere, a sentence says so
        shown_as(said or [0] * len(moved), 100 * moved, 0)
    own = [row for row in rows if row.get("class") == "own"]
    assert len(own) == 1
    assert [text(b) for b in own[0].iter("bdi")] == recording.trace.about["tokens"][1:]


def test_sharing_costs_what_the_formula_says_for_smollm2(made: Run) -> None:
    shown, tree = made
    _, smol = drawings(tree)
    assert len(find(smol, "box", "q")) == 9
    assert [len(find(part, "box", "k")) for part in kept(smol)] == [9, 3, 1]
    for line, one in zip(find(tree, "line"), shown.variants, strict=True):
        *factors, product = numbers(line)
        assert np.prod(factors) == product == one.bytes_per_token()
    assert [one.bytes_per_token() for one in shown.variants] == [69_120, 23_040, 7_680]
    assert (shown.asks.mixed_up > 0) == (shown.own.kind != "MHA")
    assert shown.smol == shown.variants[1]


@pytest.mark.parametrize(("name", "prompt"), [("names", "a"), ("stories", "the " * 23), ("names-deep", "z" * 15)])
def test_the_prose_stands_for_any_text(name: str, prompt: str) -> None:
    shown = view(Settings(name, prompt.strip()))
    said = folded(parse(prose("fewer_heads", shown, page=page("fewer-heads"), live=True)))
    assert ("each query head its own copy" in said) == (name == "stories")
    assert ("The rest was never new" in said) == (name != "stories")


@pytest.mark.parametrize(("model", "prompt"), [*RUNS, ("stories", "The next day, ")])
def test_what_is_written_is_what_the_tokenizer_makes_of_it(model: str, prompt: str) -> None:
    """Marks of every kind follow the word before them without a space, as anywhere else."""
    shown, tokenizer = view(Settings(model, prompt)), shipped(model).tokenizer
    ids = [tokenizer.vocabulary.index(token) for token in shown.fewest.text]
    assert shown.fewest.sentence == tokenizer.decode(ids)
    assert shown.spaced == (" " in tokenizer.decode(ids[:2]))


# ---- what sharing costs, trained -------------------------------------------------------------------


def told(name: str) -> str:
    """A paragraph of the page, by its id."""
    tree = parse(prose("fewer_heads", view(Settings("stories", "The next day")), page=page("fewer-heads")))
    (found,) = (e for e in tree.iter() if e.get("id") == name)
    return folded(found)


def test_the_table_has_the_means_and_spreads_of_what_is_kept(made: Run) -> None:
    """And a mark for each seed, from left to right as its loss is, or a word that they lie beyond."""
    shown, tree = made
    (table,) = find(tree, "trained")
    kept = load_losses()
    kinds = [kept[4]["trained"], kept[4]["continued"]]
    kinds += [kept[n][kind] for n in (2, 1) for kind in ("trained", "averaged", "continued")]
    rows = list(table.iter("tr"))[1:]
    assert len(rows) == len(kinds)
    low, high = (numbers(end)[0] for end in find(table, "ends")[0])
    for row, losses in zip(rows, kinds, strict=True):
        cells = [numbers(td)[0] for td in list(row.iter("td"))[:2]]
        shown_as(cells, np.array([np.mean(losses), np.std(losses, ddof=1)]), 4)
        marks = [float(x) for x in re.findall(r"M([\d.]+) ", find(row, "runs")[0].get("d") or "")]
        places = [(loss - low) / (high - low) * training.SCALE_WIDTH for loss in losses]
        if find(row, "beyond"):
            assert not marks and min(losses) > high
        else:
            np.testing.assert_allclose(marks, places, atol=0.06)
    assert [numbers(e)[-1] for e in table.iter("small")] == [64, 32, 16]


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """other(n, kind, by): a page on losses that are higher by so much than those of four heads, seed by seed."""

    def set_(*changes: tuple[int, str, float]) -> None:
        kept = load_losses()
        for n, kind, by in changes:
            base = kept[4]["continued" if kind == "continued" else "trained"]
            kept[n][kind] = [loss + by for loss in base]
        monkeypatch.setattr(training, "load_losses", lambda: kept)

    return set_


def test_what_is_said_of_the_cost_follows_the_losses(other: Callable[..., None]) -> None:
    assert "2 heads a token keeps 32 bytes in place of 64, and the mean loss is 0.0041 higher" in told("cost")
    assert "within the spread" not in told("cost")
    other((2, "trained", 0.002))
    said = told("cost")
    assert "With 2 heads a token keeps 32 bytes in place of 64, and the mean loss differs by 0.0020, which" in said
    assert said.count("within the spread") == 1
    other((1, "trained", -0.001), (2, "trained", 0.1))
    said = told("cost")
    assert "With 1 head a token keeps 16 bytes in place of 64, and the mean loss differs by 0.0010, which is" in said
    assert "in 0 of 12 seeds it is the worse model" in said and "is 0.1000 higher, 28.8 times the spread" in said


def test_what_is_said_of_averages_and_of_weights_follows_the_losses(other: Callable[..., None]) -> None:
    assert "still better" in told("conversion") and "most of the price is that of sharing" in told("weights")
    other((1, "trained", 0.02), (1, "continued", 0.01))
    assert "no worse than to share from the first step" in told("conversion")
    other((1, "trained", 0.02), (1, "widened", 0.009))
    assert "most of the price is that of the missing weights" in told("weights")
