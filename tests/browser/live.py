"""Driving the live part of a page: press a button, wait for Python's answer."""

import json
import time
from collections.abc import Callable
from typing import Any

from tools.browsers import UNFOLD, Page

STATE = 'document.querySelector("[data-boot]").dataset.state'
LINE = 'document.querySelector("[data-boot]").textContent'
# keep the text of each answer, once it is shown: then, and not before, its state is taken; drivers parse JSON here too
LISTEN = """(() => { const parse = JSON.parse; window.answers = [];
  JSON.parse = (text, ...rest) => {
    const value = parse(text, ...rest), state = value?.state;
    if (value?.patches) Object.defineProperty(value, "state", { get: () => (window.answers.push(text), state) });
    return value;
  }; })()"""

# what stands in a page of another address takes the place of what stands in this one; its scripts stay those of this
TURN = """((url) => new Promise((done, fail) => {
  const request = Object.assign(new XMLHttpRequest(), { responseType: "document", onerror: fail });
  request.onload = () => {
    document.querySelector("main").replaceWith(document.adoptNode(request.response.querySelector("main")));
    done(document.querySelector("h1").textContent);
  };
  request.open("GET", window.turned = url);
  request.send();
}))"""


def open_live(page: Page, url: str) -> Page:
    page.open(url)
    page.run(LISTEN)
    page.run(UNFOLD)
    return page


def turn(page: Page, name: str) -> None:
    """Another page of the same folder, in the Python that is up."""
    assert page.run(f"{TURN}({name!r})")
    page.run(UNFOLD)


def press(page: Page, hook: str) -> dict[str, Any]:
    """Press a button and return Python's answer, once it is on the page."""
    before = page.run("window.answers.length")
    page.click(f'button[data-hook="{hook}"]')
    page.wait(f'window.answers.length > {before} && {STATE} === "ready"')
    answer: dict[str, Any] = json.loads(page.run("window.answers.at(-1)"))
    return answer


def soon(page: Page, holds: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether something comes to be true in that time, while the page goes on: a busy machine is late."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        page.pause(0.05)
    return True


def html(answer: dict[str, Any], target: str) -> str:
    return next(str(patch["html"]) for patch in answer["patches"] if patch.get("target") == target)
