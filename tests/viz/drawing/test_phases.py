"""The stages of a step: their lines are found in model.py however it is written, and nobody counts them otherwise."""

import inspect
import re

import pytest
from babel.messages.pofile import read_po

from microgpt import model
from microgpt.course import PAGES
from microgpt.course.kv_cache.states import SPANS, pace
from microgpt.viz.drawing.phases import PHASES, code
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.drawing.source import statements_by_event
from microgpt.viz.lesson import lesson_named
from microgpt.viz.rendering.render import where
from microgpt.viz.rendering.style import own_style
from microgpt.viz.text.language import LANGUAGES
from microgpt.viz.text.place import ROOT
from tests.support.templates import templates

SOURCE = inspect.getsource(model.forward)
REPORTED = statements_by_event(SOURCE)


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
    names = [name for phase in PHASES for name in phase.events]
    assert [REPORTED[name] for name in names] == [statements_by_event(source)[name] for name in names]


def test_a_line_of_maths_that_is_split_is_shown_whole() -> None:
    split = SOURCE.replace("weights = softmax(scores)", "weights = softmax(\n            scores,\n        )")
    assert statements_by_event(split)["attn_weights"].splitlines()[:2] == ["weights = softmax(", "    scores,"]


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
IN_WORDS = {
    "en": dict(zip(range(5, 10), ("five", "six", "seven", "eight", "nine"), strict=True)),
    "es": dict(zip(range(5, 10), ("cinco", "seis", "siete", "ocho", "nueve"), strict=True)),
}
STEPPER = lesson_named("stepper")
SHEET = where(f"{STEPPER.folder}/style.css").read_text("utf-8")


def test_no_stylesheet_types_how_many_stages_there_are() -> None:
    """What counts them is generated, from states.css."""
    for path in (*(ROOT / "site" / "css").glob("*.css"), *templates("css")):
        assert not re.search(rf"--to: *\d|steps\({COUNT}\b|initial-value: *{COUNT}\b", path.read_text("utf-8")), path


def test_the_generated_style_counts_the_stages() -> None:
    text = own_style(STEPPER)
    assert text.count(f"initial-value:{COUNT}}}") == 2  # where a step is at rest: --to and --t
    assert f"to{{--t:{COUNT}}}}}" in text and f".row{{--to:{COUNT};" in text and f":root{{--last:{COUNT}}}" in text
    assert set(map(int, re.findall(r"\.phase-(\d+):checked", text))) == set(range(1, COUNT + 1))
    assert set(map(int, re.findall(r"\.P(\d+)\{--p:", text))) == set(range(1, COUNT + 1))
    assert Picture.__dataclass_fields__["phase"].default == 0  # a page opens before its step


def test_a_step_that_plays_goes_through_the_stages_in_their_order_and_rests() -> None:
    over = pace()
    assert len(over) == COUNT + 1 and over == sorted(set(over)) and over[0] == 0 and 0.8 < over[-1] < 1
    rules = own_style(STEPPER)
    for name, frames in re.findall(r"@keyframes (run-\d-\d)(\{.*?\}\})", rules):
        first, last = map(int, name.split("-")[1:])
        ((share, start),) = re.findall(rf"{name}\);.*?calc\(var\(--len\)\*([\d.]+)\).*?var\(--len\)\*([\d.]+)\)", rules)
        found = re.findall(r"(from|to|[\d.]+%)\{--t:(\d)\}", frames)
        assert [int(t) for _, t in found] == list(range(first, last + 1))
        for at, t in found:  # whatever moves then, a stage is over at one and the same time
            part = {"from": 0, "to": 100}.get(at) or float(at.strip("fromt%") or 0)
            assert float(start) + float(share) * part / 100 == pytest.approx(over[int(t)], abs=0.0005), name


def test_all_that_moves_says_in_which_stages() -> None:
    """What has a clock, by its classes in the templates; and no two say so of one piece."""
    folder = ROOT / "microgpt" / "course" / "kv_cache"
    text = "".join((folder / f"_{part}.html").read_text("utf-8") for part in ("row", "step"))
    moving = [set(found.split()) for found in re.findall(r'class="([^"]*)"', text) if "a" in found.split()]
    pieces = set(SPANS)
    assert len(moving) > 20
    for classes in moving:
        assert len(classes & pieces) == 1, classes
    assert {name for classes in moving for name in classes & pieces} == pieces


# selector of the stepper, and a part of its rule that holds a time -> the stage in which that time must lie
CLOCKS = {
    (".vector", "--go"): "project", (".vector", "--part"): "project", (".ask-q", "--in"): "project",
    (".c-k, .c-v", "--in"): "project", (".c-k, .c-v", "--go"): "append", (".c-k, .c-v", "--d"): "append",
    (".c-pos", "opacity"): "append", (".ask-q", "--go"): "compare", (".ask-q", "--d"): "compare",
    (".score", "--on"): "compare", (".band", "--on"): "weigh", (".meets b", "opacity"): "weigh",
    (".pour", "--d"): "mix", (".mix", "opacity"): "mix", (".ask-q", "--out"): "drop q", (".door", "--part"): "drop q",
    (".lift", "--on"): "choose", (".guesses", "opacity"): "choose", (".fly", "--d"): "choose",
}  # fmt: skip


def test_what_moves_at_a_stage_moves_at_the_stage_of_that_name() -> None:
    """Times are said in its style.css, one unit a stage: what they move belongs to the stage of that number."""
    for (selector, part), name in CLOCKS.items():
        bodies = re.findall(rf"^(?:[^\n{{}}]+ ~ \.stage )?{re.escape(selector)} \{{(.*?)\}}", SHEET, re.M | re.S)
        clock = rf"(?<![\w-]){part}: [^;]*?var\(--(?:t|clock)\) - ([\d.]+)"
        (time,) = [t for body in bodies for t in re.findall(clock, body)]
        assert NUMBER[name] - 1 <= float(time) < NUMBER[name], (selector, part)


def test_every_stage_has_its_sentence_and_a_figure_shows_at_it_what_the_page_shows() -> None:
    step, figure = (
        (ROOT / "microgpt" / "course" / "kv_cache" / name).read_text("utf-8") for name in ("_step.html", "figure.svg")
    )
    assert re.findall(r'<li class="P(\d) a">', step) == [str(i) for i in range(1, COUNT + 1)]
    later = {NUMBER[name] - 1 for name in ("append", "compare", "weigh", "mix", "drop q", "choose")}
    assert set(map(int, re.findall(r"\bphase > (\d+)", figure))) == later
    assert not re.search(r"\bphase (==|!=|<|>=|<=) *\d", figure)
    assert "{% set phase = at.phase or PHASES|length %}" in figure and figure.count("at.phase") == 1


def test_texts_say_how_many_stages_there_are() -> None:
    texts = [text for page in PAGES for text in (page.title, page.summary, page.try_, page.notice)]
    said = re.findall(r"(?:the|its) (\w+) stages", "\n".join([*texts, (ROOT / "README.md").read_text("utf-8")]))
    assert len(said) >= 3 and set(said) == {IN_WORDS["en"][COUNT]}


@pytest.mark.parametrize("language", sorted(LANGUAGES.keys() - {"en"}))
def test_translations_say_how_many_stages_there_are(language: str) -> None:
    stages = f"{IN_WORDS['en'][COUNT]} stages"
    with (ROOT / "locale" / language / "LC_MESSAGES" / "messages.po").open("rb") as file:
        said = [str(m.string) for m in read_po(file) if isinstance(m.id, str) and stages in m.id]
    assert said and all(IN_WORDS[language][COUNT] in text for text in said)
