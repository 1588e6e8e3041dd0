"""Checkpoints against transformers, on tiny models with random weights that it builds and saves: `make references`.

Logits, every cache row, greedy continuations, with and without a cache, at once, in chunks and token by token. Both
compute in float64: what transformers does in float32 whatever a model's type (RMSNorm, rotation, softmax), it is made
to do in float64 here, by giving it float64 under that name.
"""

import functools
import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.architectures.facts import Facts, facts_of
from microgpt.cache import KVCache
from microgpt.checkpoints.folder import load_checkpoint, load_params
from microgpt.config import Array, Params
from microgpt.decode import decode_step, generate, prefill, recompute
from microgpt.errors import UserError
from microgpt.model import forward
from tests.references.pytorch import N_CTX, VOCABULARY, filled, in_float64, torch, transformers
from tests.support.checkpoints import byte_level, counts
from tests.support.examples import examples
from tests.support.strategies import assert_close

pytestmark = pytest.mark.references


@dataclass(frozen=True)
class Case:
    """A configuration of theirs, how it is saved, and a text."""

    config: Any
    seed: int
    shard: str
    old: bool  # config.json says where the rotation's figures are as files before transformers 5 did
    ids: list[int]

    def model(self, dtype: str = "float64") -> Any:
        """Random weights, whose numbers are those of `dtype`."""
        rounded = getattr(torch, dtype)
        with in_float64():
            model = transformers.AutoModelForCausalLM.from_config(self.config, attn_implementation="eager")
            for parameter in filled(model.double(), self.seed).parameters():
                parameter.copy_(parameter.to(rounded))
        return model

    def save(self, model: Any, folder: Path) -> None:
        model.save_pretrained(folder, max_shard_size=self.shard)
        path = folder / "config.json"
        fields = json.loads(path.read_text("utf-8"))
        if self.old and "rope_parameters" in fields:
            rope = fields.pop("rope_parameters")
            fields["rope_theta"] = rope.pop("rope_theta")
            kind = rope.pop("rope_type")
            fields["rope_scaling"] = None if kind == "default" else {("type", "rope_type")[self.seed % 2]: kind, **rope}
            path.write_text(json.dumps(fields), "utf-8")

    def loaded(self, dtype: str = "float64") -> tuple[Any, Facts, Params]:
        model = self.model(dtype)
        with TemporaryDirectory() as name:
            self.save(model if dtype == "float64" else self.model(dtype).to(getattr(torch, dtype)), Path(name))
            facts, params = load_params(Path(name), "float64")
        return model, facts, params


@st.composite
def gpt2(draw: st.DrawFn) -> Any:
    n_head, head_dim = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    return transformers.GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=N_CTX,
        n_embd=n_head * head_dim,
        n_head=n_head,
        n_layer=draw(st.integers(1, 3)),
        n_inner=draw(st.sampled_from((None, 1, 7))),
        activation_function=draw(st.sampled_from(("gelu_new", "gelu", "gelu_pytorch_tanh", "relu"))),
        layer_norm_epsilon=draw(st.sampled_from((1e-5, 1e-6, 0.1))),
        scale_attn_weights=draw(st.booleans()),
        tie_word_embeddings=draw(st.booleans()),
        bos_token_id=None,
        eos_token_id=None,
    )


@st.composite
def ropes(draw: st.DrawFn, head_dim: int) -> dict[str, Any]:
    dynamic = ("dynamic",) if head_dim > 2 else ()  # where transformers divides by head_dim - 2
    kind = draw(st.sampled_from(("default", "linear", "llama3", *dynamic)))
    more: dict[str, Any] = {} if kind == "default" else {"factor": draw(st.sampled_from((1.5, 8.0)))}
    if kind == "llama3":
        old = draw(st.sampled_from((2, 8, 100)))
        more |= {"low_freq_factor": 1.0, "high_freq_factor": draw(st.sampled_from((4.0, 1.5)))}
        more |= {"original_max_position_embeddings": old}
    return {"rope_type": kind, "rope_theta": draw(st.sampled_from((10_000.0, 500_000.0, 7.0))), **more}


