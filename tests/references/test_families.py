"""Families that our own code does not compute, recorded from transformers: drawn, counted, and what differs is said.

Tiny models with random weights. The multiply-adds are compared with those that PyTorch counts itself.
"""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgpt import cost
from microgpt.errors import UserError
from microgpt.huggingface.engine import Engine
from microgpt.huggingface.recorder import give_back_blocks, record
from microgpt.huggingface.shape import counter, shape_of
from microgpt.trace import OVER_KEYS, READ, Reads, Trace, from_json, to_json
from microgpt.viz.large.excerpt import is_needed
from microgpt.viz.large.family import of_family
from microgpt.viz.large.from_trace import ExcerptPicture, picture_of_excerpt, picture_of_trace
from microgpt.viz.large.heads import with_rows
from microgpt.viz.large.picture import picture_of_run
from tests.references import pytorch
from tests.references.pytorch import EXPERTS, LATENT, folder_of, torch, transformers, words
from tests.support.strategies import assert_close

pytestmark = pytest.mark.references
LINEAR = {"linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 4, "linear_value_head_dim": 4}
OURS = ("Llama", "Mistral", "Qwen2", "Qwen3", "GPT2")
FAMILIES: dict[str, dict[str, Any]] = {
    name: fields for name, fields in pytorch.FAMILIES.items() if name not in OURS
} | {
    **dict.fromkeys(("Phi", "Cohere2", "Starcoder2", "SmolLM3", "Exaone4", "Nemotron", "Olmo"), {}),
    "Glm4": {"head_dim": 4},
    "GPTNeoX": {"num_key_value_heads": None},
    "Olmoe": EXPERTS,
    "GptOss": EXPERTS | {"head_dim": 4},
    "Qwen2Moe": EXPERTS | {"shared_expert_intermediate_size": 8},
    "Gemma3": {"head_dim": 8},
    "OPT": {"ffn_dim": 24, "word_embed_proj_dim": 16, "num_key_value_heads": None},
}
FAMILIES |= {"DeepseekV3": EXPERTS | LATENT | {"first_k_dense_replace": 1}, "DeepseekV2": EXPERTS | LATENT}
MIX = ["linear_attention", "full_attention"]
MIXED: dict[str, dict[str, Any]] = {  # with layers that keep no rows
    "Qwen3Next": EXPERTS | LINEAR | {"head_dim": 4, "layer_types": MIX, "shared_expert_intermediate_size": 8},
    "Lfm2": {"layer_types": ["conv", "full_attention"]},
    "RecurrentGemma": {"block_types": ["recurrent", "attention"], "lru_width": 16, "attention_window_size": 30},
}
STATES = ("Qwen3Next", "Lfm2")  # work on which PyTorch counts
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
    shown = picture_of_run(trace)
    return trace, picture_of_excerpt(from_json(to_json(shown.excerpt())))


def said_of(view: ExcerptPicture) -> str:
    return " ".join(of_family(view))


@pytest.mark.parametrize("family", [*FAMILIES, *MIXED])
def test_a_model_of_any_family_is_drawn_from_its_trace(family: str) -> None:
    """Rows, bytes and answers as the run has them, the tokens of `generate`, and what differs from the page's words."""
    model = made(family)
    trace, view = recorded(model)
    last, kept = view.n - 1, [1] if family in MIXED else [0, 1]
    step = view.step(last)
    assert view.layers == kept and step.rows == view.n and view.map.heads == len(kept) * 4
    assert ("a latent of 12 numbers per token" in said_of(view)) == family.startswith("Deepseek")
    assert view.about["family"] == model.config.model_type and not view.dial
    assert step.difference is not None and step.difference < 1e-4, "with the cache and without it says the same"
    assert view.agreement and view.agreement.rounding and not view.agreement.others
    assert all(part.form_with is None for part in step.costs)
    assert [part.with_cache for part in step.costs[:-1]] == trace.about["macs"][last]
    assert [part.without for part in step.costs[:-1]] == trace["recompute_macs", last].tolist()
    said = said_of(view)
    assert f"of the family {view.about['family']}" in said
    assert ("over the root of" in said) == (family in SCALED)
    assert ("only these are of this kind: 1." in said) == (family in MIXED)
    assert not {event.name for event in trace} & {*READ}, "a right cache hands out what has joined it"
    weights = trace["attn_weights", last, 1].sum(-1)
    assert ("come to less than 1" in said) == (family == "GptOss") == bool((weights < 0.98).all())
    assert bool(view.alone) == (family != "GptOss"), "the one row of the first step has the whole weight"
    assert trace.about["ids"] + [trace.number("sample", last)] == generated(model, trace)
    i, counted = trace.about["counted"]
    assert i == trace.about["n_prompt"] - 1 and (counted == view.step(i).costs[-1].with_cache) == (family not in STATES)
    assert ("finds as many multiply-adds" in said) == (family not in STATES)
    check_counted(family, model, trace, view)


def generated(model: Any, trace: Trace) -> list[int]:
    """The tokens of transformers' own loop, as many as the trace has and the last that it chose."""
    prompt = torch.tensor([trace.about["ids"][: trace.about["n_prompt"]]])
    new = len(trace.about["ids"]) + 1 - prompt.shape[1]
    found = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=new, do_sample=False)
    return found[0].tolist()  # type: ignore[no-any-return]


