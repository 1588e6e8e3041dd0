"""What a build has written: its files, where its pages lead, how large its pictures are."""

import re
import struct
from pathlib import Path

from tests.support.markup import inward

REFERENCE = re.compile(r'\b(?:href|src|srcset|data-go|action)="([^"]*)"|url\(["\']?([^)"\']*)|@import')


def tree(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def leads(html: str) -> list[str]:
    """Where a page leads that is not in it; the links to what it rests on are left out. An @import is ""."""
    found = ["".join(each) for each in REFERENCE.findall(inward(html))]
    assert found, "no page leads nowhere"
    return [each for each in found if not each.startswith(("#", "data:"))]


def png_size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height
