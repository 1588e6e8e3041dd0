"""Both runs on the page are the recording's; curves and slopes are the closed forms'."""

from dataclasses import replace

import numpy as np
import pytest

from microgpt.cost import PARTS, naive, step_macs
from microgpt.course.with_and_without.curves import CURVES
from microgpt.course.with_and_without.questions import standing
from microgpt.experiments.exactness.measure import SHORTEST, load_exactness
from microgpt.experiments.exactness.rounding import to_bfloat16
from microgpt.viz.text.formats import of_hundred
from microgpt.weights import SHIPPED, shipped
from tests.support.given.published import least_macs
from tests.support.pages import Run, drawn, find, numbers, recording_of, runs, shown_as, text

RUNS = [("names", "emm"), ("names", "a"), ("names-deep", "abcdefghijklmno"), ("stories", "The next day is bright")]
run = runs("with-and-without", RUNS)


def test_every_step_counts_what_both_runs_did(run: Run) -> None:
    recording, boards = recording_of(run[0]), find(run[1], "spent")
    config, so_far = recording.model.config, np.zeros(3)
    assert len(boards) == len(recording.cache)
    for t, board in enumerate(boards, start=1):
        (parts,), (totals,) = find(board, "parts"), find(board, "so-far")
        rows = [[numbers(td)[0] for td in row.iter("td") if text(td).strip()] for row in parts.iter("tr")][1:]
        ours, again = step_macs(config, t).tolist(), naive(config, t).tolist()
        assert rows == [[a, b] for a, b in zip([*ours, sum(ours)], [*again, sum(again)], strict=True)]
        assert len(rows) == len(PARTS) + 1
        so_far += [form(config, t).sum() for form in (step_macs, least_macs, naive)]
        assert [numbers(b)[0] for b in totals.iter("b")] == so_far.tolist()


def test_a_pile_has_a_row_a_token_and_each_step_runs_over_those_before_it(run: Run) -> None:
    """And what is said of a step counts them: one token with the cache, all of them without it."""
    made, tree = run
    tokens, n = made.trace.about["tokens"], made.n
    for pile in find(tree, "pile"):
        rows = [row for row in find(pile, "line") if (row.get("class") or "").startswith("line R")]
        assert [text(one) for row in rows for one in find(row, "tok")] == tokens[:n]
        assert [row.get("class") for row in rows] == [f"line R{i}" for i in range(n)]
        assert all([one.get("class") for one in row.iter("i")] == ["q", "k", "v", None] for row in rows)
    with_cache, without = find(tree, "pile")
    assert not find(with_cache, "run")
    assert [one.get("class") for one in find(without, "run")] == [f"run D D{i} R{i}" for i in range(n)]
    once, _, over, _ = ([numbers(one) for one in find(p, "said")] for p in find(tree, "both")[0].iter("p"))
    assert once == [[i] for i in range(n)] and over == [[i + 1] for i in range(n)]


def test_tokens_that_have_run_are_those_of_all_steps_so_far(run: Run) -> None:
    made, tree = run
    _, once, _, over = ([numbers(one) for one in find(p, "said")] for p in find(tree, "both")[0].iter("p"))
    n = made.n
    assert once == [[i] for i in range(1, n + 1)]
    assert over[0] == [1] and over[1:] == [[sum(range(1, i + 1)), sum(range(1, i + 1)) - i] for i in range(2, n + 1)]
    assert over[-1] == [1] or over[-1][1] == made.saved_rows
    for i, line in enumerate(find(tree, "ran")[-n:]):
        assert numbers(line) == [*range(1, i + 2), over[i][0], *range(1, i + 1), *(over[i][1:] or [0])]
    for fall in find(tree, "fall"):
        assert [one.get("class") for one in find(fall, "cells")[0]] == [f"b{i}" for i in range(n)]


