"""Families that our own code does not compute, recorded from transformers: drawn, counted, and what differs is said.

Tiny models with random weights. The multiply-adds are compared with those that PyTorch counts itself.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgpt.errors import UserError
from microgpt.huggingface.recorder import give_back_blocks, record
from microgpt.huggingface.shape import counter, shape_of
from microgpt.trace import OVER_KEYS, Trace, from_json, to_json
from microgpt.viz.large.excerpt import excerpt, needed
from microgpt.viz.large.family import of_family
from microgpt.viz.large.from_trace import ExcerptPicture, picture_from, picture_of
from microgpt.viz.large.picture import drawn
from tests.references import pytorch
from tests.references.pytorch import EXPERTS, folder_of, torch, transformers, words
from tests.support.strategies import assert_close

pytestmark = pytest.mark.references
LINEAR = {"linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 4, "linear_value_head_dim": 4}
OURS = ("Llama", "Mistral", "Qwen2", "Qwen3", "GPT2")
FAMILIES: dict[str, dict[str, Any]] = {
    name: fields for name, fields in pytorch.FAMILIES.items() if name not in OURS
} | {
    "Phi": {}, "Cohere2": {}, "Starcoder2": {}, "SmolLM3": {}, "Glm4": {"head_dim": 4}, "Exaone4": {}, "Nemotron": {},
    "GPTNeoX": {"num_key_value_heads": None}, "Olmo": {}, "Olmoe": EXPERTS, "GptOss": EXPERTS | {"head_dim": 4},
    "Qwen2Moe": EXPERTS | {"shared_expert_intermediate_size": 8}, "Gemma3": {"head_dim": 8},
    "OPT": {"ffn_dim": 24, "word_embed_proj_dim": 16, "num_key_value_heads": None},
}  # fmt: skip
LATENT = {"q_lora_rank": 8, "kv_lora_rank": 12, "qk_nope_head_dim": 4, "qk_rope_head_dim": 4, "v_head_dim": 6,
          "n_routed_experts": 4, "n_group": 2, "topk_group": 1, "num_key_value_heads": 4}  # fmt: skip
FAMILIES |= {"DeepseekV3": EXPERTS | LATENT | {"first_k_dense_replace": 1}, "DeepseekV2": EXPERTS | LATENT}
MIXED: dict[str, dict[str, Any]] = {  # with layers that keep no rows
    "Qwen3Next": EXPERTS | LINEAR | {
        "head_dim": 4, "layer_types": ["linear_attention", "full_attention"], "shared_expert_intermediate_size": 8,
    },
    "Lfm2": {"layer_types": ["conv", "full_attention"]},
}  # fmt: skip
SCALED = ("Gemma2", "Gemma3", "Granite", "OPT")


def made(family: str, **more: Any) -> Any:
    """One that reads the words, and whose texts do not end anywhere."""
    size, fields = len(words()), FAMILIES.get(family) or MIXED.get(family) or {}
    ends = dict.fromkeys(("eos_token_id", "bos_token_id", "pad_token_id"), size - 1)
    model = pytorch.made(family, 4, fields=fields | {"vocab_size": size} | ends, **more)
    model.generation_config.eos_token_id = None
    return model


def recorded(model: Any, **more: Any) -> tuple[Trace, ExcerptPicture]:
    """The trace of four steps and more, and its picture after a way through a file."""
    trace = record(model, words(), "the day", 4, **more)
    shown = drawn(trace)
    return trace, picture_from(from_json(to_json(excerpt(shown.trace, shown.layers, shown.token_ids()))))


def said_of(view: ExcerptPicture) -> str:
    return " ".join(of_family(view))


@pytest.mark.parametrize("family", [*FAMILIES, *MIXED])
def test_a_model_of_any_family_is_drawn_from_its_trace(family: str) -> None:
    """Rows, bytes and answers as the run has them, and what differs from the words of the page."""
    model = made(family)
    trace, view = recorded(model)
    last, kept = view.n - 1, [1] if family in MIXED else [0, 1]
    step, c = view.step(last), view.config
    assert view.layers == kept and step.rows == view.n and view.map.heads == len(kept) * 4
    v_dim = 6 if "latent" in view.about else c.head_dim
    assert step.bytes.numbers == len(kept) * view.n * c.n_kv_head * (c.head_dim + v_dim)
    assert ("a latent of 12 numbers per token" in said_of(view)) == family.startswith("Deepseek")
    assert view.about["family"] == model.config.model_type and not view.dial
    assert step.difference is not None and step.difference < 1e-4, "with the cache and without it says the same"
    assert all(part.form_with is None for part in step.costs)
    assert [part.with_cache for part in step.costs[:-1]] == trace.about["macs"][last]
    assert [part.without for part in step.costs[:-1]] == trace["recompute_macs", last].tolist()
    said = said_of(view)
    assert f"of the family {view.about['family']}" in said
    assert ("over the root of" in said) == (family in SCALED)
    assert ("only these are of this kind: 1." in said) == (family in MIXED)
    weights = trace["attn_weights", last, 1].sum(-1)
    assert ("come to less than 1" in said) == (family == "GptOss") == bool((weights < 0.98).all())
    assert bool(view.alone) == (family != "GptOss"), "the one row of the first step has the whole weight"


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "GptOss"])
def test_multiply_adds_are_those_that_pytorch_counts(family: str) -> None:
    """Of a pass over five tokens; PyTorch also multiplies what the mask hides. (gpt-oss runs all of its experts there
    and throws away what the router did not choose, where it has no GPU.)"""
    from torch.utils.flop_counter import FlopCounterMode

    model, n = made(family), 5
    model.set_attn_implementation("eager")
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("eager")  # one product an expert: those in one call are not counted
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        model(input_ids=torch.tensor([[1, 2, 3, 4, 5]]), use_cache=False, logits_to_keep=1)
    shape = shape_of(model)
    c = shape.config
    hidden = c.n_layer * c.n_head * n * (n - 1) // 2 * (c.head_dim + shape.v_dim)
    assert not shape.ours and counter(model, shape, c.n_layer)(n, n).sum() + hidden == counted.get_total_flops() / 2


@pytest.mark.parametrize("family", ["Llama", "Qwen3", "GPT2"])
def test_by_its_matrices_a_family_that_we_know_costs_what_its_formula_says(family: str) -> None:
    model = pytorch.made(family)
    shape = shape_of(model)
    for n, t in ((1, 1), (1, 7), (7, 7)):
        by_matrices = counter(model, replace(shape, ours=False), shape.config.n_layer)(n, t)
        assert shape.ours and by_matrices.tolist() == counter(model, shape, shape.config.n_layer)(n, t).tolist()


@pytest.mark.parametrize("family", ["Llama", "Gemma2", "Qwen3Next"])
def test_the_last_tokens_of_a_long_text_are_told_as_in_the_whole_of_it(family: str) -> None:
    """Position by position the same numbers; scores and weights of the rows that are told, and counts of all."""
    model, text = made(family, max_position_embeddings=256, sliding_window=128), "the day is bright and the sun is red"
    whole, part = record(model, words(), text, 4), record(model, words(), text, 4, last=10)
    before = part.about["before"]
    assert before == len(whole.about["tokens"]) - 10 > 20
    assert part.about["tokens"] == whole.about["tokens"][-10:] and part.about["ids"] == whole.about["ids"][-10:]
    for event in part:
        if isinstance(event.value, int):
            assert event.value == whole.number(event.name, event.pos + before, event.layer)
            continue
        if event.name.startswith("recompute"):
            assert event.pos == 9
        told = whole[event.name, event.pos + before, event.layer]
        assert_close(event.value, told[..., before:] if event.name in OVER_KEYS else told, 1e-4)
    layers = [layer for layer in range(2) if ("q", 0, layer) in part]
    shown, seen = picture_of(part, layers, [0, 3]), drawn(whole, layers, [0, 3])
    last, there = shown.step(9), seen.step(before + 9)
    assert (last.rows, last.number, last.bytes) == (there.rows, there.number, there.bytes)
    counted = whole.about["macs"][before + 9] if "macs" in whole.about else [one.with_cache for one in there.costs[:-1]]
    assert [one.with_cache for one in last.costs[:-1]] == counted
    for (where, few), (same, every) in zip(last.meetings, there.meetings, strict=True):
        assert where == same and [one.weight for one in few] == pytest.approx(
            [one.weight for one in every[before:]], abs=1e-4
        )
        assert shown.below(few) == pytest.approx(sum(one.weight for one in every[:before]), abs=1e-4)
    compared = [i for i in range(10) if shown.difference(i) is not None]
    assert compared == [9], "the last step alone: each takes as long as the whole text"


def test_a_text_that_its_rows_do_not_hold_is_refused() -> None:
    text = "the day is bright and the sun is red"
    with pytest.raises(UserError, match="keeps a window of 8 rows"):
        record(made("Gemma2", max_position_embeddings=256), words(), text, 4, last=10)
    with pytest.raises(UserError, match="sinks of their own"):
        record(made("GptOss", max_position_embeddings=256, sliding_window=128), words(), text, 4, last=10)


def test_without_the_comparison_the_cost_is_still_that_of_its_matrices() -> None:
    compared, view = recorded(made("Gemma2"))
    _, alone = recorded(made("Gemma2"), compares=False)
    assert alone.step(3).difference is None
    assert [part.without for part in alone.step(3).costs] == [part.without for part in view.step(3).costs]
    assert ("recompute_macs", 3) in compared and ("recompute_macs", 3) not in alone.trace


def test_a_layer_without_rows_cannot_be_opened() -> None:
    trace, _ = recorded(made("Qwen3Next"))
    assert trace.about["no_rows"] == [0] and ("q", 3, 0) not in trace
    with pytest.raises(UserError, match="Layer 0 of this model keeps no rows"):
        drawn(trace, layers=[0])


def test_what_cannot_be_drawn_is_said_in_a_sentence() -> None:
    refused: dict[str, tuple[str, dict[str, Any]]] = {
        "Falcon": ("in a way of its own", {"new_decoder_architecture": True}),
        "StableLm": ("rows that are of one shape", {}),
        "Mamba": ("No layer of this model keeps a row", {}),
        "MiniMax": ("cannot be run token by token", EXPERTS | {"head_dim": 4}),
    }
    for family, (said, fields) in refused.items():
        with pytest.raises(UserError, match=said):
            record(made(family, **fields), words(), "the day", 2)


def test_a_model_that_a_library_has_quantised_is_recorded(tmp_path: Path) -> None:
    """By torchao, in 8 bits: its own numbers, near those of the original; the page says so."""
    from torchao.quantization import Int8WeightOnlyConfig

    folder = folder_of("Llama", tmp_path)
    load, tokenizer = transformers.AutoModelForCausalLM.from_pretrained, transformers.AutoTokenizer.from_pretrained
    packed = load(folder, quantization_config=transformers.TorchAoConfig(Int8WeightOnlyConfig()))
    whole, eight = (record(model.eval(), tokenizer(folder), "the day", 4) for model in (load(folder), packed))
    assert shape_of(packed).ours and eight.about["quantised"] == "torchao" and "family" not in eight.about
    apart = [float(np.abs(whole[name, 3, 1] - eight[name, 3, 1]).max()) for name in ("q", "k", "v")]
    assert 0 < max(apart) < 0.1
    ids = torch.tensor([eight.about["ids"][:4]])
    with torch.no_grad():
        assert_close(eight["logits", 3][0], packed(input_ids=ids).logits[0, -1].numpy(), 1e-5)
    assert "Its weights are quantised, by torchao." in of_family(drawn(eight))


def test_a_recording_keeps_in_memory_what_a_page_shows() -> None:
    """Of the layers that stay closed no rows of q and no MLP; the picture is the same."""
    model, text = made("Olmo2", num_hidden_layers=5), "the day"
    whole = record(model, words(), text, 4)
    part = record(model, words(), text, 4, keeps=lambda about: needed([4]))
    later = {(event.name, event.layer) for event in part if event.pos > 0}
    assert {layer for name, layer in later if name == "q"} == {4} and ("mlp_hidden", 4) not in later
    for name in ("k", "v", "attn_weights", "cache_append"):
        assert {layer for one, layer in later if one == name} == {*range(5)}
    files = []
    for trace in (whole, part):
        shown = drawn(trace, [4])
        files.append(to_json(excerpt(shown.trace, shown.layers, shown.token_ids())))
    assert files[0] == files[1]


def test_blocks_are_given_back_where_the_system_can(monkeypatch: pytest.MonkeyPatch) -> None:
    give_back_blocks()

    def missing(name: None) -> None:
        raise OSError("no such library")

    monkeypatch.setattr("microgpt.huggingface.recorder.CDLL", missing)
    give_back_blocks()
