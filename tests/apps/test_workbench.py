"""The workbench: what is drawn is the reader's code, and what is said of it holds."""

import numpy as np
import pytest

from microgpt.apps.workbench.answer import COMPARED, PROMPTS, SAYS, tokens_to_check
from microgpt.cache import KVCache
from microgpt.course import page
from microgpt.course.kv_cache.lesson import LATE
from microgpt.decode import prefill
from microgpt.model import forward
from microgpt.viz.drawing.phases import stage
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.rendering import render
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings
from microgpt.weights import shipped
from microgpt.workbench import checks
from microgpt.workbench.examine import checks_of
from microgpt.workbench.hooks import NO_HOOK_YET, PREPARED
from microgpt.workbench.original import checks_text, original
from microgpt.workbench.shelf import BUGS, replace_once
from tests.support.pages import find, numbers, parse, text, tree_of
from tests.support.sampled import sampled
from tests.support.workbench import press, verdict

PAGE = page("workbench")
CODE = original()
HALF = ("    scores *= scale or head_dim**-0.5", "    scores *= (scale or head_dim**-0.5) / 2")


def test_as_built_it_shows_the_code_that_all_pages_run_and_the_machine_that_they_show() -> None:
    tree = tree_of(PAGE)
    fields = {e.get("name"): text(e) for e in tree.iter("textarea")}
    assert fields == {"code": CODE, "checks": checks_text(), "hook": NO_HOOK_YET}
    settings = Settings("names", PROMPTS["names"])
    answer, ours = press(), Picture(settings.trace(), phase=stage({}))
    assert answer["#widget"] == render.widget("kv_cache", ours, PAGE, whole=False)  # and what is asked for later,
    whole = render.widget("kv_cache", ours, PAGE)  # in its place
    assert all(answer[at] in whole and f'id="{at[1:]}"' in whole and len(answer[at]) > 10_000 for at in LATE)
    assert f"All {len(checks_of())} checks pass." in verdict(press())
    assert CODE.count("\n") in numbers(find(tree, "prose")[0])


def test_each_check_says_what_its_docstring_says() -> None:
    """A browser has no docstrings."""
    said = {name: " ".join((vars(checks)[name].__doc__ or "").split()) for name in checks_of()}
    assert said == SAYS


@pytest.mark.parametrize("model", sampled(PROMPTS, ["names"], "the same in other models"))
def test_rows_that_are_not_as_in_the_original_bear_a_mark_and_no_others(model: str) -> None:
    prompt = PROMPTS[model]
    assert not find(parse(press(model=model, prompt=prompt)["#widget"]), "differs")
    wrong = replace_once(
        CODE, (('rotate(project(a, params, here + "wk"', '2 * rotate(project(a, params, here + "wk"'),)
    )
    shown = parse(press(model=model, prompt=prompt, code=wrong)["#widget"])
    marks, rows = find(shown, "differs"), find(shown, "row")
    assert len(marks) == len(rows) > 0 and all("k" in (e.get("title") or "") for e in marks)


def test_how_far_a_step_is_off_is_how_far_it_is() -> None:
    """Scores of half the size: the table against our own scores, all tokens at once."""
    answer = press(code=replace_once(CODE, (HALF,)))
    table = next(parse(answer["#findings"]).iter("table"))
    model = shipped("names")
    tokens = [text(e) for e in table.iter("th") if e.get("scope") == "row"]
    ids = [model.tokenizer.start, *model.tokenizer.encode("".join(token.split()[-1] for token in tokens[1:]))[1:]]
    told = dict[str, np.ndarray]()
    forward(
        model.params, model.config, ids, KVCache(model.config), lambda one: told.__setitem__(one[0], np.array(one[1]))
    )
    column = COMPARED.index("attn_scores")
    for at, row in enumerate(list(table.iter("tr"))[1:]):
        said = numbers(list(row.iter("td"))[column])[0]
        scores = told["attn_scores"][:, at, : at + 1]
        assert abs(said - np.abs(scores / 2).max()) <= 0.006
        assert [text(cell) for cell in list(row.iter("td"))[:4]] == ["same"] * 4  # embed, q, k and v, in one layer


def test_a_bug_is_loaded_told_and_found() -> None:
    for bug in BUGS[::14]:
        answer = press("bug", bug=bug.name)
        assert bug.text().strip() == text(next(parse(answer["#code"]).iter("textarea"))).strip()
        model = "names" if bug.caught_by["names"] else "stories"
        said = verdict(answer)
        assert bug.title in said and bug.story in said and f"{bug.caught_by[model]}." in said
        assert f"<option selected>{model}</option>" in answer["#text"]
        line = numbers(find(parse(f"<div>{answer['#verdict']}</div>"), "say")[0])[0]
        assert bug.text().splitlines()[int(line) - 1] != CODE.splitlines()[int(line) - 1]


