"""tools.trained: a GGUF file becomes the model that it was made of; with the real file, the trace of the repository."""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter, dequantize, quantize

from microgpt.apps.records import TRACES
from microgpt.cache import KVCache
from microgpt.errors import UserError
from microgpt.experiments.dropping.results import load_results
from microgpt.experiments.repeating.results import FILE_DIGITS
from microgpt.model import forward
from microgpt.trace import to_json
from tools import trained

REAL = os.environ.get("SMOLLM2_GGUF", "")
N_EMBD, N_HEAD, N_KV, HEAD, N_MLP, LAYERS = 64, 4, 2, 16, 96, 2
TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "a", "b", "Ġ", "ab", "Ġa"]


def in_pairs(matrix: Any, heads: int) -> Any:
    """As llama.cpp writes q and k: the two numbers of a rotated pair, half a head apart, side by side."""
    out, width = matrix.shape
    found = np.empty_like(matrix)
    for head in range(heads):
        for i in range(out // heads // 2):
            for half in (0, 1):
                row = head * (out // heads)
                found[row + 2 * i + half] = matrix[row + half * (out // heads // 2) + i]
    assert found.shape == (out, width)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A tiny file, its matrices in 4 bits, and what they are in 16."""
    rng, path = np.random.default_rng(4), tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(32)
    writer.add_embedding_length(N_EMBD)
    writer.add_feed_forward_length(N_MLP)
    writer.add_head_count(N_HEAD)
    writer.add_head_count_kv(N_KV)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(100_000.0)
    writer.add_vocab_size(len(TOKENS))
    writer.add_token_list(TOKENS)
    writer.add_token_types([3, 3, 3, 1, 1, 1, 1, 1])
    writer.add_token_merges(["a b", "Ġ a"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    shapes = {
        "attn_q": (N_HEAD * HEAD, N_EMBD),
        "attn_k": (N_KV * HEAD, N_EMBD),
        "attn_v": (N_KV * HEAD, N_EMBD),
        "attn_output": (N_EMBD, N_HEAD * HEAD),
        "ffn_gate": (N_MLP, N_EMBD),
        "ffn_up": (N_MLP, N_EMBD),
        "ffn_down": (N_EMBD, N_MLP),
    }
    kept = dict[str, Any]()

    def add(name: str, array: Any, kind: GGMLQuantizationType, heads: int = 0) -> None:
        data = quantize(in_pairs(array, heads) if heads else array, kind)
        writer.add_tensor(name, data, raw_dtype=kind)
        back = dequantize(data, kind).astype(np.float16)
        kept[name] = back

    add("token_embd.weight", rng.normal(size=(len(TOKENS), N_EMBD)).astype(np.float32), GGMLQuantizationType.Q8_0)
    add("output_norm.weight", rng.normal(1, 0.1, N_EMBD).astype(np.float32), GGMLQuantizationType.F32)
    for layer in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            add(f"blk.{layer}.{norm}.weight", rng.normal(1, 0.1, N_EMBD).astype(np.float32), GGMLQuantizationType.F32)
        for part, shape in shapes.items():
            heads = {"attn_q": N_HEAD, "attn_k": N_KV}.get(part, 0)
            add(
                f"blk.{layer}.{part}.weight",
                rng.normal(0, 0.2, shape).astype(np.float32),
                GGMLQuantizationType.Q4_1,
                heads,
            )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path, kept


def test_a_file_becomes_the_model_that_it_was_made_of(made: tuple[Path, dict[str, Any]]) -> None:
    path, kept = made
    model = trained.model_in(path)
    c = model.config
    assert (c.n_layer, c.n_embd, c.n_head, c.n_kv_head, c.head_dim, c.n_mlp) == (2, 64, 4, 2, 16, 96)
    assert (c.vocab_size, c.n_ctx, c.rope_theta, c.norm_eps, c.tied) == (8, 32, 100_000, 1e-5, True)
    for name, heads in (("wq", N_HEAD), ("wk", N_KV)):
        for layer in range(LAYERS):
            ours = model.params[f"layer{layer}.{name}"]
            assert np.array_equal(in_pairs(ours, heads), kept[f"blk.{layer}.attn_{name[1]}.weight"].astype(np.float32))
    assert np.array_equal(model.params["layer1.wo"], kept["blk.1.attn_output.weight"].astype(np.float32))
    assert model.params["wte"].dtype == np.float32
    ids = model.tokenizer.encode("<|im_start|>ab a")
    assert ids == [1, 6, 7] and "".join(model.tokenizer.vocabulary[i] for i in ids[1:]) == "ab a"
    assert np.isfinite(forward(model.params, c, ids, KVCache(c, np.float32))).all()


def test_pairs_side_by_side_turn_as_pairs_half_a_head_apart() -> None:
    """What the order is for: a rotation of neighbours in theirs is the rotation of halves in ours."""
    rng = np.random.default_rng(0)
    ours, angles = rng.normal(size=(16, 5)), rng.normal(size=8)
    theirs = in_pairs(ours, 1)
    assert np.array_equal(trained.in_halves(theirs, 1), ours)
    x = rng.normal(size=5)
    neighbours, halves = theirs @ x, ours @ x
    for i, angle in enumerate(angles):
        a, b = neighbours[2 * i : 2 * i + 2]
        assert (a * np.cos(angle), b * np.sin(angle)) == (halves[i] * np.cos(angle), halves[8 + i] * np.sin(angle))


def test_another_file_is_refused(
    made: tuple[Path, dict[str, Any]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "traces"
    for file, said in ((made[0], "is not the file that the trace is of"), (tmp_path / "none", "cannot be read")):
        assert trained.main([str(file), "--out", str(out)]) == 1
        assert said in capsys.readouterr().err and not out.exists()
    with pytest.raises(UserError, match="SHA-256"):
        trained.check_model(made[0])


@pytest.mark.skipif(not REAL, reason="needs the weights: set SMOLLM2_GGUF to the file that tools/trained.py names")
@pytest.mark.timeout(900)  # a hundred texts of a hundred tokens and more
def test_the_trace_of_the_repository_is_what_the_weights_give() -> None:
    """To the digits that are kept: the last ones depend on the order in which a machine sums."""
    model = trained.check_model(Path(REAL))
    for text, part in trained.traces_of(model):
        kept = json.loads((TRACES / text.file).read_text("utf-8"))
        same(json.loads(to_json(part)), kept, text.digits)
    same(json.loads(trained.as_lines(trained.for_lessons(model))), load_results(), FILE_DIGITS - 1)
    for name, record in trained.records_of(model):
        same(json.loads(trained.as_lines(record)), json.loads((TRACES / name).read_text("utf-8")), FILE_DIGITS - 1)
    assert GGUFReader(REAL).fields["general.license"].contents() == "apache-2.0"


def test_what_lessons_say_of_the_trace_is_what_the_trace_says() -> None:
    assert {name: load_results()[name] for name in ("model", "rest", "peak")} == trained.of_trace()
    assert load_results()["source"] == trained.SOURCE


def same(found: Any, kept: Any, digits: int) -> None:
    """The same names, lengths, words and whole numbers, and broken numbers the same but for their last digit."""
    if isinstance(kept, dict):
        assert found.keys() == kept.keys()
        for name in kept:
            if name != "apart":  # how far two ways of summing are from each other: all of it is such digits
                same(found[name], kept[name], digits)
    elif isinstance(kept, list):
        assert len(found) == len(kept)
        for one, other in zip(found, kept, strict=True):
            same(one, other, digits)
    elif isinstance(kept, float):
        assert math.isclose(found, kept, rel_tol=2 * 10.0 ** (1 - digits), abs_tol=2 * 10.0**-digits)
    else:
        assert found == kept
