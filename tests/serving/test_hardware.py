"""The least times, against figures that were worked out elsewhere from the same data sheets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.architectures.known import PRESETS
from microgpt.cost import formula_macs
from microgpt.serving.hardware import (
    PROCESSORS,
    decoding,
    intensity_limit,
    lower_bound,
    most_rows,
    per_pair,
    prefilling,
)

LLAMA, H100 = PRESETS["Llama-3-8B"], PROCESSORS["H100"]


def test_latents_take_more_operations_a_byte_where_they_are_read_as_they_are() -> None:
    """128 heads; a row of 512 and 64 numbers; 128 beside the 64 in each key and in each value."""
    model = PRESETS["DeepSeek-V3"]
    row = model.bytes_per_token()
    assert round(per_pair(model) / row, 1) == 241.8 and per_pair(model) / row == 128 * (512 + 64 + 512) / 576
    assert round(per_pair(model, absorbed=False) / row, 1) == 71.1
    step, again = lower_bound(model, decoding(8, 4096)), lower_bound(model, prefilling(4096))
    assert step.operations - lower_bound(model, decoding(8, 4095)).operations == 8 * per_pair(model)
    pairs = 4096 * 4097 // 2
    weights = again.operations - per_pair(model, absorbed=False) * pairs
    assert weights == pytest.approx(2 * 4096 * (model.n_params - model.n_idle), rel=0.06), "a prompt is run expanded"


def test_a_token_alone_takes_the_time_to_read_the_weights() -> None:
    alone = lower_bound(LLAMA, decoding(1, 1024))
    assert round(LLAMA.weight_bytes_read() / 1e9, 2) == 15.01
    assert round(1000 * alone.seconds(H100), 2) == 4.52
    assert LLAMA.weight_bytes_read() / LLAMA.bytes_per_token() == pytest.approx(114_516, abs=1)


def test_a_batch_of_128_reads_more_rows_than_weights() -> None:
    many = lower_bound(LLAMA, decoding(128, 1024))
    assert round(many.intensity, 1) == 61.8
    assert round(128 * 1024 * LLAMA.bytes_per_token() / many.read, 2) == 0.53
    assert round(intensity_limit(LLAMA, 1024), 1) == 115.8
    assert round(intensity_limit(LLAMA, 8192), 1) == 18.0
    assert LLAMA.sequences(80 * 10**9, 8192) == 59


def test_from_some_length_on_no_batch_is_bound_by_arithmetic() -> None:
    lengths = {name: most_rows(PRESETS[name], H100) for name in PRESETS if not PRESETS[name].latent}
    for name, rows in (("Llama-3-8B", 393), ("Llama-3-70B", 1476), ("Llama-2-7B", 86), ("SmolLM2-135M", 40)):
        assert lengths[name] == pytest.approx(rows, rel=0.01)
    for rows, bound_by_arithmetic in ((390, True), (396, False)):
        largest = lower_bound(LLAMA, decoding(10**7, rows))
        assert (largest.intensity > H100.ridge) is bound_by_arithmetic


def test_a_long_prompt() -> None:
    prompt = lower_bound(LLAMA, prefilling(8192))
    assert round(prompt.operations / 1e12) == 132
    assert round(1000 * prompt.seconds(H100)) == 133


@given(st.integers(1, 300), st.integers(0, 300), st.sampled_from(["GPT-2 124M", "Llama-3-8B", "Llama-2-7B"]))
def test_operations_are_twice_the_multiply_adds_that_a_pass_counts(n: int, before: int, name: str) -> None:
    """Biases and gains aside, which the count of a pass leaves out."""
    config = PRESETS[name].config
    macs = formula_macs(config, n, before + n, range(config.n_layer), 1).sum()
    assert lower_bound(PRESETS[name], prefilling(n, before)).operations == pytest.approx(2 * macs, rel=2e-3)
