"""The door to the page: JSON text in, JSON text out. site/worker.js calls `receive` and nothing else.

The only module that may import js or pyodide: a picture in pixels needs the browser's canvas.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from microgpt.viz.session import dispatch

SCALE = 2  # pixels of a picture to one of the figure


def receive(message: str) -> Any:  # str, or an awaitable of it
    """{"state", "hook", "fields"} -> {"state", "patches"}, both as JSON text; later, when pixels must be made."""
    event = json.loads(message)
    state, patches = dispatch(event["state"], event["hook"], event["fields"])
    if any(patch.get("type") == "image/png" for patch in patches):
        return in_pixels(state, patches)
    return json.dumps({"state": state, "patches": patches}, allow_nan=False)


async def in_pixels(state: Any, patches: list[dict[str, str]]) -> str:
    """The same answer, each figure that is to be a PNG as the base64 of one."""
    from js import OffscreenCanvas

    from microgpt.viz import canvas

    for patch in patches:
        if patch.get("type") == "image/png":
            width, height = canvas.size(patch["text"])
            sheet = OffscreenCanvas.new(SCALE * width, SCALE * height)
            canvas.paint(patch["text"], Context(sheet.getContext("2d")), SCALE)
            blob = await sheet.convertToBlob()
            patch["text"] = base64.b64encode((await blob.arrayBuffer()).to_bytes()).decode()
    return json.dumps({"state": state, "patches": patches}, allow_nan=False)


class Context:
    """A browser's 2d context that takes Python's lists."""

    def __init__(self, context: Any) -> None:
        object.__setattr__(self, "context", context)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.context, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.context, name, value)

    def setLineDash(self, dashes: list[float]) -> None:
        from pyodide.ffi import to_js

        self.context.setLineDash(to_js(dashes))
