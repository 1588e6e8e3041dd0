"""What has passed on the same bytes need not run again: keys of what has passed lie in the cache folder, never in git.

Three kinds of tests know all their bytes. A page's sweep (tests/browser/pages/test_sweep.py) is a function of the page,
its styles and scripts, the predicates and the browser. A module that tests the maths is a function of the modules that
it imports, at any remove, and of the data beside them. One that reaches pages or the builder is a function of the whole
project but for the lessons that it looks at none of: no lesson knows another, and the frame knows none
(tests/test_walls.py). It looks at those that are named in it; one that goes through all of them, or reads a document,
always runs. In CI (CI=true) and in `make everything` nothing counts as proved.
"""

import ast
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from microgpt.viz.text.po import pair
from tests.support.catalogue import messages_in
from tools.runtime.fetch import default_cache

ROOT = Path(__file__).resolve().parents[2]
AT_ALL = not (os.environ.get("CI") or os.environ.get("EVERYTHING"))
# of these no list of bytes is kept: what reads them depends on more than on what it imports
OPEN = ("microgpt/viz", "microgpt/__main__.py", "tools", "bench", "build.py", "tests/browser", "tests/docs")
COMMON = (
    "pyproject.toml tests/conftest.py microgpt/record.py tests/constraints/test.txt tests/support/proved.py".split()
)

COURSE = ROOT / "microgpt" / "course"
FOLDER = default_cache() / "proved"


class Proof:
    """Whether these bytes have been proved."""

    def __init__(self, *parts: bytes | str) -> None:
        key = sha256(sys.version.encode())
        for part in parts:
            data = part if isinstance(part, bytes) else part.encode()
            key.update(len(data).to_bytes(8, "little") + data)
        self.path = FOLDER / key.hexdigest()

    def holds(self) -> bool:
        return AT_ALL and self.path.is_file()

    def keep(self) -> None:
        if AT_ALL:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch()


@cache
def of_module(path: Path) -> Proof | None:
    """The proof of a whole test module, or None where its bytes are not known."""
    files = reached(path)
    names = sorted(file.relative_to(ROOT).as_posix() for file in files)
    if any(name.startswith(OPEN) for name in names) or "__file__" in path.read_text("utf-8"):
        return of_pages(path)
    data = [file for file in (ROOT / "microgpt" / "data").iterdir() if file.is_file()]
    listed = [*sorted(files), *sorted(data), *(ROOT / name for name in COMMON), *sorted(COURSE.glob("**/__init__.py"))]
    listed += [place / "conftest.py" for place in path.parents if (place / "conftest.py").is_file()]
    return Proof(path.relative_to(ROOT).as_posix(), *(file.read_bytes() for file in listed), machine())


# ---- tests of pages: all of the project but the lessons that they do not look at ---------------------------

LESSONS = sorted(path.parent.name for path in COURSE.glob("*/__init__.py"))
KINDS = (".py", ".html", ".svg", ".css", ".js", ".json", ".npz", ".txt", ".so", ".toml", ".png")
PROJECT = ("microgpt", "templates", "site", "tools", "tests/support", "tests/constraints")
# what goes through all lessons, and the pages that have something of each: the first, and the exercises
ALL_OF_THEM = re.compile(
    r"course import [^\n]*\b(LESSONS|PAGES|COURSE_PARTS)\b|\w\(\"index\"|[/}](es/)?index\.html\"\)|\bexercises\b"
)
BESIDE = {  # what else a test may read, and where it lies
    r"\.md\b|\bdocs\b": ("docs/*", "*.md"),
    r"\bbench\b": ("bench/**/*.py", "bench/*.md"),
    r"\bMakefile\b|\.github\b": ("Makefile", ".github/**/*.yml"),
}


def of_pages(path: Path) -> Proof | None:
    """The proof of a module that tests pages; None where it may look at any lesson."""
    lessons, own = lessons_of(path), tests_of(path)
    if lessons is None:
        return None
    text = "\n".join(file.read_text("utf-8") for file in own)
    beside = [file for folder in path.parents for file in folder.glob("*") if file.is_relative_to(ROOT / "tests")]
    beside = [file for file in beside if not file.name.startswith("test_")]
    more = [
        file for says, places in BESIDE.items() if re.search(says, text) for one in places for file in ROOT.glob(one)
    ]
    files = {*own, *beside, *more, *project(lessons), ROOT / "build.py", ROOT / "pyproject.toml"}
    listed = sorted(digest(file) for file in files)
    return Proof(path.relative_to(ROOT).as_posix(), *listed, translations(lessons), machine())


def tests_of(path: Path) -> list[Path]:
    """A module of tests, and what it comes to by its imports that is of tests/ too."""
    found = [file for file in reached(path) if file.is_relative_to(ROOT / "tests")]
    return [file for file in found if file.name not in ("__init__.py", "conftest.py", Path(__file__).name)]


@cache
def lessons_of(path: Path) -> frozenset[str] | None:
    """The lessons that a module of tests looks at; None for all."""
    text = "\n".join(file.read_text("utf-8") for file in tests_of(path))
    if ALL_OF_THEM.search(text) or re.search(r"\btests\.(attack|faults|docs)\b|\bgit\b", text):
        return None
    return frozenset(looked_at(text) | looked_at_by_all())


@cache
def digest(file: Path) -> str:
    """A file's place and bytes; nothing of what is none."""
    return f"{file.relative_to(ROOT).as_posix()} {sha256(file.read_bytes()).hexdigest()}" if file.is_file() else ""


