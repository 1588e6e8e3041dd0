"""Which rows a change makes stale, on the models that ship and on random ones."""

from hypothesis import given, settings

from microgpt.experiments.validity import another, cache_rows, staleness
from microgpt.weights import shipped
from tests.support.examples import examples
from tests.support.strategies import Case, cases


@given(cases(min_tokens=3))
@settings(max_examples=examples(100))
def test_appending_leaves_every_row_right_to_the_last_bit(case: Case) -> None:
    shorter = cache_rows(case.params, case.config, case.token_ids[:-1])
    longer = cache_rows(case.params, case.config, case.token_ids)
    assert staleness(shorter, longer).shape == (case.config.n_layer, len(case.token_ids) - 1)
    assert not staleness(shorter, longer).any()


@given(cases(min_tokens=3))
@settings(max_examples=examples(100))
def test_a_change_touches_its_own_row_in_layer_0_and_nothing_before_it(case: Case) -> None:
    at = len(case.token_ids) // 2
    swapped = list(case.token_ids)
    swapped[at] = (swapped[at] + 1) % case.config.vocab_size
    off = staleness(*(cache_rows(case.params, case.config, ids) for ids in (case.token_ids, swapped)))
    assert not off[:, :at].any()
    assert not off[0, at + 1 :].any()
    if case.config.vocab_size > 1:
        assert off[0, at] > 0


def test_another_token_is_another_and_not_the_one_to_avoid() -> None:
    others = [another(shipped("names").config, token, 26) for token in range(27)]
    assert all(other not in (token, 26) for token, other in enumerate(others)) and others[25] == 0
