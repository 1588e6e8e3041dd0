"""Speculation, undoing and sharing end where plain decoding ends: the same tokens, the same rows, the same logits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.experiments.schedule import largest_difference, run
from microgpt.experiments.speculate import share, speculate, undo
from microgpt.weights import shipped
from tests.experiments.test_schedule import model_of
from tests.support.examples import examples
from tests.support.strategies import Case, cases

NAMES, DEEP = shipped("names"), shipped("names-deep")
PROMPTS = ["a", "emm", "k", "ma", "jo", "sha", "el", "zzz", "abcdefghijklmn"]


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("n_draft", [1, 3, 5])
@pytest.mark.parametrize("target", [NAMES, DEEP], ids=["draft is the target", "another draft"])
def test_speculation_writes_what_the_target_writes_alone(prompt: str, n_draft: int, target: object) -> None:
    model = NAMES if target is NAMES else DEEP
    ids = model.tokenizer.encode(prompt)
    written, rounds, cache = speculate(model, NAMES, ids, n_draft, model.config.n_ctx)
    plain = run(model, ids, 0, model.config.n_ctx)
    assert written == plain.token_ids[: len(written)]
    assert written[-1] == model.tokenizer.start or len(written) == model.config.n_ctx
    assert len(cache) == len(written) - 1
    assert largest_difference(cache, plain.cache, len(cache)) < 1e-9
    at = len(ids)
    for one in rounds:
        assert one.rows_before == at - 1
        assert one.rows_appended == len(one.drafted) + 1  # one pass of the target
        added = one.drafted[: one.accepted] + ([] if one.chosen is None else [one.chosen])
        assert one.rows_kept == one.rows_before + len(added)
        assert written[at : at + len(added)] == added
        ended = one.accepted > 0 and one.drafted[one.accepted - 1] == model.tokenizer.start
        assert (one.chosen is None) == ended
        at += len(added)
    assert at == len(written)


def test_a_draft_that_is_the_target_is_always_right_and_a_poor_one_costs_rows() -> None:
    ids = NAMES.tokenizer.encode("a")
    _, alike, _ = speculate(NAMES, NAMES, ids, 3, 16)
    assert all(one.accepted == len(one.drafted) for one in alike)
    _, rounds, _ = speculate(DEEP, NAMES, ids, 3, 16)
    assert any(one.rows_kept < one.rows_before + one.rows_appended for one in rounds)
    assert any(one.accepted for one in rounds)


@given(cases(min_tokens=2, n_ctx=10), st.data())
@settings(max_examples=examples(60))
def test_rows_that_are_cropped_leave_no_trace(case: Case, data: st.DataObject) -> None:
    room = case.config.n_ctx - len(case.token_ids) + 1
    token = st.integers(0, case.config.vocab_size - 1)
    wrong = data.draw(st.lists(token, min_size=1, max_size=room))
    found = undo(model_of(case), case.token_ids, wrong)
    assert found.appended == len(wrong)
    assert found.difference == 0  # the same operations on the same rows


@given(cases(min_tokens=2), st.data())
@settings(max_examples=examples(60))
def test_texts_share_the_rows_of_their_common_beginning(case: Case, data: st.DataObject) -> None:
    token = st.integers(0, case.config.vocab_size - 1)
    alike = data.draw(st.integers(0, len(case.token_ids) - 1))
    second = case.token_ids[:alike] + data.draw(st.lists(token, min_size=1, max_size=case.config.n_ctx - alike))
    found = share(model_of(case), case.token_ids, second)
    assert alike <= found.rows + 1 and found.rows + found.run == len(second) and found.run >= 1
    assert case.token_ids[: found.rows] == second[: found.rows]
    assert found.rows_difference < 1e-9 and found.logits_difference < 1e-9
