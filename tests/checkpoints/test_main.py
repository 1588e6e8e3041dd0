"""python -m microgpt.checkpoints: a table of what a file holds; what is wrong with it in one sentence, exit code 1."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from microgpt.checkpoints.__main__ import main, tensors_of
from microgpt.checkpoints.files import INDEX
from microgpt.config import param_shapes
from microgpt.errors import UserError
from microgpt.weights import SHIPPED, shipped

DATA = Path(__file__).parents[2] / "microgpt" / "data"
SHAPES = {f"h.{i}.mlp.c_fc.weight": (4, 16) for i in range(3)} | {"wte.weight": (9, 4), "ln_f.weight": (4,)}


def saved(path: Path, *names: str) -> Path:
    save_file({name: np.zeros(SHAPES[name], np.float16) for name in names or SHAPES}, path)
    return path


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    names = sorted(SHAPES)
    saved(tmp_path / "a.safetensors", *names[:2])
    saved(tmp_path / "b.safetensors", *names[2:])
    where = {name: "a.safetensors" if name in names[:2] else "b.safetensors" for name in names}
    (tmp_path / INDEX).write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": where}))
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(x) for x in arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("model", SHIPPED)
def test_a_model_of_ours_is_listed(capsys: pytest.CaptureFixture[str], model: str) -> None:
    config = shipped(model).config
    listed = json.loads(said(capsys, DATA / f"{model}.npz", "--json"))
    assert {t["name"]: tuple(t["shape"]) for t in listed} == param_shapes(config)
    table = said(capsys, DATA / f"{model}.npz")
    assert f"layers {config.n_layer}, n_embd {config.n_embd}" in table
    assert table.count("W_Q") == 1  # layers that are alike stand there once


def test_the_table_says_what_the_file_says(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = said(capsys, saved(tmp_path / "x.safetensors"))
    assert "5 tensors, 232 parameters, 464 bytes" in table
    assert "layers 0 to 2, alike" in table
    assert "mlp.c_fc.weight  MLP up" in table
    assert all(len(line) < 160 for line in table.splitlines())


def test_a_folder_with_an_index_is_one_model(capsys: pytest.CaptureFixture[str], sharded: Path) -> None:
    whole = sharded / "whole"
    whole.mkdir()
    saved(whole / "model.safetensors")

    def listed(path: Path) -> list[str]:
        return sorted(json.dumps(t) for t in json.loads(said(capsys, path, "--json")))

    assert listed(sharded) == listed(sharded / INDEX) == listed(whole)


def test_a_shard_that_is_missing_or_lacks_a_tensor_is_named(sharded: Path) -> None:
    shutil.copy(sharded / "a.safetensors", sharded / "b.safetensors")
    with pytest.raises(UserError, match="b.safetensors” lacks the tensor “"):
        tensors_of(sharded)
    (sharded / "b.safetensors").unlink()
    with pytest.raises(UserError, match="b.safetensors” cannot be read"):
        tensors_of(sharded)


def test_a_wrong_file_is_one_sentence_and_exit_code_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, data, says in (
        ("x.safetensors", b"", "has 0 bytes"),
        ("x.bin", b"PK\x03\x04" + bytes(99), "begins like a zip"),
        ("x.npz", b"PK\x03\x04" + bytes(99), "not an .npz of weights"),
        ("x.index.json", b"[" * 10**6, "nested"),
        ("x.index.json", b"{}", "no weight_map"),
    ):
        (tmp_path / name).write_bytes(data)
        assert main([str(tmp_path / name)]) == 1
        out, err = capsys.readouterr()
        assert out == "" and says in err and err.count("\n") == 1


def test_no_file_and_no_choice_are_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for path in (tmp_path / "none.safetensors", tmp_path / "none.npz", tmp_path / ("a" * 300), tmp_path):
        assert main([str(path)]) == 1
        assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_reader_who_has_enough_ends_it_quietly(form: list[str], tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_file({f"tensor{i}.weight": np.zeros(1, np.float16) for i in range(2000)}, path)  # more than a pipe holds
    command = [sys.executable, "-W", "error", "-m", "microgpt.checkpoints", str(path), *form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout and running.stderr
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 0
