"""What a part of the attack is: cases with names, and one who tries them. Knows no part."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from traceback import extract_tb
from typing import NamedTuple


class Order(NamedTuple):
    """What decides a case besides its name; `folder` holds what the parts have built for themselves."""

    seed: int
    folder: Path

    def of(self, name: str) -> str:
        """The seed of one case: it can be run again alone."""
        return f"{self.seed} {name}"


class Seen(NamedTuple):
    """What came of a case. `wrong` says what must not be, "" if nothing, `about` what it was about; the table counts
    each `kind`."""

    name: str
    wrong: str = ""
    kind: str = ""
    figure: float = 0.0
    about: str = ""


def source_of(error: BaseException) -> str:
    """What it is and where it came from, so that the same ones are counted together."""
    at = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} ({Path(at.filename).name}, {at.name})"


def counted(seen: Sequence[Seen]) -> str:
    """How often each kind of end was met."""
    return ", ".join(f"{n:,} {kind}" for kind, n in Counter(one.kind for one in seen if one.kind).most_common())


def nothing(order: Order) -> None:
    pass


class Part(NamedTuple):
    """A part: `cases(scale, order)` are the names, `attack` yields what came of each of them, in any order."""

    tried: str
    cases: Callable[[float, Order], list[str]]
    attack: Callable[[Sequence[str], Order], Iterator[Seen]]
    prepare: Callable[[Order], None] = nothing  # once, before all else
    at_once: int = 500  # cases that one process tries
    patience: float = 60  # seconds within which it must say something
    memory: int = 0  # bytes of address space that it may have; 0 for no bound
    summary: Callable[[Sequence[Seen]], str] = counted


def some(names: Sequence[str], scale: float) -> list[str]:
    """An even choice of them; all from a scale of 1 on."""
    wanted = max(1, min(len(names), round(len(names) * scale)))
    return [names[i * len(names) // wanted] for i in range(wanted)]
