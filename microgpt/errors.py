"""The one kind of error that is meant for a person: a sentence with the value, the limit and the way out.

`printable` makes a name fit for one. The sentence is kept apart from its values, so that a page can show it in the
reader's language. Knows no page and no command line; whoever catches it decides where the sentence is shown.
"""

from __future__ import annotations

LONGEST_NAME = 80  # letters of a name that are shown


def N_(message: str) -> str:
    """Mark `message` for translation; returns it unchanged (gettext's usual name for this)."""
    return message


class UserError(ValueError):
    """Something the user gave cannot be used. `str(error)` is the English sentence, which is collected for translation
    where it stands.

    >>> str(UserError("temperature is %(value)s; it must be 0 or more.", value=-1))
    'temperature is -1; it must be 0 or more.'
    """

    def __init__(self, message: str, **fields: object) -> None:
        self.message = message
        self.fields = fields
        super().__init__(message % fields if fields else message)

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback."""
        return [str(self)]


def printable(name: str) -> str:
    """A name as it can be shown: what is invisible, or turns the text around, as its escape; the middle of a long one
    left out.

    >>> print(shown("wte\\u202e"))
    wte\\u202e
    """
    half = LONGEST_NAME // 2
    return visible(name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}")


def visible(text: str) -> str:
    """A text of which nothing is invisible or turns the rest around: such letters stand as their escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
