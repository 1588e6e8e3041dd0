"""A static server for the built site, on this machine only. Knows files and their types; knows no page.

`serve` is for people, `serving` for tests, which may also have it answer wrongly.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

TYPES = {
    ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".json": "application/json",
    ".svg": "image/svg+xml", ".txt": "text/plain", ".wasm": "application/wasm", ".whl": "application/zip",
    ".zip": "application/zip",
}  # fmt: skip


class Fault(NamedTuple):
    """An answer in place of the right one. After `stall_at` bytes the server falls silent for `stall` seconds."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""
    stall_at: int = 0
    stall: float = 0.0


FaultHook = Callable[[str], Fault | None]


class Handler(SimpleHTTPRequestHandler):
    """The right type for every file, readable from every origin, never stale."""

    extensions_map = {"": "application/octet-stream", **TYPES}
    protocol_version = "HTTP/1.1"

    def __init__(self, *args: Any, fault: FaultHook | None = None, **kwargs: Any) -> None:
        self.fault = fault
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        found = self.fault(self.path.split("?")[0]) if self.fault else None
        if found is None:
            return super().do_GET()
        self.send_response(found.status)
        for key, value in {"Content-Length": str(len(found.body)), **found.headers}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(found.body[: found.stall_at] if found.stall else found.body)
        if found.stall:
            self.wfile.flush()
            time.sleep(found.stall)
            self.wfile.write(found.body[found.stall_at :])
        if "Content-Length" in found.headers:
            self.close_connection = True  # it may promise more than was sent

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")  # a sandboxed frame has no origin of its own
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a reader who leaves is no error
            super().handle_error(request, client_address)


def listen(directory: Path, port: int, fault: FaultHook | None = None) -> Server:
    return Server(("127.0.0.1", port), partial(Handler, directory=str(directory), fault=fault))


def serve(directory: Path, port: int) -> int:
    """Serve until Ctrl-C; the exit code."""
    try:
        server = listen(directory, port)
    except (OSError, OverflowError) as error:
        print(f"Port {port} cannot be used ({error}). Choose another, for example {port % 60000 + 1}.", file=sys.stderr)
        return 1
    with server:
        print(f"{directory} is at http://127.0.0.1:{server.server_port}/  (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


@contextmanager
def serving(directory: Path, fault: FaultHook | None = None) -> Iterator[str]:
    """The address of a server on a free port, for as long as the block runs."""
    with listen(directory, 0, fault) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
