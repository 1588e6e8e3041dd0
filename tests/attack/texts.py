"""Hostile texts: markup, scripts, directions, invisible and broken characters, huge numbers. Each carries a mark, so
that it is found again wherever it comes out. Knows no page."""

import json
from pathlib import Path
from random import Random
from typing import Any

MARK = "xss"
TEXTS: dict[str, list[str]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
MARKUP = TEXTS["markup"]
CHARACTERS = [*TEXTS["characters"], "\n" * 50]
NUMBERS = [*TEXTS["numbers"], "9" * 400, "9" * 5000, "-" * 50]
WRONG_TYPES: tuple[Any, ...] = (None, True, False, 0, 7, -1, 2.5, 10**30, [], ["0"], {}, {"a": "b"}, [[[]]])


def hostile(rng: Random, n: int) -> str:
    """One text. Several kinds may come together."""
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(MARKUP).format(n=n)
    if kind < 0.55:
        return rng.choice(NUMBERS)
    if kind < 0.75:
        return "".join(rng.choice(CHARACTERS) for _ in range(rng.randint(1, 6)))
    if kind < 0.9:
        parts = [rng.choice(MARKUP).format(n=n), rng.choice(CHARACTERS), rng.choice(NUMBERS)]
        rng.shuffle(parts)
        return "".join(parts)
    if kind < 0.97:
        return "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x110000)))) for _ in range(9))
    return rng.choice(MARKUP).format(n=n) * rng.choice((10, 300))
