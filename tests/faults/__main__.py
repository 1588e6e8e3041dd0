"""Plants small faults, one at a time, and runs tests until one fails: what the suite has caught must stay caught.

    python -m tests.faults [NAME ...]     all, or those of that name or kind
        --list     only names them        --named     runs no other tests than those that a fault names
        --write    brings the table in README.md up to date

It works in a copy of the tree, with what is not committed. First run are the tests that a fault names; if none of them
fails, the rest of what `make test` runs, what needs no browser before what does. A fault is caught when a test fails,
not when a module cannot be imported any more; and that test passes in the end, when no fault is there. The exit code is
1 if a fault is not caught, or does not fit its file.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.faults.fault import KINDS, Fault, Misfit
from tests.faults.table import FAULTS

ROOT = Path(__file__).resolve().parents[2]
README = Path(__file__).with_name("README.md")
NAMES = ROOT.parent / "shared" / "data" / "names.txt"  # as tests/conftest.py looks for it
REST = (  # of `make test`
    ("-m", "not references and not hosts", "tests", "--ignore=tests/browser", "--ignore=tests/faults"),
    ("-m", "not references and not hosts", "tests/browser"),
)
CRASH = r"(\w+\.)*(Import|ModuleNotFound|\w*Syntax|Indentation|Name)Error\b|Failed: Timeout"  # no test said anything
OUTCOME = re.compile(r"^(FAILED|ERROR) (.+?)(?: - (.*))?$", re.M)
ROW = re.compile(r"^\| `([\w-]+)` \|.*$", re.M)
HEAD = """\
# Planted faults

Each of these mistakes was put into a copy of this tree by itself, and the test beside it failed. `make faults` does so
again for all of them, and fails if one is not caught any more. This table is its record:
`python -m tests.faults --write` makes it.

| Fault | Kind | In | Caught by | Seconds |
| --- | --- | --- | --- | ---: |
"""


class Outcome(NamedTuple):
    """What came of a fault: the test that failed, or why there is none."""

    fault: Fault
    test: str
    why: str
    seconds: float

    @property
    def row(self) -> str:
        """As a line of the table."""
        test = "`" + self.test.replace("|", r"\|") + "`" if self.test else "**nothing yet**"
        cells = f"`{self.fault.name}`", self.fault.kind, f"`{self.fault.path}`", test, f"{self.seconds:.0f}"
        return f"| {' | '.join(cells)} |"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Plant faults, and see them caught.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of faults or kinds (default: all)")
    parser.add_argument("--list", action="store_true", help="only name them")
    parser.add_argument("--named", action="store_true", help="run no other tests than those that a fault names")
    parser.add_argument("--write", action="store_true", help="write what was caught into tests/faults/README.md")
    options = parser.parse_args(argv)
    if unknown := {*options.names} - {fault.name for fault in FAULTS} - {*KINDS}:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    chosen = [f for f in FAULTS if not options.names or {f.name, f.kind} & {*options.names}]
    if options.list:
        for fault in chosen:
            print(f"{fault.kind:12} {fault.name:34} {fault.path}")
        return 0
    outcomes = list[Outcome]()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        copy = Path(folder).resolve() / "tree"
        copy_tree(copy)
        for fault in chosen:
            outcomes.append(outcome_of(fault, copy, () if options.named else REST))
            print(told(outcomes[-1]), flush=True)
        anyway = fail_anyway(copy, {one.test for one in outcomes if one.test})
    outcomes = [
        one._replace(test="", why=f"{one.test} fails without it too") if one.test in anyway else one for one in outcomes
    ]
    missed = [one for one in outcomes if not one.test]
    print(f"\n{len(outcomes) - len(missed)} of {len(outcomes)} faults are caught.")
    for one in missed:
        print(f"{one.fault.name}: {one.why}")
    if options.write:
        README.write_text(table(outcomes, README.read_text("utf-8") if README.exists() else ""), "utf-8")
    return 1 if missed else 0


def told(one: Outcome) -> str:
    return f"{one.fault.name:34} {one.fault.kind:12} {one.seconds:4.0f} s  {one.test or one.why}"


def table(outcomes: Iterable[Outcome], before: str) -> str:
    """The text of README.md: these outcomes, and for all other faults the lines that it had."""
    rows = {row[1]: row[0] for row in ROW.finditer(before)} | {one.fault.name: one.row for one in outcomes}
    return HEAD + "".join(f"{rows[fault.name]}\n" for fault in FAULTS if fault.name in rows)


def copy_tree(copy: Path) -> None:
    """What git knows or would add, as it lies here."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not (ROOT / name).is_symlink():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    where = run(copy, ["-c", "import microgpt; print(microgpt.__file__)"]).stdout.strip()
    assert Path(where).is_relative_to(copy), f"{where} would be tested, not the copy"


def outcome_of(fault: Fault, copy: Path, rest: Iterable[Sequence[str]]) -> Outcome:
    """Plant it, run tests until one fails, and take it out again."""
    start = time.monotonic()
    test, why = "", "NOT CAUGHT"
    try:
        with fault.planted(copy):
            for words in (fault.caught_by, *rest):
                test, why = failed(copy, words)
                if test or why:
                    break
    except Misfit as misfit:
        why = str(misfit)
    return Outcome(fault, test, why or "NOT CAUGHT", time.monotonic() - start)


def failed(copy: Path, words: Sequence[str]) -> tuple[str, str]:
    """The test that fails, if one does; or why the fault is broken: what fails is no test, or there is none."""
    done = run(copy, ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *words])
    if done.returncode in (0, 5):  # 5: all have passed on the same bytes before, see tests/support/proved.py
        return "", ""
    found = OUTCOME.search(done.stdout.rpartition("short test summary info")[2])
    if found and found[1] == "FAILED" and not re.match(CRASH, found[3] or ""):
        return found[2], ""
    said = found[0] if found else " ".join((done.stdout + done.stderr).split())[-200:]
    return "", f"broken: {said}"


def fail_anyway(copy: Path, tests: Collection[str]) -> set[str]:
    """Those of the tests that fail where no fault is planted: they show nothing."""
    if not tests:
        return set()
    done = run(copy, ["-m", "pytest", "-q", "-p", "no:cacheprovider", *sorted(tests)])
    said = done.stdout + done.stderr
    if brought := re.findall(rf"^ERROR: not found: {re.escape(str(copy))}/(\S+)", said, re.M):  # a fault's own cases
        return fail_anyway(copy, {test for test in tests if not test.startswith(tuple(brought))})
    found = OUTCOME.findall(done.stdout.rpartition("short test summary info")[2])
    assert done.returncode in (0, 1, 5), said[-500:]
    return {test for _, test, _ in found}


def run(copy: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Python, run in the copy; what it starts sees the copy too."""
    own = {"PYTHONPATH": str(copy), "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "1000"}
    names = {"NAMES_TXT": str(NAMES), **os.environ} if NAMES.is_file() else os.environ
    return subprocess.run([sys.executable, *words], cwd=copy, env={**names, **own}, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(main())
