"""Real bugs: each once, with its origins, and every number of the page as the checks give it when they run again."""

import re
from collections import Counter
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.apps.bugs.app import BUG_GROUPS
from microgpt.apps.bugs.evidence import ITSELF, WEIGHTS, evidence, right_answer
from microgpt.apps.bugs.picture import bar_path
from microgpt.course import LESSONS
from microgpt.viz.text.formats import at_most
from microgpt.weights import shipped
from microgpt.workbench.examine import PROMPTS, SIX, checks_of, examine, run_check
from microgpt.workbench.original import original
from microgpt.workbench.shelf import BUGS, Bug
from microgpt.workbench.trial import Trial
from microgpt.workbench.yours import Yours
from tests.support.pages import by_id, classes, find, numbers, text, tree_of
from tests.support.sampled import sampled
from tests.workbench.programs import measure

PAGE = "bugs"
each = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)


def opened(bug: Bug) -> Element:
    return by_id(PAGE)[bug.name]


def rows_of(figure: Element) -> list[Element]:
    return [e for e in figure.iter() if e.tag.endswith("}g")]


def model_of(bug: Bug) -> str:
    return next(name for name, check in bug.caught_by.items() if check)


def test_each_bug_is_there_once_in_its_group() -> None:
    shown = [e.get("id", "") for e in find(tree_of(PAGE), "opened")]
    assert shown == [bug.name for bug in BUGS] == [bug.name for _, bugs in BUG_GROUPS for bug in bugs]
    assert [text(e) for e in tree_of(PAGE).iter("h2")] == [title for title, _ in BUG_GROUPS]
    assert [text(e) for e in tree_of(PAGE).iter("h3")] == [bug.title for bug in BUGS]
    folds = find(tree_of(PAGE), "bug")
    assert [fold.get("open") is not None for fold in folds] == [True] + [False] * (len(BUGS) - 1)


@each
def test_a_bug_leads_to_its_origins_its_lesson_and_the_workbench(bug: Bug) -> None:
    links = [(text(e), e.get("href", "")) for e in opened(bug).iter("a")]
    origins = [(one, "https://github.com/" + one.replace("#", "/issues/")) for one in bug.origins]
    assert links[: len(origins)] == origins
    assert [href for _, href in links[len(origins) :]] == [f"workbench.html?bug={bug.name}", f"{bug.lesson}.html"]
    number = next(lesson.number for lesson in LESSONS if lesson.name == bug.lesson)
    assert numbers(find(opened(bug), "onwards")[0])[0] == number


@each
def test_the_difference_is_the_whole_edit(bug: Bug) -> None:
    lines = list[tuple[str, str]]()
    for pre in opened(bug).iter("pre"):
        lines += [(e.tag, (e.text or "")[2:].strip()) for e in pre.iter() if e.tag in ("ins", "del")]
        assert not find(pre, "span")
    ours, theirs = Counter(map(str.strip, original().splitlines())), Counter(map(str.strip, bug.text().splitlines()))
    assert Counter(line for tag, line in lines if tag == "ins") == theirs - ours
    assert Counter(line for tag, line in lines if tag == "del") == ours - theirs
    assert lines


@pytest.mark.parametrize("bug", sampled(BUGS, BUGS[::3], "numbers of other bugs"), ids=lambda bug: bug.name)
def test_every_number_of_a_bug_is_what_the_checks_give(bug: Bug) -> None:
    name = model_of(bug)
    model, ids = shipped(name), shipped(name).tokenizer.encode(PROMPTS[name])
    outcomes, (furthest, flip) = examine(Yours(bug.text(), is_watched=False), model, ids), measure(bug, model, ids)
    caught, here = {one.name: one.finding for one in outcomes if one.finding}, evidence(bug.name)
    (first, found), *_ = caught.items()
    assert here.first == first == bug.caught_by[name] and here.furthest == furthest
    assert [*here.findings] == [way for way in (*SIX, ITSELF) if way in caught]

    told = text(find(opened(bug), "what-fails")[0])
    assert f"{here.first} is the first check that fails: {found.error}" in told
    assert f"A logit is off by {at_most(furthest)} at most." in told
    if found.pos >= 0:
        assert f"Row {found.pos}" in told
    if found.is_number:
        assert f"It is {found.yours:.2f}; the original has {found.ours:.2f}.".replace("-", "−") in told
    if flip is None:
        assert "The likeliest next token is the right one after each row" in told
    else:
        assert here.flip is not None and here.flip.pos == flip and here.flip.yours != here.flip.ours
        assert f"After row {flip} the likeliest next token is" in told
    fold = find(tree_of(PAGE), "bug")[BUGS.index(bug)]
    named = text(find(fold, "named")[0])
    assert here.first in named and at_most(furthest) in named


