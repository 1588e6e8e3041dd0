"""How a tokenizer puts the pieces of a text together again: what each type of step in a tokenizer.json's decoder does.

Knows pieces; knows no ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from microgpt.checkpoint_tokenizer import BYTES
from microgpt.cutting import Part, replace, replacement, scheme_of, setting

Join = Callable[[list[str]], list[str]]


def from_letters(part: Part) -> Join:
    """Letters to bytes, bytes to text."""

    def join(pieces: list[str]) -> list[str]:
        raw = b"".join(
            bytes(BYTES[letter] for letter in piece) if all(letter in BYTES for letter in piece) else piece.encode()
            for piece in pieces
        )
        return [raw.decode("utf-8", "replace")]

    return join


def from_bytes(part: Part) -> Join:
    """Runs of tokens such as <0xE2> to the characters that they spell."""
    byte = re.compile("<0x([0-9A-F]{2})>")

    def join(pieces: list[str]) -> list[str]:
        out: list[str] = []
        run: list[int] = []
        for piece in [*pieces, ""]:
            match = byte.fullmatch(piece)
            if match:
                run.append(int(match[1], 16))
                continue
            out += spelled(bytes(run))
            run = []
            out.append(piece)
        return out[:-1]

    return join


def spelled(raw: bytes) -> list[str]:
    try:
        return [raw.decode()] if raw else []
    except UnicodeDecodeError:
        return ["\ufffd"] * len(raw)


def strip(part: Part) -> Join:
    content, start, stop = setting(part, "content", str), setting(part, "start", int), setting(part, "stop", int)
    if len(content) != 1 or start < 0 or stop < 0:
        raise ValueError(f"Strip is {part}")

    def one(piece: str) -> str:
        left = min(start, len(piece) - len(piece.lstrip(content)))
        piece = piece[left:]
        return piece[: len(piece) - min(stop, len(piece) - len(piece.rstrip(content)))]

    return lambda pieces: [one(piece) for piece in pieces]


def from_metaspace(part: Part) -> Join:
    mark, first = replacement(part), "" if scheme_of(part) != "never" else " "
    return lambda pieces: [piece.replace(mark, " " if i else first) for i, piece in enumerate(pieces)]


def replaced(part: Part) -> Join:
    change = replace(part)
    return lambda pieces: [change(piece) for piece in pieces]


DECODERS: dict[str, Callable[[Part], Join]] = {
    "ByteLevel": from_letters,
    "ByteFallback": from_bytes,
    "Metaspace": from_metaspace,
    "Replace": replaced,
    "Strip": strip,
    "Fuse": lambda part: lambda pieces: ["".join(pieces)],
}