@st.composite
def llamas(draw: st.DrawFn, kind: str) -> Any:
    n_kv_head, head_dim = draw(st.integers(1, 2)), 2 * draw(st.integers(1, 3))
    n_head = n_kv_head * draw(st.integers(1, 3))
    n_layer, window = draw(st.integers(1, 3)), draw(st.sampled_from((2, 3, 5, 40)))
    own: dict[str, dict[str, Any]] = {
        "Llama": {"attention_bias": draw(st.booleans()), "mlp_bias": draw(st.booleans())},
        "Mistral": {"sliding_window": draw(st.sampled_from((None, window)))},
        "Qwen2": {},
        "Qwen3": {"attention_bias": draw(st.booleans())},
    }
    if kind.startswith("Qwen"):
        own[kind] |= {"use_sliding_window": draw(st.booleans()), "sliding_window": window}
        own[kind] |= {"max_window_layers": draw(st.integers(0, 3))}
    if kind != "Qwen2":
        own[kind]["head_dim"] = head_dim
    return getattr(transformers, kind + "Config")(
        vocab_size=VOCABULARY,
        max_position_embeddings=N_CTX,
        num_hidden_layers=n_layer,
        hidden_size=n_head * (head_dim if kind == "Qwen2" else draw(st.integers(1, 4))),
        num_attention_heads=n_head,
        num_key_value_heads=n_kv_head,
        intermediate_size=draw(st.integers(1, 12)),
        rms_norm_eps=draw(st.sampled_from((1e-5, 1e-6, 0.1))),
        tie_word_embeddings=draw(st.booleans()),
        rope_parameters=draw(ropes(head_dim)),
        bos_token_id=None,
        eos_token_id=None,
        **own[kind],
    )


FAMILIES: dict[str, Any] = {"gpt2": gpt2}
FAMILIES |= {kind.lower(): functools.partial(llamas, kind) for kind in ("Llama", "Mistral", "Qwen2", "Qwen3")}


@st.composite
def cases(draw: st.DrawFn, family: str) -> Case:
    return Case(
        draw(FAMILIES[family]()),
        draw(st.integers(0, 2**32)),
        draw(st.sampled_from(("5GB", "1KB"))),
        draw(st.booleans()),
        draw(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=N_CTX)),
    )


def run(model: Any, ids: list[int], cache: Any = None) -> Array:
    """Their logits, [n, vocab_size]."""
    with in_float64():
        found = model(torch.tensor([ids]), past_key_values=cache, use_cache=cache is not None)
    return np.asarray(found.logits[0].numpy())


