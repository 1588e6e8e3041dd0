"""The door to the page: JSON text in, JSON text out. site/worker.js calls `receive` and nothing else.

The only module that may import js or pyodide: a picture in pixels needs the browser's canvas, a video its encoder, a
file of the reader's its FileReader, a model of theirs the browser's storage.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from microgpt.errors import N_, UserError, printable
from microgpt.viz.local_files import UNREADABLE
from microgpt.viz.patches import Patch, again
from microgpt.viz.session import apology, dispatch
from microgpt.viz.settings import keep_own
from microgpt.viz.text.language import language
from microgpt.weights import OWN_MODEL

SCALE = 2  # pixels of a picture to one of the figure; of a film, one
CODEC, BITS_A_SECOND = "vp09.00.10.08", 3_000_000  # of a video
AHEAD = 16  # pictures that wait for the encoder
PIXEL_SECONDS = 3  # seconds of work on pixels, before the page hears that it goes on
STORAGE_SECONDS = 3  # that are waited for the browser's storage


def receive(message: str, files: Any = None) -> Any:  # str, or an awaitable of it
    """{"state", "hook", "fields"} -> {"state", "patches"}, both as JSON text; later, when pixels must be made.

    `files` are the browser's File objects by the name of the control that they were chosen in.
    """
    if message in JOBS:
        return go_on(message)
    event, chosen = json.loads(message), files.to_py(depth=2) if files else {}
    handles = {name: [Handle(one) for one in several] for name, several in chosen.items()}
    if event["fields"].get("model") == OWN_MODEL and not STORAGE.is_read and STORAGE.is_there:
        return reply_with_own(message, event, handles)
    return reply(message, event, handles)


def reply(message: str, event: Any, handles: Mapping[str, Sequence[Handle]]) -> Any:
    """The answer to an event, or an awaitable of it."""
    state, patches = dispatch(event["state"], event["hook"], {**event["fields"], "browser": browser()}, handles)
    if keeping := [patch for patch in patches if "keep" in patch]:
        patches = [patch for patch in patches if patch not in keeping]
        if STORAGE.is_there:
            return keep_and_answer(base64.b64decode(keeping[-1]["keep"]), event, state, patches)
        return answer(state, [*patches, refusal(event)])
    drawn = next((patch for patch in patches if patch.get("type") in PIXELS), None)
    if drawn is None:
        return answer(state, patches)
    JOBS.clear()  # what was begun and not asked for again
    JOBS[message] = Job(PIXELS[drawn["type"]](drawn["text"]), state, patches, drawn, event)
    return go_on(message)


# ---- a model of the reader's, which the browser keeps -----------------------------------------------


class Storage:
    """The browser's storage for it: one file, read at most once, and only where a page asks for that model."""

    is_read = False

    @property
    def is_there(self) -> bool:
        """Whether this browser has one; a program in the workbench has taken it away."""
        try:
            from js import indexedDB

            return indexedDB is not None
        except ImportError:
            return False

    async def ask(self, question: Callable[[Any], Any]) -> Any:
        """What the store answers to `question`. Raises OSError where the browser refuses. Nothing stays open."""
        from js import indexedDB
        from pyodide.ffi import JsException

        try:
            opening = indexedDB.open("microgpt", 1)
            opening.onupgradeneeded = once(lambda _: opening.result.createObjectStore(OWN_MODEL))
            database = await self.result(opening)
            try:
                return await self.result(question(database.transaction(OWN_MODEL, "readwrite").objectStore(OWN_MODEL)))
            finally:
                database.close()
        except (JsException, TimeoutError) as error:
            raise OSError(str(error)) from None

    async def result(self, request: Any) -> Any:
        """What becomes of a request."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def end(_: Any) -> None:
            if not done.done():  # it may have come too late
                done.set_result(None)

        request.onsuccess = request.onerror = once(end)
        await asyncio.wait_for(done, STORAGE_SECONDS)
        if request.error:
            raise OSError(str(request.error))
        return request.result


STORAGE = Storage()


def once(function: Callable[[Any], object]) -> Any:
    """A function for JavaScript to call once."""
    from pyodide.ffi import create_once_callable

    return create_once_callable(function)


async def reply_with_own(message: str, event: Any, handles: Mapping[str, Sequence[Handle]]) -> Any:
    """The answer, once the reader's model is there. What is kept is checked as any dropped file is."""
    from microgpt.checkpoints.ours import read_model

    STORAGE.is_read = True
    try:
        kept = await STORAGE.ask(lambda store: store.get(OWN_MODEL))
        if kept:
            data = bytes(kept.to_bytes())
            keep_own(read_model(lambda start, stop: data[start:stop], len(data), OWN_MODEL))
    except (OSError, UserError):
        pass  # then there is none, which the page says
    found = reply(message, event, handles)
    return found if isinstance(found, str) else await found


async def keep_and_answer(data: bytes, event: Any, state: Any, patches: list[Patch]) -> str:
    """The answer, once the browser has kept that file, or has refused to."""
    from pyodide.ffi import to_js

    STORAGE.is_read = True
    try:
        await STORAGE.ask(lambda store: store.put(to_js(data), OWN_MODEL) if data else store.delete(OWN_MODEL))
    except OSError:
        patches = [*patches, refusal(event)]
    return answer(state, patches)


