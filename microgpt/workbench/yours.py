"""The reader's program: compiled as a module of its own, run under a watch, and its errors told by their lines.

Its names are its own, and what it imports it imports. A loop that does not end is ended where Python can say its line,
and what it may have changed of ours is put back: see watch.py. In the page all this happens in a worker, which the page
can end (docs/trust.md).
"""

from __future__ import annotations

import ast
import io
import linecache
import sys
import traceback
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from microgpt.config import Array
from microgpt.errors import N_, UserError, visible
from microgpt.workbench.original import PROGRAM
from microgpt.workbench.reports import restore
from microgpt.workbench.watch import WATCH, Names, Overdue

SECONDS = 5.0  # of the reader's code; its checks have a time of their own
NEEDED = ("forward", "KVCache", "decode_step", "recompute", "generate")  # which are called
LONGEST = 300  # letters of what Python says of an error


class Late(Exception):
    """A loop of the reader's does not end."""


class Printed(io.StringIO):
    """What a program of the reader's prints. The program may close it, and what it has printed stays."""

    def close(self) -> None:
        """Nothing."""


class Stop(NamedTuple):
    """Where and why a program of the reader's has stopped; line 0 is no line of it. `name` is that of the program."""

    line: int
    error: UserError
    name: str = PROGRAM


class Watched:
    """The program `text`, as a module of its own. `with program:` stands around whatever runs its code.

    Raises what Python raises where it is no program, or fails as it is loaded; `place_of` tells that in a sentence.
    A program that is trusted to end, as those of the shelf are, does without the watch, which takes its time.
    """

    def __init__(self, text: str, name: str = PROGRAM, seconds: float = SECONDS, is_watched: bool = True) -> None:
        self.is_watched, self.left = is_watched, seconds if is_watched else float("inf")
        self.names, self.before = Names(), list[Any]()  # the watch before each `with` that is open
        self.module = ModuleType("yours")
        self.text, self.name = text.removeprefix("\ufeff"), name  # as editors of Windows begin a file
        self.load(self.text, name)

    def load(self, text: str, name: str) -> None:
        check_characters(text, name)
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # for tracebacks
        tree = ast.parse(text, name)
        self.prepare(tree)
        code = compile(tree, name, "exec", dont_inherit=True)
        if self.is_watched:
            WATCH.add(code)
        sys.modules["yours"] = self.module  # where its annotations are looked up
        with self:
            exec(code, vars(self.module))

    def prepare(self, tree: ast.Module) -> None:
        """What is changed in a program before it runs: nothing."""

    def __enter__(self) -> Self:
        self.names.fill()
        self.before.append(WATCH.begin(self.left, self.is_watched))
        return self

    def __exit__(self, kind: object, error: BaseException | None, where: TracebackType | None) -> None:
        self.left = WATCH.end(self.before.pop())
        self.names.put_back()
        if isinstance(error, Overdue):
            raise Late().with_traceback(where) from None
        by_hand = isinstance(error, KeyboardInterrupt) and sys.platform != "emscripten"  # there nobody can
        if error is not None and not by_hand and not isinstance(error, Exception):
            sentence = N_("The program ends itself here: it raises %(what)s.")
            raise UserError(sentence, what=type(error).__name__).with_traceback(where) from None


class Yours(Watched):
    """A reader's `forward`, cache and loop: its reports are whole, and what its attention reads is noted."""

    def __init__(self, text: str, name: str = PROGRAM, seconds: float = SECONDS, is_watched: bool = True) -> None:
        super().__init__(text, name, seconds, is_watched)
        self.read = Read(self.module)

    def prepare(self, tree: ast.Module) -> None:
        self.restored = restore(tree)

    def __getattr__(self, name: str) -> Any:
        """What the program calls so. Raises UserError where it has no such name."""
        found = None if name.startswith("__") else vars(self.module).get(name)
        if found is None or (name in NEEDED and not callable(found)):
            raise UserError(N_("The program has no “%(name)s” any more. Write it, or undo all."), name=name)
        return found


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


def check_characters(text: str, name: str) -> None:
    """Raise SyntaxError, with its line, for a character that Python takes in no program."""
    for number, line in enumerate(text.split("\n"), 1):
        if "\0" in line or not line.isascii() and any("\ud800" <= c <= "\udfff" for c in line):
            raise SyntaxError("a character here is none that a text can hold", (name, number, 1, ""))


def place_of(error: BaseException, name: str = PROGRAM) -> Stop:
    """The reader's line of an error, and its sentence."""
    if isinstance(error, SyntaxError) and error.filename == name:
        return Stop(error.lineno or 1, UserError(N_("Python cannot read this line: %(why)s."), why=str(error.msg)))
    lines = [number for at, number in traceback.walk_tb(error.__traceback__) if at.f_code.co_filename == name]
    line = lines[-1] if lines else 0
    if isinstance(error, Late):
        sentence = N_("This ran for more than %(seconds)s seconds and was ended: does a loop here ever end?")
        return Stop(line, UserError(sentence, seconds=round(SECONDS)))
    if isinstance(error, MemoryError) or str(error.args[:1]).startswith("('array is too big"):  # of NumPy's in 32 bits
        return Stop(line, UserError(N_("There is not that much memory here. Make what is created smaller.")))
    if type(error) is UserError:
        return Stop(line, error)
    return Stop(line, UserError("Python stops here: %(why)s", why=words_of(error)))


def words_of(error: BaseException) -> str:
    """What Python says of an error, on one line. A class of the reader's is not asked: its answer might never come."""
    kind = type(error)
    try:
        says = BaseException.__str__(error) if kind.__module__ == "yours" else str(error)
    except Exception:
        says = ""
    says = " ".join(f"{kind.__name__}: {says[:LONGEST]}".split()).rstrip(":")
    return visible(says)
