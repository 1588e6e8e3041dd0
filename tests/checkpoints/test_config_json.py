"""A reader's config.json: the architecture that it describes, and its mistakes by name."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.architectures import Architecture
from microgpt.architectures.config_json import TYPES, from_config_json
from microgpt.architectures.facts import facts_of
from microgpt.architectures.known import PRESETS
from microgpt.errors import UserError
from tests.support.given.configs import FILES, GPT2, LLAMA3

TOTALS = (  # those of the presets stand in tests/architectures
    "GPT-2 124_439_808, DeepSeek-V2-Lite 15_706_484_224, Mixtral-8x7B 46_702_792_704, Qwen2.5-7B 7_615_616_512, "
    "Qwen3-0.6B 596_049_920, Gemma-2-2B 2_614_341_888, Gemma-3-1B 999_885_952, Gemma-3-4B 3_880_263_168, gpt-oss-20b "
    "20_914_757_184, Llama-4-Scout 107_769_861_120, Llama-4-Maverick 400_711_848_960, Qwen3-30B-A3B 30_532_122_624"
).split(", ")


@pytest.mark.parametrize("total", TOTALS)
def test_published_files_give_the_published_totals(total: str) -> None:
    name, n_params = total.rsplit(" ", 1)
    assert from_config_json(json.dumps(FILES[name])).n_params == int(n_params)


@pytest.mark.parametrize("name", sorted(FILES.keys() & PRESETS.keys()))
def test_a_file_gives_its_preset(name: str) -> None:
    found, preset = from_config_json(json.dumps(FILES[name])), PRESETS[name]
    assert replace(found, name=name, source=preset.source) == preset


def test_the_type_may_be_missing() -> None:
    assert from_config_json(json.dumps(LLAMA3)).config == PRESETS["Llama-3-8B"].config
    assert from_config_json(json.dumps(GPT2)).config == PRESETS["GPT-2 124M"].config
    assert from_config_json(json.dumps({**LLAMA3, "head_dim": 64})).config.head_dim == 64
    assert from_config_json(json.dumps(without(LLAMA3, "num_key_value_heads"))).sharing == "MHA"


def test_biases_are_counted() -> None:
    plain = from_config_json(json.dumps(LLAMA3)).n_params
    some = from_config_json(json.dumps({**LLAMA3, "attention_bias": True, "mlp_bias": True})).n_params
    assert some - plain == 32 * (4096 + 1024 + 1024 + 4096 + 14336 + 14336 + 4096)


def test_a_family_without_biases_has_none_whatever_its_file_says() -> None:
    both = {"attention_bias": True, "mlp_bias": True}
    for kind, expected in {"mistral": (False, False), "qwen2": (True, False), "qwen3": (True, True)}.items():
        config = from_config_json(json.dumps({**LLAMA3, **both, "model_type": kind})).config
        assert (config.qkv_bias, config.wo_bias, config.mlp_bias) == (*expected, False)


def test_key_heads_that_the_file_leaves_out_are_the_familys() -> None:
    some = without({**LLAMA3, "num_attention_heads": 64}, "num_key_value_heads")
    for kind, expected in {"llama": 64, "mistral": 8, "qwen2": 32, "qwen3": 32, "gemma": 16}.items():
        assert from_config_json(json.dumps({**some, "model_type": kind})).config.n_kv_head == expected
        null = {**some, "model_type": kind, "num_key_value_heads": None}
        assert from_config_json(json.dumps(null)).config.n_kv_head == 64


ON = {"use_sliding_window": True, "sliding_window": 7}
FULL, SLIDING = ["full_attention"] * 24, ["sliding_attention"] * 8


@pytest.mark.parametrize(
    ("kind", "fields", "window"),
    [
        ("llama", ON, (0, 0)),
        ("mistral", {}, (4096, 0)),
        ("mistral", {"sliding_window": None}, (0, 0)),
        ("mistral", {**ON, "use_sliding_window": False}, (7, 0)),
        ("qwen2", {"sliding_window": 7}, (0, 0)),
        ("qwen2", ON, (7, 28)),
        ("qwen3", {**ON, "max_window_layers": 3}, (7, 3)),
        ("qwen3", {**ON, "max_window_layers": 32}, (0, 0)),
        ("qwen3", {**ON, "sliding_window": None}, (0, 0)),
        ("qwen2", {"use_sliding_window": True}, (4096, 28)),
        ("qwen2", {**ON, "layer_types": FULL + SLIDING}, (7, 24)),
        ("qwen2", {**ON, "layer_types": FULL + SLIDING, "max_window_layers": 3}, (7, 24)),
        ("qwen2", {"layer_types": ["full_attention"] * 32}, (0, 0)),
    ],
)
def test_only_a_qwen_can_switch_its_window_off(kind: str, fields: dict[str, Any], window: tuple[int, int]) -> None:
    config = from_config_json(json.dumps({**LLAMA3, "model_type": kind, **fields})).config
    assert (config.window, config.window_from) == window


@pytest.mark.parametrize(
    ("name", "tokens", "size", "windows"),
    [
        ("a Qwen with a window in half of its layers", 32_768, 226_492_416, [0] * 12 + [4096] * 12),
        ("a Qwen with a window in all layers but the last", 32_768, 218_103_808, [4096] * 5 + [0]),
        ("a Qwen with a window in all layers but the last", 262_144, 1_157_627_904, [4096] * 5 + [0]),
        ("Gemma-2-2B", 8192, 13 * 4096 * (4096 + 8192), [4096, 0] * 13),
        ("Gemma-3-1B", 32_768, 1024 * (22 * 512 + 4 * 32_768), [*[512] * 5, 0] * 4 + [512] * 2),
        ("gpt-oss-20b", 131_072, 2048 * 12 * (128 + 131_072), [128, 0] * 12),
        ("Llama-4-Scout", 32_768, 4096 * (36 * 8192 + 12 * 32_768), [8192, 8192, 8192, 0] * 12),
        ("Qwen3-30B-A3B", 32_768, 2048 * 48 * 32_768, [0] * 48),
    ],
)
def test_each_layer_keeps_its_own_window(name: str, tokens: int, size: int, windows: list[int]) -> None:
    found = from_config_json(json.dumps(FILES[name]))
    assert list(found.windows) == windows and found.cache_bytes(tokens) == size
    at, read = found.crossing(), found.weight_bytes_read()
    assert at and found.cache_bytes(at) >= read > found.cache_bytes(at - 1)


def test_windows_that_our_forward_cannot_have_are_not_dropped_where_a_model_is_to_run() -> None:
    with pytest.raises(UserError, match="with a window must be the last"):
        facts_of(json.dumps(FILES["a Qwen with a window in all layers but the last"]))
    config = facts_of(json.dumps(FILES["a Qwen with a window in half of its layers"])).config
    assert (config.window, config.window_from) == (4096, 12)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("mistral", {"layer_types": [*FULL, *SLIDING]}),
        ("llama", {"layer_types": [*FULL, *SLIDING]}),
        ("qwen2", {**ON, "layer_types": FULL}),
        ("qwen2", {**ON, "layer_types": [*FULL, *["linear_attention"] * 8]}),
        ("qwen2", {"layer_types": [*FULL, *SLIDING]}),
        ("gemma2", {"sliding_window": None, "layer_types": [*FULL, *SLIDING]}),
        ("llama4", {}),
        ("llama4_text", {"no_rope_layers": [1]}),
        ("gemma3_text", {"sliding_window_pattern": 0}),
    ],
)
def test_windows_that_are_not_clear_are_refused(kind: str, fields: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="layer_types|text_config|no_rope_layers|sliding_window_pattern"):
        from_config_json(json.dumps({**LLAMA3, "model_type": kind, **fields}))


def without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


V2 = FILES["DeepSeek-V2-Lite"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (without(LLAMA3, "hidden_size"), "no “hidden_size”"),
        (without(LLAMA3, "vocab_size"), "no “vocab_size”"),
        (without(GPT2, "n_head"), "no “n_head”"),
        (without(V2, "kv_lora_rank"), "no “kv_lora_rank”"),
        (without(V2, "n_routed_experts"), "no “n_routed_experts”"),
        ({**LLAMA3, "num_hidden_layers": 10**6}, "“num_hidden_layers” is 1000000.*2,000"),
        ({**LLAMA3, "num_hidden_layers": 1.5}, "“num_hidden_layers” is 1.5"),
        ({**LLAMA3, "head_dim": "64"}, '“head_dim” is "64"'),
        ({**LLAMA3, "head_dim": 0}, "“head_dim” is 0"),
        ({**LLAMA3, "num_key_value_heads": 5}, "“num_key_value_heads” is 5"),
        ({**LLAMA3, "num_attention_heads": 24, "num_key_value_heads": 8}, "“hidden_size” is 4096"),
        ({**LLAMA3, "vocab_size": True}, "“vocab_size” is true"),
        ({**LLAMA3, "vocab_size": []}, "“vocab_size”"),
        ({**LLAMA3, "hidden_size": 10**12}, "“hidden_size”.*10,000,000"),
        ({**GPT2, "n_embd": 770}, "“n_embd” is 770"),
        ({**LLAMA3, "tie_word_embeddings": "no"}, '“tie_word_embeddings” is "no"'),
        ({**LLAMA3, "model_type": "falcon"}, "“model_type” is “falcon”"),
        ({**LLAMA3, "model_type": [1]}, "model_type"),
        ({**V2, "num_experts_per_tok": 65}, "“num_experts_per_tok” is 65"),
        ({**V2, "first_k_dense_replace": 28}, "“first_k_dense_replace” is 28"),
        ([], "object"),
        (7, "object"),
        (None, "object"),
        ({}, "no “num_hidden_layers”"),
    ],
)
def test_what_is_wrong_is_named(fields: Any, says: str) -> None:
    with pytest.raises(UserError, match=says):
        from_config_json(json.dumps(fields))


@pytest.mark.parametrize("text", ["", "hello", '{"a": 1', "[" * 100_000])
def test_what_is_no_json_is_said(text: str) -> None:
    with pytest.raises(UserError, match="JSON"):
        from_config_json(text)


ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=2)
)


@given(
    st.sampled_from(sorted(FILES)),
    st.dictionaries(st.sampled_from(sorted({k for f in FILES.values() for k in f})), ODD),
)
def test_any_config_gets_an_answer_or_a_sentence(name: str, changes: dict[str, Any]) -> None:
    try:
        found = from_config_json(json.dumps({**FILES[name], **changes}))
    except UserError as error:
        assert len(str(error)) < 300
    else:
        assert isinstance(found, Architecture)
        assert found.n_params > 0 and found.bytes_per_token() > 0


def test_every_known_type_is_tried() -> None:
    assert {fields["model_type"] for fields in FILES.values()} == set(TYPES)


@given(st.text())
def test_any_text_gets_an_answer_or_a_sentence(text: str) -> None:
    with pytest.raises(UserError):
        from_config_json(text)
