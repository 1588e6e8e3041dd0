"""Watching transformers: a decode step at GPT-2 124M's shape that tells a Trace every event, and one that does not.

Random weights, float32, eager attention on both sides, one thread, 200 rows before. In the environment of `make
references`, which has PyTorch and transformers: `python -m bench.recording` prints JSON.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from statistics import median

from bench.checkpoints import REFERENCES
from bench.gpt2 import timed
from bench.measure import Result, at_most, in_one_thread, interleave, ratios
from microgpt.huggingface.watch import watched
from microgpt.trace import Trace

CONTEXT, ROUNDS, GOAL = 200, 60, 1.15
WHAT = "a decode step of GPT-2's shape in transformers, recorded"


def measure() -> list[Result]:
    if not REFERENCES.exists() and find_spec("transformers") is None:
        return [Result(WHAT, "not measured: transformers is not installed, `make references` installs it")]
    took = in_one_thread("bench.recording", python=str(REFERENCES) if REFERENCES.exists() else sys.executable)
    scale = ", ".join(f"{median(took[name]) * 1e3:.1f} ms" for name in ("recorded", "eager"))
    return [at_most(WHAT, ratios(took["recorded"], took["eager"]), GOAL, "its eager step, not recorded", scale)]


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


if __name__ == "__main__":
    print(json.dumps(steps()))
