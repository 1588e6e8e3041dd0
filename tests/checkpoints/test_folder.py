"""Checkpoint folders: every number arrives where it belongs, and what cannot be read ends in one sentence."""

import json
import pickle
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from microgpt.architectures.facts import facts_of
from microgpt.architectures.names import FAMILY_OF, table
from microgpt.checkpoints.assemble import assemble
from microgpt.checkpoints.files import numbers, open_tensors
from microgpt.checkpoints.folder import load_checkpoint, load_params
from microgpt.config import Array, Params, param_shapes
from microgpt.errors import UserError
from microgpt.record import Recording
from tests.support.checkpoints import GPT2, LLAMA, byte_level, file_of, gpt2_tensors, llama_tensors, spoil, write
from tests.support.examples import examples

RNG = np.random.default_rng(7)
GPT2_FILE, LLAMA_FILE = gpt2_tensors(RNG), llama_tensors(RNG)
SEPARATE = table(  # ours in layer 1, theirs
    "attn_norm=input_layernorm wq=self_attn.q_proj wk=self_attn.k_proj wv=self_attn.v_proj wo=self_attn.o_proj "
    "mlp_norm=post_attention_layernorm gate=mlp.gate_proj fc1=mlp.up_proj fc2=mlp.down_proj"
)


def same(one: Params, other: Params) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


# ---- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gpt2s_fused_matrix_is_cut_and_turned(dtype: Any, tmp_path: Path) -> None:
    facts, params = load_params(write(tmp_path, GPT2, GPT2_FILE), dtype)
    fused, bias = GPT2_FILE["h.1.attn.c_attn.weight"], GPT2_FILE["h.1.attn.c_attn.bias"]
    for i, name in enumerate(("wq", "wk", "wv")):
        assert np.array_equal(params[f"layer1.{name}"], fused[:, 8 * i : 8 * i + 8].T)
        assert np.array_equal(params[f"layer1.{name}.bias"], bias[8 * i : 8 * i + 8])
    assert np.array_equal(params["layer0.fc2"], GPT2_FILE["h.0.mlp.c_proj.weight"].T)
    assert np.array_equal(params["layer0.wo"], GPT2_FILE["h.0.attn.c_proj.weight"].T)  # square: no shape tells
    assert np.array_equal(params["wpe"], GPT2_FILE["wpe.weight"])
    assert "lm_head" not in params and facts.config.tied
    assert {name: array.shape for name, array in params.items()} == param_shapes(facts.config)
    assert {array.dtype for array in params.values()} == {np.dtype(dtype)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_llamas_tensors_are_taken_as_they_are(dtype: Any, tmp_path: Path) -> None:
    facts, params = load_params(write(tmp_path, LLAMA, LLAMA_FILE), dtype)
    for ours, theirs in SEPARATE.items():
        assert np.array_equal(params["layer1." + ours], LLAMA_FILE[f"model.layers.1.{theirs}.weight"])
    assert np.array_equal(params["lm_head"], LLAMA_FILE["lm_head.weight"])
    assert list(params) == list(param_shapes(facts.config))
    assert {array.dtype for array in params.values()} == {np.dtype(dtype)}


@pytest.mark.parametrize(("config", "tensors"), [(GPT2, GPT2_FILE), (LLAMA, LLAMA_FILE)], ids=["gpt2", "llama"])
def test_shards_prefixes_and_buffers_change_nothing(config: dict[str, Any], tensors: Params, tmp_path: Path) -> None:
    _, plain = load_params(write(tmp_path / "plain", config, tensors))
    _, sharded = load_params(write(tmp_path / "sharded", config, tensors, shards=3))
    assert len(list((tmp_path / "sharded").glob("*.safetensors"))) == 3
    prefix = FAMILY_OF[config["model_type"]].saved
    bare = {name.removeprefix(prefix): array for name, array in tensors.items()}
    _, unprefixed = load_params(write(tmp_path / "bare", config, bare))
    full = {name if name == "lm_head.weight" else prefix + name: array for name, array in bare.items()}
    buffers: Params = {
        "h.0.attn.bias": np.ones((1, 1, 12, 12), np.uint8),
        "h.1.attn.masked_bias": np.zeros((), np.float32),
    }
    if config is LLAMA:
        buffers = {"layers.1.self_attn.rotary_emb.inv_freq": np.ones(1, np.int64)}
    _, prefixed = load_params(write(tmp_path / "full", config, full | {prefix + n: b for n, b in buffers.items()}))
    for other in (sharded, unprefixed, prefixed):
        assert same(plain, other)


def test_a_head_that_is_the_embedding_may_stand_for_it(tmp_path: Path) -> None:
    """As in files without the tensor that would be there twice; and an index may name too many or too few."""
    head = LLAMA_FILE["lm_head.weight"]
    alone = {name: array for name, array in LLAMA_FILE.items() if not name.endswith("embed_tokens.weight")}
    tied = LLAMA | {"tie_word_embeddings": True}
    _, params = load_params(write(tmp_path / "tied", tied, alone))
    assert np.array_equal(params["wte"], head) and "lm_head" not in params
    _, plain = load_params(write(tmp_path / "plain", LLAMA, LLAMA_FILE))
    more: tuple[dict[str, str], ...] = ({}, {"x": "a.safetensors"})
    for i, names in enumerate(more):
        folder = write(tmp_path / f"index{i}", LLAMA, LLAMA_FILE)
        (folder / WHOLE).rename(folder / "a.safetensors")
        (folder / INDEX).write_text(json.dumps({"weight_map": {"norm.weight": "a.safetensors", **names}}), "utf-8")
        assert same(plain, load_params(folder)[1])


def test_in_the_hubs_cache_a_model_is_called_as_its_repository(tmp_path: Path) -> None:
    """Also through a link; and a byte-order mark before config.json is no part of it."""
    folder = write(tmp_path / "models--org--Some-Model" / "snapshots" / "0123abcd", LLAMA, LLAMA_FILE, byte_level())
    path = folder / "config.json"
    path.write_text("\ufeff" + path.read_text("utf-8"), "utf-8")
    (tmp_path / "link").symlink_to(folder)
    assert load_checkpoint(tmp_path / "link").name == load_checkpoint(folder).name == "Some-Model"
    assert load_checkpoint(write(tmp_path / "plain", LLAMA, LLAMA_FILE, byte_level())).name == "plain"


def test_numbers_of_the_right_type_stay_in_the_file(tmp_path: Path) -> None:
    """Views of the map, even where matrices are turned; but for what was cut out of one, whose rows lay in pieces."""
    for config, tensors, cut in ((GPT2, GPT2_FILE, {"wq", "wk", "wv"}), (LLAMA, LLAMA_FILE, set[str]())):
        _, params = load_params(write(tmp_path / config["model_type"], config, tensors), "float32")
        assert {name.split(".")[-1] for name, array in params.items() if array.flags.writeable} == cut
        assert all(array.flags.forc for array in params.values())


class Watched(Mapping[str, Array]):
    """Tensors that note each look-up."""

    def __init__(self, tensors: Params) -> None:
        self.tensors, self.asked = tensors, list[str]()

    def __getitem__(self, name: str) -> Array:
        self.asked.append(name)
        return self.tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)


