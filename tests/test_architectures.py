"""Shapes of known models against what is published of them, and a reader's config.json against its mistakes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.architectures import PRESETS, Architecture, from_config_json
from microgpt.errors import UserError

LLAMA3 = {
    "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192, "tie_word_embeddings": False,
}  # fmt: skip
GPT2 = {"n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("GPT-2 124M", 124_439_808), ("SmolLM2-135M", 134_515_008), ("Llama-2-7B", 6_738_415_616),
        ("Llama-3-8B", 8_030_261_248), ("Llama-3-70B", 70_553_706_496), ("Mistral-7B", 7_241_732_096),
    ],
)  # fmt: skip
def test_parameters_are_the_published_totals(name: str, total: int) -> None:
    assert not PRESETS[name].published
    assert PRESETS[name].n_params == total


@pytest.mark.parametrize(
    ("name", "per_token", "sharing"),
    [
        ("GPT-2 124M", 36_864, "MHA"), ("SmolLM2-135M", 23_040, "GQA"), ("Llama-2-7B", 524_288, "MHA"),
        ("Llama-3-8B", 131_072, "GQA"), ("DeepSeek-V3", 70_272, "MLA"), ("Falcon-7B", 8_192, "MQA"),
    ],
)  # fmt: skip
def test_bytes_a_token_are_the_published_ones(name: str, per_token: int, sharing: str) -> None:
    assert PRESETS[name].bytes_per_token() == per_token
    assert PRESETS[name].sharing == sharing


def test_smollm_would_hold_three_times_as_much_without_sharing() -> None:
    assert PRESETS["SmolLM2-135M"].bytes_if_mha() == 69_120


@pytest.mark.parametrize(("name", "about"), [("Llama-3-8B", 122_500), ("SmolLM2-135M", 11_700)])
def test_where_the_cache_outweighs_the_weights(name: str, about: int) -> None:
    model = PRESETS[name]
    at = model.crossing()
    assert abs(at - about) < 100
    assert model.cache_bytes(at) >= model.weight_bytes() > model.cache_bytes(at - 1)
    assert model.crossing(batch=10) == pytest.approx(at / 10, abs=1)


def test_a_window_limits_what_is_kept() -> None:
    model = PRESETS["Mistral-7B"]
    assert model.cache_bytes(4096) == model.cache_bytes(32_768) == 4096 * model.bytes_per_token()


@given(st.integers(0, 10**12), st.integers(1, 10_000))
def test_as_many_sequences_as_fit_and_no_more(memory: int, tokens: int) -> None:
    model = PRESETS["SmolLM2-135M"]
    n = model.sequences(memory, tokens)
    if n:
        assert model.weight_bytes() + model.cache_bytes(tokens, batch=n) <= memory
    assert model.weight_bytes() + model.cache_bytes(tokens, batch=n + 1) > memory


def test_a_config_json_gives_the_preset() -> None:
    assert from_config_json(json.dumps(LLAMA3)).config == PRESETS["Llama-3-8B"].config
    assert from_config_json(json.dumps(GPT2)).config == PRESETS["GPT-2 124M"].config
    deepseek = {**LLAMA3, "num_key_value_heads": 32, "kv_lora_rank": 512, "qk_rope_head_dim": 64}
    assert from_config_json(json.dumps(deepseek)).latent == 576
    assert from_config_json(json.dumps({**LLAMA3, "sliding_window": 4096})).window == 4096
    assert from_config_json(json.dumps({**LLAMA3, "sliding_window": None})).window == 0
    assert from_config_json(json.dumps({**LLAMA3, "head_dim": 64})).config.head_dim == 64


def without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (without(LLAMA3, "hidden_size"), "hidden_size"), (without(LLAMA3, "vocab_size"), "vocab_size"),
        (without(GPT2, "n_head"), "n_head"), ({**LLAMA3, "num_hidden_layers": -1}, "num_hidden_layers"),
        ({**LLAMA3, "num_hidden_layers": 1.5}, "num_hidden_layers"), ({**LLAMA3, "head_dim": "64"}, "head_dim"),
        ({**LLAMA3, "num_key_value_heads": 5}, "num_key_value_heads"), ({**LLAMA3, "vocab_size": True}, "vocab_size"),
        ({**LLAMA3, "hidden_size": 10**12}, "hidden_size"), ({**GPT2, "n_embd": 770}, "n_embd"), ([], "object"),
        ({}, "hidden_size"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(fields: Any, says: str) -> None:
    with pytest.raises(UserError, match=says):
        from_config_json(json.dumps(fields))


@given(st.text())
def test_any_text_gets_an_answer_or_a_sentence(text: str) -> None:
    try:
        assert isinstance(from_config_json(text), Architecture)
    except UserError as error:
        assert str(error)


def test_deep_nesting_is_no_crash() -> None:
    with pytest.raises(UserError, match="JSON"):
        from_config_json("[" * 100_000)
