"""The server sends the right types, and says what is wrong with a port."""

from __future__ import annotations

import http.client
import socket
import urllib.request
from pathlib import Path

import pytest

from tools.server import serve, serving


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.wasm", "application/wasm"), ("a.js", "text/javascript"), ("a.mjs", "text/javascript"),
        ("a.json", "application/json"), ("a.html", "text/html"), ("a.css", "text/css"), ("a.svg", "image/svg+xml"),
    ],
)  # fmt: skip
def test_types_and_headers(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with serving(tmp_path) as url, urllib.request.urlopen(url + name) as answer:
        assert answer.headers.get_content_type() == kind
        assert answer.headers["Access-Control-Allow-Origin"] == "*"


def test_nothing_is_sent_once_it_is_closed(tmp_path: Path) -> None:
    """Not even over a connection that a browser keeps open."""
    (tmp_path / "a.html").write_bytes(b"x")
    with serving(tmp_path) as url:
        connection = http.client.HTTPConnection(url.split("/")[2])
        connection.request("GET", "/a.html")
        assert connection.getresponse().read() == b"x"
        connection.auto_open = 0
    with pytest.raises((http.client.HTTPException, OSError)):
        connection.request("GET", "/a.html")
        connection.getresponse()


def test_a_busy_port_gets_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert serve(tmp_path, port) == 1
    assert f"Port {port} cannot be used" in capsys.readouterr().err


def test_an_impossible_port_gets_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert serve(tmp_path, 99_999) == 1
    assert "99999" in capsys.readouterr().err


def test_only_this_machine_is_served(tmp_path: Path) -> None:
    with serving(tmp_path) as url:
        assert url.startswith("http://127.0.0.1:")
