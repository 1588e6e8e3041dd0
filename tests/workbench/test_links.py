"""A link carries any program, and runs nothing; of a program that is open in parts, no other part can be changed."""

import re
import zlib
from base64 import urlsafe_b64encode
from random import Random
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.apps.workbench import link
from microgpt.apps.workbench.link import MOST_HELD, link_of, program_in
from microgpt.apps.workbench.opened import functions_of, join_program, open_names, split_program
from microgpt.errors import UserError
from microgpt.workbench.original import original
from microgpt.workbench.shelf import BUGS
from tests.support.examples import examples
from tests.support.sampled import sampled
from tests.support.workbench import press, verdict

CODE = original()
LINES = CODE.split("\n")
NAMES = [name for name, _, _ in functions_of(CODE)]
BUG = next(one for one in BUGS if one.name == "crop-two")


def edit_of(text: str) -> str:
    return urlsplit(link_of(text)).fragment[len("edit=") :]


def packed(text: str) -> str:
    """A fragment with this in it, as no page would make it."""
    return urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip("=")


changes = st.lists(
    st.tuples(
        st.integers(0, len(LINES)),
        st.integers(0, 3),
        st.lists(st.text(st.characters(exclude_characters="\r\n")), max_size=3),
    ),
    max_size=4,
)


@settings(max_examples=examples(300), deadline=None)
@given(changes)
def test_any_program_comes_out_of_its_link(edits: list[tuple[int, int, list[str]]]) -> None:
    lines = [*LINES]
    for at, gone, come in edits:
        lines[at : at + gone] = come
    assert program_in(edit_of("\n".join(lines))) == "\n".join(lines)


@pytest.mark.parametrize(
    "text", ["", "\n", "@1\n-x\n+y", CODE + "\n", "\n" + CODE, CODE.replace("\n", "\r\n"), "\ud800"]
)
def test_so_does_any_other_text(text: str) -> None:
    assert program_in(edit_of(text)) == text.replace("\r\n", "\n")


def test_a_link_with_a_real_bug_is_short() -> None:
    lengths = {bug.name: len(link_of(bug.text())) for bug in BUGS if program_in(edit_of(bug.text())) == bug.text()}
    assert len(lengths) == len(BUGS) and max(lengths.values()) < 600
    one_line = [bug.name for bug in BUGS if [len(new.split("\n")) for _, new in bug.edits] in ([1], [2])]
    assert len(one_line) > 5 and max(lengths[name] for name in one_line) < 300


def test_what_is_too_much_for_a_link_gets_none() -> None:
    assert link_of("".join(Random(0).choices("0123456789abcdef", k=20_000))) == ""
    assert link_of("\n" * 5_000) == link_of("x" * MOST_HELD) == ""


def test_a_link_finds_its_lines_in_another_version_or_says_which_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    edit, old = edit_of(BUG.text()), BUG.edits[0][0]
    monkeypatch.setattr(link, "original", lambda: "# one line more\n" + CODE)
    assert program_in(edit) == "# one line more\n" + BUG.text()
    monkeypatch.setattr(link, "original", lambda: CODE.replace(old, "        pass\n"))
    with pytest.raises(UserError, match="This link changes “self._len = n”"):
        program_in(edit)


GOOD = edit_of(BUG.text())
HOSTILE = {
    "cut": GOOD[:-9],
    "nothing": "!",
    "a letter changed": GOOD[:30] + ("A" if GOOD[30] != "A" else "B") + GOOD[31:],
    "letters that no link has": GOOD[:30] + "é" + GOOD[31:],
    "more behind it": urlsafe_b64encode(zlib.compress(b"") + b"more").decode(),
    "huge": "A" * 10**6,
    "a bomb": packed("@0\n+" + "x" * 5_000_000),
    "a bomb of lines": packed("@0" + "\n+" * 90_000),
    "many places": packed("@5\n+\n" * 30_000 + "@6\n+"),
    "places that go back": packed("@9\n+x\n@5\n+x"),
    "no difference": packed("<script>alert(1)</script>"),
    "a place that is none": packed("@-7\n+x"),
    "no number": packed("@x\n+x"),
    "mixed up": packed("@5\n+x\n-y"),
    "lines that are nowhere": packed("@5\n-nowhere\n+x"),
    "no UTF-8": urlsafe_b64encode(zlib.compress(b"@0\n+\xff")).decode(),
}


@pytest.mark.parametrize("edit", HOSTILE.values(), ids=HOSTILE)
def test_a_fragment_that_is_none_is_one_sentence(edit: str) -> None:
    for hook in ("start", "take"):
        answer = press(hook, edit=edit)
        assert [*answer] == ["#prompt-error"] and len(answer["#prompt-error"]) < 400


