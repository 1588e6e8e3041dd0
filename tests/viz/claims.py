"""What a lesson claims, and where: each module tests/viz/claims_<widget>.py lists those of its lesson."""

from __future__ import annotations

from typing import NamedTuple


class Claim(NamedTuple):
    """A claim of the reference or of a seed text: the element of the page that carries it, and what it must say."""

    source: str  # "REFERENCE 4", "seed 2"
    claim: str
    page: str
    element: str  # its id
    says: tuple[str, ...]  # patterns that the element's text matches, whitespace folded