def check_counted(family: str, model: Any, trace: Trace, view: ExcerptPicture) -> None:
    """Against PyTorch's counter and the cache object: a step after nine tokens, beyond the windows, and a whole pass.

    PyTorch also multiplies what the mask hides, and counts what layers without rows do with their state.
    """
    from torch.utils.flop_counter import FlopCounterMode

    ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    model.set_attn_implementation("eager")
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("eager")  # one product an expert: those in one call are not counted
    shape, n, engine = shape_of(model), len(ids), Engine(model)
    c, kept, windows = shape.config, with_rows(trace.about), trace.about.get("windows", [0, 0])
    macs = counter(model, shape, kept, windows, "row" in trace.about)
    with torch.no_grad():
        engine.run(ids[:-1], n - 1)
        with FlopCounterMode(display=False) as step:
            engine.run(ids, 1)
        with FlopCounterMode(display=False) as whole:
            engine.again(ids)
    hidden = len(kept) * n * n - sum(cost.count_pairs(n, n, windows[layer]) for layer in kept)
    hidden *= c.n_head * (c.head_dim + shape.v_dim)
    assert not shape.ours and macs(1, n).sum() == without_states(step)
    assert macs(n, n).sum() + hidden == without_states(whole)
    held = [layer for layer in engine.layers if getattr(layer, "keys", None) is not None]
    rows = [min(n, window - 1 if window else n) for layer, window in enumerate(windows) if layer in kept]
    assert [layer.keys.shape[2] for layer in held] == rows
    token = 16 if family.startswith("Deepseek") else c.n_kv_head * (c.head_dim + shape.v_dim)
    assert engine.measure().numbers == token * sum(rows) and engine.measure().bytes == 4 * engine.measure().numbers
    for i, (numbers, size) in enumerate(trace.about["held"], 1):
        assert numbers == token * sum(min(i, windows[at] - 1 if windows[at] else i) for at in kept) == size / 4
        shown = view.step(i - 1).bytes
        assert (shown.numbers, shown.here, shown.reserved) == (numbers, size, trace.about["nbytes_reserved"])


def without_states(counted: Any) -> int:
    """Multiply-adds; of layers that keep a state, those of their matrices alone."""
    found = counted.get_flop_counts()
    linear = [name for name in found if name.endswith(("linear_attn", ".conv", ".conv_1d"))]
    states = [
        sum(flops for op, flops in found[name].items() if "mm" not in str(op).split(".")[-1] or "bmm" in str(op))
        for name in linear
    ]
    return int(counted.get_total_flops() - sum(states)) // 2


@pytest.mark.parametrize("family", ["Llama", "Qwen3", "GPT2"])
def test_by_its_matrices_a_family_that_we_know_costs_what_its_formula_says(family: str) -> None:
    model = pytorch.made(family)
    shape = shape_of(model)
    by_matrices, ours = (counter(model, one, [0, 1], [0, 0], False) for one in (replace(shape, ours=False), shape))
    for n, t in ((1, 1), (1, 7), (7, 7)):
        assert shape.ours and by_matrices(n, t).tolist() == ours(n, t).tolist()


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
    shown, seen = picture_of_trace(part, layers, [0, 3]), picture_of_run(whole, layers, [0, 3])
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


