"""docs/trust.md promises what tests hold: each promise names one, and each that is named is there."""

import re
from pathlib import Path

from microgpt.viz.rendering.policy import policy
from tests.attack.__main__ import PARTS
from tests.attack.table import BEGIN, DOCUMENT, END

ROOT = Path(__file__).resolve().parents[2]
TEXT = DOCUMENT.read_text("utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))
PROMISES = re.findall(r"^- \*\*.*?(?=\n- |\n\n)", TEXT, re.MULTILINE | re.DOTALL)


def test_every_promise_names_a_test_and_every_test_that_is_named_is_there() -> None:
    assert len(PROMISES) > 20 and [promise for promise in PROMISES if "`tests/" not in promise] == []
    texts = {file: (ROOT / file).read_text("utf-8") if (ROOT / file).is_file() else "" for file, _ in NAMED}
    assert [f"{file}::{test}" for file, test in NAMED if not re.search(rf"^def {test}\(", texts[file], re.M)] == []


def test_the_table_names_every_part_of_the_attack() -> None:
    table = TEXT.split(BEGIN)[1].split(END)[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(PARTS)


def test_the_policy_in_it_is_the_one_of_the_pages() -> None:
    quoted = re.search(r"^    default-src.*?(?=\n\n)", TEXT, re.MULTILINE | re.DOTALL)
    assert quoted and re.sub(r"\s+", " ", quoted[0]).strip() == policy()


def test_every_link_leads_to_a_file() -> None:
    for document in (DOCUMENT, ROOT / "SECURITY.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).is_file(), target
