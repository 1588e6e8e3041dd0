"""The header of a well-known model's file, by formula: its tensors with the names that its publisher gave them.

No weights are needed for it, nor are there any. Knows two families of names; knows no HTML.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from microgpt.architectures import PRESETS, parameters
from microgpt.safetensors_header import BITS, PREFIX, Header, read_header
from microgpt.viz.inventories import GPT2, LLAMA

EXAMPLES = {"GPT-2 124M": ("F32", GPT2), "SmolLM2-135M": ("BF16", LLAMA)}


def published(name: str) -> tuple[Header, str]:
    """The header of that model's file, as it is read, and its text."""
    dtype, known_as = EXAMPLES[name]
    text = header_text(name, dtype, known_as)
    data = len(text).to_bytes(PREFIX, "little") + text
    size = len(data) + BITS[dtype] // 8 * PRESETS[name].n_params
    return read_header(lambda start, stop: data[start:stop], size), text.decode()


def header_text(name: str, dtype: str, known_as: Mapping[str, str]) -> bytes:
    """The header of a model's file by formula: its tensors with the names that its publisher gave them."""
    found: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for ours, shape in shapes_as_published(name, known_as).items():
        stop = at + BITS[dtype] // 8 * math.prod(shape)
        found[ours] = {"dtype": dtype, "shape": shape, "data_offsets": [at, stop]}
        at = stop
    return json.dumps(found, separators=(",", ":")).encode()


def shapes_as_published(name: str, known_as: Mapping[str, str]) -> dict[str, list[int]]:
    """GPT-2 writes a matrix [in, out], and q, k and v side by side in one."""
    found: dict[str, list[int]] = {}
    gpt2 = known_as is GPT2
    for full, shape in parameters(PRESETS[name]).items():
        layer, dot, rest = full.rpartition("layer")[2].partition(".") if full.startswith("layer") else ("", "", full)
        ours, _, bias = rest.partition(".")
        place = ("h." if gpt2 else "model.layers.") + layer + "." if dot else ""
        key = f"{place}{known_as[ours]}.{bias or 'weight'}"
        sides = list(shape) if not gpt2 or ours in ("wte", "wpe") else list(shape)[::-1]
        if key in found:  # k behind q, v behind k
            sides[-1] += found[key][-1]
        found[key] = sides
    return found
