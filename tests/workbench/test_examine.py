"""The checks: each finds what it is for, the first thing is what is told, and a reader can write another one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.weights import shipped
from microgpt.workbench.examine import Outcome, checks_of, examine
from microgpt.workbench.original import original
from microgpt.workbench.trial import Finding
from microgpt.workbench.yours import Yours
from tests.support.examples import examples
from tests.workbench.programs import OLD, RESTLESS, at_first, changed, handing_out, line_of

NAMES, STORIES = shipped("names"), shipped("stories")
IDS = {"names": NAMES.tokenizer.encode("emmali"), "stories": STORIES.tokenizer.encode("the girl has a ball. she is")}


def examined(text: str, name: str = "names", checks: str = "") -> list[Outcome]:
    known = checks_of(Yours(checks, "checks.py").module) if checks else None
    return examine(Yours(text), shipped(name), IDS[name], known)


def finding_of(text: str, name: str = "names", checks: str = "") -> tuple[str, Finding]:
    return next((one.name, one.finding) for one in examined(text, name, checks) if one.finding)


HIDES = ("if len(queries) == 1 and not window:", "if not window:")
LESS = ("    e /= e.sum(axis=-1, keepdims=True)", "    e /= e.sum(axis=-1, keepdims=True) + 0.1")
FAULTS = {  # by the check that is for it: an edit, and what is said
    "nothing_from_the_future": (HIDES, "come after it"),
    "weights_sum_to_one": (LESS, "The weights of a head sum to 0."),
    "crop_back": (("        self._len = n\n", "        self._len = 0\n"), "0 rows in place of"),
    "keep_a_branch": (("        self._keys[:, : len(rows)] = self._keys[:, rows]\n", ""), "another row of k"),
    "side_by_side": (("rows, end = one.next_position,", "rows, end = caches[0].next_position,"), "logits is not"),
    "rows_stay": (("        self._len = new\n", "        self._keys[0, 0] += old; self._len = new\n"), "row of k"),
    "memory_as_counted": (("        self._len = 0\n", "        self._len = 0; self.more = np.ones(7)\n"), "bytes"),
    "the_loop": (("        yield token\n", "        yield token ^ 1\n"), "token 1 differs"),
    "q_is_read_once": (('"attn_scores", scores, first', '"attn_scores", scores.repeat(2, 1), first'), "2 queries"),
    "with_and_without": (("else range(start, start + n)", "else range(n)"), "a logit is"),
}  # fmt: skip


@pytest.mark.parametrize("check", FAULTS)
def test_each_check_finds_what_it_is_for(check: str) -> None:
    fault, says = FAULTS[check]
    found = {one.name: str(one.finding.error) for one in examined(changed(fault)) if one.finding}
    assert says in found.get(check, ""), found


def test_what_was_found_first_is_told_with_its_place() -> None:
    """Later rows are wrong too, and so is all that comes of the first."""
    text = handing_out("self._keys[:, :new], self._keys[:, :new], range(new)")
    name, found = finding_of(text, "stories")
    assert (name, found.name, found.pos, found.layer, found.head) == ("all_at_once", "head_out", 0, 0, found.head)
    assert found.head >= 0 and found.is_number and found.yours != found.ours and "head_out" in str(found.error)
    text = changed(
        (
            "old, new = self._len, self._len + len(k)",
            "k = k + (self._len == 3)\n        old, new = self._len, self._len + len(k)",
        )
    )
    name, found = finding_of(text)
    assert (name, found.pos, found.name) == ("one_by_one", 3, "attn_scores")


@settings(max_examples=examples(16))
@given(st.integers(0, 6), st.integers(0, 3), st.floats(1e-8, 1e3), st.sampled_from("kv"))
def test_the_first_number_that_is_off_is_named(pos: int, at: int, off: float, name: str) -> None:
    wrong = f"        {name} = np.array({name})\n        if self._len == {pos}: {name}[0, {at}, 1] += {off}\n"
    found = finding_of(changed((OLD, wrong + OLD)))
    assert found[0] in ("all_at_once", "one_by_one") and found[1].pos == pos
    assert (found[1].name, found[1].head) == ("attn_scores" if name == "k" else "head_out", at)


def test_a_generator_that_never_ends_ends() -> None:
    name, found = finding_of(RESTLESS)
    assert name == "the_loop" and "token 2 differs" in str(found)  # the first is right by chance


def test_a_text_that_is_too_long_or_too_short_is_found() -> None:
    for new, at in (("max_tokens", 7), ("max_tokens + 2", 0)):
        text = changed(("range(1, max_tokens + 1)", f"range(1, {new})"), ("made == max_tokens", "made > 999"))
        results = {one.name: one.finding for one in examined(text)}
        assert f"token {at or 8} differs" in str(results["the_loop"])


def test_after_a_loop_that_does_not_end_no_more_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("microgpt.workbench.examine.CHECK_SECONDS", 0.3)
    yours = Yours(at_first("while True: 1 + 1"), seconds=0.3)
    (found,) = examine(yours, NAMES, IDS["names"])
    assert found.finding and found.finding.line == line_of(yours.text, "while True")
    assert examine(yours, NAMES, IDS["names"]) == []


# ---- checks of the reader's own -----------------------------------------------------------------------

OWN = '''
from microgpt.errors import N_

def largest_weight(trial):
    """No weight is above 0.999."""
    cache = trial.new_cache()
    for pos, token in enumerate(trial.ids):
        trial.forward([token], cache)
        if pos:
            trial.expect(trial.report("attn_weights", 0).max() < LIMIT, "A weight is large.", pos, 0)

def helper(a, b): pass
def _hidden(trial): pass
LIMIT = 0.999
'''


def test_a_reader_can_write_one() -> None:
    assert [*checks_of(Yours(OWN, "checks.py").module)] == ["largest_weight"]
    (passed,) = examined(original(), checks=OWN)
    assert passed.finding is None and passed.says == "No weight is above 0.999."
    name, found = finding_of(original(), checks=OWN.replace("LIMIT = 0.999", "LIMIT = 0.1"))
    assert (name, str(found), found.pos, found.layer) == ("largest_weight", "A weight is large.", 1, 0)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("1 / 0", "The check itself fails at its line 2: ZeroDivisionError"),
        ("trial.nothing()", "The check itself fails at its line 2: AttributeError"),
        ("raise SystemExit", "ends itself here"),
        ("trial.forward(trial.ids, 3)", "AttributeError: 'int' object has no attribute"),
        ("trial.forward([99], trial.new_cache())", "IndexError"),
        ("trial.forward(trial.ids * 9, trial.new_cache())", "more do not fit"),
        ("trial.forward(trial.ids, trial.new_cache()); trial.forward(trial.ids, trial.new_cache())", None),
        ("trial.report('q', 0)", "No line of forward reports"),
        ("trial.crop(trial.new_cache(), 4)", "cannot be cropped"),
        ("trial.expect(False, '%(what)s is wrong', what='all')", "all is wrong"),
    ],
)
def test_a_check_that_fails_is_a_sentence(body: str, says: str | None) -> None:
    (outcome,) = examined(original(), checks=f"def check(trial):\n    {body}\n")
    found = outcome.finding
    assert str(found and found.error).startswith(str(says)) or (says and says in str(found))
