"""A text run by the reader's program: the machine that is drawn of it, whatever the program does."""

import ast
import re
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.record import Recording
from microgpt.trace import Trace, to_json
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.lesson import page_named
from microgpt.viz.rendering import render
from microgpt.weights import shipped
from microgpt.workbench.examine import examine
from microgpt.workbench.original import original
from microgpt.workbench.recording import YourRecording
from microgpt.workbench.reports import restore
from microgpt.workbench.yours import Yours, place_of
from tests.support.examples import examples
from tests.support.sampled import sampled
from tests.workbench.programs import STRANGE, at_first, changed, line_of

NAMES, STORIES = shipped("names"), shipped("stories")
HOOKS = [line for line in original().split("\n") if line.strip().startswith("hook and hook((") and "sample" not in line]
YOURS = Yours(original())
KEPT = """        hook and hook(("q", q, start, layer))\n"""


def record(text: str, prompt: str = "em", max_new: int | None = 2) -> Trace:
    return YourRecording(Yours(text), NAMES, prompt, max_new=max_new).run()


def assert_same(yours: Trace, ours: Trace) -> None:
    assert yours.about == ours.about and len(yours.events) == len(ours.events)
    for one, other in zip(yours, ours, strict=True):
        assert one[:1] + one[2:] == other[:1] + other[2:]
        assert np.array_equal(one.value, other.value) and type(one.value) is type(other.value), one.name


@settings(max_examples=examples(24))
@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=14), st.floats(0, 2), st.integers(0, 5))
def test_the_original_records_what_ours_records(prompt: str, temperature: float, seed: int) -> None:
    YOURS.left = 60
    chosen: dict[str, Any] = {"temperature": temperature, "seed": seed, "top_k": seed}
    assert_same(YourRecording(YOURS, NAMES, prompt, **chosen).run(), Recording(NAMES, prompt, **chosen).run())


def test_and_so_with_other_models() -> None:
    for name, prompt in (("names-deep", "emma"), ("stories", "the girl has a ball.")):
        YOURS.left = 60
        model = shipped(name)
        ours = Recording(model, prompt, max_new=3).run()
        assert_same(YourRecording(YOURS, model, prompt, max_new=3).run(), ours)


# ---- reports that are gone --------------------------------------------------------------------------


def test_there_are_as_many_hooks_as_reports() -> None:
    assert len(HOOKS) == 17 and restore(ast.parse(original())) == []


@settings(max_examples=examples(24))
@given(st.sets(st.sampled_from(HOOKS)))
def test_without_any_of_the_hooks_the_trace_is_the_same(gone: set[str]) -> None:
    text = original()
    for line in gone:
        text = text.replace(line + "\n", "", 1)
    yours = Yours(text)
    assert len(yours.restored) == len(gone)
    assert_same(YourRecording(yours, NAMES, "em", max_new=1).run(), Recording(NAMES, "em", max_new=1).run())


def test_without_hooks_lines_keep_their_numbers() -> None:
    text = original()
    for line in HOOKS:
        text = text.replace(line + "\n", "", 1)
    text = text.replace("        mlp_out = linear(", "        1 / 0\n        mlp_out = linear(")
    with pytest.raises(ZeroDivisionError) as found:
        record(text)
    assert place_of(found.value).line == line_of(text, "1 / 0")


RENAMED = {  # name of the report: what its variable is called, and its new name
    "q": "q", "k": "k", "v": "v", "attn_norm": "a", "attn_scores": "scores", "attn_weights": "weights",
    "attn_out": "attn_out", "mlp_norm": "m", "mlp_hidden": "hidden", "mlp_out": "mlp_out", "logits": "logits",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in RENAMED if name not in ("q", "k", "v")])