@pytest.mark.parametrize(("config", "tensors"), [(GPT2, GPT2_FILE), (LLAMA, LLAMA_FILE)], ids=["gpt2", "llama"])
def test_tensors_may_come_from_anywhere_and_are_looked_up_once(config: dict[str, Any], tensors: Params) -> None:
    watched, released = Watched(tensors), list[str]()
    assemble(watched, facts_of(json.dumps(config)), "float64", release=released.append)
    assert sorted(watched.asked) == sorted(tensors)
    assert set(released) == set(tensors)  # all were converted
    released.clear()
    assemble(watched, facts_of(json.dumps(config)), "float32", release=released.append)
    assert {re.sub(r"\d", "0", name) for name in released} <= {"h.0.attn.c_attn.weight"}  # of which parts are copied


def bits_of(value: float) -> bytes:
    """bfloat16: the upper half of a float32."""
    return np.array(value, "<f4").tobytes()[2:]


@given(st.lists(st.integers(0, 2**16 - 1).filter(lambda bits: bits & 0x7F80 != 0x7F80), min_size=1, max_size=20))
@settings(max_examples=examples(200))
def test_bfloat16_by_its_definition(bits: list[int]) -> None:
    """Sign, exponent and seven bits of fraction, worked out with Python's own whole numbers."""
    found = numbers(np.array(bits, "<u2").tobytes(), "BF16", (len(bits),))
    for x, got in zip(bits, found.tolist(), strict=True):
        exponent, fraction = x >> 7 & 0xFF, x & 0x7F
        size = (fraction + 128) * 2.0 ** (exponent - 134) if exponent else fraction * 2.0**-133
        assert got == (-size if x >> 15 else size)


