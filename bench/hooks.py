"""What watching costs: a decode step with a Trace as its hook, and with no hook, against one that has no hook calls.

The yardstick is model.py's own `forward` with its `hook(...)` lines taken out, in memory. It also runs
against itself, which shows how far apart two equal things are measured here. A round decodes a whole context,
token by token, into a fresh cache; the tracing run begins each with a fresh Trace, as a recording does. Reading
the events afterwards is not a part of the step; it is given a line of its own.

What lies where in memory is worth some percent and is settled when a process starts, so several processes run,
and their rounds are put together: `python -m bench.hooks` is one of them and prints JSON.
"""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from bench.measure import ROOT, Result, at_most, interleave, ratios, seconds_of, summarise
from microgpt import model as model_module
from microgpt.cache import KVCache
from microgpt.config import Array, Hook
from microgpt.trace import Trace
from microgpt.weights import Model, shipped

MODELS = ("names", "stories")
PROCESSES, ROUNDS = 8, 100
Forward = Callable[..., Array]
Took = dict[str, dict[str, list[float]]]  # comparison -> job -> seconds, round by round


class Unhooked(ast.NodeTransformer):
    """Takes out every statement that calls the hook, or asks whether there is one."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if any(getattr(part, "id", "") == "hook" for part in ast.walk(node)) else node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if getattr(node.test, "id", "") == "hook" else self.generic_visit(node)


def forward_without_hooks() -> Forward:
    """model.forward, compiled anew without the lines that report."""
    tree = Unhooked().visit(ast.parse(inspect.getsource(model_module.forward)))
    assert "hook(" not in ast.unparse(tree.body[0].body)
    names = dict(vars(model_module))
    exec(compile(tree, "model.py without hooks", "exec"), names)
    made: Forward = names["forward"]
    return made


def measure() -> list[Result]:
    """The rounds of all processes, model by model."""
    took: dict[str, Took] = {name: {} for name in MODELS}
    for _ in range(PROCESSES):
        command = [sys.executable, "-m", "bench.hooks"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=True)
        for name, comparisons in json.loads(done.stdout).items():
            for what, jobs in comparisons.items():
                for job, seconds in jobs.items():
                    took[name].setdefault(what, {}).setdefault(job, []).extend(seconds)
    return [result for name in MODELS for result in results(shipped(name), took[name])]


def rounds(model: Model) -> Took:
    """What this process measures."""
    bare = forward_without_hooks()
    np.ones(1 << 20)  # once some MB were freed, memory stays with the process from round to round, as in any long run

    def decode(forward: Forward, new_hook: Callable[[], Sequence[Hook]]) -> float:
        """Seconds for a context of tokens; what it does is what decode_step does, around any forward."""
        cache, hook = KVCache(model.config), new_hook()

        def text() -> None:
            for token_id in range(model.config.n_ctx):
                forward(model.params, model.config, [token_id], cache, *hook)[0]

        return seconds_of(text)

    def read() -> float:
        trace = Trace()
        decode(model_module.forward, lambda: [trace.keep])
        return seconds_of(lambda: trace.events)

    def with_trace() -> float:
        return decode(model_module.forward, lambda: [Trace().keep])

    def plain() -> float:
        return decode(model_module.forward, list)

    def without_hooks() -> float:
        return decode(bare, list)

    return {  # each comparison by itself: a third job would leave its own memory behind
        "watching": interleave(ROUNDS, {"traced": with_trace, "plain": plain}),
        "unwatched": interleave(ROUNDS, {"plain": plain, "bare": without_hooks, "again": without_hooks}),
        "reading": interleave(ROUNDS, {"read": read, "plain": plain}),
    }


def results(model: Model, took: Took) -> list[Result]:
    watching, unwatched, reading = took["watching"], took["unwatched"], took["reading"]
    itself = summarise(ratios(unwatched["again"], unwatched["bare"]))
    name, none = f"`{model.name}`", "forward without its hook lines"

    def micro(*seconds: list[float]) -> str:
        return ", ".join(f"{median(each) / model.config.n_ctx * 1e6:.1f} µs a token" for each in seconds)

    return [
        at_most(
            f"a decode step of {name} with a Trace", ratios(watching["traced"], watching["plain"]), 1.10,
            "without a hook", micro(watching["traced"], watching["plain"]),
        ),
        at_most(
            f"a decode step of {name}, no hook set", ratios(unwatched["plain"], unwatched["bare"]), 1.02,
            f"{none} (against itself: {itself})", micro(unwatched["plain"], unwatched["bare"]),
        ),
        Result(
            f"reading the trace of {name} afterwards", summarise(ratios(reading["read"], reading["plain"])),
            "a decode step without a hook", scale=micro(reading["read"]),
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    print(json.dumps({name: rounds(shipped(name)) for name in MODELS}))