def test_a_variable_of_another_name_is_known_by_its_value(name: str) -> None:
    old, gone = RENAMED[name], next(line for line in HOOKS if f'("{name}"' in line)
    head, forward, rest = re.split(r"(?ms)^(def forward\(.*?    return logits\n)", original().replace(gone + "\n", ""))
    text = head + re.sub(rf"\b(?<!\"){old}\b(?! =\s*\d)(?!\")", "renamed", forward) + rest
    if name == "attn_out":
        text = text.replace("x = x + renamed", "x = x + (attn_out := renamed)")  # by which resid_mid is known
    assert "renamed" in text
    assert_same(record(text), Recording(NAMES, "em", max_new=2).run())


def test_a_report_that_nobody_can_put_back_is_named() -> None:
    text = changed(
        ('        hook and hook(("v", v, start, layer))\n', ""),
        ("        v = project(a, params, here +", "        kept = [project(a, params, here +"),
        ('"wv", config.n_kv_head, eps)', '"wv", config.n_kv_head, eps)]'),
        ("split_texts(texts, q, k, v)", "split_texts(texts, q, k, kept[0])"),
    )
    with pytest.raises(ValueError, match="“v” is reported with the shape") as found:
        record(text)  # what looks like it is a list of one
    assert place_of(found.value).line == line_of(text, "kept = [")
    with pytest.raises(ValueError, match="No line of forward reports “v” any more"):
        record(text.replace('"wv"', '"w" + "v"'))


def test_a_loop_over_layers_of_another_name() -> None:
    text = changed(("for layer in range(config.n_layer):", "for i in range(config.n_layer):\n        layer = i"))
    assert_same(record(text), Recording(NAMES, "em", max_new=2).run())


# ---- programs that are strange -----------------------------------------------------------------------


def draw(trace: Trace) -> str:
    return render.widget("kv_cache", Picture(trace), page_named("kv-cache"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sampled(STRANGE, [*STRANGE][::8], "as strange in other ways"))
def test_it_is_drawn_as_far_as_it_came_or_says_why_not(name: str) -> None:
    """And a check finds it, unless it is no fault."""
    yours, says = Yours(STRANGE[name]), ""
    try:
        recording = YourRecording(yours, NAMES, "em", max_new=2)
    except Exception as error:
        says = str(place_of(error).error)
    else:
        try:
            recording.run()
        except Exception as error:
            says = str(place_of(error).error)
        if recording.n:
            assert draw(recording.trace) and to_json(recording.trace)
    yours.left = 5
    found = examine(yours, NAMES, NAMES.tokenizer.encode("emmali"))
    said = [says, *(str(one.finding.error) for one in found if one.finding)]
    assert all(len(one) < 400 and one.isprintable() for one in said)
    assert any(said) or name in HARMLESS, name
    assert not any("Traceback" in one for one in said)


HARMLESS = {"no recompute", "reports q, 77, layer", "reports of its own", "attention twice"}


def test_what_is_wrong_is_named_at_its_line() -> None:
    for name, part in (("reports 3, start, layer", '("q", 3'), ("writes into weights", "params['wte'][:]")):
        with pytest.raises(ValueError) as found:
            record(STRANGE[name])
        assert place_of(found.value).line == line_of(STRANGE[name], part)


def test_a_number_that_is_none_is_said() -> None:
    with pytest.raises(ValueError, match="After token 1 the logits are no numbers"):
        record(STRANGE["returns logits * np.nan"])
    with pytest.raises(ValueError, match="“attn_scores” is not a number any more") as found:
        record(STRANGE["nan"])
    assert place_of(found.value).line == line_of(STRANGE["nan"], '"attn_scores"')


def test_a_step_that_fails_leaves_what_was_there() -> None:
    text = at_first("if cache.next_position == 2:\n    raise UserError('no more')")
    recording = YourRecording(Yours(text), NAMES, "emma")
    with pytest.raises(ValueError, match="no more"):
        recording.run()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recording.n == 2 and draw(recording.trace)
    assert_same_until(recording.trace, Recording(NAMES, "emma").run(), 2)


def assert_same_until(yours: Trace, ours: Trace, n: int) -> None:
    wanted = [event for event in ours if event.pos < n]
    assert [(event.name, event.pos) for event in yours] == [(event.name, event.pos) for event in wanted]
