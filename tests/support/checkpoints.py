"""Small checkpoint folders as others would write them, for tests: random tensors under published names."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from microgpt.config import Array


def counts(text: str) -> dict[str, Any]:
    """Fields that are whole numbers: "n_layer=2 n_head=2"."""
    return {name: int(number) for name, _, number in (field.partition("=") for field in text.split())}


GPT2 = counts("n_embd=8 n_layer=2 n_head=2 n_positions=12 vocab_size=264 bos_token_id=263 eos_token_id=263")
GPT2["model_type"] = "gpt2"
LLAMA = counts(
    "hidden_size=8 num_hidden_layers=2 num_attention_heads=4 num_key_value_heads=2 intermediate_size=10 vocab_size=264 "
    "max_position_embeddings=12 bos_token_id=262"
)
LLAMA |= {"model_type": "llama", "tie_word_embeddings": False, "eos_token_id": [263, 261]}
LLAMA |= {"rope_theta": 10000.0, "rms_norm_eps": 1e-5}


def gpt2_tensors(rng: np.random.Generator) -> dict[str, Array]:
    """What GPT2LMHeadModel saves for GPT2, written out by hand; matrices are [in, out]."""
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (264, 8), "wpe.weight": (12, 8)}
    for h in ("h.0.", "h.1."):
        for norm in ("ln_1", "ln_2"):
            shapes |= {f"{h}{norm}.weight": (8,), f"{h}{norm}.bias": (8,)}
        attention, mlp = (("attn.c_attn", 8, 24), ("attn.c_proj", 8, 8)), (("mlp.c_fc", 8, 32), ("mlp.c_proj", 32, 8))
        for name, inner, outer in (*attention, *mlp):
            shapes |= {f"{h}{name}.weight": (inner, outer), f"{h}{name}.bias": (outer,)}
    shapes |= {"ln_f.weight": (8,), "ln_f.bias": (8,)}
    return {name: draw(rng, shape) for name, shape in shapes.items()}


def llama_tensors(rng: np.random.Generator) -> dict[str, Array]:
    """What LlamaForCausalLM saves for LLAMA; matrices are [out, in]."""
    shapes: dict[str, tuple[int, ...]] = {"embed_tokens.weight": (264, 8), "norm.weight": (8,)}
    for h in ("layers.0.", "layers.1."):
        for norm in ("input", "post_attention"):
            shapes[f"{h}{norm}_layernorm.weight"] = (8,)
        for name, outer, inner in (("q", 8, 8), ("k", 4, 8), ("v", 4, 8), ("o", 8, 8)):
            shapes[f"{h}self_attn.{name}_proj.weight"] = (outer, inner)
        for name, outer, inner in (("gate", 10, 8), ("up", 10, 8), ("down", 8, 10)):
            shapes[f"{h}mlp.{name}_proj.weight"] = (outer, inner)
    tensors = {f"model.{name}": draw(rng, shape) for name, shape in shapes.items()}
    return tensors | {"lm_head.weight": draw(rng, (264, 8))}


def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.normal(0, 0.5, shape).astype(np.float32)


def byte_level(start: str | None = None) -> Tokenizer:
    """GPT-2's kind of tokenizer: 256 bytes, five merges, three special tokens. `start` is put before each text."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("d", "a"), ("da", "y"), ("Ġ", "day"), ("Ã", "©"), ("Ġ", "â")]
    vocabulary = {piece: i for i, piece in enumerate([*letters, *(a + b for a, b in merges)])}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<stop>", "<begin>", "<end>"])  # 261, 262, 263
    if start:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{start} $A", special_tokens=[(start, tokenizer.token_to_id(start))]
        )
    return tokenizer


def file_of(tensors: dict[str, tuple[str, tuple[int, ...], bytes]]) -> bytes:
    """A .safetensors file of tensors that NumPy has no type for: name -> (type, shape, bytes)."""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(data for _, _, data in tensors.values())


def llama(place: Path) -> Path:
    """A Llama of 2 layers, 4 heads and 2 heads of keys and values, with a token that starts every text."""
    return write(place, LLAMA, llama_tensors(np.random.default_rng(0)), byte_level("<begin>"))


def write(
    folder: Path, config: dict[str, Any], tensors: dict[str, Array], tokenizer: Tokenizer | None = None, shards: int = 1
) -> Path:
    """A checkpoint folder, in one file or in `shards` with their index."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    if tokenizer:
        tokenizer.save(str(folder / "tokenizer.json"))
    whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    if shards == 1:
        save_file(whole, folder / "model.safetensors")
        return folder
    files = [f"model-{i + 1:05}-of-{shards:05}.safetensors" for i in range(shards)]
    index = {name: files[i % shards] for i, name in enumerate(whole)}
    for file in files:
        save_file({name: whole[name] for name, at in index.items() if at == file}, folder / file)
    text = json.dumps({"metadata": {}, "weight_map": index})
    (folder / "model.safetensors.index.json").write_text(text, "utf-8")
    return folder


def spoil(folder: Path, files: Mapping[str, bytes | None]) -> Path:
    """The folder with these files in the place of its own; None takes one away."""
    for name, content in files.items():
        (folder / name).unlink(missing_ok=True)
        if content is not None:
            (folder / name).write_bytes(content)
    return folder


WIDE = {**LLAMA, "head_dim": 16, "hidden_size": 32, "max_position_embeddings": 40}  # drawn as a large model


def wide_tensors(rng: np.random.Generator) -> dict[str, np.ndarray]:
    shapes: dict[str, tuple[int, ...]] = {"input_layernorm": (32,), "post_attention_layernorm": (32,)}
    shapes |= {"self_attn.q_proj": (64, 32), "self_attn.k_proj": (32, 32), "self_attn.v_proj": (32, 32)}
    shapes |= {"self_attn.o_proj": (32, 64), "mlp.gate_proj": (10, 32), "mlp.up_proj": (10, 32)}
    shapes |= {"mlp.down_proj": (32, 10)}
    found: dict[str, tuple[int, ...]] = {
        f"model.layers.{i}.{name}.weight": shape for i in range(2) for name, shape in shapes.items()
    }
    found |= {"model.embed_tokens.weight": (264, 32), "model.norm.weight": (32,), "lm_head.weight": (264, 32)}
    return {name: rng.normal(0, 0.5, shape).astype(np.float32) for name, shape in found.items()}


KINDS: dict[str, tuple[dict[str, Any], Callable[[np.random.Generator], dict[str, np.ndarray]], str | None]] = {
    "gpt2": (GPT2, gpt2_tensors, None),
    "llama": (LLAMA, llama_tensors, "<begin>"),
    "wide": (WIDE, wide_tensors, "<begin>"),
}


def made(folder: Path, kind: str, **how: Any) -> Path:
    config, tensors, start = KINDS[kind]
    return write(folder / kind, config, tensors(np.random.default_rng(5)), byte_level(start), **how)


def in_bfloat16(folder: Path, tensors: dict[str, np.ndarray]) -> Path:
    """The same folder with the upper halves of its numbers."""
    halves = {
        name: ("BF16", array.shape, (array.view(np.uint32) >> 16).astype("<u2").tobytes())
        for name, array in tensors.items()
    }
    (folder / "model.safetensors").write_bytes(file_of(halves))
    return folder
