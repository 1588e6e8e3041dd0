"""Any field of any file of a checkpoint as anything that JSON can say: it runs, with finite logits, or one sentence."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from microgpt.checkpoints.loading import Loading
from microgpt.errors import UserError
from microgpt.record import Recording
from microgpt.weights import Model
from tests.support.checkpoints import GPT2, byte_level, gpt2_tensors, write
from tests.support.examples import examples
from tests.support.hostile import CONFIG, GENERATION, INDEX, READERS, WHOLE, Held, good

LIKE_QWEN = {"model_type": "qwen3", "use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}
SCALED = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
MORE = {
    *(
        "model_type _name_or_path head_dim hidden_act attention_bias mlp_bias rope_scaling rope_parameters "
        "partial_rotary_factor original_max_position_embeddings sliding_window use_sliding_window max_window_layers "
        "layer_types quantization_config num_experts pad_token_id n_inner activation_function scale_attn_weights "
        "layer_norm_epsilon add_cross_attention"
    ).split()
}
DIGITS = "@digits@"  # stands for a number that Python itself would neither write nor read
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [0, -1, 1, 2, 7, 2**31, 2**63, 2**64, 10**23, -(10**30), 10**400, 1e308, -1e308, 5e-324, 1e-40, 1e38, 0.5, 1.0,
     float("nan"), float("inf"), -float("inf"), DIGITS, "", "1", "a" * 300, "\ud800", "\0\u202e\n", "llama", "gpt2",
     "qwen2", "mistral", "default", "linear", "llama3", "dynamic", "F32", "F16", "I8", "../a.safetensors",
     WHOLE, True, False, None, [], {}, [[]], [0], ["full_attention", "sliding_attention"], SCALED, {"type": "linear"}]
)  # fmt: skip
ANYTHING = st.recursive(
    ODD | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted({*SCALED, "a"})), inner),
    max_leaves=4,
)
SLOW = settings(max_examples=examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture])


def said(value: Any) -> bytes:
    return json.dumps(value).replace(f'"{DIGITS}"', "9" * 5000).encode()


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    folder = write(tmp_path_factory.mktemp("g"), GPT2, gpt2_tensors(np.random.default_rng(0)), byte_level())
    return {"llama": good(), "gpt2": {path.name: path.read_bytes() for path in folder.iterdir()}}


def outcome(reader: str, files: Mapping[str, bytes], folder: Path) -> str:
    """What the sentence is, or "" where a token was run."""
    try:
        for old in folder.iterdir():
            old.unlink()
        model = READERS[reader](files, folder)
        if isinstance(model, Model):
            recording = Recording(model, "a", max_new=1)
            recording.step()
            assert np.isfinite(recording.trace["logits", 0]).all()
    except UserError as error:
        text = str(error)
        assert text.isprintable() and len(text) < 700 and text.endswith((".", "lesson.")), text
        return text
    return ""


def assert_alike(files: Mapping[str, bytes], folder: Path) -> None:
    """The folder and the page come to the same end."""
    assert bool(outcome("dropped", files, folder)) == bool(outcome("folder", files, folder))


def parts(file: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a .safetensors file, and the numbers behind it."""
    length = struct.unpack("<Q", file[:8])[0]
    header: dict[str, Any] = json.loads(file[8 : 8 + length])
    return header, file[8 + length :]


def joined(header: bytes, numbers: bytes) -> dict[str, bytes]:
    return good() | {WHOLE: struct.pack("<Q", len(header)) + header + numbers}


def changed(base: Mapping[str, Any], data: st.DataObject, more: set[str]) -> dict[str, Any]:
    """An object in which one to three fields say something else, or are gone."""
    found = dict(base)
    for name in data.draw(st.lists(st.sampled_from(sorted({*found, *more})), min_size=1, max_size=3, unique=True)):
        if data.draw(st.integers(0, 9)) == 0:
            found.pop(name, None)
        else:
            found[name] = data.draw(ANYTHING)
    return found


@SLOW
@given(st.data(), st.sampled_from(("llama", "gpt2")), st.booleans())
def test_a_config_that_says_anything_runs_or_is_a_sentence(
    bases: dict[str, dict[str, bytes]], tmp_path: Path, data: st.DataObject, kind: str, qwen: bool
) -> None:
    base = json.loads(bases[kind][CONFIG]) | (LIKE_QWEN if qwen and kind == "llama" else {})
    files = bases[kind] | {CONFIG: said(changed(base, data, MORE))}
    assert_alike(files, tmp_path)
    outcome("memory", files, tmp_path)