def test_both_logits_are_the_recordings_and_the_bound_holds(run: Run) -> None:
    made, boards = run[0], find(run[1], "answer")
    recording = recording_of(made)
    trace, vocabulary = recording.trace, recording.trace.about["vocabulary"]
    for i, answer in enumerate(boards):
        rows = list(answer.iter("tr"))[1:]
        ids = [vocabulary.index(text(next(row.iter("bdi")))) for row in rows]
        shown = np.array([[numbers(td)[0] for td in row.iter("td")] for row in rows])
        shown_as(shown[:, 0].tolist(), trace["logits", i][0][ids], 4)
        shown_as(shown[:, 1].tolist(), trace["recompute_logits", i][ids], 4)
        (likeliest, *_) = rows
        (alike,) = find(answer, "alike")
        assert [text(b) for b in alike.iter("b")] == [text(td) for td in likeliest.iter("td")]
        assert text(next(alike.iter("bdi"))) == vocabulary[ids[0]]
        line = made.steps[i].line
        assert line and sum(a * b for a, b in line.pairs) + line.rest == pytest.approx(trace["logits", i][0][ids[0]])
        assert numbers(find(answer, "logit")[0])[-1] == shown[0, 0]
        assert ids[0] == trace["logits", i][0].argmax() == trace["recompute_logits", i].argmax()
        assert np.abs(trace["logits", i][0] - trace["recompute_logits", i]).max() == made.steps[i].difference
    assert made.difference < 1e-12


@pytest.mark.parametrize(("model", "powers"), [("names", (1, 2, 3)), ("names-deep", (1, 3, 3))])
def test_powers_are_read_off_the_curves(model: str, powers: tuple[int, ...]) -> None:
    made, _ = drawn("with-and-without", model, "emm")
    orders = {1: "O(n)", 2: "O(n²)", 3: "O(n³)"}
    attention, mlp, total = (made.slopes[[*CURVES].index(name)] for name in ("attention", "mlp", "total"))
    assert [order for _, order in attention[-1][1]] == [orders[max(2, p)] for p in powers]
    assert [order for _, order in mlp[-1][1]] == [orders[p] for p in (1, 1 if model == "names" else 2, 2)]
    assert [order for _, order in total[-1][1]] == [orders[max(2, p)] for p in powers]
    assert [slope for slope, _ in total[0][1]] == sorted(slope for slope, _ in total[0][1])
    assert total[0][1][0][0] < 1.2 < 1.7 < total[1][1][0][0] < 1.95


def test_a_model_of_others_makes_the_mistake_on_one_of_ours() -> None:
    other = replace(shipped("names"), name="of others")
    assert standing(other, ["⟂", "?"]) == standing(shipped("names"), ["e", "m", "m"])


def test_a_small_share_is_not_said_to_be_nothing() -> None:
    shares = {0.0: "0", 1.0: "100", 0.594: "59", 0.01: "1", 0.0094: "0.9", 0.0033: "0.3", 0.00042: "0.04"}
    assert {share: of_hundred(share) for share in shares} == shares


def test_the_formats_of_shorter_numbers_are_the_kept_figures() -> None:
    """And each example flips: the first token wins with the cache, the second without."""
    made, tree = drawn("with-and-without", *RUNS[0])
    assert [one.model for one in made.tested] == list(SHIPPED)
    boards = find(tree, "pair")[-len(SHIPPED) :]
    for one, board in zip(made.tested, boards, strict=True):
        kept = load_exactness(one.model)
        assert one.kept == 0 and one.flips == len(kept.formats[SHORTEST].flipped)
        table, example = board.iter("table")
        rows = list(table.iter("tr"))[1:]
        assert len(rows) == len(kept.formats)
        for row, found in zip(rows, kept.formats.values(), strict=True):
            apart, other = (text(td) for td in row.iter("td"))
            assert other == (str(len(found.flipped)) if found.flipped else "none")
            assert apart == "nothing" if not found.difference else float(apart.split()[-1]) > 0
        shown = np.array([[numbers(td)[0] for td in row.iter("td")] for row in list(example.iter("tr"))[1:]])
        np.testing.assert_allclose(shown.T, [kept.example.cached, kept.example.again, kept.example.exact], atol=6e-5)
        assert shown[0, 0] > shown[1, 0] and shown[0, 1] < shown[1, 1]
        here = np.float32(to_bfloat16(np.array([max(kept.example.exact)]))[0])
        near = to_bfloat16(here + one.spacing * np.array([0.49, 0.51, 1.0, 1.49], np.float32))
        assert [float(x - here) / one.spacing for x in near] == [0, 1, 1, 1]
