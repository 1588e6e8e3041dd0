"""Answers of a live page, put together as site/boot.js does it: what asks to be sent again is, pieces are placed."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from microgpt.viz.session import dispatch

PLACES = ("#tokens", "#rows", "#steps", "#lines", "#ledgers", "#nav", "#after")


def to_the_end(
    state: Any, hook: str, fields: Mapping[str, str], asked: Mapping[str, str] | None = None
) -> tuple[Any, list[list[dict[str, str]]]]:
    """All answers to an event, in turn, and the state in the end; `asked` are the fields when it asks again."""
    answers = []
    while hook:
        state, patches = dispatch(state, hook, fields)
        answers.append(patches)
        hook, fields = next((p["again"] for p in patches if "again" in p), ""), asked or fields
    return state, answers


def stands(answers: Sequence[Sequence[Mapping[str, str]]]) -> str:
    """The stepper after these answers, byte for byte."""
    text = ""
    for patch in (p for patches in answers for p in patches):
        target = patch.get("target", "")
        if target == "#stepper":
            text = patch["html"]
        elif target in PLACES:
            begin, inner, inner_end, end = found(text, target[1:])
            first, last = {"outer": (begin, end), "inner": (inner, inner_end), "append": (inner_end, inner_end)}[
                patch["how"]
            ]
            text = text[:first] + patch["html"] + text[last:]
    return text


def found(text: str, name: str) -> tuple[int, int, int, int]:
    """Where the div with that id begins, where its inside does, where that ends, and where it ends itself."""
    tag = re.search(rf'<div (?:[^>]* )?id="{name}"[^>]*>', text)
    assert tag, name
    depth = 0
    for one in re.finditer("<div|</div>", text[tag.start() :]):
        depth += 1 if one[0] == "<div" else -1
        if not depth:
            break
    return tag.start(), tag.end(), tag.start() + one.start(), tag.start() + one.end()
