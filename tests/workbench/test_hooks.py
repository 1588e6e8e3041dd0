"""Hooks of the reader's: what the prepared ones say is what the trace says, in the page and on a computer alike."""

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from microgpt.__main__ import main
from microgpt.apps.workbench.answer import PROMPTS, Answer, Texts, run_program
from microgpt.config import Report
from microgpt.record import Recording
from microgpt.trace import Trace
from microgpt.viz.settings import Settings
from microgpt.weights import shipped
from microgpt.workbench.hooks import HOOK, PREPARED, program_of
from microgpt.workbench.original import PROGRAM, checks_text, original
from microgpt.workbench.yours import Yours
from tests.support.sampled import sampled
from tests.workbench.programs import line_of

TEXTS = {one.name: one.text for one in PREPARED}
OF_WEIGHTS = "def hook(report):\n    name, value, pos, layer = report\n    if name == 'attn_weights':\n        "


def answer_of(hook: str, model: str = "names", code: str = "", prompt: str = "") -> Answer:
    settings = Settings(model, prompt or PROMPTS[model])
    return run_program(Texts(code or original(), checks_text(), hook), settings, {}, examines=False)


# ---- the prepared ones, each against the trace of the same run --------------------------------------


@cache
def usual() -> Answer:
    """Without a hook."""
    return answer_of("")


def judge_shapes(said: list[str], trace: Trace, files: dict[str, str]) -> None:
    for line, event in zip(said, trace, strict=True):
        where = ["layer", str(event.layer)] if event.layer >= 0 else []
        assert line.split("(")[0].split() == ["step", str(event.pos + 1), *where, event.name]
        assert line.endswith(str(np.shape(event.value)))


def judge_reads(said: list[str], trace: Trace, files: dict[str, str]) -> None:
    """Row j is read by each of the n - j steps from its own on."""
    n = len(trace.about["tokens"])
    for layer in range(trace.about["config"]["n_layer"]):
        last = [line for line in said if f"layer {layer}:" in line][-1]
        assert last == f"step {n}, layer {layer}: " + " ".join(str(n - j) for j in range(n))


def judge_largest(said: list[str], trace: Trace, files: dict[str, str]) -> None:
    found = {event[2:4]: event.value for event in trace if event.name == "attn_weights"}
    assert len(said) == len(found)
    for line, ((pos, layer), weights) in zip(said, found.items(), strict=True):
        words = line.replace(",", "").replace(":", "").split()
        step, at, head, weight, row = (float(words[i]) for i in (1, 3, 5, 7, 10))
        assert (step, at, weight) == (pos + 1, layer, round(float(np.max(weights)), 2))
        assert np.asarray(weights)[int(head), 0, int(row)] == np.max(weights)


def judge_csv(said: list[str], trace: Trace, files: dict[str, str]) -> None:
    head, *lines = files["weights.csv"].splitlines()
    config, n = trace.about["config"], len(trace.about["tokens"])
    assert said == [] and head == "step,layer,head,row,weight"
    assert len({*lines}) == len(lines) == config["n_layer"] * config["n_head"] * n * (n + 1) // 2
    for line in lines:
        *place, weight = line.split(",")
        step, layer, at, row = map(int, place)
        assert trace["attn_weights", step - 1, layer][at, 0, row] == float(weight)


def judge_strip(said: list[str], trace: Trace, files: dict[str, str]) -> None:
    assert len(said) == len(trace.about["tokens"])
    for pos, line in enumerate(said):
        drawn, weights = line.split("|")[1], trace["attn_weights", pos, 0][0, 0]
        levels = np.array([" ▁▂▃▄▅▆▇█".index(block) for block in drawn])
        assert line.startswith(f"step {pos + 1} ") and (abs(8 * weights - levels) <= 0.5).all()


def judge_stop(said: list[str], trace: Trace, files: dict[str, str]) -> None:
    """Where a head first gives more than 0.5 to a row between the first and its own."""
    where = [
        (pos, layer, head)
        for pos in range(len(trace.about["tokens"]))
        for layer in range(trace.about["config"]["n_layer"])
        for head, weights in enumerate(trace["attn_weights", pos, layer][:, 0, 1:-1])
        if weights.max(initial=0) > 0.5
    ]
    (line,) = said
    pos, layer, head = where[0]
    assert line.startswith(f"step {pos + 1}, layer {layer}: head {head} gives ")


JUDGES: dict[str, Callable[[list[str], Trace, dict[str, str]], None]] = {
    "shapes": judge_shapes, "reads": judge_reads, "largest": judge_largest,
    "csv": judge_csv, "strip": judge_strip, "stop": judge_stop,
}  # fmt: skip


EVERY = [(name, model) for name in TEXTS for model in PROMPTS if model in ("names", "stories")]


@pytest.mark.parametrize(("name", "model"), sampled(EVERY, [*EVERY[::2], EVERY[-1]], "the same with two layers"))
def test_a_prepared_hook_says_what_the_trace_says(name: str, model: str) -> None:
    answer, trace = answer_of(TEXTS[name], model), Recording(shipped(model), PROMPTS[model]).run()
    assert answer.stop is None and answer.run
    JUDGES[name](answer.printed.splitlines(), trace, {at: data.decode() for at, data in answer.files.items()})
    assert 5 <= len(TEXTS[name].splitlines()) <= 16 and [*JUDGES] == [*TEXTS]


