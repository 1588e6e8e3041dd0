"""However a prompt is cut into passes, the cache and the answer are the same; what a pass costs is what it does."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.config import n_params, param_shapes
from microgpt.cost import kv_bytes, naive
from microgpt.decode import generate, prefill
from microgpt.experiments.schedule import (
    compute_bound_from,
    estimate,
    largest_difference,
    run_schedule,
    weights_read,
)
from microgpt.trace import Trace
from microgpt.weights import SHIPPED, shipped
from tests.support.given.published import GPT2, LLAMA3
from tests.support.strategies import Case, cases, model_of

BALANCE = 312e12 / 2 / 2.039e12  # multiply-adds per byte, of an A100


@given(cases(min_tokens=2), st.integers(1, 10), st.integers(0, 4))
def test_chunks_leave_the_same_rows_and_say_the_same(case: Case, chunk: int, max_new: int) -> None:
    model, n = model_of(case), len(case.token_ids)
    whole, parts = (run_schedule(model, case.token_ids, size, max_new) for size in (0, chunk))
    assert largest_difference(whole.cache, parts.cache, n) < 1e-9
    said = [prefill(case.params, case.config, case.token_ids, KVCache(case.config), chunk=size) for size in (0, chunk)]
    assert np.abs(said[0] - said[1]).max() < 1e-9
    assert parts.n_prefill == math.ceil(n / chunk) and whole.n_prefill == 1


@given(cases(min_tokens=2), st.integers(1, 10), st.integers(0, 4))
def test_passes_follow_each_other_and_cost_what_the_closed_form_says(case: Case, chunk: int, max_new: int) -> None:
    done = run_schedule(model_of(case), case.token_ids, chunk, max_new)
    assert [p.start for p in done.passes] == [0, *(p.end for p in done.passes[:-1])]
    assert done.passes[-1].end == len(done.cache)
    assert [p.n for p in done.passes[done.n_prefill :]] == [1] * (len(done.passes) - done.n_prefill)
    for one in done.passes:
        assert one == estimate(case.config, one.n, one.start)
        assert one.cache_bytes == kv_bytes(case.config, one.start, 2)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_follows_is_what_greedy_generation_says(name: str) -> None:
    model = shipped(name)
    ids = [model.tokenizer.start, 0, 1]
    trace = Trace({})
    done = run_schedule(model, ids, 2, 6, hook=trace)
    expected = generate(model.params, model.config, ids, 6, stop=model.tokenizer.start)
    assert done.token_ids[len(ids) :] == list(expected)
    assert len([e for e in trace if e.name == "logits"]) == len(done.passes)


def test_a_pass_at_once_does_the_work_of_a_rerun_and_reads_each_weight_once() -> None:
    for config in (GPT2, LLAMA3):
        one = estimate(config, 100, 0)
        assert one.macs == naive(config, 100).sum()
        assert one.bytes_read == one.weight_bytes <= 2 * n_params(config)
        token, in_chunks = estimate(config, 1, 99), [estimate(config, 50, 0), estimate(config, 50, 50)]
        assert token.weight_bytes > 0.99 * one.weight_bytes
        assert sum(p.weight_bytes for p in in_chunks) > 1.99 * one.weight_bytes
        assert one.intensity > max(p.intensity for p in in_chunks) > 20 * token.intensity


def test_of_a_table_that_is_only_looked_up_few_rows_are_read() -> None:
    assert weights_read(LLAMA3, 5) == 8_030_261_248 - (128_256 - 5) * 4096
    assert weights_read(GPT2, 5) == 124_439_808 - (1024 - 5) * 768  # tied: the head reads the whole of wte
    assert weights_read(GPT2, 1024) == sum(map(math.prod, param_shapes(GPT2).values()))


def test_decode_waits_for_memory_and_a_long_prefill_for_the_arithmetic() -> None:
    """About half a multiply-add a byte: each weight has two bytes and is used once."""
    token, prompt = estimate(LLAMA3, 1, 2000), estimate(LLAMA3, 2000, 0)
    assert token.intensity == pytest.approx(0.5, rel=0.1)
    assert token.intensity < BALANCE < prompt.intensity
    first = compute_bound_from(LLAMA3, BALANCE)
    assert first and estimate(LLAMA3, first - 1, 0).intensity < BALANCE <= estimate(LLAMA3, first, 0).intensity


def test_a_machine_whose_balance_no_prompt_reaches_is_told() -> None:
    """With a window the work grows no faster than the bytes: a search without an end would never find one."""
    config = replace(LLAMA3, window=64, n_layer=2)
    assert compute_bound_from(config, BALANCE * 10**6) is None


def test_differences_are_seen() -> None:
    model = shipped("names")
    one, other = (run_schedule(model, [26, 3, last], 0, 0).cache for last in (4, 5))
    assert largest_difference(one, other, 2) == 0 < largest_difference(one, other, 3)
    assert largest_difference(KVCache(model.config), one, 0) == 0
