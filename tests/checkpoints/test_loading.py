"""A checkpoint as files that a reader chose: the model of its folder, in slices; what is wrong, in a sentence."""

import base64
import json
import math
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from microgpt import cost, simd
from microgpt.apps.own_model import dropped_model
from microgpt.checkpoints import loading as dropped
from microgpt.checkpoints.folder import load_checkpoint
from microgpt.checkpoints.loading import Loading, mark
from microgpt.errors import UserError
from microgpt.record import Recording
from microgpt.trace import from_json
from microgpt.viz.large.picture import picture_of_model
from microgpt.viz.session import dispatch
from tests.support.checkpoints import (
    KINDS,
    LLAMA,
    WIDE,
    byte_level,
    in_bfloat16,
    llama_tensors,
    made,
    spoil,
    wide_tensors,
    write,
)
from tests.support.given.own_model import PROMPT, ask, expected_trace, files_of, trace_of
from tests.support.sampled import sampled
from tools.runtime import usage


@pytest.fixture(params=sampled(KINDS, ["gpt2", "wide"], "a smaller one of the wide one's family"))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return made(tmp_path, request.param)


def test_each_text_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tokenizer.json may have nine megabytes, and a browser parses them slowly."""
    folder, read = made(tmp_path, "llama"), list[str]()
    real = json.loads

    def loads(text: Any, **how: Any) -> Any:
        read.append(text if isinstance(text, str) else bytes(text).decode())
        return real(text, **how)

    files = files_of(folder)
    monkeypatch.setattr(json, "loads", loads)
    Loading(files).go_on()
    for name in ("config.json", "tokenizer.json"):
        assert read.count((folder / name).read_text("utf-8")) == 1


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    dropped_model.forget()


# ---- loading --------------------------------------------------------------------------------------


def test_the_model_is_the_one_of_the_folder(folder: Path) -> None:
    model, expected = Loading(files_of(folder)).go_on(), load_checkpoint(folder)
    assert model and model.config == expected.config and model.params.keys() == expected.params.keys()
    for name, array in model.params.items():
        assert np.array_equal(array, expected.params[name]) and array.dtype == np.float32, name
    assert model.tokenizer.vocabulary == expected.tokenizer.vocabulary
    assert (model.tokenizer.start, model.tokenizer.stops) == (expected.tokenizer.start, expected.tokenizer.stops)
    assert model.tokenizer.encode(PROMPT) == expected.tokenizer.encode(PROMPT)


def test_tokens_are_those_of_the_folder_whatever_the_file_counts(tmp_path: Path) -> None:
    """A page and the command line number added tokens alike, and leave no merge out."""
    folder = made(tmp_path, "llama")
    path = folder / "tokenizer.json"
    about = json.loads(path.read_text("utf-8"))
    for token, i in zip(about["added_tokens"], (900, 5, 262), strict=True):
        token["id"] = i
    about["model"]["dropout"] = 0.9
    path.write_text(json.dumps(about), "utf-8")
    model, expected = Loading(files_of(folder)).go_on(), load_checkpoint(folder)
    assert model and model.tokenizer.vocabulary == expected.tokenizer.vocabulary
    assert model.tokenizer.vocabulary[261:] == ["<stop>", "<begin>", "<end>"]
    text = "a day of days <stop> a day<end>"
    plain = model.tokenizer.encode(text)
    assert all(expected.tokenizer.encode(text) == plain for _ in range(20))


def test_rows_of_a_matrix_lie_in_one_piece(tmp_path: Path) -> None:
    """On columns a browser takes ten times as long. GPT-2's files have columns."""
    model = Loading(files_of(made(tmp_path, "gpt2"))).go_on()
    assert model and all(array.flags.c_contiguous for array in model.params.values())


@given(st.lists(st.integers(1, 200), min_size=1, max_size=2))
def test_what_is_turned_is_the_transpose_with_its_rows_in_one_piece(sides: list[int]) -> None:
    array = np.arange(math.prod(sides), dtype=np.uint16).reshape(sides)
    found = dropped.transpose(array)
    assert np.array_equal(found, array.T) and found.dtype == array.dtype and found.flags.c_contiguous


