"""The text that can be changed: the cache, attention, forward and the loop, as they stand in the package.

It is a program of its own. What it does not define it imports, so that `python yours.py` runs it wherever the package
is installed. In a browser there is bytecode alone: there the same text lies beside this module (ORIGINAL), put there by
the build.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from microgpt import cache as caches
from microgpt import decode, model

PROGRAM = "yours.py"
ORIGINAL, CHECKS = "original.txt", "checks.txt"  # beside this module, where there are no sources
HEAD = f'''"""A GPT's forward pass and its KV cache, to be changed. `python {PROGRAM}` runs it, and the checks on it."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from random import Random

import numpy as np

from microgpt.cache import Batch, Cache, Layers, check_crop, check_rows
from microgpt.config import Array, Config, DType, Hook, Params, row_dims, window_of
from microgpt.decode import CHUNK, LAST, check_ids, check_length, check_sampling, sample
from microgpt.errors import N_, UserError
from microgpt.model import MLPS, NORMS, READS, SMALL_MASK, Memory, Text, TextRows
from microgpt.model import cross, embed, linear, place_tree, project, tree_mask
from microgpt.rope import ROTATIONS
from microgpt.simd import times
'''
SECTIONS = {
    "the cache": (caches.KVLayer, caches.KVCache),
    "attention": (model.causal_mask, model.triangle, model.attn_scores, model.softmax, model.mix),
    "one pass": (model.forward, model.batch_texts, model.split_texts),
    "the loop": (decode.prefill, decode.decode_step, decode.recompute, decode.generate),
}
FOOT = """if __name__ == "__main__":
    from microgpt.workbench.command import main

    main(__file__)
"""
WIDTH = 100


@cache
def original() -> str:
    """The program, with the same bytes here and in a browser."""
    kept = Path(__file__).with_name(ORIGINAL)
    return kept.read_text("utf-8") if kept.is_file() else write()


def write() -> str:
    """The program, out of the sources of the package."""
    import inspect  # in a browser there are no sources

    text = HEAD
    for title, parts in SECTIONS.items():
        text += f"\n# ---- {title} ".ljust(WIDTH, "-") + "\n"
        text += "".join(f"\n\n{inspect.getsource(part).strip()}\n" for part in parts) + "\n"
    return text + "\n" + FOOT


@cache
def checks_text() -> str:
    """The module `checks`, which can be changed too."""
    kept = Path(__file__).with_name(CHECKS)
    return (kept if kept.is_file() else Path(__file__).with_name("checks.py")).read_text("utf-8")
