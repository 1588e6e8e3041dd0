"""Every claim stands on its page, in its element; what is computed for it stands there as a number."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from microgpt.course import LESSONS
from tests.support.claims import WANTED, Claim
from tests.support.pages import by_id, folded

FOLDERS = sorted(path.parent.name for path in Path(__file__).parent.glob("*/claims.py"))
CLAIMS: list[Claim] = [one for name in FOLDERS for one in import_module(f"tests.course.{name}.claims").CLAIMS]


@pytest.mark.parametrize("page", sorted({claim.page for claim in CLAIMS}))
def test_claims_stand_on_their_page(page: str) -> None:
    said = {name: folded(element) for name, element in by_id(page).items()}
    claims = [(claim.element, pattern) for claim in CLAIMS if claim.page == page for pattern in claim.says]
    assert [(name, pattern, said[name]) for name, pattern in claims if not re.search(pattern, said[name])] == []


def test_claims_are_those_of_lessons() -> None:
    """A lesson that answers no source has its claims in its own test."""
    assert {*FOLDERS} <= {lesson.widget for lesson in LESSONS}


def test_every_claim_of_the_sources_is_carried_by_some_page() -> None:
    wanted = [(source, words) for source, every in WANTED.items() for words in every]
    carried = [one for one in wanted if any(c.source == one[0] and re.search(one[1], c.claim) for c in CLAIMS)]
    assert [one for one in wanted if one not in carried] == []
