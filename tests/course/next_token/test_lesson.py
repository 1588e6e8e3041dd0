"""Every figure on the page of the loop is that of its passes."""

from xml.etree.ElementTree import Element

import numpy as np

from microgpt.course import page
from microgpt.course.next_token.lesson import view
from microgpt.decode import probabilities
from microgpt.experiments import loop
from microgpt.viz.rendering.render import prose, widget
from microgpt.viz.settings import Settings
from microgpt.weights import Model, shipped
from tests.support.pages import Run, drawn, find, numbers, numbers_of, runs, shown_as, text

RUNS = [("names", "emm"), ("names-deep", "z" * 15), ("stories", "The next day")]
run = runs("next-token", RUNS)


def pieces(run: Run) -> tuple[Model, list[loop.LoopPass], list[Element]]:
    """The model, its passes once more, and a board for each."""
    about = run[0].trace.about
    model = shipped(about["model"])
    return model, loop.run_loop(model, about["prompt"]), find(run[1], "board")


def test_each_panel_is_its_pass(run: Run) -> None:
    model, passes, boards = pieces(run)
    assert len(boards) == len(passes)
    ran = again = 0
    for one, board in zip(passes, boards, strict=True):
        chips = [chip for chip in find(board, "chips")[0]]
        assert [int(text(next(chip.iter("small")))) for chip in chips] == one.token_ids
        tokens = [model.tokenizer.vocabulary[i] for i in one.token_ids]
        assert [text(next(chip.iter("bdi"))) for chip in chips] == tokens
        assert [("again" in chip.get("class", "")) for chip in chips] == [i < one.again for i in range(len(chips))]
        shown_as(numbers_of(find(board, "strip")[-1]), one.trace["embed", 0][-1], 2)
        ran, again = ran + len(one.token_ids), again + one.again
        assert numbers(find(board, "count")[0]) == [ran, again]


def test_the_stack_has_the_shapes_of_the_trace_and_a_square_a_row(run: Run) -> None:
    model, passes, boards = pieces(run)
    c = model.config
    for one, board in zip(passes, boards, strict=True):
        n = len(one.token_ids)
        shapes = [numbers(cell) for cell in find(board, "shape")]
        assert shapes == [[n, c.n_embd]] * (1 + c.n_layer) + [[1, c.vocab_size]]
        rows = find(board, "squares")
        assert [len(find(row, "again")) for row in rows] == [one.again] * (1 + c.n_layer) + [0]
        assert [len(find(row, "new")) for row in rows] == [n - one.again] * (1 + c.n_layer) + [1]


def test_the_guesses_are_the_models(run: Run) -> None:
    model, passes, boards = pieces(run)
    for one, board in zip(passes, boards, strict=True):
        rows = list(find(board, "next")[0].iter("tr"))[1:]
        best = np.argsort(-one.logits, kind="stable")[: len(rows)]
        assert [text(next(row.iter("bdi"))) for row in rows] == [model.tokenizer.vocabulary[t] for t in best]
        cells = [[numbers(cell)[0] for cell in row.iter("td") if text(cell)] for row in rows]
        shown_as([logit for logit, _ in cells], one.logits[best], 2)
        shown_as([p for _, p in cells], probabilities(one.logits)[best], 2)
        assert text(next(find(board, "grown")[0].iter("b"))) == model.tokenizer.vocabulary[one.choice]


def test_position_is_added_or_turned(run: Run) -> None:
    model, _, boards = pieces(run)
    learned = model.config.position == "learned"
    for board in boards:
        strips = [np.array([numbers(cell)[0] for cell in strip]) for strip in find(board, "strip")]
        if learned:
            assert np.abs(strips[0] + strips[1] - strips[2]).max() < 0.016  # each is rounded to two decimals
        assert len(strips) == (3 if learned else 1)  # no angle, before there is a q that it turns


def test_the_other_way_is_what_the_model_writes() -> None:
    (made, _), model = drawn("next-token", "stories", "The next day"), shipped("stories")
    written = model.tokenizer.decode([*loop.run_loop(model, f"{made.open_text} {made.open_other}")[-1].token_ids])
    assert made.other_text == written
    at = loop.run_loop(model, made.open_text)[0]
    for t, best, other in made.open_table:
        chances = probabilities(at.logits, t)
        ids = [model.tokenizer.vocabulary.index(word) for word in (made.open_best, made.open_other)]
        assert [best, other] == chances[ids].tolist()


def test_the_trace_beside_the_page_holds_every_pass() -> None:
    made, _ = drawn("next-token", "stories", "The next day")
    events = made.trace.events
    rows = [len(e.value) for e in events if e.name == "embed"]
    assert len(rows) == made.trace.about["passes"] == len(made.passes)
    assert sum(rows) == made.total
    chosen = [made.trace.about["vocabulary"].index(one.choice) for one in made.passes]
    assert [e.value for e in events if e.name == "sample"][:-1] == chosen[:-1]


def test_a_drawn_run_says_so() -> None:
    settings = Settings("stories", "The next day", 1.0, 0, 42)
    made, lesson = view(settings), page("next-token")
    assert "A token is drawn" in widget("next_token", made, page=lesson)
    assert "had been made before" in prose("next_token", made, page=lesson)
