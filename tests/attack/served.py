"""A site under many addresses at once, each with a fault of its own, and with scripts that lose patience sooner.

http://127.0.0.1:1/missing-worker.js/kv-cache.html is the page kv-cache, served with that fault.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from build import build
from tests.attack.part import Order
from tools.server import Handler, serving

HASTE = 3  # times as soon is a download given up: hundreds of cases wait for that
PAGE = "kv-cache.html"

Answer = tuple[int, dict[str, str], Iterator[bytes]]
LOGIN = b"<!doctype html><title>Login</title><form><input name=user></form>"


def site_in(order: Order) -> Path:
    """The real site, built once for all parts."""
    out = order.folder / "site"
    if not out.exists():
        build(out)
    return out


def fetched(site: Path) -> list[str]:
    """What Python's start fetches: what lies in the runtime's folder, but for what comes after the first step."""
    folders = [*site.glob("runtime-*/*"), *site.glob("worker.js")]
    return sorted(path.name for path in folders if path.name != "more.wasm")


def slug(case: str) -> str:
    """A case in an address."""
    return re.sub(r"[^a-z0-9]+", "-", case)


def hasty(script: bytes) -> bytes:
    """The script that fetches, with less patience: how long it waits for a byte is called IDLE there."""
    return re.sub(rb"(\bIDLE = )(\d+)", lambda found: found[1] + str(int(found[2]) // HASTE).encode(), script)


def answer(data: bytes, kind: str = "application/octet-stream", status: int = 200) -> Answer:
    return status, {"Content-Length": str(len(data)), "Content-Type": kind}, iter([data])


class Faults:
    """Answers for the server: /<case>/<path>. `faulty` says which fault a case has while it is `on`."""

    def __init__(self, site: Path, faulty: Callable[[str], tuple[str, str]]) -> None:
        self.site, self.faulty, self.off, self.closing = site, faulty, set[str](), threading.Event()

    def __call__(self, asked: str) -> Answer | None:
        case, _, path = asked.lstrip("/").partition("/")
        kind, name = self.faulty(case)
        elsewhere = path.startswith("elsewhere/")
        file = self.site / path.removeprefix("elsewhere/")
        if not file.is_file():
            return answer(b"", status=404)
        data = file.read_bytes()
        if file.suffix == ".js" and file.parent == self.site:
            data = hasty(data)
        type_ = Handler.extensions_map.get(file.suffix, "text/html" if file.suffix == ".html" else "text/css")
        if file.name == name and case not in self.off and not elsewhere:
            return self.wrong(kind, data, type_, f"/{case}/elsewhere/{path}")
        return answer(data, type_)

    def wrong(self, kind: str, data: bytes, type_: str, elsewhere: str) -> Answer:
        middle = len(data) // 2
        size = {"Content-Length": str(len(data)), "Content-Type": type_}
        simple = {
            "missing": (b"", type_, 404),
            "a server's error": (LOGIN, "text/html", 500),
            "empty": (b"", type_, 200),
            "truncated": (data[:middle], type_, 200),
            "one bit wrong": (data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :], type_, 200),
            "a login page": (LOGIN, "text/html", 200),
            "of a wrong type": (data, "text/plain", 200),
        }
        if kind in simple:
            return answer(*simple[kind])
        if kind == "cut off":
            return 200, size, iter([data[:middle]])
        if kind == "slow":
            return 200, size, self.slowly(data)
        if kind == "silent":
            return 200, size, self.stalling(b"")
        if kind == "stalling":
            return 200, size, self.stalling(data[:middle])
        if kind == "redirected":
            return 302, {"Location": elsewhere, "Content-Length": "0"}, iter([])
        if kind == "redirected to a login page":
            login = elsewhere.split("/elsewhere/")[0] + "/glossary.html"
            return 302, {"Location": login, "Content-Length": "0"}, iter([])
        raise AssertionError(kind)

    def slowly(self, data: bytes) -> Iterator[bytes]:
        size = len(data) // 8 + 1
        for at in range(0, len(data), size):
            time.sleep(0.1)
            yield data[at : at + size]

    def stalling(self, data: bytes) -> Iterator[bytes]:
        """Some bytes, then none until the server is closed."""
        yield data
        self.closing.wait(120)


KINDS = (
    "missing, a server's error, empty, truncated, one bit wrong, a login page, cut off, silent, stalling, "
    "redirected to a login page, of a wrong type, slow, redirected"
).split(", ")
HARMLESS = ("of a wrong type", "slow", "redirected")


class Served(NamedTuple):
    """Where the cases are, and how a fault is taken away."""

    address: str
    faults: Faults

    def page(self, case: str) -> str:
        return f"{self.address}{case}/{PAGE}"

    def heal(self, case: str) -> None:
        self.faults.off.add(case)


@contextmanager
def served(site: Path, faulty: Callable[[str], tuple[str, str]]) -> Iterator[Served]:
    faults = Faults(site, faulty)
    with serving(site, faults) as address:
        try:
            yield Served(address, faults)
        finally:
            faults.closing.set()
