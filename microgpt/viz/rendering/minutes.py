"""How long a lesson takes: its words at the pace of careful reading, and time for each question and each step."""

from __future__ import annotations

import math
import re

from markupsafe import Markup

WORDS_A_MINUTE = 180  # read in a minute
QUESTION = 0.5  # minutes: to think, to answer, to read why
CASE_MINUTES = 0.25  # minutes to look at one of the cases that the picture goes through
SCENE, FIGURE = '<section class="scene">', '<div class="figure'  # a part of a text, and its figure, the last in it
AFTER = re.compile('<section class="(rests|answers)">')  # where the lesson is over


def minutes(prose: str, steps: int) -> int:
    """Whole minutes, rounded up, for a lesson with this prose and so many steps; its figures are not counted."""
    parts = (part.partition(FIGURE)[0] for part in prose.split(SCENE))
    lesson = AFTER.split("".join(parts), 1)[0]
    words = Markup(lesson).striptags().split()
    return math.ceil(
        len(words) / WORDS_A_MINUTE + QUESTION * lesson.count('<fieldset class="ask">') + CASE_MINUTES * steps
    )
