"""Numbers and tokens as text: decimals, signs, bar widths, bounds, marks for what cannot be seen. Knows no trace.

What readers read is in the marks of the language that is set: 60,416 and 0.25, 60 416 and 0,25. What drawings are made
of is not: widths, places, classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from microgpt.files import megabytes as whole_megabytes
from microgpt.tokenizer import START
from microgpt.viz.text.language import LANG, MARKS


def localise_figure(figure: str) -> str:
    """A figure as Python writes it, '60,416' or '0.25', in the marks of the language."""
    if LANG.get() not in MARKS:
        return figure
    between, point, least = MARKS[LANG.get()]
    groups, dot, decimals = figure.partition(".")
    if "," in groups:
        groups = groups.replace(",", between if sum(map(str.isdigit, groups)) >= least else "")
    return groups + (dot and point) + decimals


def number(value: float, digits: int = 2) -> str:
    """Two decimals, a true minus, marks between thousands: −0.42, 1,228.80. What rounds to zero has no sign; a hidden
    score is −∞."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.{digits}f}"
    if text[0] == "-":
        text = text[1:] if set(text) <= set("-0.") else f"−{text[1:]}"
    return localise_figure(text)


def in_cell(value: float, digits: int) -> str:
    """A number in a narrow cell: from 10 on with one decimal less, −12.3 as wide as −0.42."""
    return number(value, max(0, digits - (abs(round(value, digits)) >= 10)))


def whole(value: float) -> str:
    """3664 -> '3,664'; what is not whole is rounded."""
    return localise_figure(f"{round(value):,}")


def short(value: float) -> str:
    """A figure where there is little room: 0.5, 20, 1,000, 3 M."""
    for size, unit in ((1e15, " P"), (1e12, " T"), (1e9, " G"), (1e6, " M")):
        if abs(value) >= size:
            return localise_figure(f"{value / size:.3g}") + unit
    return whole(value) if value == int(value) else number(value, 2 if abs(value) < 10 else 1)


def percent(share: float) -> int:
    """A share of 1 as a bar width, 0 to 100; what is not nothing gets at least 1."""
    return 0 if share <= 0 else min(100, max(1, round(100 * share)))


def of_hundred(share: float, digits: int | None = None) -> str:
    """A share of 1 in percent: '59', and of what is less than one percent the first digit, '0.3'; or so many digits."""
    if digits is None:
        digits = max(0, math.ceil(-math.log10(100 * share))) if share > 0 else 0
    return number(100 * share, digits)


def difference(value: float, digits: int = 2) -> str:
    """How far two are apart, 0 or more; what is not nothing never reads as nothing: '< 0.01'."""
    seen = value == 0 or round(value, digits) > 0
    return number(value, digits) if seen else "< " + number(10.0**-digits, digits)


def heat(level: int) -> str:
    """The class of a level of the heat scale: 'n12', 'z', 'p3'."""
    return "z" if level == 0 else f"{'n' if level < 0 else 'p'}{abs(level)}"


def states(levels: Iterable[tuple[str, int]]) -> str:
    """The classes of what has a level of heat in several states: 't0p3 t2n12'; in all others it is at zero."""
    return " ".join(f"{state}{heat(level)}" for state, level in levels)


def coordinate(value: float) -> str:
    """A place in a drawing: '12.5'."""
    return f"{value:.1f}"


def points(pairs: Iterable[tuple[float, float]]) -> str:
    """The points of a line as SVG has them: '12.0,3.5 14.0,4.0'."""
    return " ".join(f"{coordinate(x)},{coordinate(y)}" for x, y in pairs)


