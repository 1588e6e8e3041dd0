"""What transformers computes, told as our own forward tells it: event by event the same, and nothing changed by it.

Tiny models with random weights. Where our own code can run the model too, both compute in float64 and every event is
compared; elsewhere the model's own outputs are what the report must say.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.__main__ import main
from microgpt.cache import KVCache
from microgpt.checkpoints.folder import load_checkpoint, load_params
from microgpt.errors import UserError
from microgpt.huggingface.recorder import record
from microgpt.huggingface.watch import ATTENTION_NAME, watched
from microgpt.model import forward
from microgpt.record import Recording
from microgpt.trace import Trace, from_json, to_json
from microgpt.viz.large.from_trace import picture_of_excerpt
from microgpt.viz.large.picture import picture_of_run
from tests.references.pytorch import FAMILIES, folder_of, in_float64, made, torch, transformers
from tests.support.examples import examples
from tests.support.strategies import assert_close

pytestmark = pytest.mark.references


def passes(model: Any, chunks: list[list[int]], cache: Any = None) -> Any:
    """Several passes with one cache; the output of the last."""
    cache = transformers.DynamicCache(config=model.config) if cache is None else cache
    with torch.no_grad():
        for chunk in chunks:
            out = model(input_ids=torch.tensor([chunk]), past_key_values=cache)
    return out


@pytest.mark.parametrize("family", ["Llama", "GPT2"])
@given(seed=st.integers(0, 2**20), sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5))
@settings(max_examples=examples(12))
def test_every_event_is_that_of_our_own_forward(
    family: str, seed: int, sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same names, positions and layers in the same order, and the same numbers to 1e-12, however it is cut."""
    folder = tmp_path_factory.mktemp("model")
    with in_float64():
        model = made(family, seed, double=True)
        model.save_pretrained(folder)
        ids = np.random.default_rng(seed).integers(17, size=sum(sizes)).tolist()
        chunks = [ids[end - n : end] for n, end in zip(sizes, np.cumsum(sizes).tolist(), strict=True)]
        theirs, ours = Trace(), Trace()
        with watched(model, theirs.keep):
            passes(model, chunks)
    facts, params = load_params(folder, "float64")
    cache = KVCache(facts.config)
    for chunk in chunks:
        forward(params, facts.config, chunk, cache, ours.keep)
    assert [(e.name, e.pos, e.layer) for e in theirs] == [(e.name, e.pos, e.layer) for e in ours]
    for one, other in zip(theirs, ours, strict=True):
        assert_close(np.nan_to_num(one.value), np.nan_to_num(other.value))  # hidden scores are -inf in both


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_told_is_what_the_model_gives_out(family: str) -> None:
    """Weights and rows against its own outputs and its own cache; and nothing is changed by being watched."""
    model, chunks = made(family), [[3, 1, 4, 1, 5], [9], [2]]
    alone = passes(model, chunks)
    model.set_attn_implementation("eager")
    trace, cache = Trace(), transformers.DynamicCache(config=model.config)
    with torch.no_grad():
        told = model(input_ids=torch.tensor([sum(chunks, [])]), output_attentions=True, output_hidden_states=True)
    with watched(model, trace.keep):
        seen = passes(model, chunks, cache)
    assert torch.allclose(seen.logits, alone.logits, atol=1e-5)
    for layer in range(2):
        rows = np.concatenate([trace["k", at, layer] for at in (0, 5, 6)])
        assert_close(rows, cache.layers[layer].keys[0].transpose(0, 1).numpy(), 1e-6)
        rows = np.concatenate([trace["v", at, layer] for at in (0, 5, 6)])
        assert_close(rows, cache.layers[layer].values[0].transpose(0, 1).numpy(), 1e-6)
        for at in (5, 6):
            assert_close(
                trace["attn_weights", at, layer][:, 0], told.attentions[layer][0, :, at, : at + 1].numpy(), 1e-5
            )
            assert trace.number("cache_append", at, layer) == at + 1
        assert_close(trace["resid_pre", 0, layer], told.hidden_states[layer][0, :5].numpy(), 1e-5)
        scores = trace["attn_scores", 0, layer]
        assert np.isneginf(scores[0]).sum() == 10  # five tokens: those that come later
        e = np.exp(scores - scores.max(-1, keepdims=True))
        # also where scores are capped
        assert_close(e / e.sum(-1, keepdims=True), trace["attn_weights", 0, layer], 1e-5)
    assert_close(trace["logits", 6][0], told.logits[0, -1].numpy(), 1e-5)