@pytest.mark.parametrize("family", ["GptOss", "Gemma3", "Mistral"])
def test_beyond_a_window_the_ring_is_told_at_its_true_positions(family: str) -> None:
    """Weights as the model's own attention gives them, over all tokens and over the last ten; full layers beside."""
    window, text = 12, "the day is bright and the sun is red"
    more = {} if family == "Mistral" else {"layer_types": ["sliding_attention", "full_attention"]}
    model = made(family, max_position_embeddings=256, sliding_window=window, **more)
    whole, part = record(model, words(), text, 2, compares=False), record(model, words(), text, 2, last=10)
    windows, before, n = whole.about["windows"], part.about["before"], len(whole.about["ids"])
    assert windows == part.about["windows"] == [window, window if family == "Mistral" else 0] and before > window
    assert whole.about["ids"] + [whole.number("sample", n - 1)] == generated(model, whole)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        told = model(input_ids=torch.tensor([whole.about["ids"]]), output_attentions=True).attentions
    assert not {event.name for event in (*whole, *part)} & {*READ}
    shown = picture_of_trace(part)
    for layer, at in product((0, 1), range(before, n)):
        read = min(at + 1, windows[layer] or at + 1)
        weights, scores = (whole[name, at, layer][:, 0] for name in ("attn_weights", "attn_scores"))
        assert_close(weights, told[layer][0, :, at, at + 1 - read : at + 1].numpy(), 1e-5)
        assert scores.shape == (4, read) and np.isfinite(scores).all()
        assert whole.number("cache_append", at, layer) == part.number("cache_append", at - before, layer) == read
        later = part["attn_weights", at - before, layer][:, 0]
        assert_close(later, weights[:, -min(read, at + 1 - before) :], 1e-5)
        earlier = shown.earlier(at - before, layer, 0, later[0])
        assert earlier == pytest.approx(weights[0, : -later.shape[1]].sum(), abs=1e-4)
    token = 2 * 2 * part.about["config"]["head_dim"]
    assert part.about["held"][-1][0] == token * sum(window - 1 if one else n for one in windows)
    layers = "0–1" if family == "Mistral" else "0"
    assert f"Layers with a sliding window: {layers}. There a query sees 12 rows" in " ".join(of_family(shown))
    assert ("come to less than 1" in " ".join(of_family(shown))) == (family == "GptOss")
    assert all(bool(shown.sunk(shown.meetings(i))) == (family == "GptOss") for i in range(shown.n))
    at_last = [(one or n, (one or n) - 1, bool(one), False) for one in windows]
    assert [tuple(numbers) for _, *numbers in shown.rows_at(9)] == at_last
    assert shown.grows_evenly is False


def test_where_positions_begin_to_turn_in_another_way_the_whole_text_runs_again() -> None:
    """As in `generate`, which drops its cache there; the step costs what a pass over the whole text costs."""
    rope = {
        "rope_type": "longrope",
        "rope_theta": 1e4,
        "short_factor": [1.0] * 2,
        "long_factor": [4.0] * 2,
        "original_max_position_embeddings": 6,
    }
    model = made("Phi3", original_max_position_embeddings=6, rope_parameters=rope, sliding_window=None)
    trace = record(model, words(), "the day", 4)
    last = len(trace.about["ids"]) - 1
    assert trace.about["again"] == [6] and trace.about["ids"] + [trace.number("sample", last)] == generated(
        model, trace
    )
    assert trace.about["macs"][6] == trace["recompute_macs", 6].tolist() > trace.about["macs"][7]
    view, cache = picture_of_trace(trace), transformers.DynamicCache()
    with torch.no_grad():
        model(torch.tensor([trace.about["ids"][:7]]), past_key_values=cache)
    assert {event.pos for event in trace if event.name in READ} == {6}
    for (layer, one), i in product(enumerate(cache.layers), range(7)):
        assert_close(Reads(trace).row("k", i, layer, 7), one.keys[0, :, i].numpy(), 1e-5)
        assert i in (0, 6) or np.abs(trace["k", i, layer][0] - one.keys[0, :, i].numpy()).max() > 1e-3
    assert view.agreement and view.agreement.rounding and not view.agreement.others
    assert "as this family asks of it: 7." in " ".join(of_family(view))


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
        picture_of_run(trace, layers=[0])


