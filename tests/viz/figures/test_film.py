"""Films: every state of a figure, what travels between two of them, and the files that they are written to."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from struct import unpack_from

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.config import Array
from microgpt.viz.drawing.kit import film as kit
from microgpt.viz.drawing.kit.film import COLOURS, STEPS, Frame, in_few_colours
from microgpt.viz.drawing.kit.gif import gif
from microgpt.viz.drawing.kit.pieces import Sheet
from microgpt.viz.drawing.kit.svg import Drawing, Film, Shot
from microgpt.viz.drawing.kit.webm import FAR, STILL, Chunk, moments, webm
from microgpt.viz.figures import film
from microgpt.viz.settings import Settings
from tests.support.examples import examples

PAPER, INK = (255, 255, 255), (0, 98, 163)


def pictures(data: bytes) -> Iterator[tuple[Array, int]]:
    """What a reader shows of a GIF, and for how many hundredths of a second."""
    width, height = unpack_from("<HH", data, 6)
    palette = np.frombuffer(data, np.uint8, 768, 13).reshape(256, 3)
    at, shown = 13 + 768 + 19, np.zeros((height, width, 3), np.uint8)
    while data[at] != 0x3B:
        delay, clear = unpack_from("<HB", data, at + 4)
        left, top, wide, high = unpack_from("<HHHH", data, at + 9)
        at, body = at + 19, b""
        while size := data[at]:
            body, at = body + data[at + 1 : at + 1 + size], at + 1 + size
        at += 1
        pixels = np.frombuffer(unpacked(body), np.uint8).reshape(high, wide)
        shown = shown.copy()
        shown[top : top + high, left : left + wide][pixels != clear] = palette[pixels[pixels != clear]]
        yield shown, delay


def unpacked(body: bytes) -> bytes:
    number, at, bits, strings, before, found = int.from_bytes(body, "little"), 0, 9, list[bytes](), b"", b""
    while (code := number >> at & (1 << bits) - 1) != 257:
        at += bits
        if code == 256:
            strings, bits, before = [*(bytes([i]) for i in range(256)), b"", b""], 9, b""
            continue
        string = strings[code] if code < len(strings) else before + before[:1]
        if before:
            strings.append(before + string[:1])
        bits = max(bits, min(12, len(strings).bit_length()))
        before, found = string, found + string
    return found


@settings(max_examples=examples(30))
@given(seed=st.integers(0, 2**32 - 1), run=st.sampled_from([1, 9, 5000]))
def test_a_gif_holds_its_frames_and_how_long_they_stand(seed: int, run: int) -> None:
    rng = np.random.default_rng(seed)
    shape, colours = tuple(rng.integers(1, 70, 2)), int(rng.integers(1, 256))
    told = []
    for _ in range(4):
        pixels = np.repeat(rng.integers(0, colours, shape[0] * shape[1]), run)[: shape[0] * shape[1]]
        told.append(Frame(pixels.reshape(shape).astype(np.uint8), int(rng.integers(1, 400)) / 100))
    palette = rng.integers(0, 256, (colours, 3)).astype(np.uint8)
    found = list(pictures(b"".join(gif(palette, told))))
    kept = [told[0], *(b for a, b in pairwise(told) if (a.pixels != b.pixels).any())]
    assert sum(lasts for _, lasts in found) == round(sum(100 * one.seconds for one in told))
    assert [(shown == palette[frame.pixels]).all() for (shown, _), frame in zip(found, kept, strict=True)] == [
        True
    ] * len(kept)


def test_a_picture_of_few_colours_keeps_them_and_one_of_many_keeps_what_covers_most() -> None:
    few = np.random.default_rng(1).integers(0, 6, (20, 30, 3)).astype(np.uint8)
    palette, (places,) = in_few_colours([few])
    assert (palette[places] == few).all()
    many = np.random.default_rng(2).integers(0, 256, (40, 50, 3)).astype(np.uint8)
    many[:20] = PAPER
    palette, (places,) = in_few_colours([many])
    assert len(palette) == COLOURS and (palette[places[:20]] == PAPER).all()


def box_film() -> tuple[Film, list[Array]]:
    """Two states: a box named a, then also one named b, which came from it."""
    states, made = [], Film("")
    made.shots = []
    for n in (1, 2):
        sheet, pixels = Sheet(), np.full((40, 90, 3), 255, np.uint8)
        for key, came, x in (("a", "", 10), ("b", "a", 60))[:n]:
            sheet.group(key=key, came=came, caller=partial(sheet.box, x, 10, 8, 8, "q"))
            pixels[10:18, x : x + 8] = INK
        made.shots.append(Shot(sheet.pieces, 1.0))
        states.append(pixels)
    return made, states


def test_what_is_new_travels_from_where_it_came() -> None:
    made, states = box_film()
    paint = dict(zip(map(id, made.shots), states, strict=True))
    palette, frames = kit.frames(made, lambda shot: paint[id(shot)], 1)
    first, *between, last = (palette[frame.pixels] for frame in frames)
    assert (first == states[0]).all() and (last == states[1]).all() and len(between) == STEPS - 1
    where = [np.flatnonzero((picture[14] == INK).all(1)) for picture in between]
    assert all((picture[10:18, 10:18] == INK).all() for picture in between[2:])  # the source stays
    ahead = [int(columns[-1]) for columns in where]
    assert ahead == sorted(set(ahead)) and ahead[0] > 17 and ahead[-1] < 67


def test_a_film_has_every_token_and_the_stages_of_the_one_on_show() -> None:
    made = film("kv-cache", Settings("names", "emm"), {"step": 4})
    assert isinstance(made, Drawing) and len(made.shots) == 6 * 2 + 7
    assert [shot.slow for shot in made.shots] == [False] * 8 + [True] * 7 + [False] * 4
    keys = [set(kit.by_name(shot.pieces)) for shot in made.shots]
    assert {f"K{j}" for j in range(7)} | {f"V{j}" for j in range(7)} < keys[-1] and "K6" not in keys[-2]
    for before, after in pairwise(made.shots):  # nothing appears that did not come from somewhere
        one, other = kit.by_name(before.pieces), kit.by_name(after.pieces)
        new = {name: found for name, found in other.items() if name not in one}
        assert all(found.came and set(found.came.split()) <= {*one, *other} for found in new.values()), new
    still = film("memory", Settings("names", "emm"))
    assert len(still.shots) > 1 and not any(kit.by_name(shot.pieces) for shot in still.shots)


def test_a_webm_is_elements_of_told_sizes_and_its_clusters_begin_with_keys() -> None:
    frames = [Frame(np.zeros((1, 1), np.uint8), seconds) for seconds in (0.5, 2.2, 7.0, 12.0)]
    told = list(moments(frames))
    assert [begin for _, begin, _, _ in told] == [end for *_, end, _ in [(0, 0, 0, 0), *told[:-1]]]
    assert told[-1][2] == 21_700 and max(end - begin for _, begin, end, _ in told) <= STILL
    keys = [begin for _, begin, _, key in told if key]
    assert keys[0] == 0 and all(b - a >= FAR for a, b in pairwise(keys)) and len(keys) == 3
    data = webm([Chunk(bytes([i]), begin, key) for i, (_, begin, _, key) in enumerate(told)], 960, 832, 21_700)
    sizes, at = [], 0
    while at < len(data):
        wide = 4  # the names at the top have four bytes
        size = int.from_bytes(data[at + wide : at + wide + 8], "big") & (1 << 56) - 1
        sizes.append(size)
        at += wide + 8 + size
    assert at == len(data) and len(sizes) == 2
    assert data.count(bytes.fromhex("1f43b675")) == len(keys)