def rows_agree(ours: KVCache, theirs: Any) -> None:
    for mine, other in zip(ours.layers, theirs.layers, strict=True):
        assert_close(mine.keys, other.keys[0].numpy())
        assert_close(mine.values, other.values[0].numpy())


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_and_every_cache_row_agree(family: str) -> None:
    """At once, without a cache, token by token on both sides, and in chunks."""

    @given(cases(family), st.integers(1, 6))
    @settings(max_examples=examples(60))
    def agree(case: Case, chunk: int) -> None:
        model, facts, params = case.loaded()
        config, ids, whole = facts.config, case.ids, transformers.DynamicCache()  # whole: keeps rows out of windows too
        expected = run(model, ids, whole)
        assert_close(run(model, ids), expected)
        at_once, stepwise, chunked = (KVCache(config) for _ in range(3))
        assert_close(forward(params, config, ids, at_once), expected)
        steps = [decode_step(params, config, token, stepwise) for token in ids]
        assert_close(np.array(steps), expected)
        assert_close(prefill(params, config, ids, chunked, chunk=chunk), expected[-1])
        assert_close(recompute(params, config, ids), expected[-1])
        for cache in (at_once, stepwise, chunked):
            rows_agree(cache, whole)
        own = transformers.DynamicCache(config=model.config)  # drops what has left a window
        theirs = [run(model, [token], own)[0] for token in ids]
        assert_close(np.array(steps), np.array(theirs))

    agree()


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_continuations_agree(family: str) -> None:
    @given(cases(family), st.booleans())
    @settings(max_examples=examples(20))
    def agree(case: Case, use_cache: bool) -> None:
        model, facts, params = case.loaded()
        prompt = case.ids[: N_CTX // 2]
        with in_float64():
            theirs = model.generate(
                torch.tensor([prompt]), max_new_tokens=N_CTX - len(prompt), do_sample=False, use_cache=use_cache
            )
        ours = list(generate(params, facts.config, prompt, N_CTX - len(prompt)))
        assert prompt + ours == theirs[0].tolist()

    agree()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_other_types_are_read_right(family: str, dtype: str) -> None:
    """The numbers of a 16-bit file, computed with in float64 on both sides."""

    @given(cases(family))
    @settings(max_examples=examples(5))
    def agree(case: Case) -> None:
        model, facts, params = case.loaded(dtype)
        assert_close(forward(params, facts.config, case.ids, KVCache(facts.config)), run(model, case.ids))

    agree()


def test_a_text_longer_than_the_window(tmp_path: Path) -> None:
    """Sliding windows hide rows: without the window the same weights say something else."""
    config = transformers.MistralConfig(
        vocab_size=VOCABULARY,
        hidden_size=8,
        intermediate_size=12,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=4,
        max_position_embeddings=64,
        sliding_window=5,
    )
    case = Case(config, 3, "5GB", False, [(5 * i + i * i) % VOCABULARY for i in range(60)])
    model, facts, params = case.loaded()
    expected = run(model, case.ids)
    assert_close(forward(params, facts.config, case.ids, KVCache(facts.config)), expected)
    case.save(model, tmp_path)
    fields = json.loads((tmp_path / "config.json").read_text("utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(fields | {"sliding_window": None}), "utf-8")
    wide, _ = load_params(tmp_path, "float64")
    unlike = forward(params, wide.config, case.ids, KVCache(wide.config))
    assert_close(unlike[:5], expected[:5])
    assert np.abs(unlike[5:] - expected[5:]).max(axis=1).min() > 1e-3


# ---- fields that say the same in several ways, or are left out ------------------------------------

SHAPES = counts(
    f"vocab_size={VOCABULARY} hidden_size=32 num_hidden_layers=2 num_attention_heads=4 num_key_value_heads=2 "
    f"intermediate_size=12 max_position_embeddings={N_CTX}"
) | {"model_type": "llama", "rms_norm_eps": 1e-5}
MISTRAL = SHAPES | {"model_type": "mistral", "sliding_window": 4}
QWEN = SHAPES | {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 4}
PLAIN = {"rope_type": "default", "rope_theta": 500.0}
LINEAR = {"rope_type": "linear", "factor": 4.0}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
OLD, WINDOWED = {"original_max_position_embeddings": 8}, ["full_attention", "sliding_attention"]
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # a file, and one of which the numbers must be others
    "both": (SHAPES | {"rope_parameters": PLAIN, "rope_scaling": LINEAR}, SHAPES | {"rope_parameters": PLAIN}),
    "both, one empty": (SHAPES | {"rope_parameters": LINEAR, "rope_scaling": {}}, SHAPES),
    "both, one null": (SHAPES | {"rope_parameters": LINEAR, "rope_scaling": None}, SHAPES),
    "theta outside": (SHAPES | {"rope_parameters": LINEAR, "rope_theta": 77.0}, SHAPES | {"rope_parameters": LINEAR}),
    "theta twice": (SHAPES | {"rope_parameters": PLAIN, "rope_theta": 77.0}, SHAPES | {"rope_theta": 77.0}),
    "type twice": (SHAPES | {"rope_scaling": LINEAR | {"type": "default"}}, SHAPES),
    "context outside": (
        SHAPES | {"rope_scaling": LLAMA3 | {"original_max_position_embeddings": 64}, **OLD},
        SHAPES | {"rope_scaling": LLAMA3 | {"original_max_position_embeddings": 64}},
    ),
    "context inside": (SHAPES | {"rope_scaling": LLAMA3 | OLD}, SHAPES | {"rope_scaling": LLAMA3}),
    "context left out": (SHAPES | {"rope_scaling": LLAMA3}, SHAPES),
    "context of another kind": (SHAPES | {"rope_scaling": LINEAR, **OLD}, SHAPES),
    "window not switched off": (MISTRAL | {"use_sliding_window": False}, MISTRAL | {"sliding_window": None}),
    "Qwen's window": (QWEN | {"max_window_layers": 0}, QWEN | {"use_sliding_window": False, "max_window_layers": 0}),
    "Qwen's window in one layer": (QWEN | {"layer_types": WINDOWED, "max_window_layers": 0}, QWEN),
    "no bias in a Mistral": (MISTRAL | {"attention_bias": True, "mlp_bias": True}, SHAPES),
    "no bias in a Qwen's MLP": (QWEN | {"model_type": "qwen3", "mlp_bias": True}, SHAPES),
}
HEADS = {key: value for key, value in SHAPES.items() if key != "num_key_value_heads"}
HEADS |= {"num_attention_heads": 16, "hidden_size": 64}
LEFT_OUT: dict[str, dict[str, Any]] = {  # of which the shapes differ
    "Llama's key heads": HEADS,
    "Mistral's key heads": HEADS | {"model_type": "mistral"},
    "Qwen's key heads": HEADS | {"model_type": "qwen2", "num_attention_heads": 64, "hidden_size": 128},
    "Qwen's key heads, null": HEADS | {"model_type": "qwen2", "num_key_value_heads": None},
}
REFUSED: dict[str, dict[str, Any]] = {
    "by layer": QWEN | {"layer_types": WINDOWED, "rope_parameters": dict.fromkeys(WINDOWED, PLAIN)},
    "theta null": SHAPES | {"rope_theta": None},
    "type null": SHAPES | {"rope_scaling": {"rope_type": None}},
    "a list": SHAPES | {"rope_parameters": [1], "rope_scaling": LINEAR},
    "context null": SHAPES | {"rope_scaling": LLAMA3, "original_max_position_embeddings": None},
    "context null inside": SHAPES | {"rope_scaling": LLAMA3 | {"original_max_position_embeddings": None}},
    "no factor": SHAPES | {"rope_scaling": {"rope_type": "linear"}},
    "no factor of another kind": SHAPES | {"rope_scaling": {"rope_type": "dynamic"}},
    "no window": QWEN | {"use_sliding_window": False, "layer_types": WINDOWED},
    "window null": QWEN | {"sliding_window": None, "layer_types": WINDOWED},
    "too few types": QWEN | {"layer_types": ["full_attention"]},
    "no types": QWEN | {"layer_types": []},
}
IDS = [(5 * i + i * i) % VOCABULARY for i in range(N_CTX)]


def by_file(fields: dict[str, Any], folder: Path) -> tuple[Any, Case]:
    """Their model of a config.json that is just so; the same is left in the folder, with its weights."""
    (folder / "config.json").write_text(json.dumps(fields), "utf-8")
    case = Case(transformers.AutoConfig.from_pretrained(folder), 11, "5GB", False, IDS)
    model = case.model()
    case.save(model, folder)
    (folder / "config.json").write_text(json.dumps(fields), "utf-8")
    return model, case


@pytest.mark.parametrize("way", [*WAYS, *LEFT_OUT])
def test_a_file_means_what_theirs_takes_it_for(way: str, tmp_path: Path) -> None:
    fields, other = WAYS[way] if way in WAYS else (LEFT_OUT[way], None)
    expected = run(by_file(fields, tmp_path)[0], IDS)
    facts, params = load_params(tmp_path, "float64")
    assert_close(forward(params, facts.config, IDS, KVCache(facts.config)), expected)
    if other:
        unlike = run(by_file(other, tmp_path)[0], IDS)
        assert np.abs(unlike - expected).max() > 1e-3


@pytest.mark.parametrize("way", REFUSED)
def test_what_theirs_cannot_run_is_refused(way: str, tmp_path: Path) -> None:
    strict = importlib.import_module("huggingface_hub.errors").StrictDataclassError
    with pytest.raises((strict, KeyError, TypeError, ValueError)):  # where it is noticed, and how, varies
        run(by_file(REFUSED[way], tmp_path)[0], IDS)
    with pytest.raises(UserError):
        facts_of(json.dumps(REFUSED[way]))


@pytest.mark.parametrize("kind", FAMILIES)
def test_special_tokens_that_are_left_out_are_theirs(kind: str, tmp_path: Path) -> None:
    fields: dict[str, Any] = {"n_embd": 4, "n_layer": 1, "n_head": 1, "n_positions": 4} if kind == "gpt2" else SHAPES
    text = json.dumps(fields | {"model_type": kind, "vocab_size": 60_000})
    (tmp_path / "config.json").write_text(text, "utf-8")
    theirs, ours = transformers.AutoConfig.from_pretrained(tmp_path), facts_of(text)
    assert ours.start == (-1 if theirs.bos_token_id is None else theirs.bos_token_id)
    assert ours.stops == (set() if theirs.eos_token_id is None else {theirs.eos_token_id})


@pytest.mark.parametrize("generation", [None, {"eos": [1]}, {"eos": 2}, {"eos": [2, 1]}, {"eos": None}, {}])
def test_texts_end_where_theirs_do(generation: dict[str, Any] | None, tmp_path: Path) -> None:
    """generation_config.json says it alone, where there is one; else config.json."""
    model, case = by_file(SHAPES | {"eos_token_id": None}, tmp_path)
    facts, params = load_params(tmp_path, "float64")
    prompt, room = case.ids[:3], N_CTX - 3
    tokens = list(dict.fromkeys(generate(params, facts.config, prompt, room)))  # as they first appear
    assert len(tokens) > 3
    (tmp_path / "config.json").write_text(json.dumps(SHAPES | {"eos_token_id": tokens[3]}), "utf-8")
    path = tmp_path / "generation_config.json"
    path.unlink(missing_ok=True)
    if generation is not None:
        chosen = {f"{key}_token_id": named(tokens, value) for key, value in generation.items()}
        path.write_text(json.dumps(chosen | {"temperature": 0.5, "max_length": 99}), "utf-8")
    facts, params = load_params(tmp_path, "float64")
    ours = list(generate(params, facts.config, prompt, room, stop=facts.stops))
    model.generation_config = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).generation_config
    with in_float64():
        theirs = model.generate(torch.tensor([prompt]), max_new_tokens=room, do_sample=False)
    assert prompt + ours == theirs[0].tolist()


def named(tokens: list[int], which: Any) -> Any:
    """Token ids for their places in a list."""
    return [tokens[i] for i in which] if isinstance(which, list) else None if which is None else tokens[which]


@pytest.mark.parametrize("start", [None, "<begin>"])
def test_the_tokenizer_says_what_theirs_says(start: str | None, tmp_path: Path) -> None:
    config = transformers.LlamaConfig(
        vocab_size=264, hidden_size=8, intermediate_size=12, num_hidden_layers=1, num_attention_heads=2
    )
    case = Case(config, 1, "5GB", False, [0])
    case.save(case.model(), tmp_path)
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(start))
    theirs.save_pretrained(tmp_path)
    ours = load_checkpoint(tmp_path, "float64").tokenizer
    for text in ("a day", "éâ … day", "  <end> x\n", ""):
        assert ours.encode(text) == theirs(text)["input_ids"]
        assert ours.decode(ours.encode(text)) == theirs.decode(theirs(text)["input_ids"], skip_special_tokens=True)
