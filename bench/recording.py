"""Watching transformers: what a recorded decode step takes, and what recording a long prompt holds in memory.

The step is one at GPT-2 124M's shape: random weights, float32, eager attention on both sides, one thread, 200 rows
before. The memory is that of a prompt of 1,000 tokens and 4 new ones at the width of Llama-3-8B, random weights in
bfloat16, in as many of its 32 layers as are asked for: all of them take 16 GB and ten minutes. In the environment of
`make references`, which has PyTorch and transformers: `python -m bench.recording steps` and `... memory 32` print JSON.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from bench.checkpoints import REFERENCES
from bench.gpt2 import held, timed
from bench.measure import Result, at_most, in_one_thread, interleave, ratios
from microgpt.huggingface.recorder import give_back_blocks, record
from microgpt.huggingface.watch import watched
from microgpt.trace import Trace
from microgpt.viz.drawing.picture import MOST_TOKENS
from microgpt.viz.large.excerpt import needed
from microgpt.viz.large.heads import rule_layers, with_rows

CONTEXT, ROUNDS, GOAL = 200, 60, 1.15
LAYERS, TOKENS, NEW, MEMORY_GOAL, GB = 4, 1_000, 4, 1.0, 1e9
WHAT = "a decode step of GPT-2's shape in transformers, recorded"
MEMORY = f"memory of recording {TOKENS:,} tokens of Llama-3-8B's width, {LAYERS} of its 32 layers"


def measure() -> list[Result]:
    if not REFERENCES.exists() and find_spec("transformers") is None:
        missing = "not measured: transformers is not installed, `make references` installs it"
        return [Result(WHAT, missing), Result(MEMORY, missing)]
    python = str(REFERENCES) if REFERENCES.exists() else sys.executable
    took = in_one_thread("bench.recording", "steps", python=python)
    scale = ", ".join(f"{median(took[name]) * 1e3:.1f} ms" for name in ("recorded", "eager"))
    step = at_most(WHAT, ratios(took["recorded"], took["eager"]), GOAL, "its eager step, not recorded", scale)
    if not Path("/proc/self/status").exists():
        return [step, Result(MEMORY, "not measured: only Linux says how much a process held at most")]
    found = in_one_thread("bench.recording", "memory", str(LAYERS), python=python)
    scale = f"{found['weights'] / GB:.1f} GB of weights, {found['cache'] / GB:.2f} of cache"
    beside = "GB beside the weights, with the cache"
    return [step, at_most(MEMORY, [(found["peak"] - found["base"]) / GB], MEMORY_GOAL, beside, scale)]


def steps() -> dict[str, list[float]]:
    """Seconds of a step, round by round."""
    torch, transformers = import_module("torch"), import_module("transformers")
    torch.set_num_threads(1)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(attn_implementation="eager")).eval()
    cache, token = transformers.DynamicCache(), torch.tensor([[7]])

    def step() -> None:
        with torch.inference_mode():
            model(input_ids=token, past_key_values=cache, use_cache=True)

    def recorded() -> float:
        with watched(model, Trace().keep):
            return timed(step, back)()

    def back() -> None:
        cache.crop(-1)

    with torch.inference_mode():
        model(input_ids=torch.arange(CONTEXT)[None], past_key_values=cache, use_cache=True)
    return interleave(ROUNDS, {"eager": timed(step, back), "recorded": recorded})


class Numbers:
    """A tokenizer whose every token is a number."""

    bos_token_id = None

    def __call__(self, prompt: str) -> dict[str, list[int]]:
        return {"input_ids": [int(word) for word in prompt.split()]}

    def decode(self, ids: list[int]) -> str:
        return " ".join(map(str, ids))

    def convert_ids_to_tokens(self, token: int) -> str:
        return str(token)


def memory(layers: int) -> dict[str, int]:
    """Bytes: the process with the weights in it, weights, cache, and the most that it held while it recorded."""
    torch, transformers = import_module("torch"), import_module("transformers")
    config = transformers.LlamaConfig(
        hidden_size=4096, intermediate_size=14336, num_hidden_layers=layers, num_attention_heads=32,
        num_key_value_heads=8, vocab_size=128_256, max_position_embeddings=8192, attn_implementation="eager",
    )  # fmt: skip
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(config).to(torch.bfloat16).eval()
    model = filled(model, torch)
    give_back_blocks()
    prompt = " ".join(str(token) for token in torch.arange(1, TOKENS + 1).mul(97).remainder(128_000).tolist())
    weights = sum(x.nbytes for x in model.parameters())
    Path("/proc/self/clear_refs").write_text("5", "ascii")  # the most that was held counts from here
    base = held("VmRSS")
    record(
        model, Numbers(), prompt, NEW, last=MOST_TOKENS,
        keeps=lambda about: needed(rule_layers(with_rows(about))),
    )  # fmt: skip
    cache = 2 * layers * (TOKENS + NEW) * config.num_key_value_heads * (4096 // 32) * 2
    return {"base": base, "weights": weights, "cache": cache, "peak": held("VmHWM")}


def filled(model: Any, torch: Any) -> Any:
    """Small random weights in place of none; the tables of rotations are computed as the model does."""
    rotary = type(model.model.rotary_emb)(config=model.config)
    model = model.to_empty(device="cpu")
    model.model.rotary_emb = rotary
    with torch.no_grad():
        for weights in model.parameters():
            weights.normal_(0, 0.02)
    return model


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    print(json.dumps(memory(int(rest[0])) if what == "memory" else steps()))
