"""The reader's program: compiled as a module of its own, run under a watch, and its errors told by their lines.

It is given nothing of ours that it could change: its names are its own, and what it imports it imports. A loop that
does not end is ended where Python can say its line: every jump in the reader's code asks the clock. In the page all
this happens in a worker, which the page can end (docs/trust.md).
"""

from __future__ import annotations

import ast
import linecache
import sys
import traceback
from collections.abc import Callable
from time import perf_counter
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from microgpt.config import Array, Config, DType
from microgpt.errors import N_, UserError
from microgpt.workbench.original import PROGRAM
from microgpt.workbench.reports import restore

SECONDS = 5.0  # of the reader's code in all
NEEDED = ("forward", "KVCache", "decode_step", "recompute", "generate")
TOOL = 4  # of sys.monitoring, free for anyone


class Late(Exception):
    """A loop of the reader's does not end."""


class Stop(NamedTuple):
    """Where and why a program of the reader's has stopped; line 0 is no line of it. `name` is that of the program."""

    line: int
    error: UserError
    name: str = PROGRAM


class Yours:
    """The program `text`. `with yours:` stands around whatever runs its code.

    Raises what Python raises where it is no program, or fails as it is loaded; `place_of` tells that in a sentence.
    """

    def __init__(self, text: str, name: str = PROGRAM, seconds: float = SECONDS) -> None:
        self.text, self.name, self.left, self.until = text, name, seconds, float("inf")
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # for tracebacks
        tree = ast.parse(text, name)
        self.restored = restore(tree)
        code = compile(tree, name, "exec", dont_inherit=True)
        self.module = ModuleType("yours")
        sys.modules["yours"] = self.module  # where its annotations are looked up
        self.watch(code)
        with self:
            exec(code, vars(self.module))
        self.read = Read(self.module)

    def __getattr__(self, name: str) -> Any:
        """What the program calls so. Raises UserError where it has no such name."""
        if name.startswith("__") or name not in vars(self.module):
            raise UserError(N_("The program has no “%(name)s” any more. Write it, or undo all."), name=name)
        return vars(self.module)[name]

    def new_cache(self, config: Config, dtype: DType) -> Any:
        """An empty cache of the reader's. What it has reserved is 0: so what is read too far is the same each time."""
        made = self.KVCache(config, dtype)
        for layer in getattr(made, "layers", []):
            for kept in vars(layer).values():
                if isinstance(kept, np.ndarray) and kept.flags.writeable:
                    kept[...] = 0
        return made

    # ---- the watch --------------------------------------------------------------------------------

    def watch(self, code: CodeType) -> None:
        """Ask the clock at each jump of this code, and of what is defined in it."""
        if not hasattr(sys, "monitoring"):
            return  # before Python 3.12 a trace function does it: __enter__
        monitoring: Any = sys.monitoring
        if monitoring.get_tool(TOOL) is None:
            monitoring.use_tool_id(TOOL, "workbench")
        kinds = (monitoring.events.JUMP, monitoring.events.BRANCH, monitoring.events.PY_START)
        for kind in kinds:
            monitoring.register_callback(TOOL, kind, lambda *_: self.tick())
        todo = [code]
        while todo:
            one = todo.pop()
            monitoring.set_local_events(TOOL, one, sum(kinds))
            todo += [inner for inner in one.co_consts if isinstance(inner, CodeType)]

    def tick(self) -> None:
        if perf_counter() > self.until:
            raise Late

    def trace_line(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if frame.f_code.co_filename != self.name:
            return None
        self.tick()
        return self.trace_line

    def __enter__(self) -> Yours:
        self.began = perf_counter()
        self.until = self.began + self.left
        if not hasattr(sys, "monitoring"):
            self.other_trace = sys.gettrace()
            sys.settrace(self.trace_line)
        return self

    def __exit__(self, *_: object) -> None:
        if not hasattr(sys, "monitoring"):
            sys.settrace(self.other_trace)
        self.left = max(0.0, self.until - perf_counter())
        self.until = float("inf")


class Read:
    """What the reader's attention has read in the pass that runs: the keys of its scores, the values of its mix.

    An `append` of the reader's can hand out other rows than it was given, and the machine is to draw what is read. The
    two functions are asked, whatever they are; where a program does without them, nothing is known.
    """

    def __init__(self, module: ModuleType) -> None:
        self.keys, self.values = list[Array](), list[Array]()
        for name, kept in (("attn_scores", self.keys), ("mix", self.values)):
            if callable(own := getattr(module, name, None)):
                setattr(module, name, self.note(own, kept))

    @staticmethod
    def note(own: Callable[..., Any], kept: list[Array]) -> Callable[..., Any]:
        def note_rows(first: Any, rows: Any, *more: Any, **named: Any) -> Any:
            kept.append(np.array(rows))
            return own(first, rows, *more, **named)

        return note_rows

    def clear(self) -> None:
        self.keys.clear()
        self.values.clear()


def place_of(error: BaseException, name: str = PROGRAM) -> Stop:
    """The reader's line of an error, and its sentence."""
    if isinstance(error, SyntaxError) and error.filename == name:
        why = error.msg
        return Stop(error.lineno or 1, UserError(N_("Python cannot read this line: %(why)s."), why=why))
    lines = [at.lineno or 0 for at in traceback.extract_tb(error.__traceback__) if at.filename == name]
    line = lines[-1] if lines else 0
    if isinstance(error, Late):
        sentence = N_("This ran for more than %(seconds)s seconds and was ended: does a loop here ever end?")
        return Stop(line, UserError(sentence, seconds=round(SECONDS)))
    if isinstance(error, MemoryError):
        return Stop(line, UserError(N_("There is not that much memory here. Make what is created smaller.")))
    if isinstance(error, UserError):
        return Stop(line, error)
    why = f"{type(error).__name__}: {error}"
    return Stop(line, UserError("Python stops here: %(why)s", why=why[:300]))