def test_what_cannot_be_drawn_is_said_in_a_sentence() -> None:
    refused: dict[str, tuple[str, dict[str, Any]]] = {
        "Falcon": ("in a way of its own", {"new_decoder_architecture": True}),
        "StableLm": ("rows that are of one shape", {}),
        "Mamba": ("No layer of this model keeps a row", {}),
    }
    for family, (said, fields) in refused.items():
        with pytest.raises(UserError, match=said):
            record(made(family, **fields), words(), "the day", 2)
    with pytest.raises(UserError, match="cannot be run token by token"):
        record(made("Olmo").to(torch.float8_e4m3fn), words(), "the day", 2)


def test_experts_run_in_64_bits_chunks_are_told_and_a_cache_of_its_own_kind_is_asked() -> None:
    """Where PyTorch has no product of all experts in one call; a mask that ends with a chunk; a family's own cache."""
    text = transformers.Llama4TextConfig(
        **pytorch.SMALL | EXPERTS | {"vocab_size": len(words()), "head_dim": 4, "intermediate_size_mlp": 24},
        attention_chunk_size=4,
        no_rope_layers=[1, 0],
        pad_token_id=None,
    )
    chunks = pytorch.filled(transformers.Llama4ForCausalLM(text), 4, 0.3)
    for model in (made("Mixtral").double(), chunks, made("MiniMax", **EXPERTS, head_dim=4)):
        model.generation_config.eos_token_id = None
        trace = record(model, words(), "the day", 4)
        last = len(trace.about["ids"]) - 1
        assert trace.about["ids"] + [trace.number("sample", last)] == generated(model, trace)
        assert (agreed := picture_of_trace(trace).agreement) and agreed.rounding and not agreed.others
        if model is chunks:
            seen = [int(np.isfinite(trace["attn_scores", i, 0][0]).sum()) for i in range(last + 1)]
            assert seen == [i % 4 + 1 for i in range(last + 1)] and trace.about["windows"] == [4, 0]
            shown, text = picture_of_trace(trace), " ".join(of_family(picture_of_trace(trace)))
            assert "experts that the router has not chosen" in text, "PyTorch counts all experts of Llama 4, which run"
            assert "its own chunk of 4 tokens, and none of the chunk before: 0." in text and "window" not in text
            for i in range(last + 1):
                past = [(one.rows, one.chunk) for one in shown.rows_at(i)]
                assert past == ([(i + 1, False)] if i < 4 else [(i % 4 + 1, i % 4 < 3), (i + 1, False)])
            assert trace.about["macs_without"][last] == trace["recompute_macs", last].tolist()
            assert trace.about["macs"][last][1] == 4 * 4 * (last % 4 + 1 + last + 1)


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
    assert "Its weights are quantised, by torchao." in of_family(picture_of_run(eight))


def test_a_recording_keeps_in_memory_what_a_page_shows() -> None:
    """Of the layers that stay closed no rows of q and no MLP; the picture is the same."""
    model, text = made("Olmo2", num_hidden_layers=5), "the day"
    whole = record(model, words(), text, 4)
    part = record(model, words(), text, 4, keeps=lambda about: is_needed([4]))
    later = {(event.name, event.layer) for event in part if event.pos > 0}
    assert {layer for name, layer in later if name == "q"} == {4} and ("mlp_hidden", 4) not in later
    for name in ("k", "v", "attn_weights", "cache_append"):
        assert {layer for one, layer in later if one == name} == {*range(5)}
    files = []
    for trace in (whole, part):
        shown = picture_of_run(trace, [4])
        files.append(to_json(shown.excerpt()))
    assert files[0] == files[1]


def test_blocks_are_given_back_where_the_system_can(monkeypatch: pytest.MonkeyPatch) -> None:
    give_back_blocks()

    def missing(name: None) -> None:
        raise OSError("no such library")

    monkeypatch.setattr("microgpt.huggingface.recorder.CDLL", missing)
    give_back_blocks()
