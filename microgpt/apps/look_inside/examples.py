"""The header of a well-known model's file, by formula: its tensors with the names that its publisher gave them.

No weights are needed for it, nor are there any. Knows two families of names; knows no HTML.
"""

from __future__ import annotations

import json
import math

from microgpt.architectures import parameters as parameters
from microgpt.architectures.known import PRESETS
from microgpt.architectures.names import GPT2, LLAMA, Family, public_name, source_of
from microgpt.checkpoints.assemble import uncut
from microgpt.checkpoints.safetensors import BITS, PREFIX, Header, read_header

EXAMPLES = {"GPT-2 124M": ("F32", GPT2), "SmolLM2-135M": ("BF16", LLAMA)}


def example_file(name: str) -> tuple[Header, str]:
    """The header of that model's file, as it is read, and its text."""
    dtype, family = EXAMPLES[name]
    text = header_text(name, dtype, family)
    data = len(text).to_bytes(PREFIX, "little") + text
    size = len(data) + BITS[dtype] // 8 * PRESETS[name].n_params
    return read_header(lambda start, stop: data[start:stop], size), text.decode()


def header_text(name: str, dtype: str, family: Family) -> bytes:
    """The header of a model's file by formula: its tensors with the names that its publisher gave them."""
    found: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for theirs, shape in shapes_as_published(name, family).items():
        stop = at + BITS[dtype] // 8 * math.prod(shape)
        found[theirs] = {"dtype": dtype, "shape": shape, "data_offsets": [at, stop]}
        at = stop
    return json.dumps(found, separators=(",", ":")).encode()


def shapes_as_published(name: str, family: Family) -> dict[str, list[int]]:
    """The tensors of the file: GPT-2 writes a matrix [in, out], and q, k and v side by side in one."""
    sources = {source_of(ours, family): shape for ours, shape in parameters(PRESETS[name]).items()}
    return {public_name(source.name, family): list(uncut(shape, source)) for source, shape in sources.items()}
