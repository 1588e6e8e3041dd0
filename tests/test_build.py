"""Two builds are the same, byte for byte; a failure leaves the old one; bad input gets a sentence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

import build
from microgpt.errors import UserError
from microgpt.viz.pages import PAGES

ROOT = Path(__file__).resolve().parents[1]


def tree(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("a") / "site"
    build.build(out)
    return out


def test_two_builds_are_the_same_bytes(built: Path, tmp_path: Path) -> None:
    """In another process, time zone, locale, hash seed, umask and folder."""
    environment = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    command = [sys.executable, str(ROOT / "build.py"), "--out", str(tmp_path / "else where")]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, umask=0o077, capture_output=True)
    assert tree(tmp_path / "else where") == tree(built)


def test_check_tells_what_differs(built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["--out", str(built), "--check"]) == 0
    page = built / "kv-cache.html"
    before = page.read_bytes()
    page.write_bytes(before + b" ")
    try:
        assert build.main(["--out", str(built), "--check"]) == 1
        assert "differs: kv-cache.html" in capsys.readouterr().out
    finally:
        page.write_bytes(before)


def test_a_failed_build_leaves_the_old_site_whole(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(built)

    def fail(*_: object) -> None:
        raise UserError("no")

    monkeypatch.setattr(build, "notices", fail)
    assert build.main(["--out", str(built)]) == 1
    assert tree(built) == before
    assert [p.name for p in built.parent.iterdir()] == ["site"]


def test_a_folder_that_is_not_ours_is_never_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    assert build.main(["--out", str(tmp_path)]) == 1
    assert "Choose another --out" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_every_link_leads_somewhere(built: Path) -> None:
    import html5lib

    for page in built.rglob("*.html"):
        for element in html5lib.parse(page.read_text("utf-8"), namespaceHTMLElements=False).iter():
            for name in ("href", "src"):
                target = re.split("[#?]", element.get(name, ""))[0]
                assert not target or (page.parent / target).is_file(), (page, target)


def test_dist_carries_the_licences_of_what_it_carries(built: Path) -> None:
    notices = (built / "NOTICES.txt").read_text("utf-8")
    for name in ("Pyodide", "CPython", "NumPy", "Jinja2", "MarkupSafe", "MIT License", "Redistribution and use"):
        assert name in notices


def test_an_address_is_named_in_policy_and_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = next(p for p in PAGES if p.widget)
    monkeypatch.setattr(build, "PAGES", [page])
    build.build(tmp_path / "site", "https://example.org/course/")
    for name in (f"{page.name}.html", f"embed/{page.name}.html", f"es/{page.name}.html"):
        text = (tmp_path / "site" / name).read_text("utf-8")
        assert "style-src 'self' https://example.org" in unescape(text)
        assert f"https://example.org/course/cards/{page.name}.png" in text


@pytest.mark.parametrize("text", ["example.org", "https://", "https://a b/", "javascript:alert(1)", "https://x/?a=1"])
def test_a_bad_address_is_refused(text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert build.main(["--out", str(tmp_path / "site"), "--base-url", text]) == 1
    assert text in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
