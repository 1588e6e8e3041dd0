"""Builds under strange circumstances: the site is whole (the old one, or the new one with the very bytes of any other
build), a failure is said in a sentence, and a folder in which somebody keeps files of their own is not touched."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from build import ROOT, build
from tests.attack.part import Order, Part, Seen, some
from tests.attack.served import site_in
from tests.support.own_widget import written
from tests.tools.built import tree
from tools.runtime.fetch import default_cache
from tools.runtime.pins import PYODIDE

OLDER = "https://older.example.org/"  # the address in the site that is there before
MINE = {
    "notes.txt": "years of work",
    "CNAME": "course.example.org",
    ".git/config": "[core]",
    "my page.html": "<p>mine",
    "runtime-notes/mine.js": "mine()",
    "es/mine.html": "<p>mío",
    ".htaccess": "Deny from none",
}
MB = 1_000_000


class Around(NamedTuple):
    """What is unusual. `fails` says that this build cannot come to an end."""

    variables: dict[str, str | None] = {}
    flags: tuple[str, ...] = ()
    folder: str = "site"
    umask: int = 0o022
    largest: int = 0  # bytes that a file may have: a disk that is full
    spoil: Callable[[Path], dict[str, str]] | None = None  # does harm to a cache of its own; gives variables
    fails: bool = False


def spoilt(name: str, keep: int) -> Callable[[Path], dict[str, str]]:
    """A copy of the cache with one file cut short; a folder beside it has the right one."""

    def spoil(place: Path) -> dict[str, str]:
        good = default_cache() / f"pyodide-{PYODIDE}"
        shutil.copytree(good, place / "cache" / good.name)
        path = place / "cache" / good.name / name
        path.write_bytes(path.read_bytes()[:keep])
        return {"MICROGPT_CACHE": str(place / "cache"), "MICROGPT_RUNTIME_DIR": str(good)}

    return spoil


def a_file(place: Path) -> dict[str, str]:
    (place / "cache").write_text("mine")
    return {"MICROGPT_CACHE": str(place / "cache")}


def half_compiled(place: Path) -> dict[str, str]:
    """A copy of the whole cache in which every second file of bytecode is cut short."""
    shutil.copytree(default_cache(), place / "cache")
    for path in sorted((place / "cache" / "bytecode").rglob("*.pyc"))[::2]:
        path.write_bytes(path.read_bytes()[:100])
    return {"MICROGPT_CACHE": str(place / "cache")}


BLAS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # with another kernel the last digits of traces are others
AROUND = {
    **{f"hash seed {seed}": Around({"PYTHONHASHSEED": str(seed)}) for seed in (0, 1, 4294967295)},
    **{f"time zone {zone}": Around({"TZ": zone}) for zone in ("Asia/Tokyo", "Pacific/Chatham", "nonsense")},
    **{f"locale {name}": Around({"LC_ALL": name, "LANG": name}) for name in ("C", "POSIX", "tr_TR.UTF-8", "xx_XX")},
    **{f"umask {umask:03o}": Around(umask=umask) for umask in (0o000, 0o077)},
    "no UTF-8": Around({"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}),
    "optimised": Around(flags=("-O",)),
    "optimised twice": Around(flags=("-OO",)),
    "warnings are errors": Around(flags=("-W", "error")),
    "no bytecode": Around(flags=("-B",)),
    "no home": Around({"HOME": None, "MICROGPT_CACHE": str(default_cache())}),
    "nothing around": Around(
        {name: None for name in os.environ if name not in BLAS} | {"MICROGPT_CACHE": str(default_cache())}
    ),
    "a date of 1970": Around({"SOURCE_DATE_EPOCH": "0"}),
    "a folder with spaces": Around(folder="my new site"),
    "a folder with marks": Around(folder="sité <b>&'\"%(x)s 课程 \u202e"),
    "a long folder": Around(folder="n" * 200),
    "a deep folder": Around(folder="/".join("n" * 50 for _ in range(12))),
    "a folder like a flag": Around(folder="--out"),
    "a hidden folder": Around(folder=".site"),
    "a cache without a part of Python": Around(spoil=spoilt("pyodide.asm.wasm", 1000)),
    "a cache with an empty file": Around(spoil=spoilt("python_stdlib.zip", 0)),
    "a cache with half of its bytecode": Around(spoil=half_compiled),
    "a cache that is a file": Around(spoil=a_file, fails=True),
    **{f"a disk that is full after {n} MB": Around(largest=round(n * MB), fails=True) for n in (0.01, 0.3, 2)},
}
KILLS = [f"killed at {share:.2f}" for share in (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)]
KILLS += [f"killed {ms} ms after the last page" for ms in (0, 5, 10, 20, 30, 40, 60, 90, 150)]
KILLS += ["interrupted at 0.50", "interrupted 20 ms after the last page", "ended at 0.70"]
FOREIGN = ["a folder of somebody else", "a site with files of somebody in it"]
OTHERS = ["two builds at once", *FOREIGN]
ODD = ["a lesson full of links", "an output inside of a lesson", "an output inside of the sources"]
ODD += ["a page over a pipe", "a trace over a pipe", "a trace of a pipe"]


def prepare(order: Order) -> None:
    start = time.monotonic()
    site_in(order)
    if not (order.folder / "older").exists():
        build(order.folder / "older", OLDER)
    (order.folder / "seconds").write_text(str((time.monotonic() - start) / 2))


def named(scale: float, order: Order) -> list[str]:
    return some([*AROUND, *KILLS, *OTHERS, *ODD], scale)


def attack(names: Sequence[str], order: Order) -> Iterator[Seen]:
    for name in names:
        place = order.folder / re.sub(r"\W+", "-", name)
        place.mkdir()
        try:
            yield Seen(name, kind=tried(name, order, place))
        except AssertionError as error:
            yield Seen(name, str(error).splitlines()[0][:300], "failures")
        finally:
            shutil.rmtree(place)


def tried(name: str, order: Order, place: Path) -> str:
    if name in FOREIGN:
        if name == FOREIGN[1]:
            shutil.copytree(order.folder / "older", place / "site")
        return foreign(place / "site", place)
    if name in ODD:
        return odd(name, place)
    around = AROUND.get(name, Around())
    out, older = place / around.folder, order.folder / "older"
    shutil.copytree(older, out)
    more = around.spoil(place) if around.spoil else {}
    if name in KILLS:
        stop(started(out, place, around, more), name, order)
        half = tree(out if out.exists() else out.with_name(f".{out.name}.build") / "old")
        assert half in (tree(older), tree(site_in(order))), "neither the old site nor the new one"
    if name == "two builds at once":
        both_at_once = [started(out, place, around, more) for _ in range(2)]
        assert all(one.wait(300) in (0, 1) for one in both_at_once), "one of two builds broke off"
    builder = started(out, place, around, more)
    said = builder.communicate(timeout=300)[1].decode("utf-8", "replace")
    assert "Traceback" not in said, f"a traceback: {said.strip().splitlines()[-1]}"
    assert (builder.returncode == 0) != around.fails, f"ended with {builder.returncode}: {said[-200:]}"
    same(out, older if around.fails else site_in(order))
    beside = {path.name for path in place.iterdir()} - {around.folder.split("/")[0], "cache"}
    assert not beside, f"left behind: {beside}"
    return "the old one stays, with a sentence" if around.fails else "the same bytes"


def foreign(out: Path, place: Path) -> str:
    """A folder in which somebody keeps files of their own: it is not touched."""
    for name, text in MINE.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, "utf-8")
    before = tree(out)
    builder = started(out, place, Around(), {})
    said = builder.communicate(timeout=300)[1].decode()
    assert builder.returncode == 1 and "Traceback" not in said, f"ended with {builder.returncode}: {said[-200:]}"
    assert tree(out) == before, "something else is there now"
    return "not touched, with a sentence"


def odd(name: str, place: Path) -> str:
    """Links that lead around and out, and outputs where nothing may be written: all stays, but for a good site."""
    lesson, pipe, out = written(place), place / "pipe", place / "site"
    os.mkfifo(pipe)
    for link, target in {"a": ".", "b": ".", "disk": "/", "c.py": __file__}.items():
        (lesson / link).symlink_to(target)
    before, build_py = {*place.rglob("*")}, str(ROOT / "build.py")
    command = {
        "a lesson full of links": [build_py, "--lesson", str(lesson), "--out", str(out)],
        "an output inside of a lesson": [build_py, "--lesson", str(lesson), "--out", str(lesson / "out")],
        "an output inside of the sources": [build_py, "--out", str(ROOT / "site" / "new")],
        "a page over a pipe": ["-m", "microgpt", "emma", "--force", "--out", str(pipe)],
        "a trace over a pipe": ["-m", "microgpt", "trace", "emma", "--force", "--out", str(pipe)],
        "a trace of a pipe": [build_py, "--trace", str(pipe), "--out", str(out)],
    }[name]
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *command], cwd=place, env=around, capture_output=True, timeout=300, text=True
    )
    good = name == ODD[0]
    assert "Traceback" not in done.stderr and done.returncode == (0 if good else 1), done.stderr[-200:]
    assert good == out.exists() and not (ROOT / "site" / "new").exists() and pipe.is_fifo()
    assert good or {*place.rglob("*")} == before, "something else is there now"
    assert not good or sum(map(len, tree(out).values())) < 30 * MB, "more is carried along than the lesson"
    return "built without what links lead to" if good else "not touched, with a sentence"


# ---- one build --------------------------------------------------------------------------------------


def started(out: Path, place: Path, around: Around, more: dict[str, str]) -> subprocess.Popen[bytes]:
    variables = {**os.environ, **around.variables, **more}
    command = [sys.executable, *around.flags, str(ROOT / "build.py"), f"--out={out}"]

    def bounded() -> None:
        if around.largest:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (around.largest, around.largest))

    return subprocess.Popen(
        command,
        cwd=place,
        env={name: value for name, value in variables.items() if value is not None},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        umask=around.umask,
        preexec_fn=bounded,
    )


def stop(builder: subprocess.Popen[bytes], name: str, order: Order) -> None:
    """At a share of the time that a build takes, or so long after it has said that the last pages are written."""
    assert builder.stderr
    if found := re.search(r"(\d+) ms", name):
        while (line := builder.stderr.readline()) and not line.startswith(b"style"):
            pass
        time.sleep(int(found[1]) / 1000)
    else:
        time.sleep(float(name.split(" at ")[1]) * float((order.folder / "seconds").read_text()))
    kinds = {"killed": signal.SIGKILL, "interrupted": signal.SIGINT, "ended": signal.SIGTERM}
    with suppress(ProcessLookupError):
        builder.send_signal(kinds[name.split(" ")[0]])
    builder.communicate(timeout=60)


# ---- what is there ----------------------------------------------------------------------------------


def same(out: Path, wanted: Path) -> None:
    """All files of the site are there, with these bytes, and no others."""
    there, new = tree(out), tree(wanted)
    wrong = sorted(name for name in {*there, *new} if there.get(name) != new.get(name))
    assert not wrong, f"{len(wrong)} files are not as they should be, among them {wrong[0]}"


PART = Part(
    tried="builds in other zones, locales, hash seeds and folders, with damaged caches and full disks, killed at any "
    "time, two at once; into folders with files of the user; links that lead around and out; outputs over pipes and "
    "inside of sources",
    cases=named,
    attack=attack,
    prepare=prepare,
    at_once=10,
    patience=400,
)
