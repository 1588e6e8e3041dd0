"""Bytecode is compiled once, and taken from the cache only as it was compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from microgpt.errors import UserError
from tools.runtime import bytecode
from tools.runtime.bytecode import compiled

SOURCES = {"a/x.py": b"1", "y.py": b"2", "notes.txt": b"3"}
PYC = {"a/x.pyc": b"bytecode of 1", "y.pyc": b"bytecode of 2"}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where it was compiled, by something quicker than Pyodide."""
    asked = []

    def run(sources: Mapping[str, bytes], core: Mapping[str, Path], folder: Path) -> None:
        asked.append(folder)
        for name, data in sources.items():
            (folder / "out" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "out" / f"{name}c").write_bytes(b"bytecode of " + data)

    monkeypatch.setattr(bytecode, "run", run)
    return asked


@pytest.fixture
def core(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "wasm").write_bytes(b"wasm")
    return {"pyodide.asm.wasm": tmp_path / "wasm"}


def test_what_is_compiled_is_not_compiled_again(runs: list[Path], core: dict[str, Path], tmp_path: Path) -> None:
    assert compiled(SOURCES, core, tmp_path) == compiled(SOURCES, core, tmp_path) == PYC
    assert len(runs) == 1


def emptied(kept: Path) -> None:
    (kept / "a" / "x.pyc").write_bytes(b"")


def damaged(kept: Path) -> None:
    (kept / "a" / "x.pyc").write_bytes(b"Bytecode of 1")


def missing(kept: Path) -> None:
    (kept / "a" / "x.pyc").unlink()


def without_list(kept: Path) -> None:
    (kept / "microgpt-kv-sha256.txt").unlink()


def damaged_list(kept: Path) -> None:
    (kept / "microgpt-kv-sha256.txt").write_bytes(b"\xff\n")


@pytest.mark.parametrize("harm", [emptied, damaged, missing, without_list, damaged_list])
def test_a_damaged_cache_is_mended(
    harm: Callable[[Path], None], runs: list[Path], core: dict[str, Path], tmp_path: Path
) -> None:
    compiled(SOURCES, core, tmp_path)
    (kept,) = (tmp_path / "bytecode").iterdir()
    harm(kept)
    for _ in range(2):
        assert compiled(SOURCES, core, tmp_path) == PYC
    assert len(runs) == 2
    assert [path for path in (tmp_path / "bytecode").iterdir()] == [kept]


def test_a_compiler_that_comes_to_no_end_is_given_up(
    core: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bytecode, "NODE", "setInterval(() => {}, 1000);")
    monkeypatch.setattr(bytecode, "SECONDS", 0.5)
    with pytest.raises(UserError, match="Compiling for the browser failed: no end in 0.5 seconds"):
        compiled(SOURCES, core, tmp_path)
    assert not list((tmp_path / "bytecode").iterdir())


def test_a_file_that_was_not_compiled_is_missed(
    core: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bytecode, "run", lambda sources, core, folder: (folder / "out").mkdir())
    with pytest.raises(UserError, match="a file is missing"):
        compiled(SOURCES, core, tmp_path)
    assert not list((tmp_path / "bytecode").iterdir())
