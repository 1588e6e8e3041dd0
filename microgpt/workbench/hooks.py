"""Hooks of the reader's: programs with a function `hook(report)`, which is told of a run what `Recording` tells.

Each of PREPARED is one, shown as it stands; whatever prints, counts or writes in the same form is another. In the page
one runs as `YourHook`, under the watch; on a computer `load_hook` reads it from a file, and a file that was saved runs
by itself.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from microgpt.config import Hook, Report
from microgpt.errors import N_, UserError
from microgpt.files import read_text
from microgpt.workbench.yours import Stop, Yours, place_of

HOOK = "hook.py"
LONGEST_HOOK = 1_000_000  # bytes of a file


class Prepared(NamedTuple):
    name: str
    title: str
    text: str


NO_HOOK_YET = '''\
"""Is called for each report of a step, when the step is over. What it prints stands below."""


def hook(report):
    name, value, pos, layer = report  # "q", "k", "v", "attn_scores", "attn_weights", "logits" ...
    # print(pos, layer, name, value)
'''
PREPARED = (
    Prepared(
        "shapes",
        N_("What is reported, and its shape"),
        '''\
"""Each report of each step: where it comes from, its name and the shape of its value."""

import numpy as np


def hook(report):
    name, value, pos, layer = report
    where = f"layer {layer}" if layer >= 0 else ""
    print(f"step {pos + 1:<3} {where:<8} {name:<16} {np.shape(value)}")
''',
    ),
    Prepared(
        "reads",
        N_("How often each row of K is read"),
        '''\
"""How often each row of K has been read so far: row 0 most, since every query reads all rows up to its own."""

from collections import Counter

reads = Counter()  # by layer and row


def hook(report):
    name, value, pos, layer = report
    if name == "attn_weights":  # [head, query, row]
        heads, queries, rows = value.shape
        for row in range(rows):
            reads[layer, row] += queries
        print(f"step {pos + 1}, layer {layer}:", *(reads[layer, row] for row in range(rows)))
''',
    ),
    Prepared(
        "largest",
        N_("The largest weight of each step"),
        '''\
"""The largest attention weight of each step and layer: which head gives it, and to which row."""

import numpy as np


def hook(report):
    name, value, pos, layer = report
    if name == "attn_weights":  # [head, query, row]
        head, query, row = np.unravel_index(value.argmax(), value.shape)
        print(f"step {pos + 1}, layer {layer}: head {head} gives {value.max():.2f} to row {row}")
''',
    ),
    Prepared(
        "csv",
        N_("All weights as a table, weights.csv"),
        '''\
"""All attention weights in a file that spreadsheets read. In the workbench, Save stands below when it has run."""

with open("weights.csv", "w") as file:
    print("step,layer,head,row,weight", file=file)


def hook(report):
    name, value, pos, layer = report
    if name == "attn_weights":  # [head, query, row]
        with open("weights.csv", "a") as file:
            for head, weights in enumerate(value[:, 0]):
                for row, weight in enumerate(weights):
                    print(pos + 1, layer, head, row, weight, sep=",", file=file)
''',
    ),
    Prepared(
        "strip",
        N_("The attention of a head, drawn in blocks"),
        '''\
"""What one head looks at: a line for each step, a block for each row, as high as its weight."""

LAYER, HEAD = 0, 0
BLOCKS = " ▁▂▃▄▅▆▇█"


def hook(report):
    name, value, pos, layer = report
    if name == "attn_weights" and layer == LAYER:  # [head, query, row]
        line = "".join(BLOCKS[round(8 * weight)] for weight in value[HEAD, 0])
        print(f"step {pos + 1:<3} |{line}|")
''',
    ),
    Prepared(
        "stop",
        N_("Stop where a head looks back at one row"),
        '''\
"""Stops the run where a head gives most of its weight to one old row after the first: the machine shows that step."""

MOST = 0.5


def hook(report):
    name, value, pos, layer = report
    if name == "attn_weights":  # [head, query, row]
        for head, weights in enumerate(value[:, 0]):
            row = weights.argmax()
            if 0 < row < pos and weights[row] > MOST:
                print(f"step {pos + 1}, layer {layer}: head {head} gives {weights[row]:.2f} to row {row}")
                raise StopIteration
''',
    ),
)


class YourHook(Yours):
    """A hook, run as the reader's program is. Raises what Python raises where it is no program, UserError where it has
    no function to call."""

    def __init__(self, text: str) -> None:
        super().__init__(text, HOOK)
        self.hook = hook_in(vars(self.module))

    def __call__(self, report: Report) -> None:
        self.hook(report)

    def close_files(self) -> None:
        """What it has written is in its files, also in those that it has left open."""
        for one in vars(self.module).values():
            if isinstance(one, io.IOBase):
                one.close()


def hook_in(names: Mapping[str, Any]) -> Hook:
    """The hook among the names of a program. Raises UserError where there is none that takes a report."""
    hook: Any = names.get("hook")
    try:
        signature(hook).bind(None)
    except TypeError:
        raise UserError("There must be a function here that takes a report: def hook(report).") from None
    except ValueError:  # of C, and not known
        pass
    return hook  # type: ignore[no-any-return]


def place_in_hook(error: BaseException, text: str, name: str = HOOK) -> Stop:
    """The line of an error of a hook, and its sentence: where no line is to blame, that of the first function."""
    stop, first = place_of(error, name), re.search(r"^(async )?def |^hook\b", text, re.M)
    return stop._replace(name=name, line=stop.line or text.count("\n", 0, first.start() if first else 0) + 1)


def load_hook(path: str) -> Hook:
    """The hook of a file. Raises UserError, with the line, for what goes wrong in it, now or when it is called."""
    try:
        text = read_text(Path(path), LONGEST_HOOK).removeprefix("\ufeff")
    except OSError as error:
        raise UserError("%(path)s cannot be read (%(why)s).", path=path, why=error.strerror) from None

    def at_line(error: Exception) -> UserError:
        stop = place_in_hook(error, text, path)
        return UserError("%(path)s, line %(line)s: %(why)s", path=path, line=stop.line, why=stop.error)

    names: dict[str, Any] = {"__name__": "hook"}
    try:
        exec(compile(text, path, "exec", dont_inherit=True), names)
        hook = hook_in(names)
    except Exception as error:
        raise at_line(error) from None

    def tell(report: Report) -> None:
        try:
            hook(report)
        except StopIteration:
            raise
        except Exception as error:
            raise at_line(error) from None

    return tell


def program_of(text: str, model: str, prompt: str, **sampling: float) -> str:
    """The hook as a file that runs by itself, on the text of the page."""
    if "__main__" in text:
        return text
    run = ", ".join([f"shipped({model!r})", repr(prompt), *(f"{name}={n!r}" for name, n in sampling.items())])
    return f"""{text.rstrip()}


if __name__ == "__main__":
    from microgpt import Recording, shipped

    Recording({run}, hook=hook).run()
"""
