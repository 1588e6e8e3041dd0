"""Text from the model: the cache changes the work, never the tokens; settings that mean nothing are refused."""

import math
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.config import Config, Params, Report, split
from microgpt.decode import CHUNK, decode_step, generate, prefill, probabilities, recompute, sample
from microgpt.errors import UserError
from microgpt.weights import init, shipped
from tests.support.examples import examples
from tests.support.strategies import Case, cases

TEMPERATURES = st.one_of(st.just(0.0), st.floats(0.0, 5.0))
LOGITS = st.lists(st.floats(-50, 50), min_size=1, max_size=30)


def generate_without_cache(
    case: Case, max_tokens: int, temperature: float, top_k: int, rng: Random, stop: int | None
) -> list[int]:
    ids = list(case.token_ids)
    for _ in range(max_tokens):
        if len(ids) > case.config.n_ctx:
            break
        ids.append(sample(recompute(case.params, case.config, ids), temperature, top_k, rng))
        if ids[-1] == stop:
            break
    return ids[len(case.token_ids) :]


@given(cases(), st.integers(0, 14), TEMPERATURES, st.integers(0, 14), st.integers(0, 12), st.booleans())
@settings(max_examples=examples(200))
def test_generate_gives_the_tokens_that_recomputing_gives(
    case: Case, max_tokens: int, temperature: float, top_k: int, seed: int, stops: bool
) -> None:
    stop = case.token_ids[0] if stops else None
    made = list(generate(case.params, case.config, case.token_ids, max_tokens, temperature, top_k, Random(seed), stop))
    assert made == generate_without_cache(case, max_tokens, temperature, top_k, Random(seed), stop)
    assert len(made) <= min(max_tokens, case.config.n_ctx - len(case.token_ids) + 1)
    assert stop not in made[:-1]


def test_generate_runs_a_long_prompt_in_chunks_and_says_the_same() -> None:
    config = Config(n_ctx=3 * CHUNK, vocab_size=5)
    params = split(init(config, Random(0)), config)
    ids, passes = Random(1).choices(range(5), k=2 * CHUNK + 1), []

    def hook(report: Report) -> None:
        if report[0] == "q":
            passes.append(len(report[1]))

    made = list(generate(params, config, ids, 2, hook=hook))
    assert passes == [CHUNK, CHUNK, 1, 1]
    assert made[0] == recompute(params, config, ids).argmax()
    assert made[1] == recompute(params, config, [*ids, made[0]]).argmax()


def test_sampling_draws_one_number_a_token_as_microgpt_does() -> None:
    logits, rng, other = np.array([0.5, -1.0, 2.0]), Random(3), Random(3)
    drawn = [sample(logits, 0.5, 0, rng) for _ in range(50)]
    weights = np.exp(logits / 0.5)
    assert drawn == [other.choices(range(3), weights=(weights / weights.sum()).tolist())[0] for _ in range(50)]
    assert rng.getstate() == other.getstate()


@given(LOGITS, st.floats(1e-3, 100), st.integers(0, 31))
def test_probabilities_sum_to_one_over_the_top_k_and_keep_the_order(
    logits: list[float], temperature: float, top_k: int
) -> None:
    p = probabilities(np.array(logits), temperature, top_k)
    assert math.isclose(p.sum(), 1.0, rel_tol=1e-12)
    kept = len(logits) if top_k in (0, *range(len(logits), 32)) else top_k
    best = sorted(range(len(logits)), key=lambda i: (-logits[i], i))
    assert not p[best[kept:]].any()
    assert all(p[a] >= p[b] for a, b in pairwise(best))


@given(LOGITS, st.floats(min_value=0, max_value=1e-3))
def test_a_temperature_near_zero_is_greedy_and_overflows_nothing(logits: list[float], temperature: float) -> None:
    p = probabilities(np.array(logits), temperature)
    assert np.isfinite(p).all()
    gaps = max(logits) - np.array(logits)
    assert p[gaps > 1].sum() < 1e-300
    assert 0 <= sample(np.array(logits), temperature, 0, Random(1)) < len(logits)


def test_top_k_of_one_is_greedy_and_ties_go_to_the_earlier_token() -> None:
    logits = np.array([1.0, 5.0, 5.0, 2.0])
    assert {sample(logits, 2.0, 1, Random(seed)) for seed in range(20)} == {1}
    rng = Random(0)
    assert sample(logits, 0.0, 0, rng) == 1 and rng.getstate() == Random(0).getstate()
    assert {sample(logits, 2.0, 2, Random(seed)) for seed in range(40)} == {1, 2}


def fixed() -> tuple[Params, Config]:
    model = shipped("names")
    return model.params, model.config


@pytest.mark.parametrize(
    ("prompt", "settings", "sentence"),
    [
        *(
            ([26], {"temperature": odd}, f"temperature is {odd}; it must be a number from 0")
            for odd in (-1.0, -1e-300, math.nan, math.inf, -math.inf)
        ),
        (
            [26],
            {"temperature": 1.0, "top_k": -2},
            "top-k is -2; it must be a whole number from 0 .* to 9007199254740991",
        ),
        ([], {}, "prompt is empty"),
        *(([0, odd], {}, f"no token {odd}; this model has the tokens 0 to 26") for odd in (-1, 27, 10**9)),
    ],
)
def test_what_means_nothing_is_refused(prompt: list[int], settings: dict[str, Any], sentence: str) -> None:
    params, config = fixed()
    cache = KVCache(config)
    attempts: list[Callable[[], object]] = [lambda: list(generate(params, config, prompt, 3, **settings))]
    if not settings:
        attempts.append(lambda: prefill(params, config, prompt, cache, chunk=1))
        attempts.append(
            lambda: decode_step(params, config, prompt[-1], cache) if prompt else recompute(params, config, [])
        )
    for attempt in attempts:
        with pytest.raises(UserError, match=sentence):
            attempt()
    assert len(cache) == 0


@pytest.mark.parametrize(("temperature", "top_k"), [(0, 0), (1, 0), (1, 3)])
def test_an_answer_that_is_not_a_number_is_never_sampled_from(temperature: float, top_k: int) -> None:
    params, config = fixed()
    params = {**params, "layer0.fc2": np.full_like(params["layer0.fc2"], np.nan)}
    with pytest.raises(UserError, match="not a number"):
        list(generate(params, config, [0, 1], 3, temperature, top_k, Random(0)))
    for at in range(4):
        logits = np.arange(4.0)
        for damage in (np.nan, np.inf):
            logits[at] = damage
            with pytest.raises(UserError, match="not a number"):
                sample(logits, temperature, top_k, Random(0))


@pytest.mark.parametrize("chunk", [0, 1, 5])
def test_a_prompt_longer_than_the_context_is_refused_before_anything_runs(chunk: int) -> None:
    params, config = fixed()
    cache = KVCache(config)

    def no_report(report: Report) -> None:
        raise AssertionError(report)

    with pytest.raises(UserError, match="17 tokens long, .* at most 16"):
        prefill(params, config, [0] * 17, cache, no_report, chunk)
    assert len(cache) == 0
    with pytest.raises(UserError, match="17 tokens long"):
        list(generate(params, config, [0] * 17, 1))


def test_the_hook_is_told_each_choice_with_the_position_that_made_it() -> None:
    params, config = fixed()
    told: list[tuple[int, int]] = []

    def note(report: Report) -> None:
        name, value, pos, _ = report
        if name == "sample":
            assert isinstance(value, int)
            told.append((pos, value))

    made = list(generate(params, config, [26, 0, 1], 5, hook=note))
    assert told == list(enumerate(made, start=2))
