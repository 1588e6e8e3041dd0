"""A text that goes in circles: where it does, what its rounds have of each other, and rows that are taken out."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.config import Config, n_params, split
from microgpt.experiments.repeating.rounds import Circle, Looks, chances, circle, without_earlier_rounds
from microgpt.model import forward, softmax
from microgpt.trace import Trace
from microgpt.weights import Model
from tests.support.examples import examples
from tests.support.strategies import Case, assert_close, cases, model_of

FEW = st.integers(0, 2)


@given(st.lists(FEW, max_size=14))
def test_a_circle_is_the_one_that_begins_first(ids: list[int]) -> None:
    n = len(ids)
    goes = {
        (start, period)
        for period in range(1, n + 1)
        for start in range(n - 2 * period + 1)
        if all(ids[i] == ids[i + period] for i in range(start, n - period))
    }
    assert circle(ids) == min(goes, default=None)


@given(st.lists(FEW, max_size=5), st.lists(FEW, min_size=1, max_size=4), st.integers(2, 5), st.integers(0, 3))
def test_what_is_written_again_and_again_is_found(before: list[int], word: list[int], times: int, more: int) -> None:
    found = circle(ids := before + word * times + word[:more])
    assert found and found.start <= len(before)
    rounds = found.rounds(len(ids))
    assert len(rounds) >= 2 and rounds[0].start == found.start and rounds[-1].stop <= len(ids)
    assert all([ids[i] for i in turn] == [ids[i] for i in rounds[0]] for turn in rounds)


@st.composite
def circling(draw: st.DrawFn) -> tuple[Model, list[int], Circle]:
    """A random model with learned positions, and a text of two rounds or three behind something else."""
    config: Config = replace(draw(cases(min_tokens=1, n_ctx=13)).config, position="learned", window=0, window_from=0)
    seed, token = draw(st.integers(0, 2**32 - 1)), st.integers(0, config.vocab_size - 1)
    before, word = draw(st.lists(token, min_size=1, max_size=4)), draw(st.lists(token, min_size=1, max_size=3))
    times = draw(st.integers(2, 3))
    params = split(np.random.default_rng(seed).normal(0.0, 0.5, n_params(config)), config)
    model = replace(model_of(Case(config, seed, before)), params=params)
    return model, before + word * times, Circle(len(before), len(word))


@given(circling())
@settings(max_examples=examples(60))
def test_a_round_without_the_others_is_one_that_never_had_them(drawn: tuple[Model, list[int], Circle]) -> None:
    """The text before and the last round alone, each token with the position that it has in the whole text."""
    model, ids, (start, period) = drawn
    at = len(ids) - period
    found = without_earlier_rounds(model, ids, range(at, len(ids)), start)

    def alone(positions: list[int]) -> list[float]:
        params = model.params | {"wpe": model.params["wpe"][positions]}
        config = replace(model.config, n_ctx=len(positions))
        given = [ids[i] for i in positions]
        rows = softmax(forward(params, config, given, KVCache(config)))
        return [float(rows[i, ids[position + 1]]) for i, position in enumerate(positions) if position + 1 < len(ids)]

    first = alone([*range(start), at - 1])[-1]
    others = alone([*range(start), *range(at, len(ids))])[start:]
    assert_close(found, np.array([first, *others]), 1e-9)


@given(cases(min_tokens=2))
@settings(max_examples=examples(40))
def test_the_chance_of_a_token_is_that_after_the_text_before_it(case: Case) -> None:
    found = chances(model_of(case), case.token_ids)
    for i, token in enumerate(case.token_ids[1:]):
        logits = forward(case.params, case.config, case.token_ids[: i + 1], KVCache(case.config))[-1]
        assert abs(found[i] - np.exp(logits[token]) / np.exp(logits).sum()) < 1e-9


@given(circling(), st.integers(1, 5))
@settings(max_examples=examples(40))
def test_looks_are_the_weights_on_what_came_next(drawn: tuple[Model, list[int], Circle], chunk: int) -> None:
    model, ids, found = drawn
    c, n, trace = model.config, len(ids), Trace()
    looks, cache = Looks(c, found, n), KVCache(c)
    for at in range(0, n, chunk):
        forward(model.params, c, ids[at : at + chunk], cache, looks)
    forward(model.params, c, ids, KVCache(c), trace.keep)
    for r, turn in enumerate(found.rounds(n)):
        for layer in range(c.n_layer):
            weights = trace["attn_weights", 0, layer]  # [n_head, n, n]
            earlier = [
                [found.start + k * found.period + (i + 1 - found.start) % found.period for k in range(r + 1)]
                for i in turn
            ]
            total = sum(
                weights[:, i, j]
                for i, places in zip(turn, earlier, strict=True)
                for j in places
                if found.start < j <= i and (i + 1 - j) >= found.period
            )
            assert_close(looks.found[r, layer], np.asarray(total) / len(turn) + np.zeros(c.n_head), 1e-9)
