"""A drawing that moves, as frames of few colours: its states, and what travels from one to the next.

What changed without a name changes at once. What has a name and is new comes from somewhere: a picture of its source
travels to its place (`Group.came`), and then it stands there. Knows no browser and no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.viz.drawing.kit.paint import ANCHORS, SMALL, attributes
from microgpt.viz.drawing.kit.pieces import Group, Piece, Rect, Text
from microgpt.viz.drawing.kit.svg import Film, Shot
from microgpt.viz.drawing.kit.words import extent
from microgpt.viz.drawing.strips import alike

RATE = 12.5  # frames a second where something travels: a GIF counts in hundredths of a second
STEPS = 6  # frames of a way, with that of its end
APART = 3  # frames between two that come one after the other
COLOURS = 255  # of a palette of 256: one is left for what stays as it was


class Frame(NamedTuple):
    """Pixels [height, width], as places in the palette, and how long they stand."""

    pixels: Array
    seconds: float


class Place(NamedTuple):
    """Where something stands, in pixels: a box between two corners."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def size(self) -> tuple[int, int]:
        return self.right - self.left, self.bottom - self.top

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def within(self, other: Place) -> Place:
        """The middle of it, as large as the other where it is larger."""
        x, y = (max(0, a - b) // 2 for a, b in zip(self.size, other.size, strict=True))
        return Place(self.left + x, self.top + y, self.right - x, self.bottom - y)


class Way(NamedTuple):
    """A newcomer's place, the pictures that travel there, and where each begins and ends."""

    to: Place
    pictures: list[Array]
    ends: list[tuple[Place, Place]]


def frames(film: Film, paint: Callable[[Shot], Array], scale: float) -> tuple[Array, Iterator[Frame]]:
    """The palette [n, 3], and the frames; `paint` gives the pixels of a state, [height, width, 3] in 8 bits."""
    palette, states = in_few_colours(map(paint, film.shots))
    return palette, play(film.shots, states, palette, scale)


def play(shots: Sequence[Shot], states: Sequence[Array], palette: Array, scale: float) -> Iterator[Frame]:
    yield Frame(states[0], shots[0].seconds)
    for (one, other), (old, new) in zip(pairwise(shots), pairwise(states), strict=True):
        ways = ways_between(by_name(one.pieces), by_name(other.pieces), old, new, scale, other.slow)
        yield from (Frame(pixels, 1 / RATE) for pixels in change(old, new, ways, palette, APART * other.slow))
        yield Frame(new, other.seconds)


def change(old: Array, new: Array, ways: Sequence[Way], palette: Array, apart: int) -> Iterator[Array]:
    """The pictures between two states; a way begins `apart` frames after the one before it."""
    if not ways:
        yield blend(old, new, palette)
        return
    shown = new.copy()
    for way in ways:  # nothing stands there before it has come
        put(shown, old[part(way.to)], way.to)
    for at in range(STEPS - 1 + apart * (len(ways) - 1)):
        picture = shown.copy()
        for i, way in enumerate(ways):
            done = at - apart * i + 1
            if done == STEPS:
                put(shown, new[part(way.to)], way.to)
                put(picture, new[part(way.to)], way.to)
            elif 0 < done < STEPS:
                for image, (start, end) in zip(way.pictures, way.ends, strict=True):
                    put(picture, image, between(start, end, done / STEPS))
        yield picture


def between(start: Place, end: Place, done: float) -> Place:
    """Where something that has `start` as its size is on its way, slow at both ends."""
    eased = done * done * (3 - 2 * done)
    x, y = (round(eased * (b - a)) for a, b in zip(start.middle, end.middle, strict=True))
    return Place(start.left + x, start.top + y, start.right + x, start.bottom + y)


def part(place: Place) -> tuple[slice, slice]:
    return slice(place.top, place.bottom), slice(place.left, place.right)


def put(picture: Array, image: Array, place: Place) -> None:
    picture[part(place)] = image


# ---- what has a name ------------------------------------------------------------------------------


class Named(NamedTuple):
    """A group with a name: where it stands, in the drawing's units, and what is said of its coming."""

    box: tuple[float, float, float, float]
    came: str
    way: str


def by_name(pieces: Iterable[Piece], x: float = 0, y: float = 0, scale: float = 1) -> dict[str, Named]:
    found: dict[str, Named] = {}
    for piece in pieces:
        if isinstance(piece, Group):
            at = x + scale * piece.x, y + scale * piece.y, scale * piece.scale
            found |= by_name(piece.pieces, *at)
            if piece.key:
                found[piece.key] = Named(extent_of(piece.pieces, *at), piece.came, piece.way)
    return found


def extent_of(pieces: Iterable[Piece], x: float, y: float, scale: float) -> tuple[float, float, float, float]:
    """From where to where they reach; lines do not count."""
    boxes = []
    for piece in pieces:
        match piece:
            case Rect():
                boxes.append((piece.x, piece.y, piece.x + piece.w, piece.y + piece.h))
            case Text(left, base, runs, kind):
                size = int(attributes(kind).get("font-size", SMALL))
                width = sum(extent(run.text, size, f"{kind} {run.kind}") for run in runs)
                left -= ANCHORS.get(attributes(kind).get("text-anchor", ""), 0.0) * width
                boxes.append((left, base - size, left + width, base + 0.3 * size))
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return x + scale * min(lefts), y + scale * min(tops), x + scale * max(rights), y + scale * max(bottoms)


def ways_between(
    one: dict[str, Named], other: dict[str, Named], old: Array, new: Array, scale: float, slow: bool
) -> list[Way]:
    """Of everything new, in the order in which it is drawn. If not `slow`, only what stood there before travels, and
    the rest waits for it."""
    height, width = new.shape

    def at(name: str) -> Place:
        left, top, right, bottom = (other.get(name) or one[name]).box
        low = int(max(0, scale * left - 1)), int(max(0, scale * top - 1))
        return Place(*low, min(width, int(scale * right + 2)), min(height, int(scale * bottom + 2)))

    found = []
    for name, here in other.items():
        if name in one or not here.came:
            continue
        sources = [source for source in here.came.split() if source in one or (slow and source in other)]
        if here.way and not slow:
            sources = []
        to, pictures, ends = at(name), [], []
        for source in sources:
            start, *_, end = map(at, here.way.split() if here.way else (source, name))
            picture = at(source) if here.way else at(source).within(to)
            pictures.append((old if source in one else new)[part(picture)])
            ends.append((picture_at(picture, start), end))
        found.append(Way(to, pictures, ends))
    return found


def picture_at(picture: Place, start: Place) -> Place:
    """A box of the picture's size whose middle is that of `start`."""
    x, y = (round(b - a) for a, b in zip(picture.middle, start.middle, strict=True))
    return Place(picture.left + x, picture.top + y, picture.right + x, picture.bottom + y)


# ---- colours --------------------------------------------------------------------------------------


def in_few_colours(pictures: Iterable[Array]) -> tuple[Array, list[Array]]:
    """The colours that cover the most, [n, 3], and each picture [height, width, 3] by its places in them."""
    as_runs, shape = [], (0, 0)
    for picture in pictures:
        shape = picture.shape[:2]
        red, green, blue = (picture[..., i].ravel().astype(np.uint32) for i in range(3))
        packed = red << 16 | green << 8 | blue
        starts, lengths = alike(packed)
        as_runs.append((packed[starts], lengths))
    colours, where = np.unique(np.concatenate([colour for colour, _ in as_runs]), return_inverse=True)
    area = np.bincount(where, np.concatenate([length for _, length in as_runs]))
    split = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], 1).astype(np.int32)
    palette = split[np.sort(np.argsort(-area, kind="stable")[:COLOURS])]
    place = nearest(split, palette)
    found, at = [], 0
    for colour, lengths in as_runs:
        found.append(np.repeat(place[where[at : at + len(colour)]], lengths).reshape(shape))
        at += len(colour)
    return palette.astype(np.uint8), found


def nearest(colours: Array, palette: Array) -> Array:
    """For each of `colours` [m, 3] the place of the nearest in the palette."""
    near: Array = np.array(
        [np.square(palette - colour).sum(1).argmin() for colour in colours.astype(np.int32)], np.uint8
    )
    return near


def blend(old: Array, new: Array, palette: Array) -> Array:
    """Half of each, in the palette's colours."""
    found, changed = new.copy(), old != new
    pairs, where = np.unique(old[changed].astype(np.uint16) << 8 | new[changed], return_inverse=True)
    whole = palette.astype(np.int32)
    found[changed] = nearest((whole[pairs >> 8] + whole[pairs & 255]) // 2, whole)[where]
    return found
