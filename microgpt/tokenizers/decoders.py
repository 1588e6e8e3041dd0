"""Decoders: how a tokenizer puts the pieces of a text together again, one function for each type that a file may name.

Knows pieces; knows no ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from microgpt.tokenizers.byte_alphabet import BYTES
from microgpt.tokenizers.normalizers import replace
from microgpt.tokenizers.parts import Part, setting
from microgpt.tokenizers.pre_tokenizers import replacement, scheme_of

Decoder = Callable[[list[str]], list[str]]


def byte_level(part: Part) -> Decoder:
    """Letters to bytes, bytes to text."""

    def decode(pieces: list[str]) -> list[str]:
        raw = b"".join(
            bytes(BYTES[letter] for letter in piece) if all(letter in BYTES for letter in piece) else piece.encode()
            for piece in pieces
        )
        return [raw.decode("utf-8", "replace")]

    return decode


def byte_fallback(part: Part) -> Decoder:
    """Runs of tokens such as <0xE2> to the characters that they spell."""
    byte = re.compile("<0x([0-9A-F]{2})>")

    def decode(pieces: list[str]) -> list[str]:
        out: list[str] = []
        run: list[int] = []
        for piece in [*pieces, ""]:
            match = byte.fullmatch(piece)
            if match:
                run.append(int(match[1], 16))
                continue
            out += spell(bytes(run))
            run = []
            out.append(piece)
        return out[:-1]

    return decode


def spell(raw: bytes) -> list[str]:
    try:
        return [raw.decode()] if raw else []
    except UnicodeDecodeError:
        return ["\ufffd"] * len(raw)


def strip(part: Part) -> Decoder:
    content, start, stop = setting(part, "content", str), setting(part, "start", int), setting(part, "stop", int)
    if len(content) != 1 or start < 0 or stop < 0:
        raise ValueError(f"Strip is {part}")

    def one(piece: str) -> str:
        left = min(start, len(piece) - len(piece.lstrip(content)))
        piece = piece[left:]
        return piece[: len(piece) - min(stop, len(piece) - len(piece.rstrip(content)))]

    return lambda pieces: [one(piece) for piece in pieces]


def metaspace(part: Part) -> Decoder:
    mark, first = replacement(part), "" if scheme_of(part) != "never" else " "
    return lambda pieces: [piece.replace(mark, " " if i else first) for i, piece in enumerate(pieces)]


def replacer(part: Part) -> Decoder:
    change = replace(part)
    return lambda pieces: [change(piece) for piece in pieces]


DECODERS: dict[str, Callable[[Part], Decoder]] = {
    "ByteLevel": byte_level,
    "ByteFallback": byte_fallback,
    "Metaspace": metaspace,
    "Replace": replacer,
    "Strip": strip,
    "Fuse": lambda part: lambda pieces: ["".join(pieces)],
}
