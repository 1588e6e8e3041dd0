"""The table of what was tried, and where it stands in docs/trust.md. Knows no part."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from bench.table import machine
from tests.attack.part import Seen

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "trust.md"
BEGIN, END = "<!-- attack: begin -->", "<!-- attack: end -->"


class Row(NamedTuple):
    """A part, and what came of its cases."""

    name: str
    tried: str
    seen: Sequence[Seen]
    came: str
    seconds: float

    @property
    def wrong(self) -> list[Seen]:
        return [one for one in self.seen if one.wrong]


def table(rows: Sequence[Row]) -> str:
    lines = ["| part | what is tried | cases | what came of them | failures | seconds |", "|---|---|---|---|---|---|"]
    for row in rows:
        n = len(row.wrong)
        failures = f"**{n:,}**" if n else "0"
        lines.append(
            f"| `{row.name}` | {row.tried} | {len(row.seen):,} | {row.came} | {failures} | {row.seconds:,.0f} |"
        )
    return "\n".join(lines)


def failures(rows: Sequence[Row], seed: int) -> list[str]:
    """Each way to fail once: how often, an example of it, and how to try that again."""
    said = []
    for row in rows:
        for wrong, n in Counter(one.wrong for one in row.wrong).most_common():
            one = next(one for one in row.wrong if one.wrong == wrong)
            said.append(f"{row.name}: {n:,} x {wrong}")
            said += [f"    {one.about[:1000]}"] * bool(one.about)
            said.append(f"    python -m tests.attack {row.name} --seed {seed} --only {shlex.quote(one.name)}")
    return said


def write(rows: Sequence[Row], document: Path = DOCUMENT) -> None:
    """Put the table between the two comments of the document."""
    text = document.read_text("utf-8")
    when = f"Measured on {date.today().isoformat()}: {machine()}."
    fresh = f"{BEGIN}\n\n{when}\n\n{table(rows)}\n\n{END}"
    found, n = re.subn(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: fresh, text, flags=re.DOTALL)
    assert n == 1, f"{document} has no place for the table"
    document.write_text(found, "utf-8")