def looked_at(text: str) -> set[str]:
    """The lessons whose page or folder is named in a text."""
    known = {name: name for name in LESSONS} | {name.replace("_", "-"): name for name in LESSONS}
    found = re.findall(rf"[\"'/.}}]({'|'.join(sorted(known, key=len, reverse=True))})(?=[\"'/.?#]| import)", text)
    return {known[name] for name in found}


@cache
def looked_at_by_all() -> set[str]:
    """The lessons that pages without a lesson of their own are made of."""
    files = [file for folder in ("microgpt/viz", "microgpt/apps", "templates", "tools") for file in all_of(folder)]
    texts = [file.read_text("utf-8") for file in files if file.suffix in (".py", ".html")]
    found = re.findall(r"\bcourse[./](\w+)", "\n".join(texts))
    return {"kv_cache", "kv_cache_words", *(name for name in found if name in LESSONS)}


@cache
def all_of(folder: str) -> list[Path]:
    return [file for file in sorted((ROOT / folder).rglob("*")) if file.suffix in KINDS and file.is_file()]


def project(lessons: frozenset[str]) -> Iterator[Path]:
    """All of the project but the folders of other lessons: of these, what their pages say of themselves."""
    return (file for folder in PROJECT for file in all_of(folder) if lesson_of(file) in ("", *lessons))


@cache
def lesson_of(file: Path) -> str:
    """The lesson whose folder a file lies in, but for what its page says of itself."""
    lesson = file.relative_to(COURSE).parts[0] if file.is_relative_to(COURSE) else ""
    return lesson if lesson in LESSONS and file.name != "__init__.py" else ""


@cache
def messages(lesson: str) -> frozenset[str]:
    return frozenset(messages_in(file for file in all_of("microgpt/course") if file.parent.name == lesson))


@cache
def translations(lessons: frozenset[str]) -> str:
    """The translations without the texts of other lessons."""
    others = {text for name in LESSONS if name not in lessons for text in messages(name)}
    return "\n".join(told for text, told in translated() if text not in others)


@cache
def translated() -> list[tuple[str, str]]:
    """Each text that is translated, and what is said of it."""
    paths = sorted((ROOT / "locale").glob("*/LC_MESSAGES/messages.po"))
    entries = [pair(block) for path in paths for block in path.read_text("utf-8").split("\n\n")]
    return [(ids.split(b"\0")[0].decode(), f"{ids!r} {strings!r}") for ids, strings in entries]


@cache
def machine() -> str:
    """What is installed here: with other browsers, or with the list of names, it is another proof."""
    try:
        from tools.browsers import ENGINES, which
    except ModuleNotFoundError:  # beside PyTorch no browser is driven
        return ""
    found = [(name, which(name)) for name in ENGINES]
    names = Path(os.environ.get("NAMES_TXT") or ROOT.parent / "shared" / "data" / "names.txt")
    return repr([(name, Path(path).stat()[6:9] if path else None) for name, path in found] + [names.is_file()])


@cache
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
    waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while waiting:  # of statements alone: no expression has an import in it, and most of a module is expressions
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            below = getattr(node, part, ())
            waiting += below if isinstance(below, list) else ()


@cache
def files_of(name: str) -> tuple[Path, ...]:
    """A module of ours, the packages that it is in, and what lies beside it that is no module."""
    package, _, _ = name.rpartition(".")
    place = ROOT.joinpath(*name.split("."))
    found = [file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()]
    if package and place.is_dir():
        found += (file for file in place.iterdir() if file.is_file() and file.suffix not in (".py", ".pyc"))
    return (*(files_of(package) if package else ()), *found)


class Modules:
    """Leaves out the modules that have been proved; keeps the proof of those of which every test has passed."""

    def __init__(self, config: pytest.Config) -> None:
        self.whole = not config.option.keyword and not any("::" in argument for argument in config.args)
        self.how = f"{config.option.markexpr}"
        self.collected, self.passed = set[str](), set[str]()
        self.proved: list[str] | None = None

    def proof(self, module: str) -> Proof | None:
        found = of_module(ROOT / module)
        return found and Proof(found.path.name, self.how)

    def of(self, modules: Iterable[str]) -> list[str]:
        """Those of the modules that have been proved. Where nothing has been, nothing need be read."""
        if not (self.whole and AT_ALL and any(FOLDER.glob("*"))):
            return []
        return [module for module in modules if (found := self.proof(module)) and found.holds()]

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """One process finds it out for all."""
        if self.proved is None:
            places = [ROOT / argument for argument in node.config.args]
            files = {file for place in places for file in ([place] if place.is_file() else place.rglob("test_*.py"))}
            self.proved = self.of(file.relative_to(ROOT).as_posix() for file in sorted(files))
        node.workerinput["proved"] = self.proved

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if (given := getattr(config, "workerinput", None)) is not None:
            proved = set(given["proved"])
        else:
            proved = set(self.of({item.nodeid.partition("::")[0] for item in items}))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid.partition("::")[0] in proved])
        items[:] = [item for item in items if item.nodeid.partition("::")[0] not in proved]
        self.collected |= {item.nodeid for item in items}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self.collected |= set(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if (report.when == "call" and report.passed) or report.skipped:  # on the same `machine` it is skipped again
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        if not (self.whole and AT_ALL) or os.environ.get("PYTEST_XDIST_WORKER"):
            return
        by_module = defaultdict[str, set[str]](set)
        for nodeid in self.collected:
            by_module[nodeid.partition("::")[0]].add(nodeid)
        for module, ids in by_module.items():
            if ids <= self.passed and (found := self.proof(module)):
                found.keep()
