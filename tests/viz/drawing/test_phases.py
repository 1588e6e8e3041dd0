"""The stages of a step: their lines are found in model.py however it is written, and nobody counts them otherwise."""

from __future__ import annotations

import inspect
import re

import pytest
from babel.messages.pofile import read_po

from microgpt import model
from microgpt.viz.course import PAGES
from microgpt.viz.drawing.phases import PHASES, code, reported
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.rendering.style import style
from microgpt.viz.text.language import LANGUAGES
from microgpt.viz.text.place import ROOT

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


# ---- how many there are, and which is which -----------------------------------------------------------

COUNT = len(PHASES)
NUMBER = {phase.name: i for i, phase in enumerate(PHASES, 1)}
IN_WORDS = {"en": dict(zip(range(5, 10), ("five", "six", "seven", "eight", "nine"), strict=True)),
            "es": dict(zip(range(5, 10), ("cinco", "seis", "siete", "ocho", "nueve"), strict=True))}  # fmt: skip
SHEETS = {path.name: path.read_text("utf-8") for path in sorted((ROOT / "site" / "css").glob("*.css"))}


def test_no_stylesheet_types_how_many_stages_there_are() -> None:
    """What counts them is generated, from templates/states.css; a --phase that is set by hand is none or all."""
    for name, sheet in SHEETS.items():
        assert set(re.findall(r"--phase: *([^;} ]+)", sheet)) <= {"0", "var(--phases)"}, name
        assert not re.search(rf"var\(--beat\) \* {COUNT}|steps\({COUNT}\b|initial-value: *{COUNT}\b", sheet), name


def test_the_generated_style_counts_the_stages() -> None:
    text = style()
    assert f"--phases:{COUNT}}}" in text and f"initial-value:{COUNT}}}" in text
    assert f"@keyframes phases{{from{{--phase:1}}to{{--phase:{COUNT}}}}}" in text
    assert set(map(int, re.findall(r"\.phase-(\d+):checked", text))) == set(range(1, COUNT + 1))


def test_a_picture_shows_all_stages_at_first() -> None:
    assert Picture.__dataclass_fields__["phase"].default == COUNT


def test_what_appears_at_a_stage_appears_at_the_stage_of_that_name() -> None:
    """Which stage shows what is said in 4-stepper.css, by numbers: they are those of the stages' names."""
    sheet = SHEETS["4-stepper.css"]
    shown = {
        int(n): int(start)
        for n, start in re.findall(r"\.ph(\d) \{ opacity: clamp\([^,]*, var\(--phase\) - (\d)", sheet)
    }
    assert shown == {n: n - 1 for n in (NUMBER["compare"], NUMBER["weigh"], NUMBER["mix"], NUMBER["choose"])}
    assert set(re.findall(r"--gone: [^;]*?var\(--phase\) - (\d)", sheet)) == {str(NUMBER["drop q"] - 1)}
    assert re.findall(r"\.alive \{ opacity: clamp\(0, (\d) - var\(--phase\)", sheet) == [str(NUMBER["drop q"])]
    assert set(re.findall(r"\.phase-(\d):checked", sheet)) == {str(NUMBER["compare"])}  # q goes down the K column
    templates = "".join(
        path.read_text("utf-8") for path in (ROOT / "templates" / "lessons" / "stepper").rglob("*.html")
    )
    assert set(map(int, re.findall(r"class=\"[^\"]*\bph(\d)\b", templates))) == {NUMBER["project"], *shown}


def test_a_figure_shows_at_a_stage_what_the_page_shows() -> None:
    figure = (ROOT / "templates" / "lessons" / "stepper" / "figure.svg").read_text("utf-8")
    later = {NUMBER[name] - 1 for name in ("append", "compare", "weigh", "mix", "drop q", "choose")}
    assert set(map(int, re.findall(r"at\.phase > (\d+)", figure))) == later
    assert not re.search(r"at\.phase (==|!=|<|>=|<=) *\d", figure)


def test_texts_say_how_many_stages_there_are() -> None:
    texts = [text for page in PAGES for text in (page.title, page.summary, page.try_, page.notice)]
    said = re.findall(r"(?:the|its) (\w+) stages", "\n".join([*texts, (ROOT / "README.md").read_text("utf-8")]))
    assert len(said) >= 3 and set(said) == {IN_WORDS["en"][COUNT]}


@pytest.mark.parametrize("language", sorted(LANGUAGES.keys() - {"en"}))
def test_translations_say_how_many_stages_there_are(language: str) -> None:
    with (ROOT / "locale" / language / "LC_MESSAGES" / "messages.po").open("rb") as file:
        said = [
            str(m.string) for m in read_po(file) if isinstance(m.id, str) and f"{IN_WORDS['en'][COUNT]} stages" in m.id
        ]
    assert said and all(IN_WORDS[language][COUNT] in text for text in said)
