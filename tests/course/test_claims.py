"""Every claim of the sources stands on its page, in its element; what is computed for it stands there as a number.

CLAIMS of a lesson (tests/course/<lesson>/questions.py) has a line for each: the source, as "REFERENCE 4" or "seed 2";
the claim; the id of the element that carries it, after the page where that is not the lesson's own; and patterns of
what it says, whitespace folded.
"""

import re

import pytest

from microgpt.course import LESSONS
from tests.support.pages import said_on
from tests.support.questions import module_of

CLAIMS = [
    (source, claim, f"{lesson.name}#{place}".split("#")[-2:], says)
    for lesson in LESSONS
    if lesson.name == lesson.widget.replace("_", "-")
    for line in getattr(module_of(lesson), "CLAIMS", "").strip().splitlines()
    for source, claim, place, *says in [line.split(" | ")]
]

# What the course has to carry of each source.
WANTED = r"""
REFERENCE 2 | closed forms | only what the last token needs | O\(n\) | 6 d keys | a thousand tokens
REFERENCE 3 | bytes = 2 x layers | bytes a token of GPT-2 | 69,120 | 576 | weights and cache | until the caches cross
REFERENCE 3 | never the cache
REFERENCE 4 | O\(N\^2\) into O\(N\) | regardless of how many | only K and V recomputation
REFERENCE 4 | 3 heads of 192|9 and 3|9 query | own W | ephemeral | RoPE | after rotation | 8B | own forward pass
REFERENCE 4 | draft | cropped | only ever grows | reading the cache | token and position | whole prefix | its own
REFERENCE 4 | during inference | gradients flow | detaching | -inf | exactly the same output | exponential
REFERENCE 4 | MLP is the largest
REFERENCE 5 | really the same | old rows still valid | why not cache Q | used in training | token 17 | prefill differ
REFERENCE 5 | where does the memory go | forget the mask
seed 0 | tokens | embedding | position | stack | attention | mask | MLP | residual | training | inference | stateless
seed 0 | past tokens | model stays the same|forward pass is the same
seed 1 | complexity | memory | bandwidth | masked self-attention | FlashAttention
seed 2 | grows | not computed again | training | detached | total work | one pass
seed 3 | training | one token at a time | part of the input | stops | The next day is | is all of it necessary
seed 4 | tensors | embedding | Q asks | residual | norm | MLP | inventory|tensor names | not cached | never rewritten
seed 4 | gigabytes | prefill | chunked | prefix caching | knowledge|contribute
"""


@pytest.mark.parametrize("page", sorted({page for _, _, (page, _), _ in CLAIMS}))
def test_claims_stand_on_their_page(page: str) -> None:
    said = said_on(page)
    claims = [(name, pattern) for _, _, (own, name), says in CLAIMS if own == page for pattern in says]
    assert [(name, pattern, said[name]) for name, pattern in claims if not re.search(pattern, said[name])] == []


def test_every_claim_of_the_sources_is_carried_by_some_page() -> None:
    wanted = [(line.split(" | ")[0], words) for line in WANTED.strip().splitlines() for words in line.split(" | ")[1:]]
    carried = {one for one in wanted for source, claim, *_ in CLAIMS if one[0] == source and re.search(one[1], claim)}
    assert [one for one in wanted if one not in carried] == []
