"""Exercises of the fifth part: block tables by hand, and readers that fit on a card. Knows no HTML."""

from __future__ import annotations

import math
from typing import NamedTuple

from microgpt.apps.exercises.sheet import Calc, Task, calc, listing, unlike
from microgpt.architectures.known import PRESETS
from microgpt.serving.chat import turns

TASKS = (
    Task("tables", "compute", 10, 8, ("pages",)),
    Task("blocks", "plan", 15, 11, ("memory", "pages")),
    Task("cropped", "bug", 15, 9, ("pages", "full-cache")),
    Task("prefix", "compute", 15, 9, ("shared-prefixes",)),
    Task("turns", "compute", 15, 9, ("many-at-once",)),
    Task("drafted", "compute", 15, 10, ("guess-and-check",)),
    Task("coded", "compute", 15, 10, ("fewer-bits",)),
    Task("tiled", "compute", 15, 12, ("in-pieces",)),
    Task("roof", "compute", 20, 12, ("latent-row", "reading-limit")),
    Task("heard", "compute", 15, 10, ("no-cache",)),
)
SIZE, LENGTHS, BLOCKS = 4, (9, 6), 6  # rows of a block, of the two texts, blocks of the pool
ASKED = 6  # a row of the first text
PLANNED, ROOM, RESERVED, MEAN, PAGE = "Llama-3-8B", 20 * 10**9, 8192, 500, 16
CROPPED, SEEN = 6, 2  # rows that are to stay, and rows that a token sees
CHAT = (2000, 100, 300, 4)  # tokens of a system prompt, a question, an answer; turns
BATCH, WRITES = 2, (5, 1, 1, 3)  # places, tokens that each text writes
TARGET, DRAFTED = (4, 4, 2), (7, 1, 2)  # tenths that three tokens have
GUESSES, PRICE = 3, 5  # of a round; so many guesses cost as much as a pass of the target
CODED, CODE_BITS, WIDER = (-1.0, 0.15, 0.45, 2.0), 4, 5.0  # numbers of a group, the last of which becomes another
SCALE_BITS = 16
SCORES, VALUES = ((1, 3), (2, 5)), ((1, 2), (3, 4))  # of two tiles
WEIGHTS, KEPT, SHORT = 5 * 10**9, 100_000, 5_000  # of a model; bytes per token, and with latent rows
READS, DOES = 2 * 10**12, 400 * 10**12  # of a card, per second: bytes and operations
TEXTS, LONG = 50, 1000  # texts, and tokens of each
HEARD, LAYERS, WIDTH, SOURCE, WRITTEN, BEAMS = "Whisper large-v3", 32, 1280, 1500, 100, 5


class Tables(NamedTuple):
    """Two texts that take turns; the tables once all rows are there."""

    size: int
    lengths: tuple[int, int]
    n_blocks: int
    first: list[int]
    second: list[int]
    row: int
    slot: Calc
    empty: list[Calc]


class Blocks(NamedTuple):
    """Texts beside each other: with room for the longest one each, and in blocks."""

    name: str
    per_token: int
    room: int
    reserved: int
    mean: int
    size: int
    slots: Calc
    few: Calc
    pool: Calc
    per_text: int
    each: Calc
    many: Calc


class Cropped(NamedTuple):
    """A crop that gives back a block too many; and blocks that a window no longer reaches."""

    code: str
    size: int
    n: int
    kept: Calc
    lost: Calc
    window: int
    first: Calc  # the first row that the next token reads
    free: Calc  # blocks


class Prefix(NamedTuple):
    """A chat whose beginning is found."""

    system: int
    asked: int
    answered: int
    turns: int
    sent: Calc
    new: Calc
    run: Calc
    clock: Calc


class Turns(NamedTuple):
    """Texts in static batches, and in places that are taken at once."""

    places: int
    writes: tuple[int, ...]
    static: Calc
    joined: int  # passes
    share: Calc
    better: Calc
    sorted: int  # passes of static batches, if texts of like length come together
    last: tuple[int, int]  # the pass in which the last text begins, both ways


