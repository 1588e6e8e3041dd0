"""What the lesson on edited text shows, by another way: one pass of the edited text, with rows written over by hand."""

import numpy as np
import pytest

from microgpt.cache import KVCache
from microgpt.course.edited_text.lesson import OWN, STALE, View
from microgpt.decode import decode_step, prefill
from microgpt.trace import Trace
from microgpt.viz.text.formats import difference
from microgpt.weights import Model, shipped
from tests.support.pages import drawn, find, said_on, text, view_of

TEXTS = [("names-deep", "e"), ("names-deep", "juliann"), ("names-deep", "juliannjuliann"), ("stories", "The sun is")]


@pytest.mark.parametrize(("name", "prompt"), TEXTS)
def test_rows_are_stale_where_the_trace_of_the_edited_text_has_others(name: str, prompt: str) -> None:
    """What k and v the hook is told, and not what a cache holds: equal to the last bit, or stale."""
    shown, model = view_of_text(name, prompt), shipped(name)
    ids = model.tokenizer.encode(prompt)

    def told(tokens: list[int]) -> list[list[bytes]]:
        trace, cache = Trace({}), KVCache(model.config)
        for token in tokens:
            decode_step(model.params, model.config, token, cache, trace)
        rows, layers = range(len(tokens)), range(model.config.n_layer)
        return [[b"".join(trace[side, i, layer].tobytes() for side in "kv") for layer in layers] for i in rows]

    before = told(ids)
    assert [one.at for one in shown.edits] == [*range(1, len(ids))]
    for one, table in zip(shown.edits, shown.tables, strict=True):
        now = put_in(model, ids[one.at])
        after = told([*ids[: one.at], now, *ids[one.at + 1 :]])
        stale = [[a != b for a, b in zip(*pair, strict=True)] for pair in zip(before, after, strict=True)]
        assert one.stale.T.tolist() == stale
        assert [[cell in (STALE, OWN) for cell in cells] for _, *cells in table.rows] == stale
        assert (one.n_same, one.again) == (one.at * model.config.n_layer, len(ids) - one.at)
        assert one.by_layer == [1, *[one.again] * (model.config.n_layer - 1)] and one.same == one.again - 1
        if one.alike is not None:
            moved = told([*ids[: one.at], now, *ids[one.at :]])[one.at + 1 :]
            pairs = zip(before[one.at :], moved, strict=True)
            assert one.alike == sum(a == b for pair in pairs for a, b in zip(*pair, strict=True)) == 0


@pytest.mark.parametrize(("name", "prompt"), TEXTS)
def test_stale_rows_give_the_logits_of_rows_that_are_written_over(name: str, prompt: str) -> None:
    shown, model = view_of_text(name, prompt), shipped(name)
    ids, old = model.tokenizer.encode(prompt), KVCache(model.config)
    prefill(model.params, model.config, ids, old)
    for one in shown.edits:
        edited = [*ids[: one.at], put_in(model, ids[one.at]), *ids[one.at + 1 :]]
        cache = KVCache(model.config)
        right = prefill(model.params, model.config, edited, cache)
        cache.crop(len(ids) - 1)
        for layer, was in zip(cache.layers, old.layers, strict=True):
            layer.keys[:, one.at + 1 :] = was.keys[:, one.at + 1 : -1]
            layer.values[:, one.at + 1 :] = was.values[:, one.at + 1 : -1]
        found = decode_step(model.params, model.config, edited[-1], cache)
        assert one.off == pytest.approx(np.abs(right - found).max(), abs=1e-9)
        assert (one.right == one.found) == (right.argmax() == found.argmax())
        assert (one.off == 0) == (one.at >= len(ids) - 2)  # nothing lies between the edited token and the last


@pytest.mark.parametrize(("name", "prompt"), TEXTS)
def test_each_cell_has_the_old_row_and_for_every_edit_the_one_that_is_made_anew(name: str, prompt: str) -> None:
    """An edit makes anew what stands from it on; it stains, and tells how far it is off, what is stale."""
    shown, tree = drawn("edited-text", name, prompt)
    assert isinstance(shown, View)
    cache, out = ([list(line.iter("td")) for line in find(tree, part)[0].iter("tr")] for part in ("cache", "out"))
    for n, one in enumerate(shown.edits):
        for layer, (inside, outside) in enumerate(zip(reversed(cache), reversed(out[1:]), strict=True)):
            for i, (cell, told) in enumerate(zip(inside, outside, strict=True)):
                off, on = one.by_row[layer, i], f"D{n}"
                assert len(find(cell, "held")) == 1 and len(find(cell, "anew", on)) == (i >= one.at)
                assert [text(e) for e in find(told, on)] == ([difference(off)] if off else [])
                assert len(find(cell, "stain", on)) == bool(one.stale[layer, i])
                assert bool(find(cell, "anew", "own", on)) == (i == one.at)


def test_the_page_says_what_runs_again() -> None:
    shown, said = view_of("edited-text"), said_on("edited-text")["prefix"]
    one = shown.edits[shown.choices[0].at]
    assert f"Here these are {one.again} of {shown.n}" in said and f"{one.same} rows after" in said


def view_of_text(name: str, prompt: str) -> View:
    shown, _ = drawn("edited-text", name, prompt)
    assert isinstance(shown, View)
    return shown


def put_in(model: Model, old: int) -> int:
    """The token that is put in: the next of the vocabulary, and never the one that begins a text."""
    others = [token for token in range(model.config.vocab_size) if token != model.tokenizer.start]
    return min((token for token in others if token > old), default=others[0])
