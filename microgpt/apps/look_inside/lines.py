"""Where the bytes of a role come from: how many numbers its tensors have, and how many bytes each takes.

A line has the tensors that are alike in one term. What does not come to its bytes has none: of a third that is no
whole number of bytes. Knows no HTML.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import NamedTuple

from microgpt.architectures.roles import ROLES
from microgpt.checkpoints.contents import Contents
from microgpt.checkpoints.safetensors import BITS

MOST_TERMS = 3  # that a line shows; of more, the largest
BYTE = 8  # bits
NORMS = "attn_norm"  # the role that stands for all gains of norms
JOINT = ("wq", "wk", "wv")  # side by side in one tensor, a third each


class Term(NamedTuple):
    """Tensors that are alike, and the part of each that counts: one of `parts`."""

    shape: tuple[int, ...]
    bits: int  # of a number
    parts: int
    times: int = 1

    @property
    def whole_bytes(self) -> int:
        """Bytes of a number; 0 where these are no whole number."""
        return 0 if self.bits % BYTE else self.bits // BYTE

    @property
    def all_bits(self) -> int:
        """Of all its tensors, whole."""
        return self.times * math.prod(self.shape) * self.bits


class Line(NamedTuple):
    """The largest terms, and what the others come to, in bytes."""

    terms: list[Term]
    others: int
    rest: int
    total: int  # of the file, without its header


def role_on_show(role: str) -> str:
    """The role as which the page shows it: all gains of norms together."""
    return NORMS if role in ROLES and ROLES[role].part == "norms" else role


def size_lines(found: Contents) -> dict[str, Line]:
    """By role, as the page shows them."""
    alike: dict[str, Counter[Term]] = defaultdict(Counter)
    for group in found.groups:
        for row in group.rows:
            roles = JOINT if row.role == "wqkv" else (role_on_show(row.role),)
            for role in roles:
                alike[role][Term(row.shape, BITS[row.dtype], len(roles))] += row.times * max(1, len(group.layers))
    written = {role: add([term._replace(times=n) for term, n in same.items()], found) for role, same in alike.items()}
    return {role: line for role, line in written.items() if line}


def add(terms: list[Term], found: Contents) -> Line | None:
    """The line of these terms; None where one of them is no whole number of bytes, or nothing."""
    terms = sorted((term for term in terms if term.all_bits), key=lambda term: term.all_bits / term.parts, reverse=True)
    if not terms or any(term.all_bits % (BYTE * term.parts) for term in terms):
        return None
    sizes = [term.all_bits // (BYTE * term.parts) for term in terms]
    return Line(terms[:MOST_TERMS], len(terms[MOST_TERMS:]), sum(sizes[MOST_TERMS:]), found.nbytes)
