"""The stages of a step: their lines are found in model.py however it is written, and nobody counts them otherwise."""

from __future__ import annotations

import inspect
import re

import pytest

from microgpt import model
from microgpt.viz.drawing.phases import PHASES, code, reported

SOURCE = inspect.getsource(model.forward)
REPORTED = reported(SOURCE)


def rewritten(pattern: str, by: str) -> str:
    text, n = re.subn(pattern, by, SOURCE)
    assert n
    return text


def test_the_lines_of_a_stage_are_those_above_its_reports() -> None:
    lines = SOURCE.splitlines()
    for i, phase in enumerate(PHASES):
        reports = [j for event in phase.events for j, line in enumerate(lines) if f'hook(("{event}",' in line]
        assert code(i) == tuple(lines[j - 1].strip() for j in reports)


@pytest.mark.parametrize(
    "source",
    [
        rewritten(r'hook\(\("(\w+)"', r"hook(('\1'"),
        rewritten(r"hook and hook\(\((.*?), (.*), start, (.*?)\)\)", r"hook and hook((\n\1,\n\2,\nstart,\n\3,\n))"),
        rewritten(r"hook and hook\(\((.*)\)\)", r"hook   and   hook  ( ( \1 ) )"),
        rewritten(r"( +)hook and (hook\(.*\))", r"\1if hook is not None:\n\1    \2"),
        rewritten(r"( +)hook and hook", r"\n\1# what is told\n\n\1hook and hook"),
        rewritten(r"(    return logits)", r"    twice = lambda x: 2 * x if hook else x\n\1"),
    ],
    ids=["single quotes", "split over lines", "blanks", "as a statement", "a comment between", "other bodies"],
)
def test_however_the_reports_are_written_the_stages_are_the_same(source: str) -> None:
    assert {name: REPORTED[name] for phase in PHASES for name in phase.events} == {
        name: reported(source)[name] for phase in PHASES for name in phase.events
    }


def test_a_line_of_maths_that_is_split_is_shown_whole() -> None:
    split = SOURCE.replace("weights = softmax(scores)", "weights = softmax(\n            scores,\n        )")
    assert reported(split)["attn_weights"].splitlines()[:2] == ["weights = softmax(", "    scores,"]


def test_what_is_not_reported_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = {name: line for name, line in REPORTED.items() if name != "attn_scores"}
    monkeypatch.setattr("microgpt.viz.drawing.phases.of_forward", lambda: silent)
    code.cache_clear()
    try:
        with pytest.raises(LookupError, match="forward reports no attn_scores"):
            code(2)
    finally:
        code.cache_clear()
