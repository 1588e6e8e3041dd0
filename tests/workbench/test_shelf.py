"""The shelf of real faults: each is the change that it says, noticed by the check that it names and none sooner."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from microgpt.course import LESSONS
from microgpt.weights import shipped
from microgpt.workbench import shelf
from microgpt.workbench.examine import PROMPTS, SIX, checks_of, run_check
from microgpt.workbench.original import original
from microgpt.workbench.shelf import BUGS, MODEL_NAMES, Bug, replace_once
from microgpt.workbench.trial import TOLERANCE, Trial, expect
from microgpt.workbench.yours import Yours
from tests.support.catalogue import messages_in
from tests.support.sampled import sampled
from tests.workbench.programs import measure

IDS = {name: shipped(name).tokenizer.encode(PROMPTS[name]) for name in MODEL_NAMES}
EXPECTED = {name: expect(shipped(name), IDS[name]) for name in MODEL_NAMES}
BY_NAME = {bug.name: bug for bug in BUGS}
each = pytest.mark.parametrize("bug", BUGS, ids=BY_NAME)


def first_that_fails(yours: Yours, name: str) -> str | None:
    model = shipped(name)
    found = (
        check for check, one in checks_of().items() if run_check(one, Trial(yours, model, IDS[name], EXPECTED[name]))
    )
    return next(found, None)


def test_there_are_faults_enough_each_under_a_name_of_its_own() -> None:
    assert len(BUGS) >= 20
    for names in ([bug.name for bug in BUGS], [bug.title for bug in BUGS], [bug.text() for bug in BUGS]):
        assert [name for name, n in Counter(names).items() if n > 1] == []
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)+", bug.name) for bug in BUGS)


@each
def test_a_fault_is_told_in_sentences_for_translators_and_has_an_origin_and_a_lesson(bug: Bug) -> None:
    sentences = [len(re.findall(r"[.:](?: |$)", text)) for text in (bug.title, bug.story, bug.repair)]
    assert sentences[0] == 0 and len(re.findall(r"\.(?: |$)", bug.story)) == 2 and sentences[2] >= 1
    assert {bug.title, bug.story, bug.repair} <= messages_in([Path(shelf.__file__)])
    assert bug.origins and all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", one) for one in bug.origins)
    assert bug.lesson in {lesson.name for lesson in LESSONS}


@each
def test_an_edit_is_in_one_place_compiles_and_can_be_undone(bug: Bug) -> None:
    compile(bug.text(), "yours.py", "exec")
    undone = replace_once(bug.text(), tuple((new, old) for old, new in reversed(bug.edits)))
    assert undone == original() != bug.text()
    for old, _ in bug.edits:
        for n in (0, 2):
            with pytest.raises(ValueError, match=f"once, not {n} times"):
                replace_once(original().replace(old, old * n), bug.edits)


@pytest.mark.parametrize("bug", sampled(BUGS, BUGS[1::4], "the page of bugs has each in one model"), ids=BY_NAME)
def test_a_fault_is_noticed_by_the_check_that_it_names_and_no_other_sooner(bug: Bug) -> None:
    """Unwatched, in half the time: that a clock stands beside it changes nothing (test_yours.py)."""
    found = {name: first_that_fails(Yours(bug.text(), is_watched=False), name) for name in MODEL_NAMES}
    assert found == bug.caught_by
    assert {*bug.caught_by.values()} & {*SIX} and {*bug.caught_by.values()} <= {*SIX, None}


@pytest.mark.parametrize("bug", sampled(BUGS, BUGS[::5], "the page of bugs has each in one model"), ids=BY_NAME)
def test_what_a_fault_does_is_measured(bug: Bug) -> None:
    for name, check in bug.caught_by.items():
        furthest, flip = measure(bug, shipped(name), IDS[name])
        assert furthest > 1e-2 if check else furthest <= TOLERANCE and flip is None
        assert flip is None or 0 <= flip < len(IDS[name])


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_rows_that_are_not_cropped_are_tokens_of_the_text(name: str) -> None:
    """What the fault that never crops does to the logits, from our own model alone: it has read two tokens more."""
    model, ids = shipped(name), IDS[name]
    n = len(ids) // 2 + 1
    wrong = [(token + 1) % model.config.vocab_size for token in ids[n : n + 2]]
    ours, read = EXPECTED[name].logits[n:], expect(model, [*ids[:n], *wrong, *ids[n:]]).logits[n + 2 :]
    furthest, flip = measure(BY_NAME["crop-never"], model, ids)
    assert furthest == pytest.approx(np.abs(ours - read).max())
    flips = np.flatnonzero(ours.argmax(axis=1) != read.argmax(axis=1))
    assert flip == (n + flips[0] if flips.size else None)
