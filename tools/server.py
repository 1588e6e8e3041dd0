"""A small web server to look at the site, on this machine only. Sends the types that browsers insist on.

Any page may read what it serves, since frames without an origin have to. So it answers to the names of this machine
alone (a page elsewhere could have its own name lead here), and serves nothing hidden and nothing outside of its folder.

`serving` is for tests and benchmarks: the same server on a free port, and a `fault` that may answer in
its place. Knows nothing of what it serves. `serve` can be told when that has been built anew: pages then ask for one
script more, which loads them again. It is no part of the site, and no page elsewhere has it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SHUT_RDWR, socket
from threading import Thread
from typing import Any

# path -> None (serve the file), or status, headers and parts of a body; a part may block to stall the answer
Answer = tuple[int, dict[str, str], Iterator[bytes]]  # its status, its headers, its body
Fault = Callable[[str], Answer | None]


INDEX_FILES = ("index.html", "index.htm")  # what is served of a folder
RELOAD, BUILT = "/.reload.js", "/.built"  # no site has such names: hidden files are not served
SCRIPT = b"""// Loads the page again when the site has been built again. Frames in it come along.
const mine = document.currentScript.src.split("?")[1];
if (self === top)
  setInterval(async () => {
    const answer = await fetch("/.built").catch(() => null);
    if (answer?.ok && (await answer.text()) !== mine) location.reload();
  }, 500);
"""
POLICY = {  # a page that brings along all that it loads may load nothing; here it loads itself again
    b"; script-src ": b"; script-src 'self' ",
    b"; connect-src &#39;none&#39;": b"; connect-src 'self'",
}
HOSTS = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.I)  # what this machine is called by itself


class Handler(SimpleHTTPRequestHandler):
    """Static files with the right types; readable from frames that have no origin of their own."""

    protocol_version = "HTTP/1.1"
    own_caching = False  # whether this answer says itself how long it may be kept
    extensions_map = {
        **SimpleHTTPRequestHandler.extensions_map,
        ".wasm": "application/wasm",
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".json": "application/json",
        ".whl": "application/octet-stream",
        ".svg": "image/svg+xml",
    }

    def __init__(
        self,
        *args: Any,
        fault: Fault | None = None,
        seen: list[str] | None = None,
        readable: bool = True,
        built: Callable[[], int] | None = None,
        **options: Any,
    ) -> None:
        self.fault, self.seen, self.readable, self.built = fault, seen, readable, built
        super().__init__(*args, **options)

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        if not HOSTS.fullmatch(self.headers.get("Host", "")):
            self.close_connection = True
            self.send_error(421, "Misdirected Request", "Ask for localhost or 127.0.0.1.")
            return False
        return True

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if self.seen is not None:
            self.seen.append(path)
        answer = self.fault(path) if self.fault else self.reloading(path) if self.built else None
        if answer is None:
            return super().do_GET()
        status, headers, body = answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for part in body:
            self.wfile.write(part)
            self.wfile.flush()

    def reloading(self, path: str) -> tuple[int, dict[str, str], Iterator[bytes]] | None:
        """A page that loads itself again, and what only such a page asks for."""
        assert self.built is not None
        built = str(self.built())  # before the page is read: it may be older than what is read, and never newer
        found = {RELOAD: ("text/javascript", SCRIPT), BUILT: ("text/plain", built.encode())}
        with suppress(OSError, ValueError):  # not there, or no name of a file: the answer is that of all servers
            place = Path(self.translate_path(path), "index.html" if path.endswith("/") else "")
            if place.suffix == ".html" and self.is_served():
                page = place.read_bytes()
                for own, ours in POLICY.items():
                    page = page.replace(own, ours, 1)
                found[path] = "text/html", page + f'<script src="{RELOAD}?{built}"></script>\n'.encode()
        if path not in found:
            return None
        kind, body = found[path]
        return 200, {"Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store"}, iter([body])

    def send_head(self) -> Any:
        try:
            if self.is_served():
                return super().send_head()
        except ValueError:  # a zero in the name, or half an address
            pass
        return self.send_error(404, "File not found")

    def is_served(self) -> bool:
        """Whether what is asked for lies in the folder, is not hidden there, and is no link that leads elsewhere."""
        root, asked = os.path.realpath(self.directory), self.translate_path(self.path)
        names = os.path.relpath(asked, self.directory).split(os.sep)
        places = [os.path.realpath(os.path.join(asked, name)) for name in (".", *INDEX_FILES)]
        hidden = any(name.startswith(".") and name != "." for name in names)
        return not hidden and all(os.path.commonpath([root, place]) == root for place in places)

    def list_directory(self, path: Any) -> Any:
        return self.send_error(404, "File not found")  # nothing of ours needs it

    def end_headers(self) -> None:
        if self.readable:
            self.send_header("Access-Control-Allow-Origin", "*")
        if not self.own_caching:
            self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def send_header(self, keyword: str, value: str) -> None:
        self.own_caching = self.own_caching or keyword == "Cache-Control"
        super().send_header(keyword, value)

    def send_response(self, code: int, message: str | None = None) -> None:
        self.own_caching = False
        super().send_response(code, message)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Does not report a browser that hangs up. When it is closed, so are the connections that browsers keep open."""

    daemon_threads = True

    def __init__(self, *args: Any) -> None:
        self.connections: set[socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def refusal(port: int) -> str:
    """Why nothing can be served at that port; "" when it is free."""
    try:
        Server(("127.0.0.1", port), Handler).server_close()
    except (OSError, OverflowError) as error:
        return f"Port {port} cannot be used ({error}). Choose another one: --serve PORT"
    return ""


def serve(folder: Path, port: int, built: Callable[[], int] | None = None) -> int:
    """Serve `folder` until Ctrl-C; 1 when the port is taken. With `built`, pages load again when its number changes."""
    if why := refusal(port):
        print(why, file=sys.stderr)
        return 1
    server = Server(("127.0.0.1", port), partial(Handler, directory=str(folder), built=built))
    print(f"Serving {folder} at http://127.0.0.1:{server.server_port}/  (Ctrl-C ends it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()
    return 0


@contextmanager
def serving(
    folder: Path,
    fault: Fault | None = None,
    seen: list[str] | None = None,
    port: int = 0,
    readable: bool = True,
    built: Callable[[], int] | None = None,
) -> Iterator[str]:
    """The address of a server that runs in the background; `seen` collects the paths that were asked for.

    `readable` says whether pages of other origins may read what it sends; `built` is as in `serve`.
    """
    handler = partial(Handler, directory=str(folder), fault=fault, seen=seen, readable=readable, built=built)
    server = Server(("127.0.0.1", port), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
