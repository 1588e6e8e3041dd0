"""From a click to the frame that shows what it changed: read from Chromium's own trace, in one way for all measures.

The clock runs from the dispatch of the click. The page is painted when the answer has come, if Python gives one, and
has been put into it, and the first main frame after that has done style, layout, paint and commit: that is a page's
own work, and goals are for it. Raster, activation and drawing follow, until the frame is presented, as the trace calls
it: for most readers a graphics card does that, and here the processor, so it is told apart. Frames come as soon as they
are ready: the browser is run without its limit of frames a second, so that nothing waits for the tick of a screen. A
reader's screen adds that, half a tick on average (8 ms at 60 Hz). Tracing is on, and takes its share.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from tools.browsers import Page, PlaywrightPage

UNLIMITED = ("--disable-frame-rate-limit", "--disable-gpu-vsync")  # flags of the browser that is measured
TRACED = ("devtools.timeline", "blink.user_timing", "cc", "benchmark")
SENT, STANDS = "boot-working", "boot-ready"  # the marks that boot.js leaves
STAGES = {
    ("Commit", "e"): "committed",
    ("EndCommitToActivation", "e"): "rastered",
    ("SubmitCompositorFrameToPresentationCompositorFrame", "e"): "drawn",
}
APART = 50_000  # microseconds; the second click of a label, on its control, comes at once


class Painted(NamedTuple):
    """Milliseconds, one after the other."""

    answer: float  # until what is to be shown is in the page; 0 without Python
    page: float  # style, layout, paint, commit, and what the browser lets pass before
    raster: float
    drawing: float

    @property
    def painted(self) -> float:
        return self.answer + self.page

    @property
    def total(self) -> float:
        return sum(self)


def traced(page: Page, work: Callable[[], object], answered: bool) -> list[Painted]:
    """What each click of `work` takes; `answered` where Python gives an answer, of which the first is waited for."""
    assert isinstance(page, PlaywrightPage)
    browser = page.tab.context.browser
    assert browser is not None
    browser.start_tracing(page=page.tab, categories=list(TRACED))
    page.pause(0.2)
    try:
        work()
        page.pause(0.2)
    finally:
        trace = browser.stop_tracing()
    return paintings(json.loads(trace)["traceEvents"], answered)


def paintings(events: list[dict[str, Any]], answered: bool) -> list[Painted]:
    """What each click of a trace takes; one that leads to no frame is left out."""
    events = sorted(events, key=lambda e: float(e.get("ts", 0)))
    clicks = [
        e["ts"] for e in events if e["name"] == "EventDispatch" and e["args"].get("data", {}).get("type") == "click"
    ]
    clicks = clicks[:1] + [b for a, b in pairwise(clicks) if b - a > APART]
    marks = [e["ts"] for e in events if e["name"] in (SENT, STANDS) and "user_timing" in e.get("cat", "")]
    begun = [e["ts"] for e in events if e["name"] == "ProxyMain::BeginMainFrame"]
    shown, found = frames(events), []
    for click, following in zip(clicks, [*clicks[1:], float("inf")], strict=True):
        told = [mark for mark in marks if click < mark < following]  # the first of them says that it was sent
        if answered and len(told) < 2:
            continue
        change = told[1] if answered else click
        begin = next((ts for ts in begun if change <= ts < following), None)
        frame = begin and next((one for one in shown if one["committed"] > begin), None)
        if frame:
            ends = [click, change, *(frame[stage] for stage in STAGES.values())]
            found.append(Painted(*((b - a) / 1000 for a, b in pairwise(ends))))
    return found


def frames(events: list[dict[str, Any]]) -> list[dict[str, float]]:
    """When each frame was committed, rastered and drawn, in microseconds; in that order, those that were drawn."""
    running: dict[str, dict[str, float]] = {}
    found = []
    for event in events:
        if "benchmark" not in event.get("cat", "") or event["ph"] not in "be":
            continue
        key = f"{event['pid']} {event.get('id2') or event.get('id')}"  # of a frame that is under way; then of another
        if event["name"] == "PipelineReporter":
            one = running.pop(key, {})
            if event["ph"] == "b":
                running[key] = {}
            elif len(one) == len(STAGES):
                found.append(one)
        elif key in running and (stage := STAGES.get((event["name"], event["ph"]))):
            running[key][stage] = float(event["ts"])
    return sorted(found, key=lambda one: one["committed"])
