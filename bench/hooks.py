"""What watching costs: a decode step with a Trace as its hook, and with no hook, against one that has no hook calls.

The yardstick is model.py's own `forward` with its `hook(...)` lines taken out, in memory. It also runs
against itself, which shows how far apart two equal things are measured here. A round decodes a whole context,
token by token, into a fresh cache; the tracing run begins each with a fresh Trace, as a recording does. Reading
the events afterwards is not a part of the step; it is given a line of its own.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from statistics import median

from bench.measure import Result, at_most, interleave, ratios, spread, timed
from microgpt import model as model_module
from microgpt.cache import KVCache
from microgpt.model import Array, Hook
from microgpt.trace import Trace
from microgpt.weights import Model, shipped

ROUNDS = 400
Forward = Callable[..., Array]


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
    return [result for name in ("names", "stories") for result in measure_model(shipped(name))]


def measure_model(model: Model) -> list[Result]:
    bare = forward_without_hooks()

    def decode(forward: Forward, new_hook: Callable[[], Sequence[Hook]]) -> float:
        """Seconds for a context of tokens; what it does is what decode_step does, around any forward."""
        cache, hook = KVCache(model.config), new_hook()

        def text() -> None:
            for token_id in range(model.config.n_ctx):
                forward(model.params, model.config, [token_id], cache, *hook)[0]

        return timed(text)

    def read() -> float:
        trace = Trace()
        decode(model_module.forward, lambda: [trace.keep])
        return timed(lambda: trace.events)

    took = interleave(
        ROUNDS,
        {
            "traced": lambda: decode(model_module.forward, lambda: [Trace().keep]),
            "plain": lambda: decode(model_module.forward, list),
            "bare": lambda: decode(bare, list),
            "again": lambda: decode(bare, list),
            "read": read,
        },
    )
    n, itself = model.config.n_ctx, ratios(took["again"], took["bare"])
    micro = {name: f"{median(seconds) / n * 1e6:.1f} µs a token" for name, seconds in took.items()}
    name, none = f"`{model.name}`", "forward without its hook lines"
    return [
        at_most(
            f"a decode step of {name} with a Trace", ratios(took["traced"], took["plain"]), 1.10,
            "without a hook", f"{micro['traced']}, {micro['plain']}",
        ),
        at_most(
            f"a decode step of {name}, no hook set", ratios(took["plain"], took["bare"]), 1.02,
            f"{none} (against itself: {spread(itself)})", f"{micro['plain']}, {micro['bare']}",
        ),
        Result(
            f"reading the trace of {name} afterwards", spread(ratios(took["read"], took["plain"])),
            "a decode step without a hook", scale=micro["read"],
        ),
    ]  # fmt: skip
