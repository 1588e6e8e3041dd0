"""Every claim stands on its page, in its element; what is computed for it stands there as a number."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest

from microgpt.viz.course import LESSONS
from tests.support.pages import folded, tree_of
from tests.viz.claims import WANTED, Claim

MODULES = sorted(path for path in (Path(__file__).parent / "claims").glob("*.py") if path.stem != "__init__")
CLAIMS: list[Claim] = [one for path in MODULES for one in import_module(f"tests.viz.claims.{path.stem}").CLAIMS]


@cache
def elements(name: str) -> dict[str, Element]:
    tree = tree_of(name)
    return {found: element for element in tree.iter() if (found := element.get("id"))}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: f"{c.page}-{c.element}-{c.claim[:30]}")
def test_the_claim_stands_on_its_page(claim: Claim) -> None:
    said = folded(elements(claim.page)[claim.element])
    for pattern in claim.says:
        assert re.search(pattern, said), (pattern, said)


def test_claims_are_those_of_lessons() -> None:
    """A lesson that answers no source has its claims in its own test, tests/viz/lessons."""
    assert {path.stem for path in MODULES} <= {lesson.widget for lesson in LESSONS}


@pytest.mark.parametrize(("source", "words"), [(source, w) for source, words in WANTED.items() for w in words])
def test_every_claim_of_the_sources_is_carried_by_some_page(source: str, words: str) -> None:
    assert [claim for claim in CLAIMS if claim.source == source and re.search(words, claim.claim)]
