"""How hosts show a page: in the sandbox of a frame, built again while it is open, with all of Python in it; and what
its policy has forbidden."""

import time
from pathlib import Path
from typing import Any

import deflate

from microgpt.viz.rendering.assets import Assets, Read, self_contained
from microgpt.viz.rendering.style import read_site
from tools.browsers import Page
from tools.server import Answer, Fault

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


def with_policy(site: Path, policy: str, pages: str = ".html") -> Fault:
    """Every page, or those whose address ends so, with this policy in its header too."""

    def answer(path: str) -> Answer | None:
        if not path.endswith(pages):
            return None
        data = (site / path.lstrip("/")).read_bytes()
        headers = {"Content-Type": "text/html", "Content-Length": str(len(data))}
        return 200, {**headers, "Content-Security-Policy": policy}, iter([data])

    return answer


def sandboxed(site: Path) -> Fault:
    """Every page with the sandbox of a frame in its header, and a Python that never answers."""
    pages = with_policy(site, "sandbox allow-scripts")
    silent = {"Content-Type": "text/javascript", "Content-Length": "0"}
    return lambda path: (200, silent, iter([b""])) if path == "/worker.js" else pages(path)


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
