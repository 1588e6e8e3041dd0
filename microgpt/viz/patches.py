"""Answers to the page: a patch says which element gets which HTML. Knows no page."""

from __future__ import annotations

import base64
from typing import Any

Patch = dict[str, str]
State = dict[str, Any]  # plain JSON that the page keeps between two events and hands back


def patch(target: str, html: str, how: str = "inner") -> Patch:
    """how: inner (replace what is inside), outer (replace the element), append (add at the end)."""
    return {"target": target, "html": html, "how": how}


def optional(patched: Patch) -> Patch:
    """The same for pages that have such an element; an answer that finds no place otherwise counts as lost."""
    return {**patched, "optional": "yes"}


def again(hook: str) -> Patch:
    """Asks the page to send `hook` once more, after it has shown the rest of the answer."""
    return {"again": hook}


def ahead(hook: str) -> Patch:
    """Says what is likely to be pressed next: while nothing is, the page asks for it, and keeps the answer."""
    return {"ahead": hook}


def keep_file(data: bytes) -> Patch:
    """Asks the browser to keep a file of the reader's model, in the place of another one; of no bytes, to keep none."""
    return {"keep": base64.b64encode(data).decode()}


def file(name: str, text: str | bytes, kind: str) -> Patch:
    """Offers the reader a file to save. The page takes the bytes of some types apart: pictures, and what is no text."""
    return {"file": name, "text": text if isinstance(text, str) else base64.b64encode(text).decode(), "type": kind}
