"""Whether a JSON text is nested too deep to be parsed. In a browser the parser's recursion would end the interpreter.

Knows brackets and strings; does not know what the text means.
"""

from __future__ import annotations

import re

STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.S)
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
DEPTH = 40  # of files in use: a config.json has 3, a tokenizer.json 8


def nested(data: bytes, depth: int = DEPTH) -> bool:
    """Whether brackets are nested deeper than that, or do not match. Each round takes the innermost ones away."""
    brackets = STRING.sub(b"", data).translate(None, NO_BRACKETS)
    for _ in range(depth):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return bool(brackets)
