"""One small mistake: which text of which file is another then, and which test says so."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import utime
from pathlib import Path
from typing import NamedTuple

KINDS = {
    "maths": "the model, its gradients, sampling",
    "caches": "rows that are kept, shared and given up",
    "serving": "many texts at once, and guesses that are checked",
    "trace": "what a hook is told and a file keeps",
    "workbench": "a program of the reader's, run and judged",
    "cost": "bytes and multiply-adds",
    "checkpoints": "weights and tokenizers of others",
    "pages": "what is seen, heard and pressed",
    "bridge": "the four scripts of the site",
    "build": "the folder that a build fills",
    "documents": "what a reader copies or believes",
}


class Misfit(Exception):
    """The file has changed: what a fault replaces is not there, or more than once."""


class Fault(NamedTuple):
    """In `path` the text `old`, which is there once, becomes `new`. `caught_by`: what pytest is told to run first."""

    name: str
    kind: str
    path: str
    old: str
    new: str
    caught_by: tuple[str, ...]

    def misfit(self, text: str) -> str:
        """Why it does not fit the text of its file, in words; nothing where it does."""
        times = text.count(self.old)
        return "" if times == 1 else f"{self.path} has “{self.old.strip()[:60]}” {times} times, not once"

    @contextmanager
    def planted(self, root: Path) -> Iterator[None]:
        """The fault is in the tree `root` for as long as this lasts. Raises Misfit."""
        path = root / self.path
        text = path.read_text("utf-8") if path.is_file() else ""
        if why := self.misfit(text):
            raise Misfit(why)
        times = path.stat()
        path.write_bytes(text.replace(self.old, self.new).encode())
        try:
            yield
        finally:
            path.write_bytes(text.encode())
            utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # else Python might take it for the faulty one
