"""What stands around the reader's code while it runs: a clock that ends it, and what is lent to it and put back.

An edit is a Python program in the same interpreter as ours. Nothing here holds who wants to do harm (docs/trust.md): it
keeps an accident from spoiling what is run after it.
"""

from __future__ import annotations

import builtins
import dis
import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import process_time
from types import CodeType, FrameType, ModuleType
from typing import Any

import numpy as np

from microgpt.weights import Model

TOOL = 4  # of sys.monitoring, free for anyone
DOORS = (  # of a worker, by which a program could ask or tell someone, or keep something
    "fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "WebTransport", "EventSource", "importScripts",
    "Worker", "SharedWorker", "BroadcastChannel", "RTCPeerConnection", "caches", "indexedDB", "cookieStore",
    "webkitRequestFileSystem", "webkitRequestFileSystemSync", "storage", "serviceWorker", "locks",
)  # fmt: skip


class Overdue(BaseException):
    """The time is up. It is no Exception, so that no `except Exception` of the reader's goes on."""


class Watch:
    """There is one, for all code of the reader's: checks of theirs run in the time of the program that they look at.

    It counts seconds of this process, not of a machine that does much else. Every jump and every start of a function
    asks the clock; once it is up, each of them raises Overdue, which ends an `except` that catches all. Before Python
    3.12 a trace function does the same at each line, but Python forgets it when it has raised once.
    """

    def __init__(self) -> None:
        self.until, self.names, self.tight = float("inf"), set[str](), set[CodeType]()

    def add(self, code: CodeType) -> None:
        """Watch this code, and what is defined in it."""
        if not self.names:
            close_doors()
        self.names.add(code.co_filename)
        if not hasattr(sys, "monitoring"):
            self.tight |= {one for one in all_code(code) if jumps_to_itself(one)}
            return
        monitoring: Any = sys.monitoring
        kinds = (monitoring.events.JUMP, monitoring.events.BRANCH, monitoring.events.PY_START)
        if monitoring.get_tool(TOOL) is None:
            monitoring.use_tool_id(TOOL, "workbench")
            for kind in kinds:
                monitoring.register_callback(TOOL, kind, self.tick)
        for one in all_code(code):
            monitoring.set_local_events(TOOL, one, sum(kinds))

    def tick(self, *_: object) -> None:
        if process_time() > self.until:
            raise Overdue

    def trace(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if frame.f_code.co_filename not in self.names:
            return None
        frame.f_trace_opcodes = frame.f_code in self.tight
        self.tick()
        return self.trace

    def begin(self, seconds: float, is_on: bool = True) -> tuple[float, Any]:
        """How it was before; from now on, so many seconds. It is not `on` for code that is trusted to end."""
        before = self.until, sys.gettrace()
        self.until = process_time() + seconds
        if is_on and not hasattr(sys, "monitoring"):
            sys.settrace(self.trace)
        return before

    def end(self, before: tuple[float, Any]) -> float:
        """The seconds that are left; it is as it was before."""
        left = max(0.0, self.until - process_time())
        self.until, trace = before
        if not hasattr(sys, "monitoring"):
            sys.settrace(trace)
        return left


WATCH = Watch()


def close_doors() -> None:
    """In a browser, where Python has long been fetched: take from the worker what no program of a reader's needs.

    The page's policy lets nothing out to other sites; this keeps a program from the page's own site and storage too.
    """
    if "pyodide" not in sys.modules:
        return
    js: Any = importlib.import_module("js")
    for start in (js.globalThis, js.navigator):
        while start:
            for name in DOORS:
                js.Reflect.deleteProperty(start, name)
            start = js.Reflect.getPrototypeOf(start)


def all_code(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of all functions and classes in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from all_code(inner)


def jumps_to_itself(code: CodeType) -> bool:
    """Whether an instruction does, as `while True: pass`: it never comes to a new line, so it is traced by itself."""
    return any("JUMP" in one.opname and one.argval == one.offset for one in dis.get_instructions(code))


class Names:
    """The names of our modules below the pages, of NumPy and of Python, as they were before the reader's code ran."""

    def __init__(self) -> None:
        ours = [one for name, one in [*sys.modules.items()] if is_below_pages(name) and type(one) is ModuleType]
        self.kept = [(vars(one), vars(one).copy()) for one in (*ours, np, builtins)]
        self.errors, self.depth = np.geterr(), sys.getrecursionlimit()

    def fill(self) -> None:
        """Meanwhile an array that is created `empty` holds zeros: what is read too far is the same each time."""
        vars(np).update(empty=np.zeros, empty_like=np.zeros_like)

    def put_back(self) -> None:
        for names, kept in self.kept:
            names.update(kept)
        np.seterr(**self.errors)
        sys.setrecursionlimit(self.depth)


def is_below_pages(module: str) -> bool:
    first, *more = module.split(".")
    return first == "microgpt" and more[:1] not in (["viz"], ["course"], ["apps"])


def lend(model: Model) -> Model:
    """The model, with parameters of its own that cannot be written into: what is run later is run by ours."""
    params = {name: array.copy() for name, array in model.params.items()}
    for array in params.values():
        array.flags.writeable = False
    return replace(model, params=params, config=replace(model.config))
