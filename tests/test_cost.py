"""Counted multiply-adds, bytes and reads agree with the closed forms and with published figures."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.config import Config, Params, param_shapes
from microgpt.cost import PARTS, Counter, count, kv_bytes, naive, reads, step_macs
from microgpt.decode import prefill, recompute
from microgpt.record import Recording
from microgpt.trace import Trace
from tests.support.examples import examples
from tests.support.given.published import least_macs
from tests.support.strategies import configs, latents

MICROGPT = Config()


def zeros(config: Config) -> Params:
    return {name: np.zeros(shape) for name, shape in param_shapes(config).items()}


@pytest.mark.parametrize(
    ("n_layer", "expected"),
    [(1, (60_416, 450_816, 121_856)), (2, (113_920, 894_720, 565_760)), (4, (220_928, 1_782_528, 1_453_568))],
)
def test_published_totals_for_sixteen_tokens(n_layer: int, expected: tuple[int, int, int]) -> None:
    config = Config(n_layer=n_layer)
    by_part = [np.sum([form(config, t) for t in range(1, 17)], axis=0) for form in (step_macs, naive, least_macs)]
    assert tuple(int(parts.sum()) for parts in by_part) == expected
    assert by_part[0][PARTS.index("mlp")] == n_layer * 32_768


@given(configs(n_ctx=12), st.integers(1, 12), st.integers(1, 12))
@settings(max_examples=examples(150))
def test_counted_equals_the_closed_forms(config: Config, t: int, chunk: int) -> None:
    params, ids = zeros(config), [0] * t
    counter = Counter(config)
    recompute(params, config, ids, counter)
    assert counter.macs.tolist() == naive(config, t).tolist()

    trace, cache = Trace({}), KVCache(config)
    for i in ids:
        prefill(params, config, [i], cache, trace)
    assert count(config, trace).tolist() == np.sum([step_macs(config, i + 1) for i in range(t)], axis=0).tolist()
    assert cache.nbytes == kv_bytes(config, t, 8)

    # in chunks: the same work, but for the head, which runs once a chunk
    chunked = Counter(config)
    prefill(params, config, ids, KVCache(config), chunked, chunk)
    assert chunked.macs.tolist()[:-1] == counter.macs.tolist()[:-1]


@given(latents(n_ctx=12), st.booleans(), st.integers(1, 12))
@settings(max_examples=examples(100))
def test_latent_rows_are_counted_as_the_products_are_written(config: Config, absorbed: bool, t: int) -> None:
    """One by one: of a token per step, every head and every row."""
    config = replace(config, absorbed=absorbed, window=0)
    c, params, cache, counter = config, zeros(config), KVCache(config), Counter(config)
    for _ in range(t):
        prefill(params, config, [0], cache, counter)
    assert counter.macs.tolist() == np.sum([step_macs(config, i + 1) for i in range(t)], axis=0).tolist()
    assert cache.nbytes == kv_bytes(config, t, 8)
    again = Counter(config)
    recompute(params, config, [0] * t, again)
    assert again.macs.tolist() == naive(config, t).tolist()

    def size(name: str) -> int:
        return int(np.prod(param_shapes(config).get(f"layer0.{name}", (0,))))

    each = {"qkv": size("wq") + size("wq.down") + size("wk") + size("wv"), "scores": 0, "mixing": 0, "out": size("wo")}
    if absorbed:  # both matrices once per step; latents and short keys are what is read
        each["qkv"] += size("wk_up")
        each["out"] += size("wv_up")
    for _ in range(t):
        for _ in range(c.n_head):
            each["scores"] += c.kv_lora_rank + c.rope_dim if absorbed else c.head_dim
            each["mixing"] += c.kv_lora_rank if absorbed else c.head_dim - c.rope_dim
        each["qkv"] += 0 if absorbed else size("wk_up") + size("wv_up")
    for part, macs in each.items():
        assert step_macs(config, t)[PARTS.index(part)] == c.n_layer * macs, part


def test_q_row_is_read_once_and_kv_rows_ever_after(recording: Recording) -> None:
    n, found = len(recording.cache), reads(recording.trace)
    for layer in range(recording.model.config.n_layer):
        for row in range(n):
            assert found["q", layer, row] == [row]
            assert found["k", layer, row] == found["v", layer, row] == list(range(row, n))


def test_reads_of_a_parallel_pass_are_the_same() -> None:
    trace = Trace({})
    prefill(zeros(MICROGPT), MICROGPT, [0] * 7, KVCache(MICROGPT), trace)
    found = reads(trace)
    assert found["q", 0, 3] == [3]
    assert found["k", 0, 3] == [3, 4, 5, 6]


def test_recorded_multiply_adds_are_those_of_a_rerun(recording: Recording) -> None:
    config = recording.model.config
    for pos in range(len(recording.cache)):
        assert recording.trace["recompute_macs", pos].tolist() == naive(config, pos + 1).tolist()
