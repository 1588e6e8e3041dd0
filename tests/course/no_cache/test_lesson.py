"""The lesson on masks draws who sees whom, and which rows that keeps right; both are worked out anew here."""

from xml.etree.ElementTree import Element

import numpy as np

from microgpt.course.no_cache.lesson import View
from microgpt.course.no_cache.mask import Experiment
from microgpt.experiments.mistakes import see_all
from microgpt.experiments.validity import cache_rows, rows_of, rows_under
from microgpt.viz.drawing.heat import round_up
from microgpt.viz.text.formats import heat, show
from microgpt.weights import shipped
from tests.support.pages import Run, classes, drawn, find, prose_of, runs, text

RUNS = [("names-deep", "maria"), ("stories", "the next day is bright"), ("names", "emm"), ("names-deep", "z" * 15)]
run = runs("no-cache", RUNS)


def sees(made: View, one: Experiment, query: int, key: int) -> bool:
    if one.kind == "none":
        return True
    last = query // made.block * made.block + made.block - 1 if one.kind == "blocks" else query
    return key <= last


def shown(row: Element, tag: str, case: int) -> list[bool]:
    return [any(f"D{case}" in classes(i) for i in cell.iter(tag)) for cell in row.iter("td")]


def test_the_grid_is_the_mask_and_its_column_is_the_new_token(run: Run) -> None:
    made, tree = run
    (grid,) = find(tree, "grid")
    for case, one in enumerate(made.experiments):
        n = len(one.sees)
        for i, row in enumerate(grid):
            seen = [i < n and j < n and sees(made, one, i, j) for j in range(len(grid))]
            assert shown(row, "i", case) == seen
            assert shown(row, "b", case) == [there and j == one.at != i for j, there in enumerate(seen)]


def test_a_row_is_stale_if_its_token_reads_the_new_one(run: Run) -> None:
    """In layer 0 only the row of the changed token; above, the rows of all that see it."""
    made, tree = run
    (rows,) = find(tree, "rows")
    for case, one in enumerate(made.experiments):
        for layer, row in enumerate(reversed(rows)):  # the first layer is at the bottom
            stale = [i == one.at or (layer > 0 and sees(made, one, i, one.at)) for i in range(made.n)]
            width = max(len(e.sees) for e in made.experiments)
            padded = [*stale, *[False] * (width - made.n)]
            assert shown(row, "b", case) == padded
            assert [x > 0 for x in one.off[layer]] == stale and one.by_layer[layer] == sum(stale)
            written = [one.what == "append" and i == one.at for i in range(width)]
            assert shown(row, "u", case) == written
        assert one.rounding < 1e-12
        assert one.n_stale == sum(one.by_layer) and one.n_rows == made.n * made.n_layer
        assert f"{one.n_stale} of {one.n_rows} cached rows are stale" in text(find(tree, f"C{case}")[0])


def test_the_strips_are_the_rows_of_that_mask(run: Run) -> None:
    """The cached ones, and in the last column those that the new token brings; one of each at most in every place."""
    made, tree = run
    model, (rows,) = shipped(made.trace.about["model"]), find(tree, "rows")
    ids = model.tokenizer.encode(made.trace.about["prompt"])
    size = {"causal": 1, "blocks": made.block, "none": model.config.n_ctx}
    words = [show(word) for word in model.tokenizer.vocabulary]
    texts = {one.kind: [*ids, words.index(one.now)] for one in made.experiments if one.what == "append"}
    then = {kind: rows_under(model.params, model.config, text, size[kind]) for kind, text in texts.items()}
    first = {one.kind: rows_under(model.params, model.config, ids, size[one.kind]) for one in made.experiments}
    dim = model.config.head_dim
    sides = [(a[..., :dim], a[..., a.shape[-1] // 2 :][..., :dim]) for a in (*first.values(), *then.values())]
    for case, one in enumerate(made.experiments):
        for layer, row in enumerate(reversed(rows)):
            for at, cell in enumerate(row.iter("td")):
                strips = [find(pair, "strip") for pair in find(cell, "pair", f"D{case}")]
                assert len(strips) == (at < len(one.sees))
                for side, strip in enumerate(strips[0] if strips else ()):
                    whole = first[one.kind] if at < made.n else then[one.kind]
                    part = whole[layer, at, side * whole.shape[-1] // 2 :][:dim]
                    levels = np.rint(12 * part / round_up(max(np.abs(x).max() for both in sides for x in both)))
                    assert [e.get("class") for e in strip] == [heat(int(level)) for level in levels]


def test_without_a_mask_is_as_if_every_row_were_handed_to_every_token() -> None:
    """By another way: a cache that hands out all rows, swept until they are right; and step by step with the mask."""
    (made, _), model = drawn("no-cache", "names-deep", "maria"), shipped("names-deep")
    ids = [*model.tokenizer.encode("maria")]
    now = [*ids, model.tokenizer.vocabulary.index(made.of("none", "append").now)]
    swept = [rows_of(see_all(model.params, model.config, text)[1]) for text in (ids, now)]
    off = np.abs(swept[1][:, : len(ids)] - swept[0]).max(axis=-1)
    assert np.abs(off - np.array(made.of("none", "append").off)).max() < 1e-9
    ids[-1] = model.tokenizer.vocabulary.index(made.of("causal", "change").now)
    moved = cache_rows(model.params, model.config, ids) - cache_rows(model.params, model.config, now[:-1])
    assert np.abs(np.abs(moved).max(axis=-1) - np.array(made.of("causal", "change").off)).max() < 1e-9


def test_the_source_stays_and_the_decoder_grows(run: Run) -> None:
    made, tree = run
    for i, (step, line) in enumerate(zip(made.steps, find(find(tree, "two")[0], "pile"), strict=True), 1):
        assert len(find(line, "own")[0]) == step.own == i and len(find(line, "still")[0]) == step.cross == made.n
        assert step.moved == step.difference == 0


def test_an_adapter_changes_rows_from_its_own_layer_on(run: Run) -> None:
    made, _ = run
    for one in made.adapted:
        for layer, (k, v) in enumerate(one.off):
            own = layer == max(one.layer, 0)
            above = layer > max(one.layer, 0)
            assert (k > 0) == (above or (own and one.name == "wk"))
            assert (v > 0) == (above or (own and one.name == "wv"))


def test_a_full_text_gains_no_token_and_one_layer_has_its_own_sentence() -> None:
    full, _ = drawn("no-cache", "names-deep", "z" * 15)
    assert {one.what for one in full.experiments} == {"change"}
    assert "This model has one layer" in prose_of("no-cache", "names", "emm")
    assert "This model has one layer" not in prose_of("no-cache", "names-deep", "z" * 15)
