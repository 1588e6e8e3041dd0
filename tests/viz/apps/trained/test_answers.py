"""The turn of a chat: what its page says of marks, pieces and heads, found again in the trace by other means.

That the trace itself holds together is in test_talks.py, for both texts.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from xml.etree.ElementTree import Element

from microgpt.trace import Trace, from_json
from microgpt.viz import views
from microgpt.viz.apps.trained import TRACES
from microgpt.viz.apps.trained.talks import CHAT
from microgpt.viz.course import page
from microgpt.viz.rendering.render import render_page
from tests.support.pages import numbers, parse, text

PAGE = page("chat-turn")


@cache
def trace() -> Trace:
    return from_json((TRACES / CHAT.file).read_text("utf-8"))


@cache
def html() -> Element:
    shown: Any = views.of(PAGE)
    return parse(render_page(PAGE, shown))


def named(name: str) -> Element:
    return next(e for e in html().iter() if e.get("id") == name)


TOKENS: list[str] = trace().about["tokens"]
N_PROMPT: int = trace().about["n_prompt"]


def test_the_turn_is_told_as_its_tokens_are() -> None:
    question = TOKENS[TOKENS.index("What") : TOKENS.index("<|im_end|>")]
    assert "".join(question) == "What is the capital of France?"
    assert numbers(named("turn")) == [N_PROMPT, len(question)]
    assert text(next(named("turn").iter("q"))) == "".join(TOKENS[N_PROMPT:]) == "The capital of France is Paris"
    assert [text(e) for e in named("turn").iter("code")] == ["<|im_start|>", "<|im_end|>"]


def test_a_word_costs_as_much_as_its_pieces() -> None:
    at = TOKENS.index("ass")
    assert TOKENS[at : at + 2] == ["ass", "istant"]
    question = TOKENS[TOKENS.index("What") : TOKENS.index("<|im_end|>")]
    assert [token.strip() for token in question] == ["What", "is", "the", "capital", "of", "France", "?"], (
        "one piece each"
    )
    assert "46.1 kB" in text(named("pieces")) and 2 * 30 * 3 * 2 * 64 * 2 == 46_080  # tokens, layers, heads, K and V


def strongest(i: int, j: int) -> tuple[float, int, int]:
    """The largest weight that a head gives to key j at step i, and the head."""
    return max(
        (float(trace()["attn_weights", i, layer][head, 0, j]), layer, head) for layer in range(30) for head in range(9)
    )


def test_the_heads_that_repeat_are_those_of_the_weights() -> None:
    table = next(e for e in html().iter("table") if e.get("class") == "kinds")
    lines = [row for row in table.iter("tr")][1:]
    steps = [(17, 7), (18, 8)]  # " capital" and " of" have come before, and the answer goes on as the question did
    assert [TOKENS[i] for i, _ in steps] == [TOKENS[j - 1] for _, j in steps] == [" capital", " of"]
    for line, (i, j) in zip(lines, steps, strict=True):
        weight, layer, head = strongest(i, j)
        assert numbers(line) == [round(weight, 2), layer, head]
    opened = {(one.layer, one.head) for one in views.of(PAGE).picture.opened}  # type: ignore[attr-defined]
    assert opened >= {strongest(i, j)[1:] for i, j in steps}, "what the table names can be looked into"
    weight, layer, head = strongest(*steps[0])
    assert numbers(named("opened")) == [steps[0][0] + 1, head, layer]
    above = sum(
        sum(float(trace()["attn_weights", i, layer][head, 0, j]) for i, j in steps) / 2 > 0.5
        for layer in range(30) for head in range(9)
    )  # fmt: skip
    i = len(TOKENS) - 2
    weight, layer, head = strongest(i, TOKENS.index(" France"))
    assert TOKENS[i] == " is" and numbers(named("induction")) == [above, 0.5, head, layer, round(weight, 2)]