def test_an_edit_is_shown_as_a_difference_and_has_not_run_until_it_is_taken() -> None:
    """Nor is anything in it hidden, or markup."""
    text = BUG.text().replace("import numpy as np\n", "import numpy as np\n1 / 0  # \u202e<b>\n", 1)
    answer = press("start", edit=edit_of(text))
    assert [*answer] == ["#edit", "#prompt-error"] and not answer["#prompt-error"]
    assert "<ins>+ 1 / 0  # \\u202e&lt;b&gt;</ins>" in answer["#edit"] and "max(0, n - 2)" in answer["#edit"]
    taken = press("take", edit=edit_of(text))
    assert "ZeroDivisionError" in verdict(taken) and not taken["#edit"].strip() and "1 / 0" in taken["#code"]


def test_an_answer_has_the_link_to_what_it_is_of() -> None:
    answer = press(code=BUG.text(), prompt="zoe")
    (href,) = re.findall(r'href="([^"]*#edit=[^"]*)"', answer["#findings"])
    assert parse_qs(urlsplit(href).query) == {"prompt": ["zoe"]}
    assert program_in(urlsplit(href).fragment[len("edit=") :]) == BUG.text()
    assert "#edit=" not in press()["#findings"]


@pytest.mark.parametrize("name", sampled(NAMES, NAMES[::4], "other functions"))
def test_what_is_open_can_be_changed_and_nothing_else(name: str) -> None:
    """Each function is open alone, and each of the others is closed; one that is typed once more elsewhere, too."""
    (part,) = split_program(CODE, [name])
    assert join_program([name], {part.field: part.text}) == (CODE, [part])
    changed = part.text + "\n    pass\n" if part.text[:3] == "def" else part.text.replace("\n", "\n# mine\n", 1)
    mine, _ = join_program([name], {part.field: changed})
    assert mine != CODE and changed.split("\n")[-2].strip() in mine
    for other, _, end in functions_of(CODE):
        if other == name or f"{other}.".startswith(f"{name}.") or f"{name}.".startswith(f"{other}."):
            continue
        lines = [*LINES]
        lines[end - 1] += "; x = 1" if other[0] != "K" or "." in other else ""
        if lines != LINES:
            with pytest.raises(UserError, match=re.escape(f"“{other}” is not open here")):
                split_program("\n".join(lines), [name])
    with pytest.raises(UserError, match="is not open here"):
        join_program([name], {part.field: f"{part.text}\n\ndef something_else():\n    pass\n"})


def test_an_open_function_has_a_field_of_its_own_and_its_errors_are_told_there() -> None:
    asked = {"open": "KVLayer.crop, causal_mask", "goal": "crop_back"}
    answer = press("start", bug=BUG.name, **asked)
    assert "Your task" in answer["#edit"] and BUG.title not in verdict(answer) and "#edit=" not in answer["#findings"]
    fields = {part.field: part.text for part in split_program(BUG.text(), open_names(asked["open"]))}
    assert [*fields] == ["code:KVLayer.crop", "code:causal_mask"] == re.findall(r'name="(code:[^"]*)"', answer["#code"])
    assert BUG.edits[0][0].strip() not in "".join(answer.values())  # nowhere is the solution
    wrong = {**fields, "code:causal_mask": "def causal_mask(*a, **b):\n    return 1 / 0"}
    assert verdict(press("run", **asked, **wrong)).startswith("causal_mask: Line 2: Python stops here: ZeroDivision")
    more = {**fields, "code:causal_mask": fields["code:causal_mask"] + "\n\ndef mix(*a):\n    pass"}
    refused = press("run", **asked, **more)
    assert [*refused] == ["#prompt-error"] and "“mix”</bdi> is not open here" in refused["#prompt-error"]
    assert "“crap”</bdi> in the program" in press("start", open="crap")["#prompt-error"]
    assert "no check <bdi>“crap”</bdi>" in press("start", goal="crap")["#prompt-error"]


def test_the_host_is_told_when_the_goal_is_met_by_a_press_and_not_before() -> None:
    asked = {"open": "KVLayer.crop", "goal": "crop_back"}
    name, right = "code:KVLayer.crop", split_program(CODE, ["KVLayer.crop"])[0].text
    tells = 'data-tell=\'{"goal": "crop_back", "type": "microgpt:goal"}\''
    assert "data-tell" not in press("start", **asked)["#verdict"] + press("start", bug=BUG.name, **asked)["#verdict"]
    wrong = press("run", **asked, **{name: split_program(BUG.text(), ["KVLayer.crop"])[0].text})
    assert "data-tell" not in wrong["#verdict"] and "Done" not in verdict(wrong)
    met = press("run", **asked, **{name: right}, checks="def crop_back(trial): pass")  # ours judge
    assert tells in met["#verdict"] and "Done: crop_back passes." in verdict(met)
    begun = press("start", edit=edit_of(BUG.text()), **asked)
    assert "max(0, n - 2)" in begun["#code"] and "#widget" not in begun and "data-tell" not in begun["#verdict"]
