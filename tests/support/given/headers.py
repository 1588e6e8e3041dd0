"""Files .safetensors as whoever trained a model would write them: of all types and sizes."""

import json
import struct
from typing import Any

from hypothesis import strategies as st

from microgpt.checkpoints.safetensors import BITS, META


def packed(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype: str = "U8", shape: Any = (1,), start: Any = 0, stop: Any = 1) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


@st.composite
def good_files(draw: st.DrawFn) -> bytes:
    """Tensors of all types and sizes, in any order of their names, with free words and padding."""
    names = draw(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), unique=True, max_size=6))
    header: dict[str, Any] = {}
    at = 0
    for name in names:
        if name == META:
            continue
        dtype, shape = draw(st.sampled_from(sorted(BITS))), draw(st.lists(st.integers(0, 4), max_size=4))
        if BITS[dtype] < 8:
            shape = [*shape, 8]  # whole bytes
        bits = BITS[dtype]
        for side in shape:
            bits *= side
        header[name] = entry(dtype, shape, at, at + bits // 8)
        at += bits // 8
    if draw(st.booleans()):
        header[META] = {"format": draw(st.text(st.characters(codec="utf-8"), max_size=5))}
    shuffled = {name: header[name] for name in draw(st.permutations(sorted(header)))}
    text = json.dumps(shuffled, ensure_ascii=draw(st.booleans())).encode() + b" " * draw(st.integers(0, 9))
    return packed(text, bytes(at))
