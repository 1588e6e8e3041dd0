"""The words that readers are told: one word for one thing, as CONTRIBUTING.md lists them, in all English strings."""

from __future__ import annotations

import re

import pytest
from babel.messages.pofile import read_po

from microgpt.viz.text.place import ROOT

NOT = {  # what is not written -> what is
    r"\bbehind\b": "after",
    r"\b(bytes|numbers|multiply-adds|pass|row|column) an? (token|layer|head|number|byte|position|pass|step)\b": "per",
    r"\bscores? of the last step\b|\bone score (per|for every) token\b": "logit",
    r"\bbend(s|ing)?\b|\bbent\b|\bwidens\b|\bnarrows\b": "activation function, makes wider, brings back",
    r"\bspoil(s|ed)?\b": "makes stale",
    r"\bGiB\b|\bMiB\b": "GB, MB",
    r"\btogether one\b": "together they are one",
}  # fmt: skip
MEANT = {  # what is meant as it stands: a part of the sentence
    "the numbers behind it", "what it leaves behind", "what the MLP leaves behind",
    "turn the row of a token",
    "The sum bends", "bends towards two",  # curves do
    "a GiB, in which memory is often counted",
}  # fmt: skip


def said() -> list[str]:
    """All English strings: of one with a plural, both."""
    with (ROOT / "locale" / "messages.pot").open("rb") as file:
        ids = [one.id for one in read_po(file) if one.id]
    return [text for one in ids for text in ([one] if isinstance(one, str) else one)]


@pytest.mark.parametrize("pattern", NOT)
def test_a_word_that_is_not_used(pattern: str) -> None:
    for text in said():
        for part in MEANT:
            text = text.replace(part, "")
        found = re.search(pattern, text, re.I)
        assert not found, f"“{found[0]}”, write {NOT[pattern]}: {text}"


def test_there_is_much_to_read() -> None:
    assert len(said()) > 1000
