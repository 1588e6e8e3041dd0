"""The door to the page: JSON text in, JSON text out. site/worker.js calls `receive` and nothing else.

The only module that may import js or pyodide: a picture in pixels needs the browser's canvas, a file of the reader's
its FileReader.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from microgpt.errors import UserError, printable
from microgpt.viz.local_files import UNREADABLE
from microgpt.viz.session import dispatch

SCALE = 2  # pixels of a picture to one of the figure


def receive(message: str, files: Any = None) -> Any:  # str, or an awaitable of it
    """{"state", "hook", "fields"} -> {"state", "patches"}, both as JSON text; later, when pixels must be made.

    `files` are the browser's File objects by the name of the control that they were chosen in.
    """
    event, chosen = json.loads(message), files.to_py(depth=2) if files else {}
    handles = {name: [Handle(one) for one in several] for name, several in chosen.items()}
    state, patches = dispatch(event["state"], event["hook"], {**event["fields"], "browser": browser()}, handles)
    if any(patch.get("type") == "image/png" for patch in patches):
        return in_pixels(state, patches)
    return json.dumps({"state": state, "patches": patches}, allow_nan=False)


def browser() -> str:
    """What the browser calls itself; nothing where there is none."""
    try:
        from js import navigator

        return str(navigator.userAgent)
    except ImportError:
        return ""


async def in_pixels(state: Any, patches: list[dict[str, str]]) -> str:
    """The same answer, each figure that is to be a PNG as the base64 of one."""
    from js import OffscreenCanvas

    from microgpt.viz.drawing.kit import canvas
    from microgpt.viz.drawing.kit.svg import Drawing

    for patch in patches:
        if patch.get("type") == "image/png":
            figure = patch["text"]
            assert isinstance(figure, Drawing)
            sheet = OffscreenCanvas.new(SCALE * figure.width, SCALE * figure.height)
            canvas.paint(figure, Context(sheet.getContext("2d")), SCALE)
            blob = await sheet.convertToBlob()
            patch["text"] = base64.b64encode((await blob.arrayBuffer()).to_bytes()).decode()
    return json.dumps({"state": state, "patches": patches}, allow_nan=False)


class Handle:
    """A file that the reader chose (see local_files.py). It stays where it is: each read takes a slice of it."""

    def __init__(self, file: Any) -> None:
        self.name, self.size, self.changed = str(file.name), int(file.size), float(file.lastModified)
        self.file = file

    def read(self, start: int, stop: int) -> bytes:
        from js import FileReaderSync
        from pyodide.ffi import JsException

        try:
            return bytes(FileReaderSync.new().readAsArrayBuffer(self.file.slice(start, stop)).to_bytes())
        except JsException as error:
            raise UserError(UNREADABLE, name=printable(self.name), why=str(error.name)) from None


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
