"""Writes encoded pictures as a WebM: clusters, each from a key picture on (RFC 8794 and 9559). Knows no browser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from struct import pack
from typing import NamedTuple

from microgpt.viz.drawing.kit.film import Frame

EBML, SEGMENT, INFO, TRACKS, CLUSTER = (
    bytes.fromhex(name) for name in ("1a45dfa3", "18538067", "1549a966", "1654ae6b", "1f43b675")
)
VERSIONS = ("4286", 1), ("42f7", 1), ("42f2", 4), ("42f3", 8), ("4287", 2), ("4285", 2)  # of EBML, and of what is in it
MILLISECOND = 1_000_000  # nanoseconds
LONGEST = 32_767  # milliseconds that a cluster can count
KEY = 0x80
FAR, STILL = 8_000, 1_000  # milliseconds between two keys, at least; that a picture stands before it is told again


class Chunk(NamedTuple):
    """A picture as encoded, when it comes (milliseconds), and whether it can be drawn without those before it."""

    data: bytes
    time: int
    key: bool


def moments(frames: Iterable[Frame]) -> Iterator[tuple[Frame, int, int, bool]]:
    """What to encode: a frame, when it comes and goes, in milliseconds, and whether it must be a key."""
    seconds, keyed = 0.0, -FAR
    for frame in frames:
        begin, seconds = round(1000 * seconds), seconds + frame.seconds
        for time in range(begin, end := round(1000 * seconds), STILL):
            key = time - keyed >= FAR
            keyed = time if key else keyed
            yield frame, time, min(end, time + STILL), key


def webm(chunks: Sequence[Chunk], width: int, height: int, milliseconds: int) -> bytes:
    """The file, of chunks in VP9. The first must be a key."""
    kind = element(b"\x42\x82", b"webm")
    head = element(EBML, kind, *(whole_element(bytes.fromhex(name), value) for name, value in VERSIONS))
    unit, length = whole_element(b"\x2a\xd7\xb1", MILLISECOND), element(b"\x44\x89", pack(">d", milliseconds))
    info = element(INFO, unit, length, *(element(name, b"microgpt") for name in (b"\x4d\x80", b"\x57\x41")))
    video = element(b"\xe0", whole_element(b"\xb0", width), whole_element(b"\xba", height))
    # its number, twice, and that it is a video
    about = (whole_element(name, 1) for name in (b"\xd7", b"\x73\xc5", b"\x83"))
    tracks = element(TRACKS, element(b"\xae", *about, element(b"\x86", b"V_VP9"), video))
    return head + element(SEGMENT, info, tracks, *clusters(chunks))


def clusters(chunks: Sequence[Chunk]) -> list[bytes]:
    """From key to key."""
    starts = [at for at, chunk in enumerate(chunks) if chunk.key]
    found = []
    for start, stop in zip(starts, [*starts[1:], len(chunks)], strict=True):
        begin = chunks[start].time
        assert chunks[stop - 1].time - begin <= LONGEST
        blocks = (
            element(b"\xa3", b"\x81", pack(">hB", chunk.time - begin, KEY * chunk.key), chunk.data)
            for chunk in chunks[start:stop]
        )
        found.append(element(CLUSTER, whole_element(b"\xe7", begin), *blocks))
    return found


def element(name: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return name + pack(">Q", len(body) | 1 << 56) + body  # a size of eight bytes, whose first bits say so


def whole_element(name: bytes, value: int) -> bytes:
    return element(name, value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big"))
