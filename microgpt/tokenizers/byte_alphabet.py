"""The byte alphabet: byte-level tokenizers write each of the 256 bytes as one letter that can be seen.

Those that cannot be seen get letters from 256 on, so a space is "Ġ". Knows bytes and letters; knows no tokens.
"""

from __future__ import annotations

import codecs

VISIBLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
HIDDEN = [byte for byte in range(256) if byte not in VISIBLE]
BYTES = {chr(byte): byte for byte in VISIBLE} | {chr(256 + i): byte for i, byte in enumerate(HIDDEN)}
LETTERS = {byte: letter for letter, byte in BYTES.items()}


def readable(piece: str, kinds: set[str]) -> str:
    """A piece as it reads in a text: byte-level ones ("Ġday") and those of SentencePiece ("▁day") are " day"."""
    if "ByteLevel" in kinds:
        known = all(letter in BYTES for letter in piece)
        return bytes(BYTES[letter] for letter in piece).decode("utf-8", "show bytes") if known else piece
    return piece.replace("▁", " ") if kinds & {"Metaspace", "Replace"} else piece


def show_bytes(error: UnicodeError) -> tuple[str, int]:
    """What stands for bytes that are no character: <0xE2>."""
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"<0x{byte:02X}>" for byte in error.object[error.start : error.end]), error.end


codecs.register_error("show bytes", show_bytes)