def test_what_is_no_program_is_told_at_its_line_and_the_machine_stays() -> None:
    line = CODE.splitlines().index("    return logits") + 1
    answer = press(code=CODE.replace("    return logits\n", "    return logits)\n"))
    assert verdict(answer).startswith(f"Line {line}: Python cannot read this line") and "#widget" not in answer
    answer = press(code=CODE.replace("    return logits\n", "    return logit\n"))
    assert f"Line {line}: Python stops here: NameError" in verdict(answer) and "#widget" not in answer
    assert f'data-editor-line="{line}" data-editor-for="code"' in answer["#verdict"]


def test_a_program_that_stops_later_leaves_the_steps_before() -> None:
    answer = press(code=CODE.replace("    return logits\n", "    return logits if start < 3 else 1 / 0\n"))
    assert len(find(parse(answer["#widget"]), "T")) == 3 and "ZeroDivisionError" in verdict(answer)


def test_a_wrong_text_is_told_as_everywhere_and_nothing_else_changes() -> None:
    answer = press(prompt="@")
    assert [*answer] == ["#prompt-error"]
    assert [*press(model="gpt-9")] == ["#prompt-error"]


def test_what_it_prints_is_shown_as_text() -> None:
    answer = press(code=CODE.replace("    return logits\n", '    print("<b>", len(token_ids))\n    return logits\n', 1))
    assert "&lt;b&gt; 1" in answer["#findings"] and len(answer["#findings"]) < 60_000


def test_checks_of_the_reader_run_in_place_of_ours() -> None:
    mine = (
        checks_text() + '\n\ndef mine(trial: Trial) -> None:\n    """My own."""\n    trial.expect(False, "So it is.")\n'
    )
    said = verdict(press(checks=mine))
    assert f"1 of {len(checks_of()) + 1} checks fails: mine." in said and "So it is." in said
    assert verdict(press(checks="def x(:")).startswith("checks.py: Line 1: Python cannot read this line")


def test_save_and_open() -> None:
    assert press("save", code="mine")["yours.py"] == "mine"
    assert "No file" in press("open")["#prompt-error"]


def test_what_is_saved_before_the_checks_have_run_asks_for_them_again() -> None:
    """A page asks for what is to come later only where nothing else was pressed meanwhile."""
    fields = {"page": PAGE.name, "model": "names", "prompt": "emm", "code": CODE}
    drawn, _ = dispatch(None, "run", fields)
    for hook in ("save", "save-hook", "save-files"):
        state, patches = dispatch(drawn, hook, fields)
        assert {"again": "check"} in patches and state == drawn
    checked, _ = dispatch(drawn, "check", fields)
    assert {"again": "check"} not in dispatch(checked, "save", fields)[1]


def test_a_hook_is_loaded_and_run_and_its_files_saved_and_undone() -> None:
    table = next(one for one in PREPARED if one.name == "csv")
    answer = press("prepared", prepared=table.name)
    assert text(next(parse(answer["#own-hook"]).iter("textarea"))) == table.text
    assert [e.get("value") for e in parse(answer["#own-hook"]).iter("option") if "selected" in e.attrib] == ["csv"]
    assert "weights.csv" in answer["#findings"] and "All" in verdict(answer)
    assert [*press("save-files", hook=table.text)] == ["weights.csv", "#prompt-error"]
    saved = press("save-hook", hook=table.text, temperature="0.5")["hook.py"]
    assert saved.startswith(table.text.strip()) and "'names'" in saved and "temperature=0.5" in saved


def test_a_hook_that_fails_is_told_at_its_line_and_all_else_is_there() -> None:
    answer = press(hook="def hook(report):\n    print(report[0])\n    1 / 0\n")
    assert verdict(answer).startswith("hook.py: Line 3: Python stops here: ZeroDivisionError")
    assert 'data-editor-line="3" data-editor-for="hook"' in answer["#verdict"]
    assert f"All {len(checks_of())} checks pass." in verdict(answer) and answer["#widget"] == press()["#widget"]
    assert ">embed\n</code>" in answer["#findings"]


def test_where_a_hook_ends_the_run_is_said() -> None:
    answer = press(hook="def hook(report):\n    if report[2] == 2: raise StopIteration\n")
    assert "Line 2 of your hook ended the run at step 3." in answer["#findings"]
    assert len(find(parse(answer["#widget"]), "T")) == 3
    assert "None" not in answer["#widget"] and "The run ends here" in answer["#widget"]


@pytest.mark.parametrize("model", PROMPTS)
def test_the_checks_run_the_prompt_and_what_ours_writes_after_it(model: str) -> None:
    found, one = tokens_to_check(shipped(model), PROMPTS[model]), shipped(model)
    prompt = one.tokenizer.encode(PROMPTS[model])
    assert found[: len(prompt)] == prompt and 8 <= len(found) <= 12
    for at in range(len(prompt), len(found)):
        logits = prefill(one.params, one.config, found[:at], KVCache(one.config))
        assert int(logits.argmax()) == found[at]
