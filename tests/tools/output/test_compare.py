"""--check tells what of a folder is not as it would be built, and leaves its user's own files their right."""

import json
from pathlib import Path
from typing import Any

import pytest

import build
from microgpt.errors import UserError
from tools.output.compare import alike

TRACE: dict[str, Any] = {"format": "microgpt-trace", "about": {"n": 3}, "events": [{"values": [0.25, 1e6, None, -3.0]}]}


def write(out: Path) -> None:
    (out / "trace").mkdir(parents=True)
    (out / "index.html").write_text("a page")
    (out / "other.json").write_text("[0.25]")
    (out / "trace" / "a.json").write_text(json.dumps(TRACE))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    build.build(tmp_path / "site", write=write)
    return tmp_path / "site"


def said(out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    capsys.readouterr()
    code = build.check(out, write)
    return code, capsys.readouterr().out.splitlines()[:-1]


def test_files_of_the_user_are_named_and_no_fault(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(out, capsys) == (0, [])
    (out / ".git" / "refs").mkdir(parents=True)
    (out / ".git" / "refs" / "main").write_text("0")
    (out / "CNAME").write_text("example.org")
    (out / "trace" / "own.json").write_text("{}")
    (out / "far").symlink_to("/")
    besides = [".git/", "CNAME", "far/", "trace/own.json"]
    assert said(out, capsys) == (0, [f"not of this build: {name}" for name in besides])


def test_what_differs_and_what_is_missing_is_named(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (out / "index.html").write_text("another page")
    (out / "trace" / "a.json").unlink()
    assert said(out, capsys) == (1, ["differs: index.html", "missing: trace/a.json"])


def test_the_list_of_files_is_checked_too(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = out / "microgpt-kv-sha256.txt"
    path.write_text(path.read_text().replace("0", "1"))
    assert said(out, capsys) == (1, [f"differs: {path.name}"])
    path.unlink()
    assert said(out, capsys) == (1, [f"missing: {path.name}"])


def test_the_last_digits_of_a_trace_are_the_processors(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A site built where sums are added in another order, its list with it, is what would be built here."""

    def elsewhere(place: Path) -> None:
        write(place)
        path = place / "trace" / "a.json"
        path.write_text(path.read_text().replace("0.25", "0.25000000000000006").replace("-3.0", "-3.0000000000000018"))

    build.build(out, write=elsewhere)
    assert said(out, capsys) == (0, [])


@pytest.mark.parametrize("text", ["0.2500000000011", "1", "null", "NaN", "[" * 100_000, ""])
def test_nothing_else_of_a_trace_may_differ(out: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    path = out / "trace" / "a.json"
    path.write_text(path.read_text().replace("0.25", text))
    assert said(out, capsys) == (1, ["differs: trace/a.json"])


def test_a_file_that_is_no_trace_is_compared_exactly(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (out / "other.json").write_text("[0.25000000000000006]")
    assert said(out, capsys) == (1, ["differs: other.json"])


def test_alike_is_equal_but_for_rounding() -> None:
    assert alike(TRACE, json.loads(json.dumps(TRACE)))
    assert alike([1e6], [1e6 + 1e-7]) and not alike([1e6], [1e6 + 1e-5])
    assert not alike([3], [3.0]) and not alike([1.0], [1.0, 2.0]) and not alike({"a": 1}, {"b": 1})
    assert not alike({"a": 1, "b": 2}, {"b": 2, "a": 1})


def test_a_folder_that_is_not_there_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no folder"):
        build.check(tmp_path / "nix", write)
