"""How hosts show a page: in the sandbox of a frame, built again while it is open, with all of Python in it; and what
its policy has forbidden."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deflate

from microgpt.viz.rendering.assets import Assets, Read, self_contained
from microgpt.viz.rendering.style import read_site
from tools.browsers import Page
from tools.server import Fault

HEADING = "document.readyState === 'complete' && document.querySelector('h1').textContent"
# what the policy forbids from now on is listed in `violations`
WATCH = """(() => { window.violations = [];
  document.addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + e.blockedURI));
})()"""


def quickly(data: bytes) -> bytes:
    """gzip, in a tenth of the time that the builder takes for a twentieth less."""
    return bytes(deflate.gzip_compress(data, 1))


def carrying(site: Path, read: Read = read_site) -> Assets:
    """What a page loads, with the site's Python in it."""
    (folder,) = site.glob("runtime-*")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return self_contained(read, files, quickly)


def sandboxed(site: Path, allowed: str, worker: bool) -> Fault:
    """Every page with the sandbox of a frame in its header; without `worker`, a Python that never answers."""

    def answer(path: str) -> tuple[int, dict[str, str], Iterator[bytes]] | None:
        if path == "/worker.js" and not worker:
            return 200, {"Content-Type": "text/javascript", "Content-Length": "0"}, iter([b""])
        if not path.endswith(".html"):
            return None
        data = (site / path.lstrip("/")).read_bytes()
        headers = {"Content-Type": "text/html", "Content-Length": str(len(data))}
        return 200, {**headers, "Content-Security-Policy": f"sandbox {allowed}"}, iter([data])

    return answer


def until_it_says(tab: Page, end: str) -> None:
    """A page that is being left answers no question."""
    last: Any = ""
    for _ in range(300):
        try:
            last = tab.run(HEADING)
        except Exception as error:  # each driver has its own
            last = error
        if str(last).endswith(end):
            return
        time.sleep(0.1)
    raise AssertionError(last)
