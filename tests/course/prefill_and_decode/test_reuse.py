"""Undoing and sharing end where plain decoding ends: the same rows, the same logits."""

from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.course.prefill_and_decode.reuse import share, undo
from tests.support.examples import examples
from tests.support.strategies import Case, cases, model_of


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
