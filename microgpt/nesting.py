"""JSON that may be hostile: what would take the interpreter too deep, or much memory, is refused before it is parsed.

In a browser the parser's recursion would end the interpreter. Knows brackets and strings; does not know what the text
means.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any

STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.S)  # one that is not closed goes on to the end: each byte is met once
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STEP = {ord(bracket): 1 if bracket in "[{" else -1 for bracket in "[]{}"}
DEPTH = 40  # of files in use: a config.json has 3, a tokenizer.json 8
THINGS = 1_500_000  # the tokenizer.json of Llama 3 has a million
DIGITS = 20  # of a whole number that fits into 64 bits; Python reads longer ones in quadratic time


def nested(data: bytes, depth: int = DEPTH) -> bool:
    """Whether brackets are nested deeper than that. Ends at the first that is."""
    brackets = STRING.sub(b"", data).translate(None, NO_BRACKETS)
    deeper = filter(depth.__lt__, accumulate(map(STEP.__getitem__, brackets)))
    return next(deeper, None) is not None


def parsed(text: str) -> Any:
    """What a JSON text says. Raises ValueError, with the reason, for what is none or would cost too much."""
    data = text.encode("utf-8", "replace")
    if sum(map(data.count, (b",", b"[", b"{"))) > THINGS:
        raise ValueError(f"it lists more than {THINGS:,} things")
    if nested(data):
        raise ValueError("its brackets are nested too deep")
    return json.loads(text, parse_int=number)


def number(text: str) -> float:
    """A number without a point, rounded where it has more digits than any that is counted with."""
    return int(text) if len(text) <= DIGITS else float(text)
