"""Writes frames as a GIF: each but the first as what it changes, packed by LZW. Knows no figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import pack

import numpy as np

from microgpt.config import Array
from microgpt.viz.drawing.kit.film import COLOURS, Frame
from microgpt.viz.drawing.strips import alike

SAME = COLOURS  # what is drawn so stays as it was
PIXEL_BITS, MOST_BITS = 8, 12  # of a pixel; of a code, at most
CLEAR, END = 1 << PIXEL_BITS, (1 << PIXEL_BITS) + 1
BLOCK = 255  # bytes


def gif(palette: Array, frames: Iterable[Frame]) -> Iterator[bytes]:
    """The file, in pieces as they are made. It plays again and again; what changes nothing lengthens what is there."""
    frames = iter(frames)
    pixels, seconds = next(frames)
    (height, width), table = pixels.shape, np.zeros((1 << PIXEL_BITS, 3), np.uint8)
    table[: len(palette)] = palette
    yield b"GIF89a" + pack("<HHBBB", width, height, 0xF0 | PIXEL_BITS - 1, 0, 0) + table.tobytes()
    yield b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"  # without an end
    drawn = image(pixels, None)
    for after, lasts in frames:
        if (after == pixels).all():
            seconds += lasts
            continue
        yield control(seconds) + drawn
        drawn, pixels, seconds = image(after, pixels), after, lasts
    yield control(seconds) + drawn + b";"


def control(seconds: float) -> bytes:
    """What stands before a picture: how long it is shown, on top of what was there."""
    return pack("<BBBBHBB", 0x21, 0xF9, 4, 0b101, round(100 * seconds), SAME, 0)


def image(pixels: Array, before: Array | None) -> bytes:
    """A frame where it changes what was there: the place, and its pixels in blocks."""
    if before is not None:
        changed = before != pixels
        rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
        top, left = rows[0], columns[0]
        area = slice(top, rows[-1] + 1), slice(left, columns[-1] + 1)
        pixels = np.where(changed[area], pixels[area], SAME)
    else:
        top = left = 0
    data = lzw(pixels.astype(np.uint8).ravel())
    blocks = [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]
    body = b"".join(bytes([len(block)]) + block for block in blocks)
    return pack("<BHHHHBB", 0x2C, left, top, pixels.shape[1], pixels.shape[0], 0, PIXEL_BITS) + body + b"\0"


def lzw(pixels: Array) -> bytes:
    """Codes of 9 to 12 bits. A long run of one pixel costs as many steps as it gives codes."""
    starts, lengths = alike(pixels)
    codes, sizes, bits = [CLEAR], [PIXEL_BITS + 1], PIXEL_BITS + 1
    known, chains, code = dict[int, int](), dict[int, list[int]](), -1  # chains: of a pixel, the codes of 1, 2, 3 of it
    for pixel, left in zip(pixels[starts].tolist(), lengths.tolist(), strict=True):
        while left:
            if code < 0:  # a string begins: as much of the run as is known
                chain = chains.setdefault(pixel, [pixel])
                taken = min(left, len(chain))
                code, left = chain[taken - 1], left - taken
            elif (longer := known.get(code << PIXEL_BITS | pixel)) is not None:
                code, left = longer, left - 1
            else:
                codes.append(code)
                sizes.append(bits)
                new = known[code << PIXEL_BITS | pixel] = END + 1 + len(known)
                if pixel in chains and chains[pixel][-1] == code:
                    chains[pixel].append(new)
                bits += new == 1 << bits
                if new == (1 << MOST_BITS) - 1:
                    codes.append(CLEAR)
                    sizes.append(bits)
                    known, chains, bits = {}, {}, PIXEL_BITS + 1
                code = -1
    last = bits + (END + 1 + len(known) == 1 << bits < 1 << MOST_BITS)
    return in_bits([*codes, code, END], [*sizes, bits, last])


def in_bits(codes: list[int], sizes: list[int]) -> bytes:
    """Numbers one after the other, each from its lowest bit."""
    number, size = np.array(codes), np.array(sizes)
    at = np.cumsum(size) - size
    found = np.zeros(size.sum(), np.uint8)
    for bit in range(MOST_BITS):
        some = size > bit
        found[at[some] + bit] = number[some] >> bit & 1
    return np.packbits(found, bitorder="little").tobytes()
