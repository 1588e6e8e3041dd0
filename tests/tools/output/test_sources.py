"""What goes out is listed: whatever else lies beside the sources stays at home, and no link is followed."""

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import build
from microgpt.course import PAGES
from microgpt.viz.rendering import style
from microgpt.viz.request import request
from tools import build_lesson
from tools.output import sources as ours
from tools.output.sources import ROOT

STRAY = (
    "microgpt/notes-secret.env microgpt/data/names.npz~ microgpt/data/names-1000.txt.orig microgpt/.env.py "
    "microgpt/lists.txt templates/.DS_Store templates/._base.html templates/pages/.draft.html templates/.git/x.html "
    "templates/base.html.bak templates/key.pem locale/es/LC_MESSAGES/messages.po~ "
    "locale/es/LC_MESSAGES/.messages.po locale/es/LC_MESSAGES/older.mo site/draft.html site/.hidden.js "
    "site/notes.txt site/boot.js~ site/cards/.DS_Store site/cards/secret.txt site/private/photo.png "
    "site/css/._9-print.css site/css/mine.css"
).split()
LINKS = (
    "microgpt/linked.py",
    "templates/linked.html",
    "site/linked.js",
    "site/cards/linked.png",
    "site/css/9-linked.css",
)


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The sources, with what lies about in them."""
    for folder in (*ours.OWN, "site"):
        shutil.copytree(ROOT / folder, tmp_path / "sources" / folder, ignore=shutil.ignore_patterns("__pycache__"))
    before = {path for path in (tmp_path / "sources").rglob("*") if path.is_file()}
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "folder").mkdir()
    for name in ("a.py", "a.html", "a.js", "a.css", "a.png"):
        (tmp_path / "folder" / name).write_text("secret")
    for name in STRAY:
        path = tmp_path / "sources" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    for name in LINKS:
        (tmp_path / "sources" / name).symlink_to(tmp_path / "secret")
    for folder in ("microgpt/linked", "templates/linked", "site/css/linked", "locale/xx"):
        (tmp_path / "sources" / folder).symlink_to(tmp_path / "folder")
    for module in (ours, build):
        monkeypatch.setattr(module, "ROOT", tmp_path / "sources")
    yield tmp_path / "sources"
    assert before <= {path for path in (tmp_path / "sources").rglob("*") if path.is_file()}


def test_only_what_is_listed_goes_into_the_browsers_python(sources: Path) -> None:
    files = ours.our_files()
    assert not {*STRAY, *LINKS} & files.keys()
    assert not [name for name, data in files.items() if "linked" in name or data == b"secret"]
    assert {"microgpt/model.py", "templates/base.html", "microgpt/data/names.npz", "microgpt/py.typed"} <= files.keys()
    assert [name for name in files if name.startswith("locale/")] == ["locale/es/LC_MESSAGES/messages.mo"]


def test_only_what_is_listed_goes_beside_the_pages(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "PAGES", [])
    monkeypatch.setattr(build, "fetch_runtime", lambda cache: {})
    monkeypatch.setattr(build, "pack_runtime", lambda *_: "runtime-0")
    monkeypatch.setattr(build, "notices", lambda names: "")
    build.write_site(tmp_path / "out")
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    scripts = {"boot.js", "host.js", "offline.js"}  # the worker is in the runtime
    cards = {f"cards/{page.name}.png" for page in PAGES}
    assert names == {*scripts, *cards, "icon.svg", "style.css", "NOTICES.txt"} | {
        "traces/smollm2.json",
        "traces/smollm2-chat.json",
        "traces/smollm2-pronouns.json",
        "traces/smollm2-repeats.json",
    }


def test_only_what_is_listed_goes_beside_a_lesson(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_lesson, "pack_beside", lambda *_: "runtime-0")
    monkeypatch.setattr(build_lesson, "notices", lambda: "")
    monkeypatch.setattr(build_lesson, "ROOT", sources, raising=False)
    build_lesson.build_lesson(request(), "directory", lambda line: None, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "index.html",
        "embed.html",
        "style.css",
        "boot.js",
        "host.js",
        "offline.js",
        "icon.svg",
    }


def test_only_what_is_listed_goes_into_the_style(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = style.style()
    monkeypatch.setattr(style, "ROOT", sources)
    assert style.style.__wrapped__() == before


def test_a_package_holds_what_a_site_does() -> None:
    """pip install takes the same files, by the same patterns."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    assert [*ours.OWN["microgpt"][1:], *ours.PAGES_ALONE["microgpt"]] == data["microgpt"]
    assert [*ours.OWN["templates"], *ours.PAGES_ALONE["templates"]] == data["microgpt.templates"]
    assert ours.OWN["locale"] == tuple(data["microgpt.locale"])
    assert ours.SITE == tuple(data["microgpt.site"])


def test_every_tracked_file_goes_along() -> None:
    """A new kind of file has to be listed, or the page that needs it has it here and nowhere else."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("no checkout of git here, so it cannot be told what belongs to the project")
    asked = [git, "-c", "safe.directory=*", "ls-files", "-z", *ours.OWN, "site"]
    tracked = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    alone = [path for folder, kinds in ours.PAGES_ALONE.items() for path in ours.files_in(ROOT / folder, kinds)]
    out = {*ours.our_files(), *(path.relative_to(ROOT).as_posix() for path in alone)}
    out |= {path.relative_to(ROOT).as_posix() for path in ours.files_in(ROOT / "site", ours.SITE)}
    assert [name for name in tracked if name and re.sub(r"\.po$", ".mo", name) not in out] == []
