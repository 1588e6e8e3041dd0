"""Bytecode is compiled once, and taken from the cache only as it was compiled."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from microgpt.errors import UserError
from tools.output.sources import our_files
from tools.runtime import bytecode
from tools.runtime.bytecode import compile_files
from tools.runtime.fetch import default_cache, fetch_runtime
from tools.runtime.pins import CORE

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

    monkeypatch.setattr(bytecode, "compile_in_node", run)
    return asked


@pytest.fixture
def core(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "wasm").write_bytes(b"wasm")
    return {"pyodide.asm.wasm": tmp_path / "wasm"}


def test_what_has_changed_is_compiled_alone(
    runs: list[Path], core: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_files(SOURCES, core, tmp_path)
    quick, seen = bytecode.compile_in_node, []

    def run(sources: Mapping[str, bytes], core: Mapping[str, Path], folder: Path) -> None:
        seen.append(set(sources))
        quick(sources, core, folder)

    monkeypatch.setattr(bytecode, "compile_in_node", run)
    assert compile_files({**SOURCES, "y.py": b"4"}, core, tmp_path) == {**PYC, "y.pyc": b"bytecode of 4"}
    assert seen == [{"y.py"}]
    assert compile_files(SOURCES, core, tmp_path) == PYC  # and what was, is still there
    assert seen == [{"y.py"}]


def emptied(kept: Path) -> None:
    kept.write_bytes(b"")


def damaged(kept: Path) -> None:
    kept.write_bytes(kept.read_bytes().replace(b"bytecode", b"Bytecode"))


def missing(kept: Path) -> None:
    kept.unlink()


@pytest.mark.parametrize("harm", [emptied, damaged, missing])
def test_a_damaged_cache_is_mended(
    harm: Callable[[Path], None], runs: list[Path], core: dict[str, Path], tmp_path: Path
) -> None:
    compile_files(SOURCES, core, tmp_path)
    there = sorted((tmp_path / "bytecode").glob("*/*"))
    harm(there[0])
    for _ in range(2):
        assert compile_files(SOURCES, core, tmp_path) == PYC
    assert len(runs) == 2
    assert sorted((tmp_path / "bytecode").glob("*/*")) == there


def test_a_compiler_that_comes_to_no_end_is_given_up(
    core: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bytecode, "NODE", "setInterval(() => {}, 1000);")
    monkeypatch.setattr(bytecode, "COMPILE_SECONDS", 0.5)
    with pytest.raises(UserError, match="Compiling for the browser failed: no end in 0.5 seconds"):
        compile_files(SOURCES, core, tmp_path)
    assert not list((tmp_path / "bytecode").glob("*/*"))


def test_a_file_that_was_not_compiled_is_missed(
    core: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bytecode, "compile_in_node", lambda sources, core, folder: (folder / "out").mkdir())
    with pytest.raises(UserError, match="a file is missing"):
        compile_files(SOURCES, core, tmp_path)
    assert not list((tmp_path / "bytecode").glob("*/*"))


@pytest.mark.thorough("compiles for the browser, twice; by day a build compiles all, and two are compared")
def test_a_module_is_the_same_bytes_whatever_is_compiled_with_it(site: Path, tmp_path: Path) -> None:
    """So a site does not depend on what was in the cache: there it lies as it was compiled with all others."""
    core = {name: path for name, path in fetch_runtime(default_cache()).items() if name in CORE}
    one = {name: data for name, data in our_files().items() if name == "microgpt/viz/drawing/picture.py"}
    assert len(one) == 1 and compile_files(one, core, tmp_path / "one") == compile_files(one, core, default_cache())
    with pytest.raises(UserError, match=r"^Compiling for the browser failed: a/x.py, line 2: expected ':'$"):
        compile_files({"a/x.py": b"a = 1\nif a\n"}, core, tmp_path / "broken")
