"""What the page itself sees: when it was clicked, when it had painted, frames, long tasks. For every browser measure.

The watcher is injected before the click. The clock starts at the click event's own time stamp. Something
counts as painted at the start of the first frame after the one in which it was changed. Knows no page of ours but
for the marks that boot.js leaves (boot-starting, boot-ready).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from build import build
from tools.browsers import UNFOLD, Page
from tools.server import Fault, serving

# A mark that was left before this frame began has been painted, with everything its task changed.
WATCHER = """(() => {
  const seen = window.bench = { clicks: [], frames: [], painted: {}, tasks: [] };
  addEventListener("click", (e) => { if (!e.target.matches("input")) seen.clicks.push(e.timeStamp); }, true);
  const frame = (begin) => {
    seen.frames.push(performance.now());
    for (const { name, startTime } of performance.getEntriesByType("mark")) {
      const times = (seen.painted[name] ??= []);
      if (startTime < begin && !times.some(([marked]) => marked === startTime))
        times.push([startTime, performance.now()]);
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  if (PerformanceObserver.supportedEntryTypes.includes("longtask"))
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) seen.tasks.push([startTime, duration]);
    }).observe({ type: "longtask" });
})()"""


class Seen(NamedTuple):
    """All times in milliseconds of the page's clock."""

    clicks: list[float]
    frames: list[float]
    painted: dict[str, list[tuple[float, float]]]  # mark -> when it was left, when that was painted
    tasks: list[tuple[float, float]]  # start and duration

    def worst_frame(self, start: float, end: float) -> float:
        """The longest time between two frames, of those that ended between start and end."""
        return max(b - a for a, b in zip(self.frames, self.frames[1:], strict=False) if start < b <= end)

    def long_tasks(self, start: float, end: float) -> list[float]:
        """Durations of the long tasks that ended between start and end."""
        return [duration for at, duration in self.tasks if start < at + duration <= end]


def watch(page: Page) -> None:
    page.run(UNFOLD)
    page.run(WATCHER)


def seen(page: Page) -> Seen:
    found: dict[str, Any] = page.run("window.bench")
    return Seen(**found)


@contextmanager
def built_site() -> Iterator[Path]:
    """The site, built into a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        build(site)
        yield site


@contextmanager
def address(site: Path, fault: Fault | None = None) -> Iterator[str]:
    with serving(site, fault) as url:
        yield url
