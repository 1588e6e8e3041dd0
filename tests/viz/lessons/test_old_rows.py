"""What the lesson on old rows asks, for texts of every length."""

from __future__ import annotations

import pytest

from microgpt.viz.lessons.old_rows import view
from microgpt.viz.settings import Settings


@pytest.mark.parametrize("prompt", ["e", "em", "emm", "emma", "emmaemmaemma"])
def test_the_question_has_three_answers_and_one_is_right(prompt: str) -> None:
    """A prompt of one token, too: all rows, those from the change on and the right ones were one and the same there."""
    shown = view(Settings("names", prompt))
    change = shown.experiments[shown.first_change]
    assert len(set(shown.first_options)) == 3
    assert shown.first_options[shown.first_right] == change.stale_by_layer[0]
