"""Shapes of known models against what is published of them."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.architectures import Architecture
from microgpt.architectures import parameters as parameters
from microgpt.architectures.config_json import from_config_json
from microgpt.architectures.known import PRESETS
from microgpt.config import n_params
from microgpt.cost import kv_bytes
from microgpt.experiments.schedule import weights_read
from microgpt.weights import SHIPPED, shipped
from tests.support.examples import examples
from tests.support.given.configs import FILES

PLAIN = [one for one in PRESETS.values() if not (one.experts or one.norms_behind)]
EVERY = [*PRESETS.values(), *(from_config_json(json.dumps(fields)) for fields in FILES.values())]


# parameters, bytes that a token adds to the cache, and how heads come by their keys: as published
PUBLISHED = (
    "GPT-2_124M 124_439_808 36_864 MHA, SmolLM2-135M 134_515_008 23_040 GQA, Llama-2-7B 6_738_415_616 524_288 MHA, "
    "Llama-3-8B 8_030_261_248 131_072 GQA, Llama-3-70B 70_553_706_496 327_680 GQA, Gemma-2B 2_506_172_416 18_432 MQA, "
    "Mistral-7B 7_241_732_096 131_072 GQA, DeepSeek-V3 671_026_419_200 70_272 MLA, "
    "Llama-2-13B 13_015_864_320 819_200 MHA, Llama-3.1-8B 8_030_261_248 131_072 GQA, "
    "Llama-3.1-70B 70_553_706_496 327_680 GQA, Llama-3.1-405B 405_853_388_800 516_096 GQA, "
    "Llama-3.2-1B 1_235_814_400 32_768 GQA, Llama-3.2-3B 3_212_749_824 114_688 GQA, "
    "Llama-4-Scout 107_769_861_120 196_608 GQA, Llama-4-Maverick 400_711_848_960 196_608 GQA, "
    "Mixtral-8x7B 46_702_792_704 131_072 GQA, Qwen2.5-7B 7_615_616_512 57_344 GQA, "
    "Qwen2.5-72B 72_706_203_648 327_680 GQA, Qwen3-0.6B 596_049_920 114_688 GQA, "
    "Qwen3-8B 8_190_735_360 147_456 GQA, Qwen3-32B 32_762_123_264 262_144 GQA, "
    "Qwen3-30B-A3B 30_532_122_624 98_304 GQA, Qwen3-235B-A22B 235_093_634_560 192_512 GQA, "
    "Gemma-2-2B 2_614_341_888 106_496 GQA, Gemma-2-9B 9_241_705_984 344_064 GQA, "
    "Gemma-3-1B 999_885_952 26_624 MQA, Gemma-3-4B 3_880_263_168 139_264 GQA, "
    "Gemma-3-12B 11_766_034_176 393_216 GQA, Gemma-3-27B 27_009_346_304 507_904 GQA, "
    "gpt-oss-20b 20_914_757_184 49_152 GQA, gpt-oss-120b 116_829_156_672 73_728 GQA, "
    "DeepSeek-V2-Lite 15_706_484_224 31_104 MLA"
).split(", ")


@pytest.mark.parametrize("row", PUBLISHED)
def test_parameters_and_bytes_a_token_are_the_published_ones(row: str) -> None:
    name, total, per_token, sharing = row.split()
    model = PRESETS[name.replace("_", " ")]
    assert model.n_params == int(total) == sum(map(math.prod, parameters(model).values()))
    if not model.latent:
        plain = not (model.experts or model.norms_behind)
        assert not plain or n_params(model.config) == int(total)
        assert kv_bytes(model.config, 1, 2) == model.bytes_per_token()
    assert (model.bytes_per_token(), model.sharing) == (int(per_token), sharing)


def test_every_preset_is_compared_with_what_is_published() -> None:
    assert {row.split()[0].replace("_", " ") for row in PUBLISHED} == set(PRESETS) and len(PRESETS) >= 25


def test_bytes_without_sharing() -> None:
    assert PRESETS["SmolLM2-135M"].bytes_if_mha() == 69_120
    assert PRESETS["Llama-2-7B"].bytes_if_mha() == PRESETS["Llama-2-7B"].bytes_per_token()
    assert PRESETS["DeepSeek-V3"].row == 576


def test_a_token_runs_few_of_the_experts() -> None:
    model = PRESETS["DeepSeek-V3"]
    assert round((model.n_params - model.n_idle) / 1e9) in (37, 38)  # published: 37 B activated
    table = [2 * (129_280 - batch) * 7168 for batch in (1, 32)]  # rows of the embedding that no token looks up
    assert model.weight_bytes_read() == 2 * (model.n_params - model.n_idle) - table[0]
    assert model.weight_bytes_read(batch=32) == model.weight_bytes() - table[1]
    assert model.weight_bytes_read() < model.weight_bytes_read(batch=2) < model.weight_bytes()


@pytest.mark.parametrize("model", PLAIN, ids=lambda one: one.name)
@given(batch=st.integers(1, 2000))
def test_a_step_reads_of_the_weights_what_a_pass_of_as_many_tokens_does(model: Architecture, batch: int) -> None:
    rows = min(batch, model.config.n_ctx) if model.config.position == "learned" else batch
    assert model.weight_bytes_read(batch=rows) == 2 * weights_read(model.config, rows)


@pytest.mark.parametrize("name", SHIPPED)
def test_our_own_models_follow_the_same_formulas(name: str) -> None:
    config = shipped(name).config
    model = Architecture(name, "", config)
    assert model.n_params == n_params(config)
    assert model.cache_bytes(5, 3, 8) == 3 * kv_bytes(config, 5, 8)


@given(model=st.sampled_from(EVERY), batch=st.integers(1, 100), size=st.sampled_from((1, 2, 4)))
@settings(max_examples=examples(400))
def test_the_crossing_is_the_first_length_at_which_the_cache_is_no_less(
    model: Architecture, batch: int, size: int
) -> None:
    at, read = model.crossing(batch, size), model.weight_bytes_read(2, batch)
    if at is None:
        assert model.window and model.cache_bytes(10**12, batch, size) < read
    else:
        assert model.cache_bytes(at, batch, size) >= read > model.cache_bytes(at - 1, batch, size)


@given(st.sampled_from(EVERY), st.integers(0, 10**13), st.integers(1, 10_000), st.sampled_from((0.5, 1, 2)))
def test_as_many_sequences_as_fit_and_no_more(model: Architecture, memory: int, tokens: int, size: float) -> None:
    n = model.sequences(memory, tokens, weight_size=size)
    if n:
        assert model.weight_bytes(size) + model.cache_bytes(tokens, batch=n) <= memory
    assert model.weight_bytes(size) + model.cache_bytes(tokens, batch=n + 1) > memory
