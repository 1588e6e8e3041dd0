"""The page “Your model” and a folder that was dropped on it: each press, and what it must come to."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from microgpt.apps.own_model import dropped_model
from microgpt.checkpoints.folder import load_checkpoint
from microgpt.checkpoints.loading import Loading
from microgpt.record import Recording
from microgpt.trace import Trace, from_json
from microgpt.viz.local_files import Files
from microgpt.viz.session import dispatch

PROMPT = "a day of é"


class OnDisk:
    """What a browser hands over, here from a path. `asked` counts the bytes that were read."""

    def __init__(self, path: Path) -> None:
        self.path, self.asked = path, [0]
        self.name, self.size, self.changed = path.name, path.stat().st_size, path.stat().st_mtime_ns / 1e6

    def read(self, start: int, stop: int) -> bytes:
        self.asked.append(stop - start)
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(stop - start)


def files_of(folder: Path) -> list[OnDisk]:
    return [OnDisk(path) for path in sorted(folder.iterdir())]


def ask(files: list[OnDisk], hook: str, state: Any = None, **fields: str) -> tuple[Any, dict[str, str], list[str]]:
    """The last answer to a press, and what was said on the way, as the page sends and shows it."""
    chosen: Files = {"checkpoint": files}
    said: list[str] = []
    while True:
        state, patches = dispatch(state, hook, {"page": "own-model", "lang": "en", "prompt": PROMPT, **fields}, chosen)
        found = {patch["target"]: patch["html"] for patch in patches if "target" in patch}
        if "file" in patches[0]:
            found["file"] = patches[0]["text"]
        if not any("again" in patch for patch in patches):
            return state, found, said
        said.append(found["#progress"])
        assert len(said) < 1000


def trace_of(files: list[OnDisk], state: Any) -> Trace:
    """What the page has run, as it hands it out."""
    _, found, _ = ask(files, "trace", state)
    return from_json(found["file"])


def expected_trace(folder: Path, steps: int) -> Recording:
    """What `load_checkpoint` gives, run as far; its rows in one piece as in a browser, for the same last bits."""
    config = Loading(files_of(folder)).facts.config
    model = load_checkpoint(folder, dropped_model.precision(config))
    model = replace(model, params={name: np.ascontiguousarray(array) for name, array in model.params.items()})
    n, most = len(model.tokenizer.encode(PROMPT)), min(32, config.n_ctx)
    recording = Recording(model, PROMPT, max_new=most - n)
    while len(recording.cache) < steps and not recording.has_ended:
        recording.step()
    return recording
