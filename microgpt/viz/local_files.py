"""Files that the reader chose in a page, or dropped on it: only what is asked for is read. Knows no browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microgpt.errors import N_, UserError
from microgpt.files import Readable

UNREADABLE = N_(  # it was changed after it was chosen; or it is WebKit, and the page itself was opened from a file
    "The browser did not let this page read “%(name)s” (%(why)s). Choose it again, or open the page over http."
)


Files = Mapping[str, Sequence[Readable]]  # by the name of the control


def only(files: Files, name: str) -> Readable:
    """The file that was chosen in the control of that name."""
    if not files.get(name):
        raise UserError("No file is chosen. Choose one, or drop it on the field.")
    return files[name][0]