@pytest.mark.parametrize("stored", ["float16", "bfloat16"])
def test_sixteen_bits_come_back_as_they_were_rounded(stored: str, tmp_path: Path) -> None:
    stores, rounded = {}, {}
    for name, array in GPT2_FILE.items():
        if stored == "float16":
            data, rounded[name] = array.astype("<f2").tobytes(), array.astype(np.float16).astype(np.float32)
            stores[name] = ("F16", array.shape, data)
        else:
            data = b"".join(bits_of(x) for x in array.ravel().tolist())
            rounded[name] = (array.view(np.uint32) & 0xFFFF0000).view(np.float32)
            stores[name] = ("BF16", array.shape, data)
    write(tmp_path, GPT2, GPT2_FILE)
    (tmp_path / "model.safetensors").write_bytes(file_of(stores))
    _, expected = load_params(write(tmp_path / "wide", GPT2, rounded))
    _, params = load_params(tmp_path)
    assert same(params, expected)


# ---- running them ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_checkpoint_is_recorded_like_any_model(kind: str, dtype: Any, tmp_path: Path) -> None:
    if kind == "gpt2":
        folder = write(tmp_path / "mine", GPT2, GPT2_FILE, byte_level())
    else:
        folder = write(tmp_path / "mine", LLAMA, LLAMA_FILE, byte_level("<begin>"))
    model = load_checkpoint(folder, dtype)
    recording = Recording(model, "a day", max_new=3)
    begin = ["<begin>"] if kind == "llama" else []
    assert [model.tokenizer.vocabulary[i] for i in recording.ids] == [*begin, "a", " day"]
    trace = recording.run()
    assert recording.cache[0].keys.dtype == np.dtype(dtype)
    assert len(recording.cache) == recording.limit or recording.ids[-1] in recording.stops
    for pos in range(len(trace.about["tokens"])):
        gap = np.abs(trace["logits", pos][0] - trace["recompute_logits", pos]).max()
        assert gap < (1e-4 if dtype == "float32" else 1e-12)


def test_a_text_ends_at_any_of_the_end_tokens(tmp_path: Path) -> None:
    folder = write(tmp_path, LLAMA, LLAMA_FILE, byte_level())
    model = load_checkpoint(folder)
    assert model.tokenizer.stops == {261, 263} and model.tokenizer.start == 262
    ends = []
    for stop in (261, 263, 5):
        recording = Recording(model, "a day", max_new=8)
        recording.run_prompt()
        recording.ids[-1] = stop
        ends.append(recording.has_ended)
    assert ends == [True, True, False]


@pytest.mark.parametrize(
    ("kind", "size", "start", "stops"),
    [
        ("llama", 264, 1, {2}),
        ("mistral", 264, 1, {2}),
        ("llama", 2, 1, set()),
        ("llama", 1, -1, set()),
        ("qwen2", 264, -1, set()),
        ("qwen3", 264, -1, set()),
        ("gpt2", 50257, 50256, {50256}),
        ("gpt2", 264, -1, set()),
    ],
)
def test_what_begins_and_ends_a_text_where_the_file_leaves_it_out(
    kind: str, size: int, start: int, stops: set[int]
) -> None:
    fields = (GPT2 if kind == "gpt2" else LLAMA) | {"model_type": kind, "vocab_size": size}
    null = {"bos_token_id": None, "eos_token_id": None}
    facts = facts_of(json.dumps({key: value for key, value in fields.items() if key not in null}))
    assert facts.start == start and facts.stops == stops
    facts = facts_of(json.dumps(fields | null))  # said to be none
    assert facts.start == -1 and not facts.stops


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ('{"eos_token_id": 5}', {5}),
        ('{"eos_token_id": [5, 261, 999], "top_k": 1}', {5, 261}),
        ('{"temperature": 0.6}', set()),
        ('{"eos_token_id": null}', set()),
    ],
)
def test_generation_config_alone_says_what_ends_a_text(text: str, stops: set[int], tmp_path: Path) -> None:
    folder = write(tmp_path, LLAMA, LLAMA_FILE, byte_level())
    assert load_checkpoint(folder).tokenizer.stops == {261, 263}
    (folder / "generation_config.json").write_text(text)
    tokenizer = load_checkpoint(folder).tokenizer
    assert tokenizer.stops == stops and tokenizer.start == 262


