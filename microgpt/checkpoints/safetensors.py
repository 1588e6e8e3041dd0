"""The header of a .safetensors file: names, shapes, types and places of its tensors. The numbers are never read.

    read_header(read, size)     read(start, stop) gives bytes of the file, of which there are `size`

The format: eight bytes say how long the header is, then the header in JSON, then the numbers. A file may come from
anyone, so whatever is wrong with it ends in a UserError, soon and in little memory. Knows the standard library alone,
and not what a tensor is for (names.py).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from microgpt.errors import N_, UserError, printable
from microgpt.files import is_too_deep

BITS = {  # of one number; all types that safetensors 0.8 knows
    dtype: bits
    for bits, dtypes in {
        8: "BOOL U8 I8 F8_E5M2 F8_E4M3 F8_E5M2FNUZ F8_E4M3FNUZ F8_E8M0",
        16: "U16 I16 F16 BF16",
        32: "U32 I32 F32",
        64: "U64 I64 F64 C64",
        6: "F6_E2M3 F6_E3M2",
        4: "F4",
    }.items()
    for dtype in dtypes.split()
}
PREFIX = 8  # bytes that hold the length
ALLOWED = 100_000_000  # the longest header that the format allows
LONGEST_HEADER = 10_000_000  # the longest that is read here
TENSORS = 20_000  # the most that are read here. DeepSeek-V3 has 91,991, in 163 files; 128 experts in 48 layers: 18,867
COMMAS = 200_000  # the most values in it, about: of a tensor, six or seven
DEPTH = 4  # an object of objects of lists has three levels
SIDES = 32  # the most sides of one tensor
MOST_LETTERS = 1_000  # the most of a tensor's name; those in use have a hundred
META = "__metadata__"
SURROGATE = re.compile("[\ud800-\udfff]")  # of a character
FOREIGN = {  # how other files begin that are taken for one of these
    b"PK\x03\x04": N_("a zip archive, as .npz, .bin and .pt files are"),
    b"GGUF": N_("a GGUF file"),
    b"version ": N_("a pointer of Git LFS to the file, not the file"),
    b"<!DOCTYP": N_("a web page"),
    b"\x89HDF": N_("an HDF5 file"),
}

Read = Callable[[int, int], bytes]


class Tensor(NamedTuple):
    """One tensor. `start` and `stop` are where its bytes are, counted from the end of the header."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.stop - self.start


class Header(NamedTuple):
    """All that a file says of itself: its tensors in the order of their bytes."""

    length: int  # of the JSON
    size: int  # of the file
    tensors: list[Tensor]
    metadata: dict[str, str]


def read_header(read: Read, size: int) -> Header:
    """The header of a file of `size` bytes. Raises UserError, one sentence, for a file that is not as it should be."""
    if size < PREFIX:
        raise UserError(
            "The file has %(size)s bytes; a safetensors file begins with eight that say how long its header is.",
            size=size,
        )
    first = read(0, PREFIX)
    length = int.from_bytes(first, "little")
    if length > size - PREFIX:
        for start, kind in FOREIGN.items():
            if first.startswith(start):
                raise UserError("This is not a safetensors file: it begins like %(kind)s.", kind=kind)
        raise UserError(
            "The header is said to be %(length)s bytes long, but only %(left)s follow: this is not a safetensors "
            "file, or a part of it is missing.",
            length=format(length, ","),
            left=format(size - PREFIX, ","),
        )
    for limit, message in (
        (ALLOWED, N_("The header is %(length)s bytes long; the format allows %(limit)s.")),
        (LONGEST_HEADER, N_("The header is %(length)s bytes long; headers of up to %(limit)s are read here.")),
    ):
        if length > limit:
            raise UserError(message, length=format(length, ","), limit=format(limit, ","))
    found = parse_header(read(PREFIX, PREFIX + length))
    metadata = texts(found.pop(META, None))
    check_count(len(found))
    tensors = sorted((tensor(name, about) for name, about in found.items()), key=lambda t: (t.start, t.stop))
    check_cover(tensors, size - PREFIX - length)
    return Header(length, size, tensors, metadata)


# ---- JSON that may be hostile ---------------------------------------------------------------------


def parse_header(data: bytes) -> dict[str, Any]:
    """The object that `data` is in JSON; what would cost much time or memory is refused before it is parsed."""
    check_count(data.count(b'"data_offsets"'))
    if max(data.count(b","), data.count(b"[")) > COMMAS or data.count(b'"') > 3 * COMMAS:
        raise UserError(
            "The header lists more than %(limit)s things; no more are read here.", limit=format(COMMAS, ",")
        )
    if is_too_deep(data, DEPTH):
        raise UserError("The header is not an object of tensors: its brackets are nested too deep.")
    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=unique, parse_int=parse_whole)
    except UnicodeDecodeError as error:
        raise UserError("The header is not UTF-8 text: byte %(at)s is wrong.", at=error.start) from None
    except json.JSONDecodeError as error:
        raise UserError("The header is not JSON: %(why)s at character %(at)s.", why=error.msg, at=error.pos) from None
    if not isinstance(found, dict):
        raise UserError("The header is not an object with one entry a tensor, but something else in JSON.")
    return found


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON in which each name stands once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise UserError("The header names “%(name)s” twice; each name may stand once.", name=printable(twice))
    return found


