"""Build again whenever something that a build reads has changed: each time in a process of its own, so nothing is old.

The next build is started before it is needed. It does all that takes long and needs no file with one of the suffixes in
LAST, then waits for a line. A change of such files lets it go on; for any other change a new one is started.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Event, Thread

LAST = (".html", ".svg", ".css", ".js", ".po", ".png")  # read for pages alone, when nothing else is left to do
STOPPED = 130  # what a build returns that somebody stops by Ctrl-C
PAUSE = 0.1  # seconds between two looks
SLOW = 10.0  # seconds of a build after which it is said that it goes on, and a change starts another one in its place
GRACE = 5.0  # seconds in which a build that is ended takes back what it has done
MOST_FILES = 20_000  # files that are looked at
FRAME = re.compile(r'^ *File "(.+)", line (\d+)', re.M)  # of a traceback

Snapshot = dict[str, tuple[int, int]]  # path -> when it was written, and its size


class Watch:
    """Looks after `places`, files and folders. Whatever has changed since it was made is met while it is entered.

    `command` builds, after it has read a line. `built` changes with every build that has come to a good end.
    """

    def __init__(self, command: Sequence[str], places: Sequence[Path]) -> None:
        self.command, self.places, self.seen = command, places, snapshot(places)
        self.built = time.time_ns()
        self.over = Event()
        self.thread = Thread(target=self.look, daemon=True)

    def __enter__(self) -> Watch:
        self.waiting = self.start()
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        self.drop()

    def start(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(self.command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, encoding="utf-8")

    def drop(self) -> None:
        """End the build that waits."""
        self.waiting.kill()
        self.waiting.communicate()

    def look(self) -> None:
        """Until it is over; builds when something has changed, and nothing changes any more."""
        last = self.seen
        while not self.over.wait(PAUSE):
            now = snapshot(self.places)
            if now == last and now != self.seen:
                changed, self.seen = changes(self.seen, now), now
                self.build(changed)
            last = now

    def build(self, changed: Iterable[str]) -> None:
        start = time.monotonic()
        if self.waiting.poll() is not None or not all(name.endswith(LAST) for name in changed):
            self.drop()
            self.waiting = self.start()
        said = self.wait(start)
        if said is None or self.waiting.returncode == STOPPED:
            if not self.over.is_set():
                self.waiting = self.start()
            return
        if self.waiting.returncode:
            print(f"{why(said, self.places)} The last good site is still served.", file=sys.stderr, flush=True)
        else:
            self.built = time.time_ns()
            print(f"built again in {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
        self.waiting = self.start()

    def wait(self, start: float) -> str | None:
        """Let the build that waits go on, and give what it has said at its end; None when it was ended before that.

        One that takes long, as a view that never ends does, is ended by the next change, and every one with the server.
        """
        told, slow = "\n", False
        while True:
            try:
                return self.waiting.communicate(told, timeout=PAUSE)[1]
            except subprocess.TimeoutExpired:
                told = ""
            if time.monotonic() - start > SLOW and not slow:
                slow = True
                print(f"still building after {SLOW:.0f} s; a change starts anew", file=sys.stderr, flush=True)
            if self.over.is_set() or (slow and snapshot(self.places) != self.seen):
                self.stop()
                return None

    def stop(self) -> None:
        """End a build as Ctrl-C does, so that nothing is left half done; by force where it does not listen."""
        self.waiting.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)
        try:
            self.waiting.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self.drop()


def snapshot(places: Iterable[Path]) -> Snapshot:
    """All files there, but hidden ones and what Python keeps of its modules; no link in a folder is followed."""
    found: Snapshot = {}
    todo = [str(place) for place in places]
    while todo and len(found) < MOST_FILES:
        path = todo.pop()
        try:
            if os.path.isdir(path):
                with os.scandir(path) as entries:
                    todo += [entry.path for entry in entries if is_watched(entry)]
            else:
                state = os.stat(path)
                found[path] = state.st_mtime_ns, state.st_size
        except OSError:  # gone meanwhile
            pass
    return found


def is_watched(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith((".", "__pycache__")) and not entry.is_symlink()


def changes(before: Snapshot, after: Snapshot) -> set[str]:
    return {path for path, _ in before.items() ^ after.items()}


def why(said: str, places: Sequence[Path]) -> str:
    """One sentence of what a failed build has said: its own, or the place and the last line of a traceback.

    The place is the innermost template, or else the innermost of our modules.
    """
    *_, last = said.strip().splitlines() or ["The build has failed."]
    frames = [(Path(name), line) for name, line in FRAME.findall(said)]
    ours = [frame for frame in frames if any(frame[0].is_relative_to(place) for place in places)]
    if "Traceback (most recent call last)" not in said or not ours:
        return last
    path, line = next((frame for frame in reversed(ours) if frame[0].suffix != ".py"), ours[-1])
    return f"{path}, line {line}: {last.rstrip('.')}."
