"""The text that can be changed: the cache, attention, forward and the loop, as they stand in the package; and what of a
program differs from it.

It is a program of its own. What it does not define it imports, so that `python yours.py` runs it wherever the package
is installed. In a browser there is bytecode alone: there the same text lies beside this module (ORIGINAL), put there by
the build.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from microgpt import cache as caches
from microgpt import decode, model
from microgpt.errors import visible

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
    from microgpt.workbench.examine import main

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


class ChangedLine(NamedTuple):
    """A line of the difference between two programs: + is the other's, - ours, " " in both."""

    sign: str
    text: str
    at: int  # the number of the other's line; of one that is gone, of the next


class Hunk(NamedTuple):
    """A place in which two programs differ: what it lies in, and its lines, with nothing invisible in them."""

    where: str  # KVCache.crop
    lines: list[ChangedLine]


def hunks_of(other: str, around: int = 0) -> Iterator[Hunk]:
    """The places in which a program differs from the original, with so many lines around each."""
    before, after = original().splitlines(), other.replace("\r\n", "\n").splitlines()
    for group in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(around):
        lines = list[ChangedLine]()
        for kind, i, i_end, j, j_end in group:
            if kind == "equal":
                lines += [ChangedLine(" ", text, at) for at, text in enumerate(after[j:j_end], j + 1)]
                continue
            lines += [ChangedLine("-", text, j + 1) for text in before[i:i_end]]
            lines += [ChangedLine("+", text, at) for at, text in enumerate(after[j:j_end], j + 1)]
        texts = dedent("\n".join(one.text for one in lines)).split("\n")
        lines = [one._replace(text=visible(text)) for one, text in zip(lines, texts, strict=True)]
        first = next(i for kind, i, *_ in group if kind != "equal")
        yield Hunk(function_at(before, first + 1), lines)


def function_at(lines: Sequence[str], line: int) -> str:
    """What a line of a program lies in: KVCache.crop; "" where it lies in nothing."""
    names = list[str]()
    for text in lines[:line]:
        if found := re.match(r"( *)(?:def|class) (\w+)", text):
            names = [*names[: len(found[1]) // 4], found[2]]
    return ".".join(names)
