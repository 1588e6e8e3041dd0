"""Weights files: what was saved comes back; what is broken is refused with a sentence, never with a crash."""

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.config import Array, Config, n_params, param_shapes, split
from microgpt.errors import UserError
from microgpt.tokenizer import START, CharTokenizer, WordTokenizer
from microgpt.weights import TRAINED, Model, init, load, save, shipped
from tests.support.examples import examples
from tests.support.strategies import Case, cases

CONFIG = Config(n_embd=4, n_head=2, n_kv_head=1, head_dim=2, n_mlp=3, n_ctx=5, vocab_size=4)
SMALL = Model("small", CONFIG, split(init(CONFIG, Random(1)), CONFIG), CharTokenizer(["a", "b", "c", START]))


def write(path: Path, about: Any = None, arrays: dict[str, Array | None] | None = None) -> Path:
    """A weights file that is not as it should be: `about` makes its description, None leaves an array out."""
    save(path, SMALL)
    with np.load(path) as file:
        content = {key: file[key] for key in file.files}
    if about is not None:
        old = json.loads(str(content["about"]))
        new = about(old)
        content["about"] = np.array(new if isinstance(new, str) else json.dumps(new))
    for key, array in (arrays or {}).items():
        if array is None:
            del content[key]
        else:
            content[key] = array
    np.savez(path, **content)
    return path


@given(cases(), st.booleans())
@settings(max_examples=examples(60))
def test_what_was_saved_comes_back(case: Case, words: bool) -> None:
    vocabulary = [*(f"w{i}" for i in range(case.config.vocab_size - 1)), START]
    tokenizer = (WordTokenizer if words else CharTokenizer)(vocabulary)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        save(path, Model("model", case.config, case.params, tokenizer))
        back = load(path)
    assert (back.name, back.config, type(back.tokenizer)) == ("model", case.config, type(tokenizer))
    assert back.tokenizer.vocabulary == vocabulary
    assert list(back.params) == list(param_shapes(case.config))
    for name, array in case.params.items():
        assert np.array_equal(back.params[name], array)


@given(cases())
@settings(max_examples=examples(60))
def test_parameters_are_views_of_one_vector(case: Case) -> None:
    vector = np.arange(float(n_params(case.config)))
    params = split(vector, case.config)
    assert {name: array.shape for name, array in params.items()} == param_shapes(case.config)
    assert np.array_equal(np.concatenate([array.ravel() for array in params.values()]), vector)
    vector += 1
    assert next(iter(params.values())).flat[0] == 1.0


def test_fresh_gains_are_one_and_biases_zero() -> None:
    config = replace(CONFIG, norm="layer", bias=True, mlp="gelu")
    for name, array in split(init(config, Random(1)), config).items():
        if array.ndim == 1:
            assert (array == (0.0 if name.endswith(".bias") else 1.0)).all(), name


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    save(tmp_path / "one.npz", SMALL)
    save(tmp_path / "two.npz", SMALL)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.npz") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_shipped_models_are_small_and_what_they_are_said_to_be() -> None:
    folder = Path(__file__).resolve().parents[1] / "microgpt" / "data"
    assert {path.stem for path in folder.glob("*.npz")} == set(TRAINED)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
    assert shipped("names").config == Config()
    assert shipped("names-deep").config == Config(n_layer=4)
    stories = shipped("stories").config
    assert stories.position == "rope" and stories.n_kv_head < stories.n_head


def test_no_such_model_and_no_such_file() -> None:
    with pytest.raises(UserError, match="no model “gpt5”. Choose one of: names, names-deep, stories"):
        shipped("gpt5")
    with pytest.raises(UserError, match="no weights file /no/such/file.npz"):
        load(Path("/no/such/file.npz"))


def update(**fields: Any) -> Callable[[Any], Any]:
    return lambda about: about | fields


def config_with(**fields: Any) -> Callable[[Any], Any]:
    return lambda about: about | {"config": about["config"] | fields}


