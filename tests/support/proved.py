"""What has passed on the same bytes need not run again: keys of what has passed lie in the cache folder, never in git.

Two kinds of tests know all their bytes. A page's sweep (tests/browser/pages/test_sweep.py) is a function of the page,
its styles and scripts, the predicates and the browser. A module that tests the maths is a function of the modules that
it imports, at any remove, and of the data beside them; one that reaches pages, the builder or a document is not, and
always runs. In CI (CI=true) and in `make everything` nothing counts as proved.
"""

import ast
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tools.runtime.fetch import default_cache

ROOT = Path(__file__).resolve().parents[2]
AT_ALL = not (os.environ.get("CI") or os.environ.get("EVERYTHING"))
# of these no list of bytes is kept: what reads them depends on more than on what it imports
OPEN = ("microgpt/viz", "microgpt/__main__.py", "tools", "bench", "build.py", "tests/browser", "tests/docs")
COMMON = (  # besides what pages say of themselves
    "pyproject.toml",
    "tests/conftest.py",
    "microgpt/record.py",
    "tests/constraints/test.txt",
    "tests/support/proved.py",
)

COURSE = ROOT / "microgpt" / "course"


class Proof:
    """Whether these bytes have been proved."""

    def __init__(self, *parts: bytes | str) -> None:
        key = sha256(sys.version.encode())
        for part in parts:
            data = part if isinstance(part, bytes) else part.encode()
            key.update(len(data).to_bytes(8, "little") + data)
        self.path = default_cache() / "proved" / key.hexdigest()

    def holds(self) -> bool:
        return AT_ALL and self.path.is_file()

    def keep(self) -> None:
        if AT_ALL:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch()


def of_module(path: Path) -> Proof | None:
    """The proof of a whole test module, or None where its bytes are not known."""
    files = reached(path)
    names = sorted(file.relative_to(ROOT).as_posix() for file in files)
    if any(name.startswith(OPEN) for name in names) or "__file__" in path.read_text("utf-8"):
        return None
    data = [file for file in (ROOT / "microgpt" / "data").iterdir() if file.is_file()]
    listed = [*sorted(files), *sorted(data), *(ROOT / name for name in COMMON), *sorted(COURSE.glob("**/__init__.py"))]
    listed += [place / "conftest.py" for place in path.parents if (place / "conftest.py").is_file()]
    return Proof(path.relative_to(ROOT).as_posix(), *(file.read_bytes() for file in listed))


def reached(path: Path) -> set[Path]:
    """The files of this project that a module comes to by its imports, wherever in it they stand."""
    found, waiting = set[Path](), [path]
    while waiting:
        if (one := waiting.pop()) not in found:
            found.add(one)
            if one.suffix == ".py" and one != ROOT / "microgpt" / "__init__.py":
                waiting += imported(one)
    return found


@cache
def imported(path: Path) -> tuple[Path, ...]:
    return tuple({file for name in names(path) for file in files_of(name)})


def names(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def files_of(name: str) -> Iterable[Path]:
    """A module of ours, the packages that it is in, and what lies beside it that is no module."""
    parts = name.split(".")
    for n in range(1, len(parts) + 1):
        place = ROOT.joinpath(*parts[:n])
        yield from (file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file())
        if n > 1 and place.is_dir():
            yield from (file for file in place.iterdir() if file.is_file() and file.suffix not in (".py", ".pyc"))


class Modules:
    """Leaves out the modules that have been proved; keeps the proof of those of which every test has passed."""

    def __init__(self, config: pytest.Config) -> None:
        self.whole = not config.option.keyword and not any("::" in argument for argument in config.args)
        self.how = f"{config.option.markexpr}"
        self.collected, self.passed = set[str](), set[str]()

    def proof(self, module: str) -> Proof | None:
        found = of_module(ROOT / module)
        return found and Proof(found.path.name, self.how)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        modules = {item.nodeid.partition("::")[0] for item in items} if self.whole and AT_ALL else set[str]()
        proved = {module for module in modules if (found := self.proof(module)) and found.holds()}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid.partition("::")[0] in proved])
        items[:] = [item for item in items if item.nodeid.partition("::")[0] not in proved]
        self.collected |= {item.nodeid for item in items}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self.collected |= set(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        if not self.whole or os.environ.get("PYTEST_XDIST_WORKER"):
            return
        by_module = defaultdict[str, set[str]](set)
        for nodeid in self.collected:
            by_module[nodeid.partition("::")[0]].add(nodeid)
        for module, ids in by_module.items():
            if ids <= self.passed and (found := self.proof(module)):
                found.keep()
