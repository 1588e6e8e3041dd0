"""What the lesson on old rows asks, for texts of every length."""

import pytest

from microgpt.viz.text.formats import difference
from tests.support.pages import classes, drawn, find, text


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
    shown, tree = drawn("old-rows", model, prompt)
    rows = list(find(tree, "drawing")[0].iter("tr"))[1:]
    assert len(rows) == shown.n
    for n, e in enumerate(shown.experiments):
        on = f"D{n}"
        for i, row in enumerate(rows):
            now, *cells = row.iter("td")
            said = [[text(one) for one in find(cell, "D", on) if one.tag == "span"] for cell in cells]
            burnt = [[one for one in find(cell, "D", on) if one.tag == "i"] for cell in cells]
            if i >= len(e.rows):
                assert said == [["gone"]] * shown.n_layer and not any(burnt) and not find(now, on)
                continue
            (token,) = find(now, "D", on)
            assert text(token) == e.rows[i].now and ("swapped" in classes(token)) == e.rows[i].changed
            for (off, _), words, stain in zip(e.rows[i].off, said, burnt, strict=True):
                assert words == ([f"stale {difference(off)}"] if off else ["right"])
                assert len(stain) == bool(off)