def config_without(field: str) -> Callable[[Any], Any]:
    return lambda about: about | {"config": {k: v for k, v in about["config"].items() if k != field}}


@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        (lambda about: "{not json", "not a weights file of ours"),
        (lambda about: "[" * 100_000, "not a weights file of ours"),
        (lambda about: "[1, 2]", "not a weights file of ours"),
        (lambda about: {"config": about["config"]}, "not a weights file of ours"),
        (update(tokenizer="bytes"), "not a weights file of ours"),
        (update(vocabulary=7), "not a weights file of ours"),
        (update(vocabulary=["a", "b", "c", "d"]), "not a weights file of ours"),
        (update(vocabulary=["a", "b", START]), "vocab_size is 4 in its config, which does not fit"),
        (update(vocabulary=["a", "a", "b", START]), "vocab_size is 4 in its config, which does not fit"),
        (update(vocabulary=["a", 1, "b", START]), "vocab_size is 4 in its config, which does not fit"),
        (config_with(colour="red"), "not a weights file of ours"),
        (config_with(n_layer=2), "lacks the array layer1.fc1"),
        (config_with(n_layer=10**12), "n_layer is 1000000000000 in its config, which does not fit"),
        (config_with(n_layer=0), "its config gives n_layer as 0"),
        (config_with(n_embd=-4), "its config gives n_embd as -4"),
        (config_with(n_embd=4.0), "its config gives n_embd as 4.0"),
        (config_with(n_embd="4"), "its config gives n_embd as '4'"),
        (config_with(n_embd=True), "its config gives n_embd as True"),
        (config_with(n_embd=None), "its config gives n_embd as None"),
        (config_with(bias=1), "its config gives bias as 1"),
        (config_with(norm_eps=0.0), "its config gives norm_eps as 0.0"),
        (config_with(norm_eps=float("nan")), "its config gives norm_eps as nan"),
        (config_with(rope_theta=float("inf")), "its config gives rope_theta as inf"),
        (config_with(position="alibi"), "its config gives position as 'alibi'"),
        (config_with(norm=["rms"]), "its config gives norm as"),
        (config_with(mlp="moe"), "its config gives mlp as 'moe'"),
        (config_with(n_head=3, n_kv_head=2), "n_kv_head is 2 in its config, which does not fit"),
        (config_with(n_embd=5), r"wte has shape \(4, 4\); its config says \(4, 5\)"),
        (config_with(norm="rms"), "lacks the array embd_norm"),
        (config_with(tied=True), "has an extra array lm_head"),
        (config_with(head_dim=1, n_head=4, n_kv_head=2, position="rope"), "head_dim is 1 in its config"),
    ],
)
def test_a_description_that_is_wrong_is_refused(tmp_path: Path, about: Any, sentence: str) -> None:
    path = write(tmp_path / "model.npz", about=about)
    with pytest.raises(UserError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value) and len(str(caught.value)) < 500


def test_fields_that_have_defaults_may_be_left_out(tmp_path: Path) -> None:
    assert load(write(tmp_path / "model.npz", about=config_without("bias"))).config == CONFIG


@pytest.mark.parametrize(
    ("key", "array", "sentence"),
    [
        ("wpe", None, "lacks the array wpe"),
        ("layer7.wq", np.zeros((4, 4)), "has an extra array layer7.wq"),
        ("wpe", np.zeros((4, 5)), r"wpe has shape \(4, 5\); its config says \(5, 4\)"),
        ("wpe", np.zeros(20), r"wpe has shape \(20,\)"),
        ("wpe", np.full((5, 4), np.nan), "wpe holds NaN or infinity"),
        ("wpe", np.full((5, 4), -np.inf), "wpe holds NaN or infinity"),
        ("wpe", np.zeros((5, 4), int), "wpe is of type int64; weights are real numbers"),
        ("wpe", np.zeros((5, 4), complex), "wpe is of type complex128"),
        ("wpe", np.full((5, 4), "x"), "wpe is of type <U1"),
        ("wpe", np.zeros((5, 4), "M8[s]"), r"wpe is of type datetime64\[s\]"),
        ("about", np.zeros(3), "not a weights file of ours"),
        ("about", None, "not a weights file of ours"),
    ],
)
def test_an_array_that_is_wrong_is_refused(tmp_path: Path, key: str, array: Array | None, sentence: str) -> None:
    path = write(tmp_path / "model.npz", arrays={key: array})
    with pytest.raises(UserError, match=sentence):
        load(path)


