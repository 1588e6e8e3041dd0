"""The server sends the right types, and says what is wrong with a port."""

import http.client
import socket
import urllib.request
from pathlib import Path

import pytest

from tools.server import serve, serving


def test_types_and_headers(tmp_path: Path) -> None:
    kinds = {
        "a.wasm": "application/wasm",
        "a.js": "text/javascript",
        "a.mjs": "text/javascript",
        "a.svg": "image/svg+xml",
        "a.json": "application/json",
        "a.html": "text/html",
        "a.css": "text/css",
    }
    for name in kinds:
        (tmp_path / name).write_bytes(b"x")
    with serving(tmp_path) as url:
        assert url.startswith("http://127.0.0.1:"), "only this machine is served"
        for name, kind in kinds.items():
            with urllib.request.urlopen(url + name) as answer:
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


def test_a_busy_or_impossible_port_gets_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert serve(tmp_path, port) == 1
    assert f"Port {port} cannot be used" in capsys.readouterr().err
    assert serve(tmp_path, 99_999) == 1
    assert "99999" in capsys.readouterr().err


def asked(url: str, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    """Status and body of what is asked for as it stands, without a client's own corrections."""
    connection = http.client.HTTPConnection(url.split("/")[2], timeout=20)
    connection.putrequest(method, path, skip_host=True)
    for name, value in {"Host": "127.0.0.1", **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_by_no_other_name_than_this_machines_is_it_answered(tmp_path: Path) -> None:
    """A page elsewhere can let its own name lead here, and would then read what is here as its own."""
    (tmp_path / "a.html").write_bytes(b"mine")
    with serving(tmp_path) as url:
        for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.x:80", ""):
            for method in ("GET", "HEAD"):
                status, body = asked(url, "/a.html", method, Host=host)
                assert status == 421 and b"mine" not in body, host
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:8000", "[::1]:8000"):
            assert asked(url, "/a.html", Host=host, Origin="null") == (200, b"mine"), host


def test_a_page_asks_to_be_loaded_again_where_that_is_wanted_and_no_file_does(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("a.html", "index.html", "folder/index.html", "a.css", ".env"):
        (tmp_path / name).write_bytes(b"<p>mine")
    number = [7]
    with serving(tmp_path, built=lambda: number[0]) as url:
        for path in ("/a.html", "/", "/index.html", "/folder/", "/a.html?step=3"):
            assert asked(url, path) == (200, b'<p>mine<script src="/.reload.js?7"></script>\n'), path
        assert asked(url, "/a.css") == (200, b"<p>mine")
        assert asked(url, "/.built") == (200, b"7")
        status, script = asked(url, "/.reload.js")
        assert status == 200 and b'"/.built"' in script and len(script.splitlines()) <= 10
        number[0] = 8
        assert asked(url, "/.built") == (200, b"8")
        for path in ("/.env", "/missing.html", "/%00.html", "/a.html/", "/folder/missing/"):
            assert asked(url, path)[0] == 404, path
        assert asked(url, "/.built", Host="evil.example")[0] == 421
    with serving(tmp_path) as url:
        assert asked(url, "/a.html") == (200, b"<p>mine")
        assert {asked(url, path)[0] for path in ("/.built", "/.reload.js")} == {404}


def test_what_cannot_be_there_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "site" / "folder").mkdir(parents=True)
    (tmp_path / "site" / "a.html").write_bytes(b"mine")
    (tmp_path / "secret").write_bytes(b"secret")
    odd = (
        "/%00",
        "/a%00.html",
        "/%ed%a0%80",
        "/%ff",
        "/" + "a" * 5000,
        "http://[/../../folder",
        "/a.html/",
        "/%2e%2e/secret",
    )
    with serving(tmp_path / "site") as url:
        for path in odd:
            assert [asked(url, path, method)[0] for method in ("GET", "HEAD")] == [404, 404], path
    assert "Traceback" not in capfd.readouterr().err


def test_neither_links_that_lead_elsewhere_nor_hidden_files_are_served(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for folder in (".git", "linked", "inner", "there"):
        (site / folder).mkdir(parents=True)
    (tmp_path / "index.html").write_bytes(b"secret")
    (site / ".git" / "config").write_bytes(b"secret")
    (site / ".env").write_bytes(b"secret")
    (site / "a.html").symlink_to(tmp_path / "index.html")
    (site / "far").symlink_to(tmp_path)
    (site / "linked" / "index.html").symlink_to(tmp_path / "index.html")
    (site / "there" / "index.html").write_bytes(b"mine")
    (site / "near").symlink_to("there")
    (tmp_path / "link").symlink_to("site")
    with serving(tmp_path / "link") as url:
        for path in ("a.html", "far/", "far/index.html", "linked/", ".git/config", ".env", "inner/", ""):
            status, body = asked(url, f"/{path}")
            assert status == 404 and b"secret" not in body, path
        for path in ("there/", "near/", "near/index.html"):
            assert asked(url, f"/{path}") == (200, b"mine")
