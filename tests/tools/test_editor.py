"""The editor's script is made of what the lock names and nothing else, kept, and left out where it cannot be made."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import build
from microgpt.course import page as page_named
from tools.editor import script
from tools.editor.script import EDITOR, LOCK, MADE_OF, editor_script, packages
from tools.output.licences import LICENCE_FOLDER
from tools.runtime.fetch import default_cache
from tools.runtime.npm import Unavailable

MAKES = 'case "$1" in run) mkdir out && cat editor.js package-lock.json > out/editor.js;; esac'
WRONG = """echo "npm error code EINTEGRITY" >&2
echo "npm error Integrity checksum failed when using sha512: wanted {} but got sha512-x." >&2; exit 1"""
AWAY = """echo "npm error code ENOTFOUND" >&2
echo "npm error request to https://npm.invalid/crelt failed, reason: getaddrinfo ENOTFOUND npm.invalid" >&2; exit 1"""


def test_it_is_made_once_of_these_sources(npm: Callable[[str], None], tmp_path: Path) -> None:
    npm(MAKES)
    made = editor_script(tmp_path / "cache")
    assert made == b"".join(path.read_bytes() for path in MADE_OF[::-1][:1] + MADE_OF[1:2])
    npm("exit 1")
    assert editor_script(tmp_path / "cache") == made
    (kept,) = (tmp_path / "cache" / "editor").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])  # it is no longer what it was
    with pytest.raises(Unavailable, match="npm ci --ignore-scripts failed"):
        editor_script(tmp_path / "cache")


def test_another_source_is_another_script(
    npm: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(MAKES)
    first = editor_script(tmp_path / "cache")
    (tmp_path / EDITOR).write_text("other")
    monkeypatch.setattr(script, "MADE_OF", (*MADE_OF[:2], tmp_path / EDITOR))
    assert editor_script(tmp_path / "cache") != first


def test_what_it_lacks_is_said_and_nothing_stays(
    npm: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = {name: about["integrity"] for name, about in script.in_lock().items()}
    for lines, said in [
        (WRONG.format(hashes["crelt"]), "what came as crelt does not have the hash that package-lock.json names"),
        (AWAY, "npm ci --ignore-scripts failed: getaddrinfo ENOTFOUND npm.invalid"),
        ("exit 3", "failed: it did not say why"),
        ("exit 0", "npm run --silent made no script"),
    ]:
        npm(lines)
        with pytest.raises(Unavailable, match=re.escape(said)):
            editor_script(tmp_path / "cache")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Unavailable, match="npm is not installed"):
        editor_script(tmp_path / "cache")
    assert [*(tmp_path / "cache" / "editor").iterdir()] == []


def test_the_lock_names_hashes_and_no_place() -> None:
    """npm takes packages from where it is told to, and these alone."""
    found = script.in_lock()
    assert "://" not in re.sub(r'"funding": \{.*?\}', "", LOCK.read_text("utf-8"), flags=re.DOTALL)
    assert all(about["integrity"].startswith("sha512-") for about in found.values())
    wanted = json.loads(MADE_OF[0].read_text("utf-8"))
    for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
        assert found[name]["version"] == version
    systems = {name.removeprefix("@esbuild/") for name in found if name.startswith("@esbuild/")}
    assert {"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64", "win32-arm64"} <= systems


def test_the_licences_of_all_that_is_in_it_are_carried() -> None:
    text, found = (LICENCE_FOLDER / "CodeMirror.txt").read_text("utf-8"), script.in_lock()
    assert {
        name for name in packages() if found[name]["license"] != "MIT" or f"\n{name}: Copyright" not in text
    } == set()
    assert len(packages()) == len(re.findall(r"^\S+: Copyright", text, re.MULTILINE)) == 16


@pytest.mark.parametrize("there", [True, False])
def test_a_site_has_it_where_a_page_asks_for_it(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And no other page loads it; where it cannot be made, the site is built without it, which one line says."""

    def make(cache: Path) -> bytes:
        if not there:
            raise Unavailable("npm is not installed")
        return b"0"

    pages = [page_named("glossary")._replace(editor=True), page_named("attention")]
    monkeypatch.setattr(build, "PAGES", pages)
    monkeypatch.setattr(build, "editor_script", make)
    build.write_site(tmp_path / "site")
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("editor")]
    assert said == [] if there else len(said) == 1 and "npm is not installed" in said[0]
    assert (tmp_path / "site" / EDITOR).is_file() == there
    assert ("CodeMirror" in (tmp_path / "site" / "NOTICES.txt").read_text("utf-8")) == there
    loaded = {
        page.relative_to(tmp_path / "site").as_posix(): re.findall(
            r'src="([./]*editor\.js)" defer', page.read_text("utf-8")
        )
        for page in (tmp_path / "site").rglob("*.html")
    }
    assert loaded["glossary.html"] == ["editor.js"] * there and loaded["es/glossary.html"] == ["../editor.js"] * there
    assert {name for name, found in loaded.items() if found and "glossary" not in name} == set()


@pytest.mark.thorough("asks npm for all of it twice")
def test_two_of_them_are_the_same_bytes(tmp_path: Path) -> None:
    try:
        made = [editor_script(tmp_path / name) for name in "ab"]
    except Unavailable as why:
        pytest.skip(f"{why}; the editor needs npm and what it fetches")
    digests = {hashlib.sha256(one).hexdigest() for one in [*made, editor_script(default_cache())]}
    assert len(digests) == 1 and 300_000 < len(made[0]) < 400_000
    assert not re.search(rb"\binnerHTML\b|\beval\(|new Function|document\.write|</script|<!--", made[0])
