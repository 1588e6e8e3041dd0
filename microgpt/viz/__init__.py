"""From a trace to HTML. The only part that knows HTML, in CPython and in the browser alike.

In a notebook: `from microgpt.viz import show`, then show("emma").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microgpt.viz.notebook import show as show


def __getattr__(name: str) -> Any:
    """`show` is loaded when it is asked for: a page in the browser never asks."""
    if name != "show":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from microgpt.viz.notebook import show

    return show
