"""Good files are read as the safetensors library reads them; all else ends in one sentence, soon, in little room."""

import struct
import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors import deserialize as untyped

from microgpt.checkpoints.safetensors import ALLOWED, META, Header, read_header
from microgpt.errors import UserError, printable
from tests.support.examples import examples
from tests.support.given.headers import entry, good_files, packed


def opened(file: bytes) -> Header:
    return read_header(lambda start, stop: file[start:stop], len(file))


def deserialize(file: bytes) -> list[tuple[str, dict[str, Any]]]:
    """What the library reads, or its SafetensorError."""
    found: list[tuple[str, dict[str, Any]]] = untyped(file)  # type: ignore[no-untyped-call]
    return found


@given(good_files())
def test_a_good_file_is_read_as_the_library_reads_it(file: bytes) -> None:
    ours = opened(file)
    theirs = dict(deserialize(file))
    assert {t.name: (t.dtype, list(t.shape), t.nbytes) for t in ours.tensors} == {
        name: (one["dtype"], one["shape"], len(one["data"])) for name, one in theirs.items()
    }
    assert ours.tensors == sorted(ours.tensors, key=lambda t: (t.start, t.stop))
    assert ours.size == len(file) and ours.length == struct.unpack("<Q", file[:8])[0]


TOKENS = st.sampled_from(
    [
        *b'[]{},:"\\-.0123456789eE \0\xff',
        b"null",
        b"true",
        b"NaN",
        b"-1",
        b"1e9",
        b"9" * 30,
        b'"dtype"',
        b'"a":',
        b"\\ud800",
        b"[[",
        b'"F4"',
        b"\xe2\x80\xae",
    ]
)


@st.composite
def broken_files(draw: st.DrawFn) -> bytes:
    """A good file in which a few bytes were changed, put in or taken out; the length is set right again, or is not."""
    file = bytearray(draw(good_files()))
    for _ in range(draw(st.integers(1, 4))):
        token = draw(TOKENS)
        piece = bytes([token]) if isinstance(token, int) else token
        at = draw(st.integers(0, len(file)))
        file[at : at + draw(st.integers(0, 3))] = piece
    if draw(st.booleans()) and len(file) > 8:
        end = file.rfind(b"}") + 1 or len(file)
        file[:8] = struct.pack("<Q", max(0, end - 8))
    return bytes(file)


@settings(max_examples=examples(400))
@given(st.one_of(st.binary(max_size=200), st.binary(max_size=60).map(packed), broken_files()))
@example(b"")
@example(packed(b""))
@example(packed(b"{}"))
def test_any_bytes_give_a_header_or_one_sentence(file: bytes) -> None:
    """And what we read, the library reads too: nothing is let through that it refuses."""
    try:
        found = opened(file)
    except UserError as error:
        said = str(error)
        assert said.endswith(".") and "\n" not in said and said.isprintable() and len(said) < 600
    else:
        assert len(deserialize(file)) == len(found.tensors)


WRONG = {  # and what tests/support/hostile.py has of headers
    "length": (packed(b"{}", length=99), "99 bytes long, but only 2 follow"),
    "allowed": (packed(b"{}", length=ALLOWED + 1), "only 2 follow"),
    "empty": (packed(b""), "not JSON"),
    "utf-8": (packed(b'{"\xff": 1}'), "byte 2"),
    "JSON": (packed(b'{"a" 1}'), "not JSON"),
    "list": (packed(b"[1]"), "something else"),
    "deep": (packed(b"[" * 200_000 + b"]" * 200_000), "nested"),
    "field twice": (packed(b'{"a": {"dtype": "U8", "dtype": "U8"}}'), "“dtype” twice"),
    "no entry": (packed({"a": 3}), "“a” must be an object"),
    "type": (packed({"a": entry("Q4_K")}, b"1"), "Q4_K; the format knows BOOL"),
    "negative": (packed({"a": entry(shape=[-1])}, b"1"), "[-1]"),
    "minus nothing": (packed(b'{"a": {"dtype": "U8", "shape": [-0], "data_offsets": [0, 0]}}'), "[-0.0]"),
    "boolean": (packed({"a": entry(shape=[True])}, b"1"), "[True]"),
    "huge": (packed(b'{"a": {"dtype": "U8", "shape": [%s], "data_offsets": []}}' % (b"9" * 10**5), b"1"), "[inf]"),
    "size": (packed({"a": entry("F32", [2])}, b"1"), "64 bits, but its range has 1 bytes"),
    "three": (packed({"a": {**entry(), "data_offsets": [0, 1, 1]}}, b"1"), "two whole numbers"),
    "overlap": (packed({"a": entry(), "b": entry()}, b"1"), "“b” begins at byte 0 of the numbers, but “a” ends at 1"),
    "gap": (packed({"a": entry(), "b": entry(start=2, stop=3)}, b"123"), "a gap"),
    "short": (packed({"a": entry()}), "a part is missing"),
    "long": (packed({"a": entry()}, b"12"), "end after 1 bytes, but the file has 2"),
    "bidi": (packed({"a\u202eb": 1}), r"a\u202eb"),
    "control": (packed({"a\n\x1b[31m": 1}), r"a\n\x1b[31m"),
    "words": (packed({META: {"a": 1}}), "object of texts"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(case: str) -> None:
    file, says = WRONG[case]
    with pytest.raises(UserError) as caught:
        opened(file)
    assert says in str(caught.value)
    if case != "field twice":  # of which the library takes the last
        with pytest.raises(SafetensorError):
            deserialize(file)


@settings(max_examples=examples(100))
@given(broken_files())
def test_a_small_header_needs_little_memory(file: bytes) -> None:
    tracemalloc.start()
    try:
        opened(file)
    except UserError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 100_000 + 60 * len(file)


def test_only_the_header_is_read() -> None:
    asked: list[tuple[int, int]] = []
    file = packed({"a": entry(shape=[1000], stop=1000)}, bytes(1000))

    def read(start: int, stop: int) -> bytes:
        asked.append((start, stop))
        return file[start:stop]

    read_header(read, len(file))
    assert asked == [(0, 8), (8, len(file) - 1000)]


def test_names_are_shown_so_that_they_cannot_deceive() -> None:
    assert printable("h.0.attn.c_attn.weight") == "h.0.attn.c_attn.weight"
    assert printable("a\u202e\u2066\0\x1b\ud800 b") == "a\\u202e\\u2066\\x00\\x1b\\ud800 b"
    assert len(printable("x" * 10**6)) == 81
