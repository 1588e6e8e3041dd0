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


def text_of(chosen: Readable) -> str:
    """All that a file says, without the mark that some editors begin it with. Raises UserError where it is no text."""
    try:
        return chosen.read(0, chosen.size).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError("“%(name)s” is no text in UTF-8.", name=chosen.name[:40]) from None