@pytest.mark.parametrize("name", sampled(TEXTS, ["csv"], "by day the page alone shows that the others run"))
def test_a_file_of_it_prints_the_same_as_the_page(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`microgpt TEXT --hook FILE`, and the file by itself, as the page saves it."""
    monkeypatch.chdir(tmp_path)
    prompt, answer = PROMPTS["stories"], answer_of(TEXTS[name], "stories")
    Path(HOOK).write_text(program_of(TEXTS[name], "stories", prompt), "utf-8")
    assert main([prompt, "--model", "stories", "--hook", HOOK]) == 0
    assert capsys.readouterr().out == answer.printed
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != HOOK}
    done = subprocess.run([sys.executable, HOOK], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout == answer.printed and written == answer.files
    assert written == {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != HOOK}


# ---- what a hook can do, and cannot --------------------------------------------------------------------


def test_a_hook_is_told_what_the_trace_keeps_and_ends_the_run_with_a_whole_step() -> None:
    told = list[Report]()

    def hook(report: Report) -> None:
        told.append(report)
        if report[0] == "q" and report[2] == 2:
            raise StopIteration

    whole, part = Recording(shipped("names"), "emma").run(), Recording(shipped("names"), "emma", hook=hook)
    events = part.run().events
    assert part.n == 3 and part.ended_by and [event.pos for event in events][-1] == 2
    assert len(events) == sum(event.pos < 3 for event in whole)  # the step is whole
    for one, event in zip(told, events, strict=False):
        assert one[0] == event.name and one[1] is event.value and one[2:] == (event.pos, event.layer)
    assert told[-1][0] == "q"  # and then it has heard enough


def test_where_it_ends_the_run_the_machine_stands_and_its_line_is_told() -> None:
    answer = answer_of(TEXTS["stop"])
    step = int(answer.printed.split(",")[0].removeprefix("step "))
    assert answer.run and answer.halt and answer.stop is None
    assert answer.halt == (line_of(TEXTS["stop"], "raise StopIteration"), step)
    assert len(answer.run.rows) == step < len(Recording(shipped("names"), PROMPTS["names"]).run().about["tokens"])


WRONG = {  # hooks, the line that is named, and words of the sentence
    "no program": ("def hook(report)\n    pass\n", 1, "Python cannot read this line"),
    "raises": (OF_WEIGHTS + "1 / 0", 4, "ZeroDivisionError"),
    "raises as it is loaded": ("x = 1\n1 / 0\n", 2, "ZeroDivisionError"),
    "raises at the third step": (OF_WEIGHTS + "[0, 1][pos]", 4, "IndexError"),
    "never ends": (OF_WEIGHTS + "while True: pass", 4, "This ran for more than 5 seconds"),
    "writes into its array": (OF_WEIGHTS + "value[:] = 0", 4, "read-only"),
    "is named otherwise": ("import math\n\ndef hok(report):\n    pass\n", 3, "def hook(report)"),
    "takes nothing": ("import math\n\n\ndef hook():\n    pass\n", 4, "def hook(report)"),
    "is no function": ("import math\n\nhook = 3\n", 3, "def hook(report)"),
    "ends Python": (OF_WEIGHTS + "raise SystemExit", 4, "it raises SystemExit"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_hook_that_is_wrong_is_one_sentence_at_its_line_and_changes_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, line, words = WRONG[name]
    if name == "never ends":
        monkeypatch.setattr(Yours.__init__, "__defaults__", (PROGRAM, 0.4, True))
    answer = answer_of(text)
    assert answer.stop and (answer.stop.name, answer.stop.line) == (HOOK, line)
    said = str(answer.stop.error)
    assert words in said and said.isprintable() and len(said) < 300
    assert answer.run and (ours := usual().run) and answer.run.rows == ours.rows and answer.halt is None
    for one, other in zip(answer.run.picture.trace, ours.picture.trace, strict=True):
        assert one[:1] + one[2:] == other[:1] + other[2:] and np.array_equal(one.value, other.value)


def test_on_a_computer_it_is_one_sentence_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in WRONG if name not in ("never ends", "ends Python")]:
        text, line, words = WRONG[name]
        Path("mine.py").write_text(text, "utf-8")
        assert main(["emm", "--hook", "mine.py"]) == 1
        said = capsys.readouterr()
        assert said.err.startswith(f"microgpt: mine.py, line {line}: ") and words in said.err and said.out == ""
        assert said.err.count("\n") == 1


def test_what_a_hook_writes_is_offered_and_nothing_stays() -> None:
    """Also what it has left open, and what it has printed before it closed that; not what was there before."""
    before = {*Path().iterdir()}
    answer = answer_of("file = open('a.txt', 'w')\ndef hook(report):\n    file.write(report[0][:1])\n")
    trace = Recording(shipped("names"), PROMPTS["names"]).run()
    assert answer.files == {"a.txt": "".join(event.name[:1] for event in trace).encode()}
    assert {*Path().iterdir()} == before and answer_of("").files == {}
    closes = answer_of("import sys\nprint('before')\nsys.stdout.close()\ndef hook(report): pass\n")
    assert closes.printed == "before\n" and closes.run


def test_the_hook_hears_the_reader_s_program_and_not_ours() -> None:
    code = original().replace("    return logits\n\n\ndef batch_texts", "    return logits * 0\n\n\ndef batch_texts")
    text = "def hook(report):\n    if report[0] == 'sample': print(report[1])\n"
    assert {*answer_of(text, code=code).printed.split()} == {"0"} != {*answer_of(text).printed.split()}