def test_without_special_tokens_none_starts_a_text(tmp_path: Path) -> None:
    none = GPT2 | {"bos_token_id": None, "eos_token_id": None}
    model = load_checkpoint(write(tmp_path, none, GPT2_FILE, byte_level()))
    assert model.tokenizer.start == -1 and not model.tokenizer.stops
    recording = Recording(model, "!a day", max_new=3)
    assert recording.ids[0] == 0 and recording.stop == -1
    recording.run()
    assert len(recording.cache) == recording.limit


def test_pieces_read_as_they_stand_in_a_text(tmp_path: Path) -> None:
    tokenizer = load_checkpoint(write(tmp_path, GPT2, GPT2_FILE, byte_level())).tokenizer
    text = "a day é … day"
    assert tokenizer.split(text) == ["a", " day", " ", "é", " <0xE2>", "<0x80>", "<0xA6>", " day"]
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert len(tokenizer.vocabulary) == 264 and tokenizer.vocabulary[263] == "<end>"
    assert tokenizer.encode("") == [] and tokenizer.joiner == ""


def test_rows_that_no_token_uses_have_a_name(tmp_path: Path) -> None:
    tensors = GPT2_FILE | {"wte.weight": np.ones((270, 8), np.float32)}
    model = load_checkpoint(write(tmp_path, GPT2 | {"vocab_size": 270}, tensors, byte_level()))
    assert model.tokenizer.vocabulary[264:] == [f"<{i}>" for i in range(264, 270)]


def test_a_tokenizer_that_knows_more_than_the_model_is_told_so(tmp_path: Path) -> None:
    tensors = GPT2_FILE | {"wte.weight": np.ones((200, 8), np.float32)}
    model = load_checkpoint(write(tmp_path, GPT2 | {"vocab_size": 200}, tensors, byte_level()))
    with pytest.raises(UserError, match="the token 258, but the model knows 200"):
        model.tokenizer.encode("a day")


# ---- what cannot be read --------------------------------------------------------------------------

Change = dict[str, bytes | None]  # files that take the place of a good checkpoint's, or None for one that is missing
WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"


def config(**fields: Any) -> Change:
    """config.json with other fields; ... takes one out."""
    return {"config.json": json.dumps({key: x for key, x in (LLAMA | fields).items() if x is not ...}).encode()}


def generation(content: bytes) -> Change:
    return {"generation_config.json": content}


def tensors(arrays: dict[str, Array | None]) -> Change:
    """The file with other tensors."""
    return {WHOLE: save({name: array for name, array in (LLAMA_FILE | arrays).items() if array is not None})}


def stored_as(dtype: str, size: int) -> Change:
    head = LLAMA_FILE["lm_head.weight"]
    others = {name: ("F32", array.shape, array.tobytes()) for name, array in LLAMA_FILE.items()}
    return {WHOLE: file_of(others | {"lm_head.weight": (dtype, head.shape, bytes(size * head.size))})}


def index(text: str) -> Change:
    return {WHOLE: None, "a.safetensors": save(LLAMA_FILE), INDEX: text.encode()}