@SLOW
@given(data=st.data())
def test_a_scaling_that_says_anything_runs_or_is_a_sentence(tmp_path: Path, data: st.DataObject) -> None:
    more = {"type", "rope_theta", "partial_rotary_factor", "original_max_position_embeddings", "full_attention"}
    scaling = changed(SCALED, data, more)
    where = data.draw(st.sampled_from(("rope_scaling", "rope_parameters")))
    assert_alike(good() | {CONFIG: said(json.loads(good()[CONFIG]) | {where: scaling})}, tmp_path)


@SLOW
@given(data=st.data())
def test_a_generation_config_that_says_anything_runs_or_is_a_sentence(tmp_path: Path, data: st.DataObject) -> None:
    text = data.draw(ANYTHING.map(said) | st.builds(lambda one: said({"eos_token_id": one}), ANYTHING))
    assert_alike(good() | {GENERATION: text}, tmp_path)


@SLOW
@given(data=st.data())
def test_a_header_that_says_anything_runs_or_is_a_sentence(tmp_path: Path, data: st.DataObject) -> None:
    header, numbers = parts(good()[WHOLE])
    for name in data.draw(st.lists(st.sampled_from(sorted(header)), min_size=1, max_size=3, unique=True)):
        what = data.draw(st.sampled_from(("dtype", "shape", "data_offsets", "all", "name", "order", "gone")))
        if what == "all":
            header[name] = data.draw(ANYTHING)
        elif what == "name":
            header[data.draw(st.text(max_size=8)) + name] = header.pop(name)
        elif what == "order":
            header[name]["shape"] = header[name]["shape"][::-1]
        elif what == "gone":
            del header[name]
        elif isinstance(header[name], dict):
            header[name][what] = data.draw(ANYTHING)
    files = joined(said(header), numbers)
    assert_alike(files, tmp_path)
    for reader in ("look-inside", "weights"):
        outcome(reader, files, tmp_path)


@SLOW
@given(data=st.data())
def test_an_index_that_says_anything_runs_or_is_a_sentence(tmp_path: Path, data: st.DataObject) -> None:
    whole = good()[WHOLE]
    where = {name: "a.safetensors" for name in parts(whole)[0] if name != "__metadata__"}
    what = data.draw(st.sampled_from(("index", "map", "names", "besides")))
    if what == "index":
        text = said(data.draw(ANYTHING))
    elif what == "besides":
        text = said({"weight_map": where, "metadata": data.draw(ANYTHING)})
    else:
        text = said({"weight_map": data.draw(ANYTHING) if what == "map" else changed(where, data, {"a"})})
    files = {name: made for name, made in good().items() if name != WHOLE} | {INDEX: text, "a.safetensors": whole}
    for reader in ("folder", "dropped", "weights"):
        outcome(reader, files, tmp_path)


@SLOW
@given(seed=st.integers(0, 99), power=st.integers(-60, 60), part=st.sampled_from(("", "norm", "proj", "embed", "head")))
def test_numbers_of_any_size_run_or_are_a_sentence(tmp_path: Path, seed: int, power: int, part: str) -> None:
    """Those beyond 32 bits too, and those that no 64 bits can be multiplied with."""
    header, data = parts(good()[WHOLE])
    numbers = np.frombuffer(data, "<f4").astype("<f8")
    for name, about in header.items():
        if name != "__metadata__":
            start, stop = (at // 4 for at in about["data_offsets"])
            if part in name:
                numbers[start:stop] *= 10.0**power
            about |= {"dtype": "F64", "data_offsets": [8 * start, 8 * stop]}
    assert_alike(joined(json.dumps(header).encode(), numbers.tobytes()), tmp_path)


def test_what_is_handed_over_may_be_shorter_than_it_said() -> None:
    class Shrunk(Held):
        def read(self, start: int, stop: int) -> bytes:
            return super().read(start, stop) if stop < 5000 else super().read(start, stop)[:-1]

    files = [Shrunk(name, data) if name == WHOLE else Held(name, data) for name, data in good().items()]
    with pytest.raises(UserError, match="model.safetensors was cut short as it was read"):
        Loading(files).go_on()
