"""Whether a folder is what would be built: which files differ, which are missing, which are none of the build's.

Everything has to be the same, byte for byte, but for the numbers of a trace: their last digits depend on how the
processor's linear algebra orders a sum. Those are compared to within 1e-12, all else of a trace exactly.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from tools.output.folder import MANIFEST, as_text, besides, digest, digests

CLOSE = 1e-12
FORMAT = "microgpt-trace"  # see microgpt/trace.py


def compare(fresh: Path, out: Path) -> tuple[list[str], list[str]]:
    """What is wrong with `out`, and what lies in it besides, a line each. `fresh` is what has just been built."""
    wrong, listed = [], digests(fresh)
    for name, sha in listed.items():
        there = digest(out / name) if (out / name).is_file() else ""
        if there and there != sha and close(fresh / name, out / name):
            listed[name] = there
        elif there != sha:
            wrong.append(f"differs: {name}" if there else f"missing: {name}")
    if not (out / MANIFEST).is_file():
        wrong.append(f"missing: {MANIFEST}")
    elif (out / MANIFEST).read_bytes() != as_text(listed).encode():
        wrong.append(f"differs: {MANIFEST}")
    return wrong, [f"not of this build: {name}" for name in besides(out, {*listed, MANIFEST})]


def close(a: Path, b: Path) -> bool:
    """Whether both files are traces that say the same."""
    if a.suffix != ".json":
        return False
    try:
        one, other = (json.loads(path.read_bytes()) for path in (a, b))
        return isinstance(one, dict) and one.get("format") == FORMAT and alike(one, other)
    except (ValueError, RecursionError):
        return False


def alike(a: Any, b: Any) -> bool:
    """Equal, but for the last digits of floating-point numbers."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE)
    if isinstance(a, dict):
        return list(a) == list(b) and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(alike, a, b))
    return bool(a == b)
