"""The table: results as markdown, with what they were measured on; and what has got worse since the last one.

Of a line that has a goal, the goal says which direction is good. It is worse where the middle halves of the rounds,
then and now, lie apart in the other one; of a figure without rounds, where it is off by more than MARGIN. Knows no
measure and names no machine.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache

import numpy as np

from bench.measure import Result
from tools.browsers import which
from tools.runtime.pins import PYODIDE

MARGIN = 0.05
NUMBER = r"-?[\d,]*\.?\d+"
VALUE = re.compile(rf"\D*?({NUMBER})(?: \(({NUMBER}) to ({NUMBER})\))?")

INTRO = """# Speed and size

Written by `make bench`, or in part by `python -m bench --only NAME --write`. Ratios against a yardstick that is
measured in the same run, in turns; the median of the rounds, in brackets the middle half of them. Absolute figures
only give an idea. How each is measured is said in the module that measures it.
"""


def page(before: str, sections: Mapping[str, list[Result]], titles: Sequence[str]) -> str:
    """The whole of bench/README.md, in the order of the titles: of what was not measured, what stood there before. What
    was written by hand has another title, and stays at the end."""
    kept = {part.partition("\n")[0]: f"## {part}" for part in before.split("\n## ")[1:]}
    ordered = [*titles, *(title for title in kept if title not in titles)]
    parts = [section(title, sections[title]) if title in sections else kept.get(title, "") for title in ordered]
    return "\n".join([INTRO, *(part.rstrip() + "\n" for part in parts if part)])


def section(title: str, results: list[Result]) -> str:
    lines = [f"## {title}\n", f"Measured on {date.today().isoformat()}: {machine()}.\n"]
    lines += ["| what | result | against | goal | met | for scale |", "|---|---|---|---|---|---|"]
    verdict = {True: "yes", False: "**no**", None: ""}
    for r in results:
        lines.append(f"| {r.what} | {r.value} | {r.yardstick} | {r.goal} | {verdict[r.met]} | {r.scale} |")
    return "\n".join(lines) + "\n"


@cache
def machine() -> str:
    """General words and versions."""
    parts = [f"{os.cpu_count()} cores", f"{platform.system()} on {platform.machine()}"]
    parts += [f"Python {platform.python_version()}", f"NumPy {np.__version__}", f"Pyodide {PYODIDE}"]
    for engine in ("chromium", "firefox"):
        if program := which(engine):
            said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if found := re.search(r"[\d.]+", said):
                parts.append(f"{engine.capitalize()} {found[0]}")
    return ", ".join(parts)


def values_in(table: str) -> dict[str, str]:
    """Line -> its result, of bench/README.md."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:2] == "| "]
    return {row[0] + row[2]: row[1] for row in rows if len(row) == 6}


def worse(before: Mapping[str, str], results: Iterable[Result]) -> list[str]:
    """A sentence a line that has got worse."""
    found = []
    for one in results:
        then, now = (between(text) for text in (before.get(one.what + one.yardstick, ""), one.value))
        if then and now and one.goal.startswith(("at most", "at least")):
            up = now[0] > then[1]
            down = now[1] < then[0]
            if up if one.goal.startswith("at most") else down:
                found.append(f"{one.what}: {before[one.what + one.yardstick]}, now {one.value} ({one.goal})")
    return found


def between(value: str) -> tuple[float, float] | None:
    """The middle half of the rounds of a result; None where it is no number."""
    match = VALUE.match(value)
    if not match:
        return None
    middle, low, high = (float(part.replace(",", "")) if part else None for part in match.groups())
    if low is not None and high is not None:
        return low, high
    assert middle is not None
    return middle - MARGIN / 2 * abs(middle), middle + MARGIN / 2 * abs(middle)
