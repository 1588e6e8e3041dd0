"""What is written takes the place of a file alone. JSON is looked at before it is parsed: how deep it goes is counted
rightly, and that does not take for ever."""

import json
import os
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt import files
from microgpt.errors import UserError
from microgpt.files import DEPTH, MOST_DIGITS, THINGS, is_too_deep, parse_json, write_whole

LARGE = 10 ** (MOST_DIGITS - 1) - 1  # with its sign as long as what is read digit by digit; what is longer is rounded
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGE, LARGE) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
PIECES = st.sampled_from(['"', "\\", "[", "]", "{", "}", "a", "\\\\", '\\"', ",", "é"])


def depth_of(found: object) -> int:
    inside = found.values() if isinstance(found, dict) else found if isinstance(found, list) else None
    return 0 if inside is None else 1 + max(map(depth_of, inside), default=0)


@given(ANYTHING, st.booleans())
def test_what_json_says_is_what_python_reads(found: object, plain: bool) -> None:
    text = json.dumps(found, ensure_ascii=plain)
    assert parse_json(text) == json.loads(text)


@given(ANYTHING, st.integers(0, 6))
def test_depth_is_counted_outside_of_strings_alone(found: object, depth: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "AT_ONCE", 3)
        assert is_too_deep(json.dumps(found).encode(), depth) == (depth_of(found) > depth)


@given(st.lists(PIECES).map("".join))
def test_what_is_no_json_is_a_value_error_and_nothing_else(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):
            parse_json(text)
    else:
        assert parse_json(text) == expected


HOSTILE = {
    "escaped quotes, never closed": '{"a":"' + '\\"' * 2_500_000,
    "quotes": '"' * 1_250_001,
    "backslashes": '"' + "\\" * 5_000_001,
    "brackets": "[" * 5_000_000,
    "brackets, closed again": "[" * 2_500_000 + "]" * 2_500_000,
    "empty lists": "[]" * 2_500_000,
    "as deep as is allowed": ("[" * DEPTH + "]" * DEPTH) * 10_000,
    "digits": "9" * 5_000_000 + "x",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_millions_of_letters_are_looked_through_once(case: str) -> None:
    """What met each byte again and again took a minute for a twentieth of this."""
    begin = time.process_time()
    with pytest.raises(ValueError):
        parse_json(HOSTILE[case])
    assert time.process_time() - begin < 10


def test_a_list_of_more_things_than_any_file_has_is_not_parsed() -> None:
    for text in ("[" + "[]," * THINGS + "0]", "[" + "0," * THINGS + "0]", '{"a":' * 10 + "[" + "{}," * THINGS):
        with pytest.raises(ValueError, match="lists more than 1,500,000 things"):
            parse_json(text)


@pytest.mark.parametrize("digits", [20, 21, 309, 4_301, 1_000_000])
def test_a_number_of_any_length_is_read(digits: int) -> None:
    found = parse_json("-" + "9" * digits)
    assert found == (-(10**digits) + 1 if digits < 20 else float("-" + "9" * digits))
    assert parse_json("12345678901234567890") == 12345678901234567890


def test_nothing_is_written_over_what_is_no_file_and_a_link_is_followed(tmp_path: Path) -> None:
    """As root a rename would take the place of /dev/full itself; here a pipe stands for all devices."""
    pipe, there = tmp_path / "pipe", tmp_path / "there.txt"
    os.mkfifo(pipe)
    (tmp_path / "folder").mkdir()
    links = {
        "to the pipe": pipe,
        "to a file": there,
        "to none": tmp_path / "new.txt",
        "to itself": tmp_path / "to itself",
    }
    for name, place in links.items():
        (tmp_path / name).symlink_to(place)
    for name in ("pipe", "folder", "to the pipe", "to itself"):
        with pytest.raises(UserError, match=f"{name}” is there and is no file"):
            write_whole({tmp_path / "other.txt": "a", tmp_path / name: "b"})
    there.write_text("old")
    write_whole({tmp_path / "to a file": "a", tmp_path / "to none": b"b"})
    assert there.read_text() == "a" and (tmp_path / "new.txt").read_text() == "b"
    assert stat.S_ISFIFO(pipe.stat().st_mode) and all((tmp_path / name).is_symlink() for name in links)
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "folder", "there.txt", "new.txt", *links}
