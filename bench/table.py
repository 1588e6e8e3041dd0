"""The table: results as markdown, with what they were measured on. Knows no measure and names no machine."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from datetime import date

import numpy as np

from bench.measure import Result
from tools.browsers import which
from tools.runtime.pinned import PYODIDE

INTRO = """# Speed and size

Written by `make bench`. Ratios against a yardstick that is measured in the same run, in turns; the median of the
rounds, in brackets the middle half of them. Absolute figures only give an idea. How each is measured is said in the
module that measures it.
"""


def page(sections: Iterable[tuple[str, list[Result]]]) -> str:
    """The whole of bench/README.md."""
    parts = [INTRO, f"Measured on {date.today().isoformat()}: {machine()}.\n"]
    return "\n".join([*parts, *(section(title, results) for title, results in sections)])


def section(title: str, results: list[Result]) -> str:
    lines = [f"## {title}\n", "| what | result | against | goal | met | for scale |", "|---|---|---|---|---|---|"]
    verdict = {True: "yes", False: "**no**", None: ""}
    for r in results:
        lines.append(f"| {r.what} | {r.value} | {r.yardstick} | {r.goal} | {verdict[r.met]} | {r.scale} |")
    return "\n".join(lines) + "\n"


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