def test_generate_gives_the_same_tokens_while_it_is_watched() -> None:
    model, ids = made("Llama"), torch.tensor([[1, 2, 3]])
    asked: dict[str, Any] = {"max_new_tokens": 12, "do_sample": False, "eos_token_id": 16, "pad_token_id": 16}
    alone, before, trace = model.generate(ids, **asked), model.config._attn_implementation, Trace()
    with watched(model, trace.keep):
        assert model.config._attn_implementation == ATTENTION_NAME
        watching = model.generate(ids, **asked)
    assert torch.equal(alone, watching) and model.config._attn_implementation == before
    assert trace.number("cache_append", alone.shape[1] - 2, 0) == alone.shape[1] - 1
    n = len(list(trace))
    assert torch.equal(model.generate(ids, **asked), alone) and len(list(trace)) == n, "it tells nothing afterwards"


def test_what_cannot_be_recorded_is_said_and_leaves_the_model_as_it_was() -> None:
    model = made("Llama")
    before = model.config._attn_implementation
    with pytest.raises(UserError, match="2 texts at once"), watched(model, Trace().keep), torch.no_grad():
        model(input_ids=torch.tensor([[1, 2], [3, 4]]))
    with pytest.raises(UserError, match="one of fixed size"), watched(model, Trace().keep), torch.no_grad():
        model(input_ids=torch.tensor([[1, 2]]), past_key_values=transformers.StaticCache(model.config, max_cache_len=8))
    with pytest.raises(UserError, match="with padding"), watched(model, Trace().keep), torch.no_grad():
        model(input_ids=torch.tensor([[0, 1, 2]]), attention_mask=torch.tensor([[0, 1, 1]]))
    assert model.config._attn_implementation == before
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize("family", ["Llama", "GPT2"])
def test_a_recording_is_that_of_our_own_code(family: str, tmp_path: Path) -> None:
    """Text to tokens to trace: what `Recording` gives of the same folder, with and without the cache."""
    with in_float64():
        folder_of(family, tmp_path, double=True)
        model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float64)
        theirs = record(model, transformers.AutoTokenizer.from_pretrained(tmp_path), "the day", 4)
    ours = Recording(load_checkpoint(tmp_path, "float64"), "the day", max_new=4).run()
    assert theirs.about["tokens"] == ours.about["tokens"] and theirs.about["n_prompt"] == ours.about["n_prompt"]
    assert theirs.about["config"] == ours.about["config"] and theirs.about["dtype"] == "float64"
    assert theirs.about["engine"] == f"transformers {transformers.__version__}" and theirs.about["device"] == "cpu"
    found = {(event.name, event.pos, event.layer): event.value for event in theirs}
    for event in ours:
        assert_close(np.nan_to_num(found[event.name, event.pos, event.layer]), np.nan_to_num(event.value))