def test_single_precision_is_read_as_double(tmp_path: Path) -> None:
    narrow = SMALL.params["wpe"].astype(np.float32)
    params = load(write(tmp_path / "model.npz", arrays={"wpe": narrow})).params
    assert params["wpe"].dtype == np.float64 and np.array_equal(params["wpe"], narrow)


class Trap:
    """What a pickle could do when it is read."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (exec, ("raise SystemExit('a pickle was run')",))


def test_no_pickle_is_ever_run(tmp_path: Path) -> None:
    trapped = np.empty((5, 4), object)
    trapped.fill(Trap())
    for path in (write(tmp_path / "array.npz", arrays={"wpe": trapped}), tmp_path / "pickle.npz"):
        if not path.exists():
            path.write_bytes(pickle.dumps(Trap()))
        with pytest.raises(UserError, match="not a weights file of ours"):
            load(path)


def test_what_is_something_else_is_refused(tmp_path: Path) -> None:
    for i, content in enumerate((b"", b"PK", b"hello", b"\x93NUMPY\x01\x00", b"PK\x05\x06" + bytes(18))):
        (tmp_path / f"{i}.npz").write_bytes(content)
    np.save(tmp_path / "array.npy", np.zeros(3))
    for path in [*tmp_path.iterdir(), tmp_path]:
        with pytest.raises(UserError, match="not a weights file of ours"):
            load(path)


def whole_file() -> bytes:
    with TemporaryDirectory() as folder:
        save(Path(folder) / "model.npz", SMALL)
        return (Path(folder) / "model.npz").read_bytes()


WHOLE = whole_file()


def assert_whole_or_refused(content: bytes) -> None:
    """Damage is told, or it hit a byte that carries nothing: then the very same model comes back."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        path.write_bytes(content)
        try:
            model = load(path)
        except UserError as error:
            assert len(str(error)) < 600
        else:
            assert model.config == CONFIG
            assert all(np.array_equal(model.params[key], array) for key, array in SMALL.params.items())


@given(st.integers(0, len(WHOLE) - 1))
@settings(max_examples=examples(150))
def test_a_truncated_file_is_refused(length: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        path.write_bytes(WHOLE[:length])
        with pytest.raises(UserError):
            load(path)


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=4))
@settings(max_examples=examples(400))
def test_damaged_bytes_are_noticed_or_harmless(changes: list[tuple[int, int]]) -> None:
    content = bytearray(WHOLE)
    for at, byte in changes:
        content[at] = byte
    assert_whole_or_refused(bytes(content))


@given(st.binary(max_size=200))
@settings(max_examples=examples(100))
def test_rubbish_instead_of_an_array_is_refused(rubbish: bytes) -> None:
    """Inside a sound archive, so that no checksum of the archive tells."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"\x93NUMPY\x01\x00" + rubbish if name == "wpe.npy" else old.read(name))
    assert_whole_or_refused(buffer.getvalue())


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        save(tmp_path / "no" / "such" / "folder.npz", SMALL)


def test_the_description_is_readable_by_anyone(tmp_path: Path) -> None:
    save(tmp_path / "model.npz", SMALL)
    with np.load(tmp_path / "model.npz") as file:
        about = json.loads(str(file["about"]))
    assert about == {"config": asdict(CONFIG), "tokenizer": "char", "vocabulary": ["a", "b", "c", START]}