PLAIN = {"rope_type": "default", "rope_theta": 500000.0}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
QKV = "model.layers.1.self_attn.q_proj.weight"
FULL, SLIDING = "full_attention", "sliding_attention"
QWEN2 = {"model_type": "qwen2", "sliding_window": 3}
BROKEN: dict[str, tuple[Change, str]] = {
    "no config": ({"config.json": None}, "has no config.json"),
    "not text": ({"config.json": b"\xff\xfe"}, "cannot be read"),
    "a list": ({"config.json": b"[]"}, "one object"),
    "unknown": (config(model_type="bloom"), "“bloom”.*gpt2, llama, mistral, qwen2, qwen3"),
    "gemma": (config(model_type="gemma"), "“gemma”.*gpt2, llama"),
    "mixtral": (config(model_type="mixtral"), "mixture of experts"),
    "experts": (config(model_type="qwen3", num_experts=8), "mixture of experts.*num_experts"),
    "quantised": (config(quantization_config={"bits": 4}), "quantised"),
    "no width": (config(hidden_size=...), "no “hidden_size”"),
    "negative": (config(num_hidden_layers=-1), "“num_hidden_layers” is -1"),
    "eps": (config(rms_norm_eps=0), "“rms_norm_eps” is 0"),
    "eps text": (config(rms_norm_eps="a"), '“rms_norm_eps” is "a"'),
    "activation": (config(hidden_act="gelu"), '“hidden_act” is "gelu".*silu'),
    "rope": (config(rope_scaling={"rope_type": "yarn", "factor": 2.0}), '"yarn".*default, linear, llama3, dynamic'),
    "rope list": (config(rope_scaling=[1]), "“rope_scaling” is \\[1\\]; it must be an object"),
    "rope list of 5": (config(rope_parameters=[1]), "“rope_parameters” is \\[1\\]; it must be an object"),
    "rope null": (config(rope_scaling={"rope_type": None}), '“rope_type” is "null"'),
    "rope by layer": (config(rope_parameters={"full_attention": PLAIN}), "“rope_parameters” .*“full_attention”"),
    "rope by two": (config(rope_scaling={"a": PLAIN, "b": PLAIN}), "“rope_scaling” has an object for each.*“a”"),
    "rope by none": (config(rope_parameters={"sliding_attention": None}), "“rope_parameters” .*“sliding_attention”"),
    "rope behind another": (config(rope_parameters={"full_attention": PLAIN}, rope_scaling=PLAIN), "“full_attention”"),
    "rope context": (config(rope_scaling=LLAMA3, original_max_position_embeddings=None), "no “original_max_position"),
    "rope context inside": (config(rope_scaling=LLAMA3 | {"original_max_position_embeddings": None}), "no “original_"),
    "rope factor": (config(rope_scaling={"type": "linear"}), "“factor” is null"),
    "rope bounds": (config(rope_scaling=LLAMA3 | {"low_freq_factor": 4}), "rope_high_freq is 4.0"),
    "theta": (config(rope_theta=-5), "“rope_theta” is -5"),
    "theta null": (config(rope_theta=None), "“rope_theta” is null"),
    "partial": (config(partial_rotary_factor=0.5), "“partial_rotary_factor” is 0.5"),
    "odd heads": (config(head_dim=3), "head_dim is 3"),
    "layers mixed": (config(**QWEN2, use_sliding_window=True, layer_types=[SLIDING, FULL]), "the last"),
    "layers too few": (config(model_type="qwen3", layer_types=[FULL]), "“layer_types” must name all 2"),
    "layers none": (config(model_type="qwen3", layer_types=[]), "“layer_types” must name all 2"),
    "layers text": (config(model_type="qwen3", layer_types=FULL), "“layer_types” must name all 2"),
    "window off": (config(**QWEN2, layer_types=[FULL, SLIDING]), "gives layers a window, but “sliding_window”"),
    "window null": (
        config(model_type="qwen2", layer_types=[SLIDING] * 2, use_sliding_window=True, sliding_window=None),
        "gives layers a window, but “sliding_window” is not a number",
    ),
    "generation": (generation(b"{"), r"^generation_config.json cannot be read \(.*\). Fetch"),
    "generation list": (generation(b"[]"), r"^generation_config.json cannot be read \(it is not an object in braces"),
    "generation eos": (generation(b'{"eos_token_id": "a"}'), '^generation_config.json: “eos_token_id” is "a"; it must'),
    "eos": (config(eos_token_id="a"), '“eos_token_id” is "a"'),
    "bos": (config(bos_token_id=True), "“bos_token_id” is true"),
    "more layers": (config(num_hidden_layers=3), "lacks 9 tensors .*layers.2.input_layernorm.weight"),
    "fewer layers": (config(num_hidden_layers=1), "has 9 tensors that no llama.*layers.1.input_layernorm.weight"),
    "other shape": (config(intermediate_size=11), r"up_proj.weight has shape \(10, 8\); .*\(11, 8\)"),
    "bias": (config(attention_bias=True), "lacks 8 tensors"),
    "extra": (tensors({"score.weight": np.ones((2, 8), np.float32)}), "has one tensor that .*: score.weight"),
    "missing": (tensors({QKV: None}), "lacks one tensor .*: layers.1.self_attn.q_proj.weight"),
    "misshapen": (tensors({QKV: np.ones((8, 4), np.float32)}), r"q_proj.weight has shape \(8, 4\)"),
    "a number": (tensors({QKV: np.ones((), np.float32)}), r"q_proj.weight has shape \(\)"),
    "twice": (tensors({"norm.weight": np.ones(8, np.float32)}), "the same tensor twice"),
    "untied": (tensors({"lm_head.weight": None}), "no lm_head.weight.*tie_word_embeddings"),
    "tied": (config(tie_word_embeddings=True), "lm_head.weight differs.*tie_word_embeddings"),
    "NaN": (tensors({"lm_head.weight": np.full((264, 8), np.nan, np.float32)}), "lm_head.weight holds NaN"),
    "bytes": (stored_as("U8", 1), "U8: quantised.*F64, F32, F16, BF16"),
    "eight bits": (stored_as("F8_E4M3", 1), "F8_E4M3: quantised"),
    "whole numbers": (stored_as("I64", 8), "I64"),
    "pickle": ({WHOLE: None, "pytorch_model.bin": pickle.dumps("x")}, "pytorch_model.bin.*save_pretrained"),
    "gguf": ({WHOLE: None, "model.gguf": b"GGUF"}, "model.gguf.*Only .safetensors"),
    "nothing": ({WHOLE: None, "README.md": b""}, "neither model.safetensors nor model.safetensors.index.json"),
    "index": (index("{}"), "index.json cannot be read"),
    "shard": (index('{"weight_map": {"x": "b.safetensors"}}'), "lacks b.safetensors"),
    "prefixed": (
        {WHOLE: save({f"_orig_mod.{name}": array for name, array in LLAMA_FILE.items()})},
        "begin with “_orig_mod.”, such as _orig_mod.model.embed_tokens.weight;",
    ),
    "no tokenizer": ({"tokenizer.json": None}, "no tokenizer.json.*save_pretrained"),
    "tokenizer": ({"tokenizer.json": b"{}"}, "tokenizer.json cannot be read"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_gets_a_sentence(name: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", LLAMA, LLAMA_FILE, byte_level())
    change, says = BROKEN[name]
    with pytest.raises(UserError) as caught:
        load_checkpoint(spoil(folder, change))
    assert re.search(says, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("activation_function", "tanh"),
        ("scale_attn_by_inverse_layer_idx", True),
        ("add_cross_attention", True),
        ("scale_attn_weights", 1),
        ("layer_norm_epsilon", -1),
        ("n_head", 3),
    ],
)
def test_a_gpt2_that_computes_otherwise_is_refused_by_the_fields_name(field: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"“{field}”"):
        load_params(write(tmp_path, GPT2 | {field: value}, GPT2_FILE))


@pytest.mark.parametrize("name", ["nowhere", "a" * 300, "config.json/x", "a\0b"])
def test_no_folder_gets_a_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()
    with pytest.raises(UserError, match="no folder"):
        load_checkpoint(tmp_path / name)


def test_a_file_that_is_cut_off_anywhere_gets_a_sentence(tmp_path: Path) -> None:
    path = write(tmp_path, LLAMA, LLAMA_FILE) / "model.safetensors"
    whole = path.read_bytes()
    for length in (*range(0, 40), 1000, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(UserError, match="^“.*model.safetensors”: .*(has . bytes|follow|missing)"):
            load_params(tmp_path)


def test_numbers_too_large_for_float32_are_not_taken_for_infinity(tmp_path: Path) -> None:
    large = {name: array.astype(np.float64) for name, array in LLAMA_FILE.items()}
    large["lm_head.weight"][0, 0] = 1e300
    folder = write(tmp_path, LLAMA, large)
    load_params(folder, "float64")
    with pytest.raises(UserError, match="lm_head.weight.*float32"):
        load_params(folder, "float32")


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write(tmp_path, GPT2, GPT2_FILE, byte_level())
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UserError, match=r"install tokenizers: pip install '\.\[checkpoints\]'"):
        load_checkpoint(folder)


class Trap:
    """Runs when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("a pickle was opened",))


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    folder = write(tmp_path, GPT2, GPT2_FILE, byte_level())
    for name in ("pytorch_model.bin", "model.pt", "training_args.bin"):
        (folder / name).write_bytes(pickle.dumps(Trap()))
    load_checkpoint(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(UserError, match="may hold code"):
        load_checkpoint(folder)


def test_no_module_can_open_a_pickle() -> None:
    for path in (Path(__file__).parents[2] / "microgpt").rglob("*.py"):
        assert not re.search(
            r"allow_pickle\s*=\s*True|pickle\.load|import pickle|torch\.load|np\.load\(", path.read_text("utf-8")
        )


def test_what_was_read_can_be_let_go_and_read_again(tmp_path: Path) -> None:
    found = open_tensors(write(tmp_path, GPT2, GPT2_FILE))
    before = found["wte.weight"].copy()
    found.release("wte.weight")
    assert np.array_equal(found["wte.weight"], before)
    assert len(found) == len(GPT2_FILE) and set(found) == set(GPT2_FILE)
