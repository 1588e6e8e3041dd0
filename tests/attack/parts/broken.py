"""A part of which every case goes wrong in its own way: what the guard and the table are tested with."""

import os
import time
from collections.abc import Iterator, Sequence

from tests.attack.part import Order, Part, Seen

CASES = ["holds", "fails", "hangs", "dies", "fills memory", "breaks", "holds too"]


def attack(names: Sequence[str], order: Order) -> Iterator[Seen]:
    for name in names:
        if name == "hangs":
            time.sleep(600)
        if name == "dies":
            os._exit(7)
        if name == "fills memory":
            bytearray(1 << 40)
        if name == "breaks":
            raise RuntimeError("no")
        yield Seen(name, "it is wrong" if name == "fails" else "", "ends")


PART = Part("what goes wrong", lambda scale, order: CASES, attack, patience=3, memory=8 << 30)
