"""A small picture for each lesson, drawn from the numbers that its own page shows: shapes of WIDTH x HEIGHT.

What is recomputed, new, kept, q, k and v look as they do on the pages. Knows no HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.drawing.picture import Picture

WIDTH, HEIGHT = 200, 100
WIDE = {"stepper": 320}  # what has more room
SHADES = 4  # of a hue, above none
KINDS = ("q", "k", "v")

Cell = tuple[str, int, int, int, int]  # kind, x, y, width, height


class Shape(NamedTuple):
    """All boxes of one kind, as one path."""

    kind: str
    path: str


def thumb(widget: str, view: Any) -> list[Shape]:
    """The picture of a lesson, from the view that its page is built from.

    Places are whole, and a box is placed by the one before it: what is alike is written alike, and packs well.
    """
    paths: dict[str, str] = {}
    at: dict[str, tuple[int, int]] = {}
    for kind, x, y, width, height in DRAWN[widget](view):
        before = at.get(kind, (0, 0))
        paths[kind] = paths.get(kind, "") + f"m{x - before[0]} {y - before[1]}h{width}v{height}h{-width}z"
        at[kind] = (x, y)
    return [Shape(kind, path) for kind, path in paths.items()]


def row(kinds: Iterable[str], x: int, y: int, width: int, height: int, gap: int = 1) -> Iterable[Cell]:
    """A cell a kind, side by side; "" leaves its place empty."""
    for i, kind in enumerate(kinds):
        if kind:
            yield kind, x + i * width, y, width - gap, height


def shade(share: float) -> int:
    """A share of the most there is, as one of SHADES; 0 for next to none."""
    return min(SHADES, max(0, round(SHADES * share)))


def strip(owner: str, strip: Any, x: int, y: int, width: int, height: int) -> Iterable[Cell]:
    """A strip of heat in the hue of its owner, on its lightest shade."""
    n = len(strip.cells)
    each = width // n
    shades = [shade(abs(cell.level) / LEVELS) for cell in strip.cells]
    yield f"{owner} f0", x, y, n * each, height
    yield from row([f"{owner} f{one}" if one else "" for one in shades], x, y, each, height, 0)


def loop(view: Any) -> Iterable[Cell]:
    """Every pass of the loop; a token as long as it is, and whether it has been run before."""
    step = HEIGHT // len(view.passes)
    unit = WIDTH // sum(len(chip.token) + 1 for chip in view.passes[-1].chips)
    for i, one in enumerate(view.passes):
        x = 0
        for chip in one.chips:
            width = (len(chip.token) + 1) * unit
            yield "again" if chip.again else "new", x, i * step, width - 2, step - 4
            x += width


def inside(view: Any) -> Iterable[Cell]:
    """Every stop of one token, with its numbers; k and v, which are kept, stick out."""
    stops = view.journeys[view.at].stops
    step = HEIGHT // len(stops)
    for i, stop in enumerate(stops):
        owner = stop.event if stop.event in KINDS else "any"
        yield from strip(owner, stop.strip, 10, i * step, 150, step - 1)
        if stop.kept:
            yield f"{owner} f4", 162, i * step, 24, step - 1


def stepper(view: Picture) -> Iterable[Cell]:
    """The piles of K and V after the last step, and the places where no q lies."""
    layer, head = view.clearest
    step = HEIGHT // view.n
    for i in range(view.n):
        y, kept = (view.n - 1 - i) * step, view.row(i)
        yield "none", 8, y, 88, step - 2
        for owner, strips, x in (("k", kept.k, 116), ("v", kept.v, 224)):
            found = next(one for one in strips if {f"L{layer}", f"H{head}"} <= set(one.where.split()))
            yield from strip(owner, found, x, y, 88, step - 2)


def compare(view: Any) -> Iterable[Cell]:
    """The rows that each step runs, without the cache and with it."""
    step = HEIGHT // view.n
    for i, one in enumerate(view.steps):
        news = [row.new for row in one.rows]
        for x, old in ((0, "again"), (106, "kept")):
            yield from row(["new" if new else old for new in news], x, i * step, 13, step - 2, 2)


def why_q(view: Any) -> Iterable[Cell]:
    """The steps at which each row was read."""
    step, unit = HEIGHT // view.n, WIDTH // view.n
    for i, life in enumerate(view.lives):
        for j, (kind, reads, _) in enumerate(life.tracks):
            kinds = [f"{kind} f4" if read else "" for read in reads]
            yield from row(kinds, 0, i * step + j * step // 3, unit, step // 4, 0)


def old_rows(view: Any) -> Iterable[Cell]:
    """Which rows a fresh run would write differently, layer by layer."""
    rows = view.experiments[view.choices[0].at].rows
    step = HEIGHT // len(rows)
    for i, one in enumerate(rows):
        yield from row(["again" if any(off) else "kept" for off in one.off], 20, i * step, 40, step - 3, 3)


def training(view: Any) -> Iterable[Cell]:
    """The weights of a whole text at once, and the mask."""
    lines = view.heads[0]
    step = HEIGHT // len(lines)
    for i, line in enumerate(lines):
        kinds = [f"q f{shade(cell.value)}" for cell in line.weights.cells]
        yield from row(kinds + ["none"] * (len(lines) - len(kinds)), 50, i * step, step, step - 2, 2)


def prefill(view: Any) -> Iterable[Cell]:
    """Each pass: the rows that it writes, and those that it reads."""
    blocks = view.ways[0].blocks
    step, unit = HEIGHT // len(blocks), WIDTH // len(view.columns)
    for i, block in enumerate(blocks):
        yield from row(["kept" if cell == "old" else cell for cell in block.cells], 0, i * step, unit, step - 2, 2)


def memory(view: Any) -> Iterable[Cell]:
    """What a token adds to the cache of each published model: half of it K, half V, or one short row for both."""
    step, most = HEIGHT // len(view.known), max(one.per_token for one in view.known)
    for i, one in enumerate(view.known):
        half = round(WIDTH * one.per_token / most / 2)
        shared = one.sharing == "MLA"
        yield from row(["any f4"] * 2 if shared else ["k f4", "v f4"], 0, i * step, half, step - 3, 0)


def heads(view: Any) -> Iterable[Cell]:
    """In each way of sharing: the query heads, and below them the keys and values that they read."""
    most, wide = max(way.row for way in view.ways), WIDTH // len(view.ways)
    size = (wide - 10) // view.n_head
    for i, way in enumerate(view.ways):
        across = size * view.n_head // len(way.groups)
        width = size * view.n_head * way.row // most // len(way.groups)
        yield from row(["q f4"] * view.n_head, i * wide, 0, size, 18, 2)
        for j, group in enumerate(way.groups):
            middle = i * wide + j * across + across // 2 - 1
            yield "line", middle, 18, 1, 12
            for n, (kind, _) in enumerate(group.held):
                yield f"{kind if kind in KINDS else 'any'} f4", middle - width // 2 + 1, 30 + n * 36, width - 2, 34


def most_read(view: Any) -> Iterable[Cell]:
    """The weight that each key has received, as so many times an even share."""
    table = view.tables[view.choices[0].at]
    shares = [cells[table.measured] for cells in table.rows]
    step, most = HEIGHT // len(shares), max(shares)
    for i, share in enumerate(shares):
        yield "q f4" if share == most else "q f2", 0, i * step, round(WIDTH * share / most), step - 2


DRAWN: dict[str, Callable[[Any], Iterable[Cell]]] = {
    "loop": loop, "inside": inside, "stepper": stepper, "compare": compare, "why_q": why_q, "old_rows": old_rows,
    "training": training, "prefill": prefill, "memory": memory, "heads": heads, "most_read": most_read,
}  # fmt: skip
