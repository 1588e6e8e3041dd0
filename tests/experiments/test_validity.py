"""Which rows a change makes stale, on the models that ship and on random ones."""

from hypothesis import given, settings

from microgpt.decode import recompute
from microgpt.experiments.validity import after_one_training_step, another, cache_rows, rows_without_mask, staleness
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


def test_in_a_deep_model_every_row_behind_the_change_is_stale_below_the_first_layer() -> None:
    model = shipped("names-deep")
    ids = model.tokenizer.encode("emma")
    swapped = [*ids[:2], another(model.config, ids[2], model.tokenizer.start), *ids[3:]]
    off = staleness(*(cache_rows(model.params, model.config, x) for x in (ids, swapped)))
    assert (off[1:, 2:] > 0).all()
    assert (off > 0).sum(axis=-1).tolist() == [1, 3, 3, 3]


def test_one_training_step_lowers_the_loss_and_makes_every_row_stale() -> None:
    model = shipped("names-deep")
    ids = model.tokenizer.encode("emma")
    trained = after_one_training_step(model.params, model.config, ids)
    assert (staleness(*(cache_rows(p, model.config, ids) for p in (model.params, trained))) > 0).all()
    before, after = (recompute(p, model.config, ids[:-1])[ids[-1]] for p in (model.params, trained))
    assert after != before


def test_another_token_is_another_and_not_the_one_to_avoid() -> None:
    others = [another(shipped("names").config, token, 26) for token in range(27)]
    assert all(other not in (token, 26) for token, other in enumerate(others)) and others[25] == 0


def test_without_a_mask_an_appended_token_spoils_every_row_above_the_first_layer() -> None:
    model = shipped("names-deep")
    ids = model.tokenizer.encode("emma")
    off = staleness(*(rows_without_mask(model.params, model.config, x) for x in (ids, [*ids, 0])))
    assert not off[0].any()
    assert (off[1:] > 1e-3).all()
