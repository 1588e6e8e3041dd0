"""A program of the reader's: what ends it, what is said of it, and that ours is as it was afterwards."""

import builtins
import sys
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microgpt.model
from microgpt.weights import shipped
from microgpt.workbench.original import original
from microgpt.workbench.recording import YourRecording
from microgpt.workbench.watch import WATCH
from microgpt.workbench.yours import Late, Stop, Yours, place_of
from tests.support.examples import examples
from tests.support.sampled import sampled
from tests.workbench.programs import FOREVER, NO_PROGRAM, after, at_first, line_of

MODEL, SECONDS = shipped("names"), 0.3


def stop_of(text: str, seconds: float = 5.0) -> Stop:
    """Where a program stops, loaded and run for two tokens. Fails where it does not."""
    try:
        YourRecording(Yours(text, seconds=seconds), MODEL, "e", max_new=1).run()
    except Exception as error:
        return place_of(error)
    raise AssertionError("it did not stop")


def is_sentence(text: str) -> bool:
    return 0 < len(text) < 400 and text.isprintable()


BY_DAY = ("forward", "top of the module", "except BaseException", "finally", "inside of sum")


@pytest.mark.parametrize("name", sampled(FOREVER, BY_DAY, "other loops, at other places"))
def test_what_does_not_end_is_ended_with_its_line(name: str) -> None:
    text, part = FOREVER[name]
    begin = process_time()
    stop = stop_of(text, SECONDS)
    assert process_time() - begin < SECONDS + 1
    assert str(stop.error).startswith("This ran for more than")
    assert 0 <= stop.line - line_of(text, part) <= 4  # it is ended somewhere in there
    stop_of(at_first("1 / 0"))  # Python goes on


def test_a_program_is_watched_while_another_is_there() -> None:
    """The reader's checks are one: what was compiled last does not have the clock for itself."""
    yours = Yours(at_first("while True: 1 + 1"), seconds=SECONDS)
    Yours("def check(trial): pass", "checks.py")
    with pytest.raises(Late):
        YourRecording(yours, MODEL, "e").run()
    checks = Yours("def check(trial):\n    while True: pass\n", "checks.py")
    yours = Yours(original(), seconds=SECONDS)
    with pytest.raises(Late) as found, yours:
        checks.check(None)
    assert place_of(found.value, "checks.py").line == 2


@pytest.mark.parametrize("name", NO_PROGRAM)
def test_what_is_no_program_is_one_sentence_with_its_line(name: str) -> None:
    text, line, words = NO_PROGRAM[name]
    with pytest.raises(Exception) as found:  # noqa: B017, PT011
        Yours(text)
    stop = place_of(found.value)
    assert stop.line == line and words in str(stop.error) and is_sentence(str(stop.error))


@settings(max_examples=examples(48))
@given(st.text(max_size=60), st.integers(0, len(original())))
def test_any_text_is_a_program_or_one_sentence(text: str, at: int) -> None:
    for whole in (text, original()[:at] + text + original()[at:]):
        try:
            Yours(whole, seconds=2)
        except Exception as error:
            assert is_sentence(str(place_of(error).error)), repr(error)


@pytest.mark.parametrize("text", ["", "# nothing", "\n" * 9, "\ufeff" + original(), original().replace("\n", "\r\n")])
def test_it_is_loaded(text: str) -> None:
    assert Yours(text).name == "yours.py"


def test_a_long_text_is_loaded_and_keeps_its_lines() -> None:
    text = original().replace("def forward(", "# a word\n" * 120_000 + "def forward(", 1)
    assert len(text) > 1_000_000
    recording = YourRecording(Yours(text), MODEL, "e", max_new=1)
    assert recording.run().about["tokens"]
    broken = text.replace("    norm, eps = ", "    1 / 0\n    norm, eps = ", 1)
    assert stop_of(broken).line == line_of(broken, "1 / 0")


def test_a_press_of_ctrl_c_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    text = at_first("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        stop_of(text)
    monkeypatch.setattr(sys, "platform", "emscripten")  # where nobody can press it
    assert "KeyboardInterrupt" in str(stop_of(text).error)


# ---- ours afterwards -------------------------------------------------------------------------------

SPOILING = """
import builtins, sys
import microgpt.cache, microgpt.model, microgpt.record, microgpt.weights, microgpt.workbench.trial
for module in (microgpt.cache, microgpt.model, microgpt.record, microgpt.weights, microgpt.workbench.trial):
    vars(module).clear()
microgpt.model.softmax = None
np.concatenate = np.array_equal = np.empty = None
builtins.len = builtins.sum = None
np.seterr(all="raise")
sys.setrecursionlimit(300)
params["wte"].flags.writeable = True
params["wte"][:] = 0
params.clear()
object.__setattr__(config, "n_head", 1)
"""


def state() -> list[Any]:
    """What a program could have changed, and ours needs."""
    modules = [one for name, one in sorted(sys.modules.items()) if name.startswith("microgpt") or one in (np, builtins)]
    names = [vars(one).copy() for one in modules if "viz" not in one.__name__]
    params = {name: array.copy().tolist() for name, array in MODEL.params.items()}
    ours = (np.geterr(), sys.getrecursionlimit(), sys.gettrace(), WATCH.until, MODEL.config.n_head)
    return [{f"{one['__name__']}.{name}": id(value) for one in names for name, value in one.items()}, params, ours]


@pytest.mark.parametrize("ends", ["return 3", "1 / 0", "raise SystemExit", "while True: 1 + 1"])
def test_whatever_a_program_does_ours_is_as_it_was(ends: str) -> None:
    yours = Yours(at_first(SPOILING.strip() + f"\n{ends}"), seconds=SECONDS)
    before = state()
    with pytest.raises(Exception):  # noqa: B017, PT011
        YourRecording(yours, MODEL, "e").run()
    assert state() == before


def test_what_it_changes_as_it_is_loaded_is_put_back_too() -> None:
    Yours(original())
    before = state()
    Yours(after("import microgpt.model; microgpt.model.softmax = np.concatenate = None; np.seterr(all='raise')"))
    assert state() == before and microgpt.model.softmax is not None


def test_what_is_reserved_is_zero_and_ours_stays_empty() -> None:
    yours, empty = Yours(original()), np.empty
    with yours:
        cache = yours.KVCache(MODEL.config, np.dtype("f"))
        assert np.empty is not empty
    assert not cache.layers[0]._keys.any() and np.empty is empty