@pytest.mark.parametrize("family", ["Llama", "Mixtral"])
def test_the_command_writes_what_a_page_is_made_of(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, file = folder_of(family, tmp_path / "model"), tmp_path / "trace.json"
    assert main(["record", "--model", str(folder), "--prompt", "the day", "--new", "3", "--out", str(file)]) == 0
    part = from_json(file.read_text("utf-8"))
    assert picture_of_excerpt(part).step(4).rows == 5
    assert part.about.get("family", "llama") == family.lower() and part.about["config"]["position"] == "rope"
    assert part.about["model"] == "model" and part.about["dtype"] == "float32" and "whole" in part.about
    asked = ["record", "--model", str(folder), "--prompt", "the day", "--new", "3", "--out", str(file)]
    assert main(asked) == 1 and "replace it with --force" in capsys.readouterr().err
    file.unlink()
    for wrong in (["--model", str(tmp_path / "none")], ["--model", str(folder), "--dtype", "float8_e4m3fn"]):
        assert main(["record", *wrong, "--prompt", "a", "--out", str(file)]) == 1
        assert "cannot be loaded" in capsys.readouterr().err
    assert main(["record", "--model", str(folder), "--prompt", "a" * 90, "--out", str(file)]) == 1
    assert "more than the 32 that this model sees" in capsys.readouterr().err
    assert main(["record", "--model", str(folder), "--prompt", "a", "--new", "32", "--out", str(file)]) == 1
    assert "a page shows the last 2 to 32" in capsys.readouterr().err
    asked.append("--force")
    assert main([*asked, "--layers", "1"]) == 0
    assert from_json(file.read_text("utf-8")).about["cut"]["in_layers"]["layers"] == [1]
    assert main([*asked, "--heads", "0,3"]) == 0
    opened = picture_of_excerpt(from_json(file.read_text("utf-8"))).heads
    assert [(one.layer, one.head) for one in opened] == [(0, 0), (0, 3), (1, 0), (1, 3)]
    before = file.read_bytes()
    for flag, text, said in (
        ("layers", "9", "There is no layer 9; this model has 0 to 1."),
        ("heads", "x", "The heads to open are “x”; give numbers"),
    ):
        assert main([*asked, f"--{flag}", text]) == 1
        assert said in capsys.readouterr().err and file.read_bytes() == before


def test_a_window_tells_the_rows_that_it_still_has() -> None:
    """The cache of Mistral's layers gives up what no query will see again: fewer rows than tokens, and told so."""
    model, ids = made("Mistral", sliding_window=4), [3, 1, 4, 1, 5, 9, 2, 6]
    trace, chunks = Trace(), [[token] for token in ids]
    with watched(model, trace.keep):
        last = passes(model, chunks).logits[0, -1].numpy()
    assert [trace.number("cache_append", at, 1) for at in range(8)] == [1, 2, 3, 4, 4, 4, 4, 4]
    assert trace["attn_weights", 7, 1].shape == (4, 1, 4)
    assert_close(trace["attn_weights", 7, 1].sum(-1), np.ones((4, 1)), 1e-5)
    assert_close(last, passes(model, [ids]).logits[0, -1].numpy(), 1e-4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_what_the_mask_hides_is_minus_infinity_in_any_type(dtype: str) -> None:
    model, trace = made("Llama").to(getattr(torch, dtype)), Trace()
    with watched(model, trace.keep):
        passes(model, [[3, 1, 4, 1, 5]])
    assert np.array_equal(np.isneginf(trace["attn_scores", 0, 1][2]), np.triu(np.ones((5, 5), bool), 1))


def test_embeddings_in_place_of_ids_are_told_as_well() -> None:
    model, trace = made("Llama"), Trace()
    rows = model.get_input_embeddings()(torch.tensor([[1, 2, 3]])).detach()
    with watched(model, trace.keep), torch.no_grad():
        model(inputs_embeds=rows)
    assert_close(trace["embed", 0], rows[0].numpy())


@pytest.mark.parametrize("where", ["offload", "auto", "bfloat16", "float16"])
def test_it_is_recorded_wherever_and_in_whatever_it_runs(where: str, tmp_path: Path) -> None:
    """Layers on the disk, spread by accelerate, the same numbers; in 16 bits, the same tokens, near, and said."""
    folder = folder_of("Llama", tmp_path / "model")
    spread = {
        "model.embed_tokens": "cpu",
        "model.rotary_emb": "cpu",
        "model.layers.0": "cpu",
        "model.layers.1": "disk",
        "model.norm": "cpu",
        "lm_head": "disk",
    }
    ways: dict[str, dict[str, Any]] = {
        "offload": {"device_map": spread, "offload_folder": str(tmp_path / "disk")},
        "auto": {"device_map": "auto"},
        "bfloat16": {"dtype": torch.bfloat16},
        "float16": {"dtype": torch.float16},
    }
    given = ways[where]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    one = record(transformers.AutoModelForCausalLM.from_pretrained(folder).eval(), tokenizer, "the day", 4)
    other = record(transformers.AutoModelForCausalLM.from_pretrained(folder, **given).eval(), tokenizer, "the day", 4)
    short = where.endswith("16")
    assert other.about["dtype"] == (where if short else "float32")
    assert other.about["device"] == ("cpu, disk" if where == "offload" else "cpu")
    for a, b in zip(one, other, strict=True):
        assert (a.name, a.pos, a.layer) == (b.name, b.pos, b.layer)
        assert np.array_equal(np.isneginf(a.value), np.isneginf(b.value)), "what is hidden is hidden"
        assert_close(np.nan_to_num(a.value), np.nan_to_num(b.value), 0.02 if short else 1e-12)
    shown = picture_of_run(other)
    part = from_json(to_json(shown.excerpt()))
    bits = 16 if short else 32
    assert picture_of_excerpt(part).step(3).bytes.bits == bits
    # rows, layers, K and V, heads, numbers
    assert picture_of_excerpt(part).step(3).bytes.here == 4 * 2 * 2 * 2 * 4 * bits // 8


def test_a_model_in_eight_bits_is_recorded_as_it_computes() -> None:
    """Its linear maps are other modules then; what is told is what they give out."""
    model = made("Llama")

    class Eight(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, linear: Any) -> None:
            super().__init__()
            self.scale = linear.weight.abs().amax(1, keepdim=True) / 127
            self.codes = (linear.weight / self.scale).round().to(torch.int8)

        def forward(self, x: Any) -> Any:
            return x @ (self.codes * self.scale).T

    with torch.no_grad():
        for layer in model.model.layers:
            for part in (layer.self_attn, layer.mlp):
                for name, linear in list(part.named_children()):
                    if isinstance(linear, torch.nn.Linear):
                        setattr(part, name, Eight(linear))
    trace, chunks = Trace(), [[3, 1, 4], [1], [5]]
    alone = passes(model, chunks).logits[0, -1].numpy()
    with watched(model, trace.keep):
        assert np.abs(passes(model, chunks).logits[0, -1].numpy() - alone).max() < 1e-5
    hidden, down = trace["mlp_hidden", 4, 1], model.model.layers[1].mlp.down_proj
    assert_close(trace["mlp_out", 4, 1], down(torch.tensor(hidden)).detach().numpy(), 1e-6)
    assert np.abs(alone - passes(made("Llama"), chunks).logits[0, -1].numpy()).max() > 1e-4, "it computes otherwise"
