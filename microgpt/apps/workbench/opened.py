"""A program of which some functions are open: each of them has a field of its own, and nothing else can be changed.

So a teacher sets a task: the address names what is open. What is typed is put into the original, and what comes of that
is looked at as a whole, so that no function that is closed is defined once more either.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from microgpt.errors import N_, UserError
from microgpt.workbench.original import function_at, original


class OpenPart(NamedTuple):
    name: str  # KVCache.crop
    text: str  # without the space before its lines
    at: int  # lines of the program before its first

    @property
    def field(self) -> str:
        """The control that it is typed in."""
        return f"code:{self.name}"

    @property
    def n(self) -> int:
        return self.text.count("\n") + 1


@lru_cache(maxsize=32)  # the original is asked for with every press, and what is typed several times
def functions_of(text: str) -> Sequence[tuple[str, int, int]]:
    """Each function and class of a program, the outer ones first: its name, the lines before it, and its last.

    Raises what Python raises where it is no program.
    """

    def inside(body: Sequence[ast.stmt], above: str) -> Iterator[tuple[str, int, int]]:
        for one in body:
            if isinstance(one, ast.FunctionDef | ast.ClassDef):
                first = min(node.lineno for node in (one, *one.decorator_list))
                yield above + one.name, first - 1, one.end_lineno or first
                if isinstance(one, ast.ClassDef):
                    yield from inside(one.body, f"{above}{one.name}.")

    return tuple(inside(ast.parse(text).body, ""))


def open_names(names: str) -> list[str]:
    """The functions that an address names, in the order of the program. Raises UserError for one that is not there."""
    asked = [name.strip() for name in names.split(",") if name.strip()]
    known = [name for name, _, _ in functions_of(original())] if asked else []
    for name in asked:
        if name not in known:
            sentence = N_("There is no “%(name)s” in the program; there is %(names)s.")
            raise UserError(sentence, name=name[:40], names=", ".join(known))
    return [name for name in known if name in asked and not any(name.startswith(f"{one}.") for one in asked)]


def split_program(text: str, opened: Sequence[str]) -> list[OpenPart]:
    """What is open of a program. Raises UserError where something else differs from the original."""
    check_closed(text, opened)
    lines, parts = text.split("\n"), list[OpenPart]()
    for name, start, end in functions_of(text):
        if name in opened:
            n = space(lines[start])
            parts.append(OpenPart(name, "\n".join(one[min(n, space(one)) :] for one in lines[start:end]), start))
    return parts


def join_program(opened: Sequence[str], fields: Mapping[str, str]) -> tuple[str, list[OpenPart]]:
    """The original with what was typed. Raises UserError where that changes what is not open."""
    before, after, done, parts = original().split("\n"), list[str](), 0, list[OpenPart]()
    for name, start, end in functions_of(original()):
        if name in opened:
            after += before[done:start]
            typed = fields[f"code:{name}"].replace("\r\n", "\n")
            parts.append(OpenPart(name, typed, len(after)))
            after += [" " * space(before[start]) + one if one.strip() else one for one in typed.split("\n")]
            done = end
    text = "\n".join([*after, *before[done:]])
    check_closed(text, opened)
    return text, parts


def lines_around(text: str, opened: Sequence[str]) -> list[str]:
    """A program without what is open. Raises what Python raises where it is no program."""
    lines = text.split("\n")
    for name, start, end in reversed([*functions_of(text)]):
        if name in opened:
            lines[start:end] = [f"{' ' * space(lines[start])}# {name} …"]
    return lines


def check_closed(text: str, opened: Sequence[str]) -> None:
    """Raise UserError where a program differs from the original in what is not open, comments aside. One that Python
    cannot read passes: it cannot run."""
    try:
        ours, theirs = (
            [line for line in lines_around(one, opened) if line.strip() and line.strip()[0] != "#"]
            for one in (original(), text)
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    operations = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    for kind, i, _, j, _ in operations:
        if kind != "equal":
            lines, at = (theirs, j) if kind == "insert" else (ours, i)
            name = function_at(lines, at + 1) or lines[at].strip()[:40]
            sentence = N_("“%(name)s” is not open here, and was changed. Open is %(names)s, and nothing else.")
            raise UserError(sentence, name=name, names=", ".join(opened))


def space(line: str) -> int:
    """How far a line is indented."""
    return len(line) - len(line.lstrip(" "))
