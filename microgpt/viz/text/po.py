"""A written translation as gettext reads it: what `msgfmt` makes of a .po file, in plain Python.

So a checkout, and a package that is installed, speak every language with nothing but the .po in them and no step
before. What runs in the browser gets its .mo when it is packed (tools/output/sources.py).
"""

from __future__ import annotations

import ast
import struct
from itertools import accumulate

MAGIC, VERSION, HEAD_BYTES = 0x950412DE, 0, 28  # of a .mo file; the bytes before its two tables


def compile_po(po: str) -> bytes:
    """The bytes of a .mo file with the messages of `po`; what is not translated, or not for sure, is left out."""
    both = sorted(entry for block in po.split("\n\n") if (entry := pair(block))[1].strip(b"\0"))
    texts = [text for column in zip(*both, strict=True) for text in column]
    *starts, end = accumulate((len(text) + 1 for text in texts), initial=HEAD_BYTES + 8 * len(texts))
    table = [number for text, start in zip(texts, starts, strict=True) for number in (len(text), start)]
    head = (MAGIC, VERSION, len(both), HEAD_BYTES, HEAD_BYTES + 4 * len(texts), 0, end)  # of 0 hashes
    return struct.pack(f"<{len(head) + len(table)}I", *head, *table) + b"".join(text + b"\0" for text in texts)


def pair(block: str) -> tuple[bytes, bytes]:
    """A message and its translation, the forms of a plural with a zero between; nothing of one that is not sure."""
    found: dict[str, str] = {}
    name = ""
    for line in block.split("\n"):
        if line.startswith("#,") and "fuzzy" in line:
            return b"", b""
        if line and not line.startswith("#"):
            keyword, _, text = line.partition('"')
            name = keyword or name
            found[name] = found.get(name, "") + ast.literal_eval(f'"{text}')
    ids, strings = ("\0".join(found[name] for name in found if name.startswith(side)) for side in ("msgid", "msgstr"))
    return ids.encode(), strings.encode()
