"""python -m tests.attack [PART ...] [--scale 0.1] [--seed 7] [--only CASE] [--write]: attack the project, and tell."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.attack.guard import PROCESSES, part_of, seen_of
from tests.attack.part import Order
from tests.attack.table import Row, failures, table, write

PARTS = ("dispatch", "files", "models", "edits", "builds", "loader", "running")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description="Attack the project.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="how much of it: 0.01 takes seconds (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="another one draws other cases (default: 0)")
    parser.add_argument("--only", metavar="CASE", help="one case of one part, as a failure names it")
    parser.add_argument("--write", action="store_true", help="put the table into docs/trust.md")
    parser.add_argument("--processes", type=int, default=PROCESSES, help=f"(default: {PROCESSES})")
    options = parser.parse_args(argv)
    unknown = set(options.parts) - set(PARTS)
    if unknown or (options.only and len(options.parts) != 1):
        parser.error(f"parts are {', '.join(PARTS)}; --only wants one of them")
    rows = []
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        order = Order(options.seed, Path(folder))
        for name in options.parts or PARTS:
            rows.append(row(name, order, options.scale, options.only, options.processes))
            done = f"{len(rows[-1].seen):,} cases, {len(rows[-1].wrong):,} failures, {rows[-1].seconds:.0f} s"
            print(f"{name}: {done}", file=sys.stderr, flush=True)
    print(table(rows))
    for line in failures(rows, options.seed):
        print(line)
    if options.write:
        write(rows)
    return 1 if any(one.wrong for one in rows) else 0


def row(name: str, order: Order, scale: float, only: str | None = None, processes: int = PROCESSES) -> Row:
    """One part, from its first case to its last, or one case of it."""
    part, start = part_of(name), time.monotonic()
    part.prepare(order)
    seen = seen_of(name, [only] if only else part.cases(scale, order), order, processes)
    return Row(name, part.tried, seen, part.summary(seen), time.monotonic() - start)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr, flush=True)
        os._exit(130)  # threads wait for processes, which end when this one does