def parse_whole(text: str) -> float:
    """A number without a point. A long one costs much time to read, and is no size of anything: it stays infinite."""
    return math.inf if len(text) > 20 else -0.0 if text == "-0" else int(text)


# ---- what it says ---------------------------------------------------------------------------------


def texts(found: Any) -> dict[str, str]:
    """The free words that a file may bring: text by name."""
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise UserError("“%(name)s” must be an object of texts.", name=META)
    for text in [*found, *found.values()]:
        if SURROGATE.search(text):
            raise UserError("“%(name)s” holds half of a character.", name=META)
    return found


def check_count(n: int) -> None:
    """Raise UserError for more tensors than a page has time for."""
    if n > TENSORS:
        raise UserError(
            "There are %(n)s tensors; up to %(limit)s are read at a time, more than a file of a model in use has.",
            n=format(n, ","),
            limit=format(TENSORS, ","),
        )


def tensor(name: str, about: Any) -> Tensor:
    """One entry of the header, checked by itself."""
    if len(name) > MOST_LETTERS:
        raise wrong(N_("The name “%(name)s” has %(n)s letters; a tensor’s name may have up to %(limit)s."), name)
    if SURROGATE.search(name):
        raise wrong(N_("The name “%(name)s” holds half of a character."), name)
    if not isinstance(about, dict) or not {"dtype", "shape", "data_offsets"} <= about.keys():
        raise wrong(N_("“%(name)s” must be an object with dtype, shape and data_offsets."), name)
    dtype, shape, place = said = about["dtype"], about["shape"], about["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BITS:
        raise wrong(N_("“%(name)s” is of the type %(dtype)s; the format knows %(known)s."), name, *said)
    if not counts(shape) or len(shape) > SIDES:
        of_shape = N_(
            "“%(name)s” has the shape %(shape)s; it must be a list of up to %(most)s whole numbers from 0 up."
        )
        raise wrong(of_shape, name, *said)
    if not counts(place) or len(place) != 2 or place[0] > place[1]:
        two = N_("“%(name)s” has the data_offsets %(range)s; they must be two whole numbers, the smaller one first.")
        raise wrong(two, name, *said)
    start, stop = place
    bits = BITS[dtype] * math.prod(shape)
    if bits != 8 * (stop - start) or BITS[dtype] * math.prod(side or 1 for side in shape) >= 2**64:
        raise UserError(
            "“%(name)s” has the shape %(shape)s in %(dtype)s, which is %(bits)s bits, but its range has "
            "%(nbytes)s bytes.",
            name=printable(name),
            shape=quote(shape),
            dtype=dtype,
            bits=format(bits, ",") if bits < 2**67 else "2^67…",
            nbytes=format(stop - start, ","),
        )
    return Tensor(name, dtype, tuple(shape), start, stop)


def wrong(message: str, name: str, dtype: Any = "", shape: Any = "", place: Any = "") -> UserError:
    """What is said of an entry of the header, its values as they stand there."""
    values = {"dtype": quote(dtype), "shape": quote(shape), "range": quote(place), "known": ", ".join(BITS)}
    n, limit = format(len(name), ","), format(MOST_LETTERS, ",")
    return UserError(message, name=printable(name), n=n, limit=limit, most=SIDES, **values)


def counts(found: Any) -> bool:
    """Whether it is a list of whole numbers from 0 up that fit into 64 bits. True and false are none."""
    if not isinstance(found, list) or set(map(type, found)) - {int}:
        return False
    return not found or (min(found) >= 0 and max(found) < 2**64)


def quote(found: Any) -> str:
    """What stands there, short enough for a sentence."""
    if isinstance(found, list):
        found = found[:SIDES]
    text = str(found)
    return printable(text if len(text) <= 60 else text[:60] + "…")


def check_cover(tensors: list[Tensor], room: int) -> None:
    """The ranges follow each other from the end of the header to the end of the file, without gap or overlap."""
    at, before = 0, ""
    for one in tensors:
        if one.start != at:
            gap = N_("“%(name)s” begins at byte %(start)s of the numbers, but what is before it ends at %(at)s: a gap.")
            lap = N_("“%(name)s” begins at byte %(start)s of the numbers, but “%(before)s” ends at %(at)s: an overlap.")
            raise UserError(
                gap if one.start > at else lap,
                name=printable(one.name),
                start=format(one.start, ","),
                at=format(at, ","),
                before=printable(before),
            )
        at, before = one.stop, one.name
    if at != room:
        short = N_("The tensors need %(at)s bytes, but the file has %(room)s after its header: a part is missing.")
        more = N_("The tensors end after %(at)s bytes, but the file has %(room)s after its header.")
        raise UserError(short if at > room else more, at=format(at, ","), room=format(room, ","))
