"""Files, and JSON out of files, which may be hostile: read only where it is a file, and up to a size and a depth.

Texts are written so that a half-written one never replaces a whole one. Knows nothing of what it writes or reads.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from microgpt.errors import N_, UserError

STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.S)  # one that is not closed goes on to the end: each byte is met once
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # as numbers of a byte: deeper by 1, or by -1
AT_ONCE = 1_000_000  # brackets
DEPTH = 40  # of files in use: a config.json has 3, a tokenizer.json 8
THINGS = 1_500_000  # the tokenizer.json of Llama 3 has a million
MOST_DIGITS = 20  # of a whole number that fits into 64 bits; Python reads longer ones in quadratic time


class Readable(Protocol):
    """A file that was handed over: its name without a folder, how many bytes it has, and some of these bytes."""

    name: str
    size: int
    changed: float  # milliseconds since 1970

    def read(self, start: int, stop: int) -> bytes: ...


def write_whole(files: Mapping[Path, str | bytes]) -> None:
    """Write each text or picture to its path, folders included. Each is written beside its place, then moved there."""
    waiting: dict[Path, Path] = {}
    path = Path()
    try:
        for path, text in files.items():
            place = place_of(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            beside = place.with_name(f".{place.name}.{os.getpid()}")
            waiting[beside] = place
            # not write_text: no platform's line endings
            beside.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        for beside, path in waiting.items():
            beside.replace(path)
    except OSError as error:
        raise UserError(
            "“%(path)s” cannot be written (%(why)s). Choose another place.", path=path, why=error.strerror
        ) from None
    finally:
        for beside in waiting:
            beside.unlink(missing_ok=True)


def place_of(path: Path) -> Path:
    """Where a text for that path is written: a link leads to its place. Raises UserError for what is there and no file.

    What is moved over a device, as root may, is a file from then on, for all programs.
    """
    place = Path(os.path.realpath(path))
    if os.path.lexists(place) and not stat.S_ISREG(os.lstat(place).st_mode):
        raise UserError(
            "“%(path)s” is there and is no file, so nothing is written to it. Choose another place.", path=path
        )
    return place


def open_file(path: Path) -> BinaryIO:
    """Open what is a file, for reading. Raises OSError for anything else.

    A pipe would be waited for, and a device read without end.
    """
    try:
        kind = os.stat(path).st_mode
    except ValueError:
        raise OSError(errno.EINVAL, "no file can be called that") from None
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
    return open(path, "rb")


def read_text(path: Path, most: int) -> str:
    """The text of a file of up to `most` bytes. Raises OSError, and UserError for what is no text, or a longer one."""
    with open_file(path) as file:
        too_long = os.fstat(file.fileno()).st_size > most
        data = b"" if too_long else file.read(most + 1)  # a file that grows, or has no size, is read no further
    if too_long or len(data) > most:
        sentence = N_("%(path)s is longer than the %(limit)s MB that are read of such a text.")
        raise UserError(sentence, path=path, limit=megabytes(most))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        why = f"byte {error.start} is not UTF-8"
        raise UserError("%(path)s cannot be read (%(why)s).", path=path, why=why) from None


def megabytes(n: int) -> str:
    """Bytes in whole megabytes, never too few: what a sentence about a limit names."""
    return f"{math.ceil(n / 1e6):,}"


def is_too_deep(data: bytes, depth: int = DEPTH) -> bool:
    """Whether brackets are nested deeper than that. Ends at the first that is."""
    steps, level = np.frombuffer(STRING.sub(b"", data).translate(STEPS, NO_BRACKETS), np.int8), 0
    for start in range(0, len(steps), AT_ONCE):
        levels = level + np.cumsum(steps[start : start + AT_ONCE], dtype=np.int32)
        if levels.max() > depth:
            return True
        level = levels[-1]
    return False


def parse_json(text: str) -> Any:
    """What a JSON text says. Raises ValueError, with the reason, for what is none or would cost too much."""
    text = text.removeprefix("\ufeff")  # a byte-order mark, as editors of Windows write it
    data = text.encode("utf-8", "replace")
    if sum(map(data.count, (b",", b"[", b"{"))) > THINGS:
        raise ValueError(f"it lists more than {THINGS:,} things")
    if is_too_deep(data):
        raise ValueError("its brackets are nested too deep")
    return json.loads(text, parse_int=number)


def number(text: str) -> float:
    """A number without a point, rounded where it has more digits than any that is counted with."""
    return int(text) if len(text) <= MOST_DIGITS else float(text)
