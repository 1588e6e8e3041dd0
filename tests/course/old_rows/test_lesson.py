"""What the lesson on old rows asks, for texts of every length."""

import numpy as np
import pytest

from microgpt.experiments.validity import cache_rows, rows_without_mask
from microgpt.viz.drawing.heat import round_up
from microgpt.viz.text.formats import difference, heat
from microgpt.weights import shipped
from tests.support.pages import classes, drawn, find, numbers, text


@pytest.mark.parametrize("prompt", ["e", "em", "emm", "emma", "emmaemmaemma"])
def test_the_questions_have_the_answers_of_the_experiments(prompt: str) -> None:
    """A prompt of one token, too, where several mistakes come to the same."""
    for name in ("names", "names-deep"):
        shown, _ = drawn("old-rows", name, prompt)
        changes = {one.at: one for one in shown.experiments if one.kind == "change"}
        assert shown.asks.stale["right"] == changes[shown.asks.at].n_stale and len(shown.asks.stale) >= 2
        last = changes[max(changes)]
        assert shown.asks.last["right"] == last.n_rows - last.n_stale and len(shown.asks.last) >= 3


@pytest.mark.parametrize(("model", "prompt"), [("names-deep", "emma"), ("names", "eee"), ("stories", "The next day")])
def test_no_two_buttons_have_the_same_face(model: str, prompt: str) -> None:
    """The two m of emma both become n."""
    _, tree = drawn("old-rows", model, prompt)
    faces = [text(face) for label in tree.iter("label") for face in find(label, "face")]
    assert len(faces) > 4 and len(set(faces)) == len(faces)


@pytest.mark.parametrize("prompt", ["e", "em", "emma", "emmaemmaemma"])
def test_rows_before_an_edit_are_right_and_those_that_are_run_again_hold_all_stale_ones(prompt: str) -> None:
    shown, _ = drawn("old-rows", "names-deep", prompt)
    one = shown.experiments[shown.edited]
    assert not any(off for row in one.rows[: one.at] for off, _ in row.off)
    assert all(off for row in one.rows[one.at :] for off, _ in row.off[1:])
    assert shown.kept + shown.again == one.n_rows
    assert shown.same == sum(not row.off[0][0] for row in one.rows[one.at :])


@pytest.mark.parametrize(("model", "prompt"), [("names-deep", "emma"), ("names", "e"), ("stories", "The next day")])
def test_each_cell_says_in_every_experiment_what_its_table_says(model: str, prompt: str) -> None:
    """It has the strips of the row that was cached, stained where that is stale, struck where its place is gone; lines
    lead up into it where it is stale for what it has read. After the last one, a token that is appended has its own."""
    shown, tree = drawn("old-rows", model, prompt)
    layers, (now, _) = (list(part) for part in find(tree, "n")[0])
    made = shipped(model)
    ids = [made.tokenizer.vocabulary.index(place.token) for place in shown.places]
    n = shown.n
    by_mask = [rule(made.params, made.config, ids) for rule in (cache_rows, rows_without_mask)]
    by_mask[1][:, :n] = rows_without_mask(made.params, made.config, ids[:n])
    dim, half = made.config.head_dim, by_mask[0].shape[-1] // 2
    limit = round_up(max(np.abs(rows[..., at : at + dim]).max() for rows in by_mask for at in (0, half)))
    for case, e in enumerate(shown.experiments):
        on, longer = f"D{case}", e.kind in {"append", "unmasked"}
        new = [(shown.places[-1].token, True)] if longer else []
        for i, place in enumerate(list(now)[1:-1]):
            there = [(text(one), "swapped" in classes(one)) for one in find(place, on)]
            assert there == (new if i == n else [(row.now, row.changed) for row in e.rows[i : i + 1]])
        for layer, line in enumerate(reversed(list(layers))):  # the first one is at the bottom
            assert numbers(find(find(line, "sum")[0], on)[0]) == [sum(row.off[layer][0] > 0 for row in e.rows)]
            for i, cell in enumerate(find(line, "cell")):
                rises = find(cell, "rise", on)
                if i == n:
                    assert len(find(cell, "pair", on)) == len(rises) == longer
                    continue
                assert len(rises) == (e.kind != "weights" and i < len(e.rows) and e.rows[i].off[layer][0] > 0)
                said = [text(one) for one in find(find(cell, "said")[0], on)]
                off = e.rows[i].off[layer][0] if i < len(e.rows) else 0
                assert said == (["gone"] if i >= len(e.rows) else [difference(off)] if off else [])
                assert len(find(cell, "stain", on)) == bool(off)
                assert len([one for one in cell.iter("u") if on in classes(one)]) == (i >= len(e.rows))
                (pair,), row = find(cell, "pair", on), by_mask[e.kind == "unmasked"][layer, i]
                for strip, at in zip(find(pair, "strip"), (0, half), strict=True):
                    levels = np.rint(12 * row[at : at + dim] / limit).astype(int).tolist()
                    assert [one.get("class") for one in strip] == [heat(level) for level in levels]