def test_it_is_read_in_slices_and_each_tensor_once(tmp_path: Path) -> None:
    files = files_of(made(tmp_path, "llama", shards=3))
    loading = Loading(files)
    weights = [file for file in files if file.name.endswith(".safetensors")]
    headers = sum(sum(file.asked) for file in weights)
    assert headers < loading.total / 2  # nothing but headers so far
    slices = 0
    while loading.go_on(0) is None:
        slices += 1
        assert loading.n_done == slices and loading.read <= loading.total
    assert slices == loading.count - 1 or slices == loading.count
    assert sum(sum(file.asked) for file in weights) - headers == loading.read == loading.total


@pytest.fixture
def no_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products as a browser makes them, without the library for them."""
    monkeypatch.setattr(simd, "BLAS", False)
    monkeypatch.setattr(simd, "library", lambda: None)
    monkeypatch.setattr(simd, "LARGE_MATRIX", 1)


@pytest.mark.usefixtures("no_blas")
@pytest.mark.parametrize("kind", KINDS)
def test_matrices_in_bfloat16_stay_so_and_mean_the_same(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = in_bfloat16(made(tmp_path, kind), KINDS[kind][1](np.random.default_rng(5)))
    kept = Loading(files_of(folder)).go_on()
    monkeypatch.setattr(dropped, "stays", lambda *_: False)
    wide = Loading(files_of(folder)).go_on()
    assert kept and wide
    halves = {name for name, array in kept.params.items() if hasattr(array, "bits")}
    assert halves == {name for name, array in wide.params.items() if array.ndim == 2}
    for name, array in wide.params.items():
        assert np.array_equal(kept.params[name][:], array), name
    ours, theirs = (Recording(model, PROMPT).run() for model in (kept, wide))
    for event in ours:
        assert np.array_equal(event.value, theirs[event.name, event.pos, event.layer]), event.name


@pytest.mark.usefixtures("no_blas")
@pytest.mark.parametrize("bits", [0x7F80, 0xFF80, 0x7FC1])
def test_what_is_no_number_in_bfloat16_is_found(bits: int, tmp_path: Path) -> None:
    tensors = wide_tensors(np.random.default_rng(5))
    tensors["model.layers.1.mlp.up_proj.weight"].view(np.uint32)[-1, -1] = bits << 16
    folder = in_bfloat16(made(tmp_path, "wide"), tensors)
    with pytest.raises(UserError, match="up_proj.weight holds NaN"):
        Loading(files_of(folder)).go_on()


@pytest.mark.usefixtures("no_blas")
def test_a_tied_head_is_compared_by_its_numbers(tmp_path: Path) -> None:
    tensors, tied = wide_tensors(np.random.default_rng(5)), {**WIDE, "tie_word_embeddings": True}
    tensors["model.embed_tokens.weight"][3, 4], tensors["lm_head.weight"] = 0, tensors["model.embed_tokens.weight"]
    folder = in_bfloat16(write(tmp_path / "tied", tied, tensors, byte_level("<begin>")), tensors)
    assert Loading(files_of(folder)).go_on()
    tensors["lm_head.weight"] = tensors["lm_head.weight"].copy()
    for number, same in ((-0.0, True), (1.0, False)):
        tensors["lm_head.weight"][3, 4] = number
        files = files_of(in_bfloat16(folder, tensors))
        if same:
            assert Loading(files).go_on()
            continue
        with pytest.raises(UserError, match="differs"):
            Loading(files).go_on()


def test_room_is_counted_as_the_numbers_will_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_blas: None
) -> None:
    tensors = wide_tensors(np.random.default_rng(5))
    files = files_of(in_bfloat16(made(tmp_path, "wide"), tensors))
    kept = sum((2 if array.ndim == 2 else 4) * array.size for array in tensors.values())
    monkeypatch.setattr(dropped, "LIMIT", kept)
    assert Loading(files).go_on()
    monkeypatch.setattr(dropped, "LIMIT", kept - 1)
    with pytest.raises(UserError, match="there is room for .* MB in a page. At the command line there is more"):
        Loading(files)
    monkeypatch.setattr(dropped, "LIMIT", kept)
    monkeypatch.setattr(simd, "BLAS", True)  # all is widened then
    with pytest.raises(UserError, match="there is room for"):
        Loading(files)


IN_PYODIDE = """
import base64, hashlib, json, zlib
from pathlib import Path
from microgpt import simd
from microgpt.checkpoints import loading
from microgpt.apps.own_model import dropped_model
from microgpt.viz.session import dispatch
class Given:
    changed = 0.0
    def __init__(self, name, data): self.name, self.data, self.size = name, data, len(data)
    def read(self, start, stop): return self.data[start:stop]