class Drafted(NamedTuple):
    """Three tokens, what target and draft give them, and what a round of guesses brings."""

    p_target: list[float]
    p_draft: list[float]
    chance: Calc  # of the first token to be kept
    common: Calc
    left: list[float]
    back: Calc  # of the second token, kept and drawn
    guesses: int
    price: int
    tokens: Calc
    times: Calc


class Coded(NamedTuple):
    """A group of numbers on a grid, and the same with a larger last one."""

    numbers: tuple[float, ...]
    bits: int
    full: int  # bits of a scale, and of a minimum
    scale: Calc
    codes: list[Calc]  # each rounded
    back: list[float]
    off: float
    size: Calc
    larger: float
    wide: Calc
    moved: list[float]  # what comes back then
    further: float
    symmetric: Calc


class Tiled(NamedTuple):
    """Softmax over two tiles of two keys, one after the other and apart."""

    scores: tuple[tuple[int, ...], ...]
    values: tuple[tuple[int, ...], ...]
    first: Calc  # l after the first tile
    first_o: Calc
    factor: Calc
    l: Calc  # noqa: E741
    o: Calc
    out: Calc
    apart: list[Calc]
    mean: Calc


class Roof(NamedTuple):
    """A model on a card: what a step takes at least, and when rows take over."""

    weights: int
    per_token: int
    reads: int
    does: int
    texts: int
    long: int
    alone: Calc  # ms
    rows: Calc  # GB
    step: Calc  # ms
    per_second: Calc
    equal: Calc  # texts
    work: Calc  # ms
    by_work: Calc  # of one text more, microseconds
    by_rows: Calc
    short: int  # bytes per token with latent rows
    by_latents: Calc


class Heard(NamedTuple):
    """A model that writes down speech: its decoder's two caches."""

    name: str
    n_layer: int
    width: int
    source: int
    written: int
    beams: int
    of_source: Calc
    own: Calc
    anew: Calc
    apart: Calc
    shared: Calc


class Numbers(NamedTuple):
    tables: Tables
    blocks: Blocks
    cropped: Cropped
    prefix: Prefix
    turns: Turns
    drafted: Drafted
    coded: Coded
    tiled: Tiled
    roof: Roof
    heard: Heard


def numbers() -> Numbers:
    return Numbers(tables(), blocks(), cropped(), prefix(), in_turns(), drafted(), coded(), tiled(), roof(), heard())