def refusal(event: Any) -> Patch:
    """That the model lives as long as the page does."""
    sentence = N_(
        "The browser keeps nothing for this page, so your model is gone when you leave it: save it as a file."
    )
    with language(event["fields"].get("lang", "en")):
        return apology(UserError(sentence))


# ---- pixels -----------------------------------------------------------------------------------------


class Job(NamedTuple):
    """Pixels in the making: `work` yields nothing until it yields the file that the patch `drawn` is to hold."""

    work: AsyncIterator[bytes]
    state: Any
    patches: list[Patch]
    drawn: Patch
    event: Any


JOBS: dict[str, Job] = {}  # by their message; one at most


def answer(state: Any, patches: list[Patch]) -> str:
    return json.dumps({"state": state, "patches": patches}, allow_nan=False)


async def go_on(message: str) -> str:
    """A slice of a job: the page's answer with the file in it, or that it must ask again."""
    job, began = JOBS.pop(message), perf_counter()
    try:
        async for made in job.work:
            if made:
                job.drawn["text"] = base64.b64encode(made).decode()
                return answer(job.state, job.patches)
            if perf_counter() - began > PIXEL_SECONDS:
                JOBS[message] = job
                return answer(job.event["state"], [again(job.event["hook"])])
    except UserError as error:
        with language(job.event["fields"].get("lang", "en")):
            return answer(job.state, [apology(error)])
    raise AssertionError("no file")


def browser() -> str:
    """What the browser calls itself; nothing where there is none."""
    try:
        from js import navigator

        return str(navigator.userAgent)
    except ImportError:
        return ""


async def still(figure: Any) -> AsyncIterator[bytes]:
    """A drawing as a PNG."""
    blob = await paint(figure, figure.pieces, SCALE).canvas.convertToBlob()
    yield bytes((await blob.arrayBuffer()).to_bytes())


async def animation(film: Any) -> AsyncIterator[bytes]:
    """A film as a GIF."""
    from microgpt.viz.drawing.kit.gif import gif

    parts = []
    for part in gif(*frames(film)):
        parts.append(part)
        yield b""
    yield b"".join(parts)


async def video(film: Any) -> AsyncIterator[bytes]:
    """A film as a WebM, by the browser's own encoder. Raises UserError where it has none."""
    import js
    import numpy as np
    from pyodide.ffi import create_proxy

    from microgpt.viz.drawing.kit.webm import Chunk, moments, webm

    if not hasattr(js, "VideoEncoder"):
        raise UserError("This browser cannot make a WebM here. Take the GIF.")
    found = list[Chunk]()

    def keep(chunk: Any, _: Any) -> None:
        data = js.Uint8Array.new(chunk.byteLength)
        chunk.copyTo(data)
        found.append(Chunk(bytes(data.to_bytes()), round(chunk.timestamp / 1000), chunk.type == "key"))

    proxies = create_proxy(keep), create_proxy(print)
    encoder = js.VideoEncoder.new(js_object(output=proxies[0], error=proxies[1]))
    size, length = {"width": film.width, "height": film.height}, 0
    encoder.configure(js_object(codec=CODEC, bitrate=BITS_A_SECOND, latencyMode="realtime", **size))
    palette, shown = frames(film)
    colours = np.column_stack([palette, np.full(len(palette), 255, np.uint8)])
    data = js.Uint8Array.new(4 * film.width * film.height)
    for i, (frame, begins, ends, key) in enumerate(moments(shown)):
        length = ends
        data.assign(colours[frame.pixels].ravel())
        about = js_object(format="RGBA", timestamp=1000 * begins, codedWidth=film.width, codedHeight=film.height)
        picture = js.VideoFrame.new(data, about)
        encoder.encode(picture, js_object(keyFrame=key))
        picture.close()
        if i % AHEAD == 0:
            await encoder.flush()
            yield b""
    await encoder.flush()
    for proxy in proxies:
        proxy.destroy()
    yield webm(found, **size, milliseconds=length)


PIXELS = {"image/png": still, "image/gif": animation, "video/webm": video}


def frames(film: Any) -> Any:
    """The palette of a film, and its frames."""
    import numpy as np

    from microgpt.viz.drawing.kit import film as kit

    def pixels(shot: Any) -> Any:
        data = paint(film, shot.pieces, 1).getImageData(0, 0, film.width, film.height).data
        return np.frombuffer(data.to_bytes(), np.uint8).reshape(film.height, film.width, 4)[..., :3]

    return kit.frames(film, pixels, 1)


def paint(figure: Any, pieces: Any, scale: int) -> Any:
    """The context of a canvas on which they stand."""
    from js import OffscreenCanvas

    from microgpt.viz.drawing.kit import canvas

    sheet = OffscreenCanvas.new(scale * figure.width, scale * figure.height)
    context = sheet.getContext("2d", js_object(willReadFrequently=scale == 1))
    canvas.paint(pieces, Context(context), scale)
    return context


def js_object(**values: Any) -> Any:
    """An object of JavaScript with these values."""
    from js import Object
    from pyodide.ffi import to_js

    return to_js(values, dict_converter=Object.fromEntries)


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