files = [Given(name, zlib.decompress(base64.b64decode(data))) for name, data in json.loads(FILES_GIVEN).items()]
library, stays, said = simd.library, loading.stays, []
assert library() is not None
simd.LARGE = 1  # so that all products are made as those of large matrices are
dropped_model.QUICK = 0  # no step is run again: how far rounding goes depends on the order of the sums
for with_library, halves in WAYS:
    simd.library, loading.stays = library if with_library else lambda: None, stays if halves else lambda *_: False
    dropped_model.forget()
    state, hook, html = None, "run", ""
    while hook:
        fields = {"page": "own-model", "lang": "en", "prompt": "a day of", "model": "stories"}
        state, patches = dispatch(state, hook, fields, {"checkpoint": files})
        hook = next((one["again"] for one in patches if "again" in one), None)
    html = "".join(one["html"] for one in patches if one.get("target") in ("#widget", "#own"))
    said.append(html if "thin" in html else str(patches)[:300])
    kept = [one for one in dropped_model.current.model.params.values() if isinstance(one, simd.Halves)]
    said.append(str(len(kept)))
"""


WAYS = [(1, 1), (1, 0), (0, 1), (0, 0)]  # with the library, in halves


@pytest.mark.thorough("by day halves are compared here, and the library in a browser by tests/simd")
def test_in_a_browser_the_picture_is_the_same_of_bfloat16_and_without_the_library(tmp_path: Path) -> None:
    folder = in_bfloat16(made(tmp_path, "wide"), wide_tensors(np.random.default_rng(5)))
    given = {
        path.name: base64.b64encode(zlib.compress(path.read_bytes(), 9)).decode() for path in sorted(folder.iterdir())
    }
    code = f"FILES_GIVEN = {json.dumps(json.dumps(given))}\nWAYS = {WAYS}\n" + IN_PYODIDE
    said = usage.run_in_pyodide(tmp_path / "site", code)["answers"]
    pictures, kept = said[::2], said[1::2]
    assert kept == ["16" if halves else "0" for _, halves in WAYS]
    assert len(set(pictures)) == 1 and pictures[0].count('class="strip thin') > 100


def test_what_ends_a_text_may_be_said_in_a_file_of_its_own(folder: Path) -> None:
    before = mark(files_of(folder))
    for stops in ([5], [7]):  # of one size
        (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": stops}), "utf-8")
        model = Loading(files_of(folder)).go_on()
        assert model and model.tokenizer.stops == set(stops) == load_checkpoint(folder).tokenizer.stops
        assert mark(files_of(folder)) != before
        before = mark(files_of(folder))


def test_files_are_told_apart(tmp_path: Path) -> None:
    """Checkpoints of one run differ by their numbers, an edited file by its date; the order does not matter."""
    folder = made(tmp_path, "llama")
    weights = folder / "model.safetensors"
    data, marks = weights.read_bytes(), {mark(files_of(folder)), mark(files_of(folder)[::-1])}
    assert len(marks) == 1
    (folder / "config.json").write_text(json.dumps({**LLAMA, "rope_theta": 10001.0}), "utf-8")
    marks.add(mark(files_of(folder)))
    header = 8 + int.from_bytes(data[:8], "little")
    for numbers, changed in ((data[header:], 1e9), (bytes(len(data) - header), 1e9), (data[header:], 1e9 + 1)):
        weights.write_bytes(data[:header] + numbers)
        os.utime(weights, (changed, changed))
        marks.add(mark(files_of(folder)))
    assert len(marks) == 5


# ---- the page -------------------------------------------------------------------------------------


def test_a_press_steps_as_the_folder_does_to_the_last_bit(folder: Path) -> None:
    files = files_of(folder)
    state, found, said = ask(files, "show")
    assert 'id="stepper"' in found["#widget"] and "Reading" in said[0]
    n = state["n"]
    state, found, said = ask(files, "next", state)
    if "#widget" in found:
        assert state["n"] == n + 1 and f'value="{n}" id="step-{n}" checked' in found["#widget"]
    assert not any("Reading" in line for line in said)  # it is kept
    recording = expected_trace(folder, state["n"])
    _, found, _ = ask(files, "trace", state)
    theirs = from_json(found["file"])
    assert theirs.about["tokens"] == recording.trace.about["tokens"]
    checked = 0
    for event in theirs:
        if event.name in ("q", "k", "v", "attn_weights", "head_out", "attn_scores") and not isinstance(
            event.value, int
        ):
            ours = recording.trace[event.name, event.pos, event.layer]
            assert np.array_equal(event.value.astype(ours.dtype), ours), event.name
            checked += 1
    assert checked > 20


def test_how_far_it_was_does_not_stay_beside_an_error(folder: Path) -> None:
    """What was being read or run goes when the work breaks off, whatever breaks it off."""
    files = files_of(folder)
    fields = {"page": "own-model", "prompt": PROMPT}
    for wrong, chosen in (({}, []), ({"seed": "x"}, files), ({"layers": "x"}, files), ({"prompt": ""}, files)):
        dropped_model.forget()
        _, patches = dispatch(None, "show", fields, {"checkpoint": files})
        assert "Reading" in patches[0]["html"]
        while any("again" in one for one in patches):
            _, patches = dispatch(None, "show", fields | wrong, {"checkpoint": chosen})
        found = {one["target"]: one["html"] for one in patches}
        assert found["#prompt-error"] and found["#progress"] == ""


def test_a_dead_interpreter_comes_to_the_same_picture(folder: Path) -> None:
    files = files_of(folder)
    state, _, _ = ask(files, "next")
    state, before, _ = ask(files, "compare", state, step="1")
    dropped_model.forget()
    again, after, _ = ask(files, "show", state, step="1")
    assert (again, after["#widget"]) == (state, before["#widget"])


def test_run_ends_where_the_model_or_the_picture_does(folder: Path) -> None:
    files = files_of(folder)
    state, found, _ = ask(files, "run")
    recording = expected_trace(folder, 99)
    assert state["n"] == len(recording.cache) and found["#widget"].count('class="T ') == state["n"]
    _, found, _ = ask(files, "next", state)
    full = state["n"] == recording.limit
    assert ("picture is full" in found["#prompt-error"]) == full and ("chose the end" in found["#progress"]) != full
    assert "#widget" not in found


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_that_begins_with_token_0_is_no_start(kind: str, tmp_path: Path) -> None:
    config, tensors, _ = KINDS[kind]
    none = {**config, "bos_token_id": None, "eos_token_id": None}
    folder = write(tmp_path, none, tensors(np.random.default_rng(5)), byte_level())
    files = files_of(folder)
    model = Loading(files).go_on()
    assert model and model.tokenizer.encode("! a day")[0] == 0
    _, found, _ = ask(files, "show", prompt="! a day")
    assert "from the prompt" in found["#widget"] and "starts every text" not in found["#widget"]
    large = picture_of_model(load_checkpoint(folder), "! a day", 2)
    assert [large.kind(i) for i in range(2)] == ["prompt", "prompt"]


def test_small_models_have_numbers_and_large_ones_strips(tmp_path: Path) -> None:
    _, small, _ = ask(files_of(made(tmp_path, "llama")), "show")
    _, large, _ = ask(files_of(made(tmp_path, "wide")), "show")
    assert 'class="strip thin' not in small["#widget"] and 'class="strip thin' in large["#widget"]
    assert "float64" in small["#own"] and "float32" in large["#own"]


def test_the_reader_opens_heads(tmp_path: Path) -> None:
    files = files_of(made(tmp_path, "wide"))
    state, found, _ = ask(files, "show")
    _, found, _ = ask(files, "show", state, layers="1", heads="0, 3", head="1.3")
    assert 'value="1.0"' in found["#widget"] and 'value="1.3" checked' in found["#widget"]
    assert 'name="head" value="0.0"' not in found["#widget"] and "heads that you chose" in found["#widget"]
    for fields, sentence in (
        ({"layers": "2"}, "no layer 2; this model has 0 to 1"),
        ({"heads": "9"}, "no head 9; this model has 0 to 3"),
        ({"layers": "x"}, "give numbers such as"),
    ):
        _, found, _ = ask(files, "show", state, **fields)
        assert sentence in found["#prompt-error"] and "#widget" not in found


def test_a_token_of_a_large_model_is_added_to_what_stands(tmp_path: Path) -> None:
    """Each piece is, byte for byte, in the picture drawn at once. Other heads or scales: all is drawn anew."""
    files, text = files_of(made(tmp_path, "wide")), "a day of é, day" + " day" * 13
    state, _, _ = ask(files, "show", prompt=text)
    added, by_day = 0, not os.environ.get("EVERYTHING")
    while not (added and by_day):
        n = state["n"]
        state, found, _ = ask(files, "next", state, check="on", prompt=text)
        if state["n"] == n:
            break
        _, anew, _ = ask(files, "show", state, check="on", step=str(n), prompt=text)
        added += "#rows" in found
        places = {"#tokens", "#rows", "#steps", "#lines", "#ledgers", "#nav", "#legend", ".all-heads"}
        for target in found.keys() & places:
            assert found[target] in anew["#widget"], target
        assert found.get("#widget", anew["#widget"]) == anew["#widget"]
        assert {"#rows", "#legend", ".all-heads"} <= {*found} or "#widget" in found
    assert added >= (1 if by_day else 3)
    dropped_model.forget()
    _, found, _ = ask(files, "next", state, layers="1", heads="0", prompt=text)
    assert "#widget" in found and "#rows" not in found


def test_a_large_model_is_compared_where_one_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dropped_model, "QUICK", 0)
    files = files_of(made(tmp_path, "wide"))
    state, found, _ = ask(files, "show")
    steps = state["n"]
    assert found["#widget"].count("was not run again") == steps
    state, found, _ = ask(files, "compare", state, step="2", check="on")
    assert state["compared"] == [2] and found["#widget"].count("was not run again") == steps - 1
    assert 'name="check" checked' in found["#widget"]
    state, _, _ = ask(files, "next", state)
    assert state["compared"] == [2]
    config = Loading(files).facts.config
    assert trace_of(files, state)["recompute_macs", 2].tolist() == cost.naive(config, 3).tolist()
    monkeypatch.setattr(dropped_model, "SLICE", 0.0)
    monkeypatch.setattr(dropped_model, "PART", 2)
    state, found, said = ask(files, "compare", state, step="6")
    assert state["compared"] == [2, 6]
    assert any("Running step 7 again without the cache: 4 of 7 tokens" in line for line in said)
    trace = trace_of(files, state)
    assert 0 < np.abs(trace["recompute_logits", 6] - trace["logits", 6][0]).max() < 1e-4
    assert trace["recompute_macs", 6].tolist() == cost.naive(config, 7).tolist()


def test_other_files_begin_anew(tmp_path: Path) -> None:
    one, two = files_of(made(tmp_path, "llama")), files_of(made(tmp_path, "gpt2"))
    state, _, _ = ask(one, "run")
    state, found, said = ask(two, "next", state)
    assert "Reading" in said[0] and state["n"] == len(byte_level().encode(PROMPT).ids)


def test_work_is_cut_into_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = files_of(made(tmp_path, "wide"))
    whole = ask(files, "show")
    dropped_model.forget()
    monkeypatch.setattr(dropped_model, "SLICE", 0.0)
    state, found, said = ask(files, "show")
    assert (state, found["#widget"]) == (whole[0], whole[1]["#widget"])
    assert sum("Running the model" in line for line in said) > 5 and sum("Reading" in line for line in said) > 5


# ---- what is wrong --------------------------------------------------------------------------------


WHOLE, GENERATION, CONFIG, TOKENIZER = "model.safetensors", "generation_config.json", "config.json", "tokenizer.json"
GOOD = save(llama_tensors(np.random.default_rng(5)))
LOUD = {name: array * np.float32(1e18) for name, array in wide_tensors(np.random.default_rng(5)).items()}
PATTERN = {"type": "Split", "pattern": {"Regex": "(?i)a"}, "behavior": "Isolated", "invert": False}
WRONG: list[tuple[dict[str, bytes | None], str]] = [
    ({CONFIG: None}, "config.json is missing. Choose it together with"),
    ({TOKENIZER: None}, "tokenizer.json is missing. Choose it together with"),
    ({WHOLE: None}, "model.safetensors is missing: choose the .safetensors file"),
    ({WHOLE: None, "pytorch_model.bin": GOOD}, "pytorch_model.bin is not read here, since such files may"),
    ({GENERATION: b"\xff"}, "generation_config.json is not a text in UTF-8"),
    ({WHOLE: None, "a.safetensors": GOOD, "b.safetensors": GOOD}, "There are 2 .safetensors files. If they are one"),
    ({CONFIG: b"\xff"}, "config.json is not a text in UTF-8"),
    ({WHOLE: GOOD[:-4]}, "a part is missing"),
    ({WHOLE: b"PK\x03\x04" + bytes(20)}, "begins like a zip archive"),
    ({WHOLE: GOOD[:-4] + np.float32("nan").tobytes()}, "holds NaN or infinity"),
    ({CONFIG: json.dumps(WIDE).encode(), WHOLE: save(LOUD)}, "overflow at token 1: its files are damaged"),
    ({TOKENIZER: b'{"model": {"vocab": {"a": "x"}, "merges": []}}'}, "gives the token “a” the id &#34;x&#34;; it"),
    (
        {TOKENIZER: json.dumps(json.loads(byte_level().to_str()) | {"pre_tokenizer": PATTERN}).encode()},
        "a pattern with “(?i)a”, which cannot be followed here. Try it at the command line: python build",
    ),
]


@pytest.mark.parametrize(("files", "sentence"), WRONG, ids=[sentence[:40] for _, sentence in WRONG])
def test_what_is_wrong_is_said_and_the_picture_stays(
    tmp_path: Path, files: dict[str, bytes | None], sentence: str
) -> None:
    folder = spoil(made(tmp_path, "llama"), files)
    before = {"settings": {}, "n": 3, "compared": []}
    state, found, _ = ask(files_of(folder), "next", before)
    assert sentence in found["#prompt-error"].replace("<bdi>", "").replace("</bdi>", "")
    assert "#widget" not in found and state == before


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    folder = made(tmp_path, "llama", shards=3)
    (folder / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(UserError, match="is missing, which"):
        Loading(files_of(folder))


def test_no_file_and_a_text_that_is_too_long(tmp_path: Path) -> None:
    assert "No file is chosen" in ask([], "next")[1]["#prompt-error"]
    files = files_of(made(tmp_path, "wide"))
    assert "a page shows at most 32" in ask(files, "next", prompt="z" * 40)[1]["#prompt-error"]


def test_no_room_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(dropped, "assemble", full)
    found = ask(files_of(made(tmp_path, "llama")), "next")[1]
    assert "has no room for this model" in found["#prompt-error"] and dropped_model.current.loading is None
