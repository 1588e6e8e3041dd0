"""GPT-2 124M: a decode step with the cache, against reading its bytes, transformers, and picoGPT's way; and its memory.

bench/gpt2.py measures, in one thread, in processes of their own: in the environment of `make references` where it
is there, since that has PyTorch and transformers, else in this one. This module says what the goals are.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from typing import Any

from bench.measure import Result, at_least, at_most, in_one_thread, ratios

ROOT = Path(__file__).resolve().parents[1]
REFERENCES = ROOT / ".references" / "bin" / "python"
READ_GOAL, TRANSFORMERS_GOAL, PICOGPT_GOAL, MEMORY_GOAL = 1.30, 1.8, 200, 1.10
MB = 1e6


def measure() -> list[Result]:
    return [*speed(), memory()]


def run(what: str) -> Any:
    """What bench/gpt2.py prints."""
    python = str(REFERENCES) if REFERENCES.exists() else sys.executable
    return in_one_thread("bench.gpt2", what, python=python)


def speed() -> list[Result]:
    found, results = run("speed"), []
    for context, took in found["seconds"].items():
        ours, what = took["ours"], f"a decode step of GPT-2 124M, context {int(context):,}"
        milli = {name: f"{median(seconds) * 1e3:.1f} ms" for name, seconds in took.items()}
        yardstick = f"reading the same bytes once ({found['reads']})"
        results.append(
            at_most(what, ratios(ours, took["read"]), READ_GOAL, yardstick, f"{milli['ours']}, {milli['read']}")
        )
        for name in set(took) - {"read"}:
            milli[name] += f" ({median(took[name]) / median(took['read']):.2f} x reading)"
        results.append(against_transformers(what, took, milli))
        times = [seconds / median(ours) for seconds in took["picogpt"]]
        against = (f"picoGPT's way in float32, {len(times)} runs = 1, times faster", milli["picogpt"])
        if int(context) == 1000:
            results.append(at_least(what, times, PICOGPT_GOAL, *against))
        else:
            results.append(Result(what, f"{median(times):.1f}", against[0], scale=against[1]))
    return results


def against_transformers(what: str, took: dict[str, list[float]], milli: dict[str, str]) -> Result:
    if "transformers" not in took:
        return Result(what, "not measured: transformers is not installed, `make references` installs it")
    times = ratios(took["transformers"], took["ours"])
    yardstick = "transformers on PyTorch, with its cache = 1, times faster"
    return at_least(what, times, TRANSFORMERS_GOAL, yardstick, milli["transformers"], ".2f")


def memory() -> Result:
    what = "memory of GPT-2 124M, a prompt of 1,000 tokens and a full cache"
    if not Path("/proc/self/status").exists():
        return Result(what, "not measured: only Linux says how much a process held at most")
    found = run("memory")
    needed, taken = found["weights"] + found["cache"], found["peak"] - found["base"]
    scale = f"{taken / MB:.0f} MB; weights {found['weights'] / MB:.0f}, cache {found['cache'] / MB:.0f}"
    return at_most(what, [taken / needed], MEMORY_GOAL, "weights + cache", scale)
