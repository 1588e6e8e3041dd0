"""docs/trace.md: the schema fits every trace, the table is that of EVENTS, and the programs in it run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import build
from microgpt.cache import KVCache
from microgpt.checkpoints.folder import load_checkpoint
from microgpt.course import LESSONS
from microgpt.decode import decode_step
from microgpt.record import Recording
from microgpt.trace import EVENTS, Trace, from_json, to_json
from microgpt.viz.large.excerpt import excerpt
from microgpt.weights import SHIPPED, shipped
from tests.support.checkpoints import LLAMA, byte_level, llama_tensors, write
from tools.runtime.bytecode import node

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "trace.md").read_text("utf-8")
SCHEMA = json.loads((DOCS / "trace.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
PROMPTS = sorted({(page.model, page.prompt) for page in LESSONS if page.model in SHIPPED})


def check(trace: Trace) -> None:
    VALIDATOR.validate(json.loads(to_json(trace)))


def code(language: str, at: int = -1) -> str:
    return str(re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)[at])


def test_the_traces_of_the_course_and_of_a_checkpoint_whole_and_in_part_fit_the_schema(tmp_path: Path) -> None:
    for name, prompt in PROMPTS if os.environ.get("EVERYTHING") else dict(PROMPTS).items():  # by day one a model
        check(Recording(shipped(name), prompt).run())
    tensors = llama_tensors(np.random.default_rng(0))
    model = load_checkpoint(write(tmp_path, LLAMA, tensors, byte_level("<begin>")), "float32")
    trace = Recording(model, "a b", max_new=2).run()
    check(trace)
    check(part := excerpt(trace, {0}, [1, 2, 3]))
    said, whole = re.sub(r"\s+", " ", TEXT), SCHEMA["$defs"]["whole"]
    assert list(part.about["whole"]) == list(whole["properties"])
    assert [name for name in whole["properties"] if f"`{name}`" not in said] == []


def test_several_texts_share_a_trace() -> None:
    """Two sequences decoded in turns: the order of what happened is kept, and each can be asked for."""
    model, trace = shipped("names"), Trace(Recording(shipped("names"), "e").trace.about)
    caches = [KVCache(model.config) for _ in range(2)]
    texts = [model.tokenizer.encode(text) for text in ("emma", "olia")]
    told = []
    for pos in range(4):
        for seq, cache in enumerate(caches):
            hook = trace.sequence(seq)
            told.append(decode_step(model.params, model.config, texts[seq][pos], cache, hook))
    check(trace)
    again = from_json(to_json(trace))
    assert [(e.name, e.seq, e.pos) for e in again] == [(e.name, e.seq, e.pos) for e in trace]
    for one in (trace, again):
        for i, logits in enumerate(told):
            pos, seq = divmod(i, 2)
            assert np.array_equal(one["logits", pos, -1, seq][0], logits)
        assert np.array_equal(one["q", 2, 0], one["q", 2, 0, 0]) and ("q", 2, 0, 1) in one
        assert not np.array_equal(one["q", 2, 0, 0], one["q", 2, 0, 1]) and one.number("cache_append", 3, 0, 1) == 4


def test_the_schema_refuses_what_is_no_trace() -> None:
    good = json.loads(to_json(Recording(shipped("names"), "e").run()))
    VALIDATOR.validate(good)
    row = {"name": "q", "pos": 0, "shape": [1], "values": [1.0]}
    events: list[dict[str, Any]] = [
        {"name": "q", "pos": 0, "values": []},
        row | {"name": "qq"},
        row | {"pos": -1},
        row | {"values": ["1"]},
        {"name": "sample", "pos": 0, "shape": [], "values": [1.5]},
    ]
    VALIDATOR.validate(good | {"events": [row]})
    for change in ({"version": 2}, {"extra": 1}, *({"events": [event]} for event in events)):
        assert not VALIDATOR.is_valid(good | change), change


def test_schema_and_table_name_every_event() -> None:
    properties = SCHEMA["properties"]["events"]["items"]["properties"]
    assert properties["name"]["enum"] == list(EVENTS)
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", TEXT, re.M)
    shapes = {
        name: f"`[{', '.join(kind.shape.split())}]`" if kind.shape else "one number" for name, kind in EVENTS.items()
    }
    assert rows == [(name, shapes[name], kind.sentence) for name, kind in EVENTS.items()]


@pytest.mark.parametrize("model", SHIPPED)
def test_the_programs_read_a_trace(model: str, tmp_path: Path) -> None:
    trace = Recording(shipped(model), "the day" if model == "stories" else "emm").run()
    (tmp_path / "trace.json").write_text(to_json(trace), "utf-8")
    (tmp_path / "read.py").write_text(code("python", 1), "utf-8")
    (tmp_path / "read.mjs").write_text(code("js"), "utf-8")
    assert len(code("python", 1).splitlines()) <= 22 and len(code("js").splitlines()) <= 20

    def said(*command: str) -> list[str]:
        done = subprocess.run([*command, "trace.json"], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    last, c = len(trace.about["tokens"]) - 1, shipped(model).config
    [line] = said(sys.executable, "read.py")
    assert line.startswith(f"position {last}: ") and float(line.split()[-1]) < 1e-12
    lines = said(node(), "read.mjs")
    assert len(lines) == (last + 1) * c.n_layer + c.n_layer * c.n_head
    for layer in range(c.n_layer):
        assert f"position {last}, layer {layer}: {last + 1} rows of K and of V" in lines
        for head in range(c.n_head):
            most = int(trace["attn_weights", last, layer][head, 0].argmax())
            assert f"layer {layer}, head {head}: position {most}, {trace.about['tokens'][most]}" in lines


def test_the_first_example_is_python() -> None:
    exec(code("python", 0), found := dict[str, Any]())
    assert found["trace"]["q", 3, 0].shape == (1, 4, 4)


def test_a_trace_by_an_engine_that_knows_nothing_of_us_becomes_a_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = code("python", 2)
    assert len(program.splitlines()) <= 42 and "microgpt." not in program
    subprocess.run([sys.executable, "-c", program], check=True)
    text = Path("trace.json").read_text("utf-8")
    VALIDATOR.validate(json.loads(text))
    assert build.main(["--trace", "trace.json", "--out", "lesson"]) == 0
    html = Path("lesson/index.html").read_text("utf-8")
    assert "Why does mine keep K and V, and throw Q away?" in html and "Recorded from a script" in html
    part = from_json(Path("lesson/trace.json").read_text("utf-8"))
    for pos in range(7):  # what it has chosen is known from what came next
        assert pos in (0, 1, 6) or part.number("sample", pos) == part.about["ids"][pos + 1]
    data = json.loads(text)
    for name, pos, said in (
        ("v", 4, "does not tell v, pos 4, layer 0."),
        ("logits", 2, "does not tell logits, pos 2."),
    ):
        kept = [event for event in data["events"] if (event["name"], event["pos"]) != (name, pos)]
        Path("less.json").write_text(json.dumps(data | {"events": kept}), "utf-8")
        assert build.main(["--trace", "less.json", "--out", "none"]) == 1 and said in capsys.readouterr().err
    data["events"][1] |= {"shape": [1, 1, 16]}
    Path("less.json").write_text(json.dumps(data), "utf-8")
    assert build.main(["--trace", "less.json", "--out", "none"]) == 1
    assert "q, pos 0, layer 0 cannot be drawn: its “shape” is [1, 1, 16], not [1, 2, 8]." in capsys.readouterr().err
