"""One part of a tokenizer.json: an object with a type and its settings. What is read of it is checked when it is read.

Knows objects; does not know what any type does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

from microgpt.errors import N_, UserError

Part = dict[str, Any]
T = TypeVar("T")


def steps(part: Part | None) -> list[Part]:
    """A part of the file as a list: itself, or what its sequence holds, or nothing."""
    if part is None:
        return []
    if part["type"] != "Sequence":
        return [part]
    held = [value for value in part.values() if isinstance(value, list)][0]
    return [step for one in held for step in steps(one)]


def setting(part: Part, name: str, kind: type[T], default: T | None = None) -> T:
    """What a step says under `name`, at once, so that nothing is missing when there is a text."""
    value = part[name] if default is None else part.get(name, default)
    if type(value) is not kind:  # True would be an int
        raise TypeError(f"{name} is {value!r}")
    str(value).encode()  # raises for half a character
    return value


def one_of(known: dict[str, Callable[[Part], Any]], part: Part) -> Any:
    """What does this part's work. Raises UserError when it is not `known`."""
    kind = str(part["type"])
    return known[kind](part) if kind in known else refuse(kind, known)


def refuse(what: str, known: Iterable[str]) -> NoReturn:
    sentence = N_("tokenizer.json asks for “%(what)s”, which cannot be done here. What can: %(known)s.")
    raise UserError(sentence, what=what[:40], known=", ".join(known))