def tables() -> Tables:
    free = iter(range(BLOCKS))
    taken: list[list[int]] = [[] for _ in LENGTHS]
    for row in range(max(LENGTHS)):
        for text, n in enumerate(LENGTHS):
            if row < n and row % SIZE == 0:
                taken[text].append(next(free))
    first, second = taken
    block = first[ASKED // SIZE]
    return Tables(
        SIZE, LENGTHS, BLOCKS, first, second, ASKED,
        calc("{} × {} + {} = {}", block, SIZE, ASKED % SIZE, block * SIZE + ASKED % SIZE),
        [
            calc("{} × {} − {} = {}", len(table), SIZE, n, len(table) * SIZE - n)
            for table, n in zip(taken, LENGTHS, strict=True)
        ],
    )  # fmt: skip


def blocks() -> Blocks:
    per_token = PRESETS[PLANNED].bytes_per_token()
    slots = ROOM // per_token
    pool, per_text = slots // PAGE, -(-MEAN // PAGE)
    unlike(slots // RESERVED, pool // per_text)
    return Blocks(
        PLANNED, per_token, ROOM, RESERVED, MEAN, PAGE,
        slots=calc("{} ÷ {} = {}", ROOM, per_token, slots),
        few=calc("{} ÷ {} = {}", slots, RESERVED, slots // RESERVED),
        pool=calc("{} ÷ {} = {}", slots, PAGE, pool),
        per_text=per_text, each=calc("{} ÷ {} = {}", MEAN, PAGE, MEAN / PAGE),
        many=calc("{} ÷ {} = {}", pool, per_text, pool // per_text),
    )  # fmt: skip


def cropped() -> Cropped:
    kept = CROPPED // SIZE
    unlike(kept * SIZE, CROPPED)
    return Cropped(
        listing("cropped"), SIZE, CROPPED,
        kept=calc("{} ÷ {} = {}", CROPPED, SIZE, CROPPED / SIZE),
        lost=calc("{} − {} × {} = {}", CROPPED, kept, SIZE, CROPPED - kept * SIZE),
        window=SEEN,
        first=calc("{} + 1 − {} = {}", CROPPED, SEEN, CROPPED + 1 - SEEN),
        free=calc("{} ÷ {} = {}", CROPPED + 1 - SEEN, SIZE, (CROPPED + 1 - SEEN) / SIZE),
    )  # fmt: skip


def prefix() -> Prefix:
    system, asked, answered, n = CHAT
    chat = turns(system, [asked] * n, [answered] * n)
    sent, run, new = sum(turn.sent for turn in chat), sum(turn.run for turn in chat), chat[-1].run
    unlike(sent, run)
    return Prefix(
        system, asked, answered, n,
        sent=calc(" + ".join(["{}"] * n) + " = {}", *(turn.sent for turn in chat), sent),
        new=calc("{} + {} = {}", asked, new - asked, new),
        run=calc("{} + {} × {} = {}", chat[0].run, n - 1, new, run),
        clock=calc("{} ÷ {} = {}", sent, run, sent / run),
    )  # fmt: skip


def in_turns() -> Turns:
    a, b, c, d = WRITES
    one, other, tokens = max(a, b), max(c, d), sum(WRITES)
    ends = [0] * BATCH  # of each place
    begins = []
    for n in WRITES:
        place = ends.index(min(ends))
        begins.append(ends[place] + 1)
        ends[place] += n
    passes, static = max(ends), one + other
    like = sum(sorted(WRITES, reverse=True)[::BATCH])
    unlike(static, like, passes)
    unlike(one + 1, begins[-1])
    return Turns(
        BATCH, WRITES, static=calc("{} + {} = {}", one, other, static), joined=passes,
        share=calc("{} ÷ ({} × {}) = {}", tokens, BATCH, static, tokens / (BATCH * static)),
        better=calc("{} ÷ ({} × {}) = {}", tokens, BATCH, passes, tokens / (BATCH * passes)),
        sorted=like,
        last=(one + 1, begins[-1]),
    )  # fmt: skip


def drafted() -> Drafted:
    p, q = ([n / 10 for n in tenths] for tenths in (TARGET, DRAFTED))
    common = sum(map(min, p, q))
    left = [max(a - b, 0) for a, b in zip(p, q, strict=True)]
    left = [x / sum(left) for x in left]
    tokens = sum(common**n for n in range(GUESSES + 1))
    unlike(tokens / (1 + GUESSES / PRICE), 1)
    return Drafted(
        p, q, chance=calc("{} ÷ {} = {}", p[0], q[0], p[0] / q[0]),
        common=calc("{} + {} + {} = {}", *map(min, p, q), common),
        left=left, back=calc("{} + (1 − {}) × {} = {}", min(p[1], q[1]), common, left[1], p[1]),
        guesses=GUESSES, price=PRICE,
        tokens=calc("1 + {} + {} × {} + {} × {} × {} = {}", *[common] * 6, tokens),
        times=calc("{} ÷ (1 + {} ÷ {}) = {}", tokens, GUESSES, PRICE, tokens / (1 + GUESSES / PRICE)),
    )  # fmt: skip


def coded() -> Coded:
    points = 2**CODE_BITS - 1
    low, high, larger = CODED[0], CODED[-1], (*CODED[:-1], WIDER)
    scale, wide = (high - low) / points, (WIDER - low) / points
    unlike(scale, wide)
    back, moved = ([low + gap * round((x - low) / gap) for x in xs] for xs, gap in ((CODED, scale), (larger, wide)))
    return Coded(
        CODED, CODE_BITS, SCALE_BITS, calc("({} + {}) ÷ {} = {}", high, -low, points, scale),
        [calc("({} + {}) ÷ {} = {}", x, -low, scale, (x - low) / scale) for x in CODED],
        back, max(abs(a - b) for a, b in zip(back, CODED, strict=True)),
        calc(
            "({} × {} + 2 × {}) ÷ {} = {}", len(CODED), CODE_BITS, SCALE_BITS, len(CODED),
            CODE_BITS + 2 * SCALE_BITS / len(CODED),
        ),
        WIDER, calc("({} + {}) ÷ {} = {}", WIDER, -low, points, wide), moved,
        max(abs(a - b) for a, b in zip(moved, larger, strict=True)),
        calc("{} ÷ ({} − 1) = {}", high, 2 ** (CODE_BITS - 1), high / (2 ** (CODE_BITS - 1) - 1)),
    )  # fmt: skip


def tiled() -> Tiled:
    (a, b), (c, d) = SCORES
    (u, v), (w, x) = VALUES
    small, factor, low = math.exp(a - b), math.exp(b - d), math.exp(c - d)
    first, first_o = small + 1, small * u + v
    total, o = first * factor + low + 1, first_o * factor + low * w + x
    outs = first_o / first, (low * w + x) / (low + 1)
    unlike(o / total, sum(outs) / 2)
    return Tiled(
        SCORES, VALUES,
        first=calc("e^({} − {}) + e^0 = {}", a, b, first, digits=3),
        first_o=calc("{} × {} + 1 × {} = {}", small, u, v, first_o, digits=3),
        factor=calc("e^({} − {}) = {}", b, d, factor, digits=3),
        l=calc("{} × {} + {} + 1 = {}", first, factor, low, total, digits=3),
        o=calc("{} × {} + {} × {} + {} = {}", first_o, factor, low, w, x, o, digits=3),
        out=calc("{} ÷ {} = {}", o, total, o / total, digits=3),
        apart=[
            calc("{} ÷ {} = {}", first_o, first, outs[0], digits=3),
            calc("{} ÷ {} = {}", low * w + x, low + 1, outs[1], digits=3),
        ],
        mean=calc("({} + {}) ÷ 2 = {}", *outs, sum(outs) / 2, digits=3),
    )  # fmt: skip


def roof() -> Roof:
    gb, tb, two = 10**9, 10**12, 2  # two bytes and two operations per weight
    weights, rows = two * WEIGHTS / gb, TEXTS * LONG * KEPT / gb
    alone, step = weights / (READS / tb), (weights + rows) / (READS / tb)
    each, work = LONG * KEPT / 10**6, two * WEIGHTS / gb / (DOES / tb)
    return Roof(
        WEIGHTS, KEPT, READS, DOES, TEXTS, LONG,
        alone=calc("{} ÷ {} = {}", weights, READS // tb, alone),
        rows=calc("{} × {} × {} ÷ {} = {}", TEXTS, LONG, KEPT, gb, rows),
        step=calc("({} + {}) ÷ {} = {}", weights, rows, READS // tb, step),
        per_second=calc("{} ÷ {} × {} = {}", TEXTS, step, 1000, 1000 * TEXTS / step),
        equal=calc("{} ÷ {} × {} = {}", weights, each, 1000, 1000 * weights / each),
        work=calc("{} × {} ÷ {} = {}", TEXTS, weights, DOES // tb, TEXTS * work),
        by_work=calc("{} × {} ÷ {} = {}", 1000, weights, DOES // tb, 1000 * work),
        by_rows=calc("{} ÷ {} = {}", each, READS // tb, each / (READS / tb)),
        short=SHORT,
        by_latents=calc("{} ÷ {} = {}", LONG * SHORT / 10**6, READS // tb, LONG * SHORT / 10**6 / (READS / tb)),
    )  # fmt: skip


def heard() -> Heard:
    row = 2 * LAYERS * WIDTH * 2  # bytes of K and V, all layers, at two bytes a number
    form = "2 × 2 × {} × {} × {} = {}"
    return Heard(
        HEARD, LAYERS, WIDTH, SOURCE, WRITTEN, BEAMS,
        of_source=calc(form, LAYERS, WIDTH, SOURCE, row * SOURCE),
        own=calc(form, LAYERS, WIDTH, WRITTEN, row * WRITTEN),
        anew=calc("{} × {} = {}", WRITTEN, SOURCE, WRITTEN * SOURCE),
        apart=calc("{} × ({} + {}) = {}", BEAMS, SOURCE, WRITTEN, BEAMS * (SOURCE + WRITTEN)),
        shared=calc("{} + {} × {} = {}", SOURCE, BEAMS, WRITTEN, SOURCE + BEAMS * WRITTEN),
    )  # fmt: skip