@each
def test_each_row_is_told_and_the_first_that_is_wrong_is_framed(bug: Bug) -> None:
    shown = evidence(bug.name).shown
    panels = find(opened(bug), "C")
    assert len(panels) == len(shown.rows)
    wrong = []
    for pos, (row, panel) in enumerate(zip(shown.rows, panels, strict=True)):
        assert row.yours is not None and numbers(panel)[0] == pos
        n = max(len(row.yours), len(row.ours))
        off = np.abs(np.pad(row.yours, (0, n - len(row.yours))) - np.pad(row.ours, (0, n - len(row.ours))))
        if off.max() < 0.005:
            assert "as it should be" in text(panel)
            continue
        wrong.append(pos)
        at = int((off >= off.max() - 1e-9).argmax())  # of two alike, the first
        got, want = (one[at] if at < len(one) else 0.0 for one in (row.yours, row.ours))
        assert [round(float(x), 2) + 0.0 for x in (got, want)] == numbers(panel)[-2:] and numbers(panel)[-3] == at
    assert text(find(opened(bug), "found")[0]) == text(next(panels[wrong[0]].iter("p")))
    for figure in opened(bug).iter("figure"):
        rows = rows_of(figure)
        assert [at for at, row in enumerate(rows) if find(row, "frame")] == wrong[:1]
        assert [classes(row) for row in rows] == [{f"R{at}"} for at in range(len(rows))]
    yours, ours = opened(bug).iter("figure")
    assert [at for at, row in enumerate(rows_of(yours)) if find(row, "mark")] == wrong
    assert not find(ours, "mark") and not find(ours, "wrong")


@each
def test_what_should_be_is_our_own_run(bug: Bug) -> None:
    shown = evidence(bug.name).shown
    model, ids, expected = right_answer(model_of(bug))
    whole = expected.reports[shown.name, shown.layer]
    for pos, row in enumerate(shown.rows):
        ours = whole[shown.head, pos, : pos + 1] if shown.name == WEIGHTS else whole[pos].reshape(
            model.config.n_head, -1)[shown.head]  # fmt: skip
        assert row.token == ids[pos] and np.array_equal(row.ours, ours)
        if shown.name == WEIGHTS:
            assert row.ours.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ["mask-corner", "empty-rows", "branch-order", "crop-two", "keys-for-values"])
def test_rows_of_a_bug_are_those_that_its_program_reports(name: str) -> None:
    """In a run of its own: without the trial that keeps them."""
    found = evidence(name)
    shown, (model, ids, expected) = found.shown, right_answer(found.model)
    trial = Trial(Yours(found.bug.text()), model, ids, expected)
    passes = list[tuple[int, np.ndarray]]()  # where a pass begins, and what it reports
    real = trial.yours.module.forward

    def forward(params, config, ids, cache, hook=None, **more):  # type: ignore[no-untyped-def]
        def both(report):  # type: ignore[no-untyped-def]
            if (report[0], report[3]) == (shown.name, shown.layer):
                passes.append((len(ids), np.array(report[1])))
            return hook(report)

        return real(params, config, ids, cache, both, **more)

    vars(trial.yours.module)["forward"] = forward
    run_check(checks_of()[shown.way], trial)
    last = passes[-1][1]
    row = last[shown.head, -1] if shown.name == WEIGHTS else last[-1].reshape(model.config.n_head, -1)[shown.head]
    assert shown.rows[-1].yours is not None and np.array_equal(shown.rows[-1].yours, row)


def test_the_sentences_at_the_top_count_all_bugs() -> None:
    found = [evidence(bug.name) for bug in BUGS]  # as measured above
    quiet = sum(one.flip is None for one in found)
    ends = [float(at_most(end(one.furthest for one in found))) for end in (min, max)]
    assert numbers(by_id(PAGE)["quiet"]) == [len(BUGS), *ends, quiet]
    seen = sum(ITSELF in one.findings for one in found)
    assert numbers(by_id(PAGE)["by-itself"]) == [seen, len(BUGS), len(SIX), len(BUGS), len(BUGS)]
    assert 0 < seen < len(BUGS) / 2


def test_a_bug_is_found_by_the_check_that_fails() -> None:
    fold = find(tree_of(PAGE), "ways")[0]
    ways = [text(next(e.iter("code"))) for e in fold.iter("dt")]
    links = [[a.get("href") for a in e.iter("a")] for e in fold.iter("dd")]
    assert ways == [*SIX]
    assert links == [[f"#{bug.name}" for bug in BUGS if evidence(bug.name).first == way] for way in SIX]


def test_a_cell_is_filled_as_far_as_its_share() -> None:
    assert [bar_path(share, 5, 12) for share in (1.0, 0.5, -0.5, 0.01)] == ["M5 11v-10", "M5 11v-5", "M5 1v5", ""]


def test_lessons_lead_to_bugs_that_are_there(site: Path) -> None:
    pages = [(site / f"{lesson.name}.html").read_text("utf-8") for lesson in LESSONS]
    names = re.findall(r'href="bugs\.html#([\w-]+)"', "".join(pages))
    assert len(names) >= 3 and {*names} <= {bug.name for bug in BUGS}