def path(runs: Iterable[tuple[float, float, int]], down: bool = False) -> str:
    """Lines to the right, or `down`, as an SVG path: of each its start, x and y, and its length. 'M2 5h10m3 0h4'."""
    moves, pen_x, pen_y = list[float](), 0.0, 0.0
    for x, y, length in runs:
        moves += (x - pen_x, y - pen_y, length)
        pen_x, pen_y = (x, y + length) if down else (x + length, y)
    line = "m%g %dv%d" if down else "m%d %gh%d"
    text = line * (len(moves) // 3) % tuple(moves)  # all at once, which takes half the time
    return text.replace("m", "M", 1)


def in_lines(values: Sequence[float], digits: int, columns: int = 8) -> str:
    """Numbers under each other in lines of so many, each line behind the index of its first."""
    texts = [number(x, digits) for x in values]
    width = max(map(len, texts)) + 1
    lines = [(at, texts[at : at + columns]) for at in range(0, len(texts), columns)]
    return "\n".join(f"{at:>4} " + "".join(f"{text:>{width}}" for text in line) for at, line in lines)


def upper_bound(value: float) -> str:
    """What it is less than. A figure of rounding size has a bound that holds on every machine, '1e-12'; from 1e-3 on
    it is the figure itself, rounded up to two digits: '0.61'."""
    if (exponent := next((e for e in (-12, -9, -6, -3) if value < 10.0**e), None)) is not None:
        return f"1e{exponent}"
    if not math.isfinite(value):
        return "∞"
    digits, _, power = f"{value:.1e}".partition("e")
    units, at = int(digits.replace(".", "")), int(power) - 1  # the nearest with two digits: units of 10^at
    units += float(f"{units}e{at}") <= value
    return number(float(f"{units}e{at}"), -at) if at < 0 else whole(units * 10**at)


def at_most(value: float, digits: int = 2, percent: bool = False) -> str:
    """A bound that nothing goes beyond, rounded up: 0.4712 -> '0.48'; a share of 1 in percent, if that is asked for."""
    return safely(value, digits, percent, math.ceil)


def at_least(value: float, digits: int = 2, percent: bool = False) -> str:
    """A bound that is reached for certain, rounded down: 85.66 -> '85.6'."""
    return safely(value, digits, percent, math.floor)


def safely(value: float, digits: int, percent: bool, side: Callable[[float], int]) -> str:
    """A bound rounded to the side on which it holds. What is off a rounded figure by noise alone is that figure."""
    steps = value * (100 if percent else 1) * 10**digits
    near = round(steps)
    held = near if math.isclose(steps, near, rel_tol=NOISE) else side(steps)
    return localise_figure(f"{held / 10**digits:,.{digits}f}")


NOISE = 1e-9  # of a figure: what the order of adding may change


def share_text(share: float) -> str:
    """A share of 1 in percent, with one decimal: '59.3', '< 0.1', and of nothing '0'."""
    return difference(100 * share, 1) if share else whole(0)


def shape_text(shape: tuple[int, ...]) -> str:
    """[128256, 4096]: no thousands separators, they would read as further sizes."""
    return "[" + ", ".join(map(str, shape)) + "]"


def areas(rectangles: Iterable[tuple[float, float, float, float]]) -> str:
    """Rectangles, each its x, y, width and height, as an SVG path: 'M0.0 3.5h12.00v4.00h-12.00z'."""
    return "".join(f"M{x:.1f} {y:.1f}h{wide:.2f}v{high:.2f}h-{wide:.2f}z" for x, y, wide, high in rectangles)


def layers_text(runs: Sequence[tuple[int, int]], most: int = 12) -> str:
    """Runs of layers: '0–2, 5'; what is very long is cut."""
    said = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs[:most])
    return said + (", …" if len(runs) > most else "")


def span(ends: tuple[int, int]) -> str:
    """From the least to the most: '12', or '12–13'."""
    return "–".join(whole(end) for end in dict.fromkeys(ends))


def size_text(n_bytes: float) -> str:
    """Bytes in the unit that suits them, by thousands: '15.0 GB'."""
    units = ("B", "kB", "MB", "GB", "TB")
    power = next((i for i in range(len(units) - 1) if n_bytes < 1000 ** (i + 1)), len(units) - 1)
    return number(n_bytes / 1000**power, 1 if power else 0) + f" {units[power]}"


def megabytes(n_bytes: int) -> str:
    """Whole megabytes, never too few: '1,500'."""
    return localise_figure(whole_megabytes(n_bytes))


def show(token: str) -> str:
    """A token as it is drawn: a space becomes ␣, a new line ↵, other invisible characters a mark with their code."""
    if token == START:
        return token
    return "".join(c if c.isprintable() and not c.isspace() else SPACES.get(c, f"␣{ord(c):x}") for c in token)


SPACES = {" ": "␣", "\n": "↵"}


FILTERS: dict[str, Callable[..., object]] = {  # what templates write numbers with
    one.__name__: one
    for one in (
        whole, number, in_cell, short, percent, of_hundred, difference, upper_bound, share_text, shape_text,
        size_text, heat, states, coordinate, points, path, areas, in_lines, span, layers_text, megabytes,
        at_most, at_least, localise_figure,
    )
}  # fmt: skip
