"""The lesson of docs/own-widget.md in a browser: built from its folder, and installed beside the package."""

import base64
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import build
from tests.browser.conftest import Open
from tests.browser.live import html, open_live, press
from tests.browser.reading import assert_choices_work
from tests.support.own_widget import ROOT, written
from tools.server import serving

SOURCES = "microgpt templates site locale pyproject.toml setup.py README.md LICENSE NOTICES tools".split()
AGAIN = pytest.mark.thorough("its Python: tests/docs/test_own_widget.py; it steps as each lesson does")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the lesson, by the command of the document."""
    place = tmp_path_factory.mktemp("own")
    folder = written(place)
    command = [sys.executable, str(ROOT / "build.py"), "--lesson", str(folder), "--out", str(place / "site")]
    subprocess.run(command, cwd=place, check=True, capture_output=True)
    return place / "site"


@AGAIN
def test_it_steps_from_a_file(new_tab: Open, built: Path) -> None:
    for name in ("index.html", "embed.html"):
        page = new_tab((built / name).as_uri())
        assert_choices_work(page.run)


@AGAIN
def test_it_runs_the_readers_text(new_tab: Open, engine: str, built: Path) -> None:
    with serving(built) as address:
        page = open_live(new_tab(), f"{address}index.html")
        page.run('document.querySelector("[name=prompt]").value = "zoe"')
        answer = press(page, "run")
        widget = html(answer, "#widget")
        assert all(f">{letter}</bdi>" in widget for letter in "zoe")
        assert_choices_work(page.run)
        saved = press(page, "figure")
        assert any("Which key is the longest?" in patch.get("text", "") for patch in saved["patches"])
        for form, begins in (("gif", b"GIF89a"), ("webm", b"\x1a\x45\xdf\xa3"))[: 2 if engine == "chromium" else 1]:
            page.run(f'document.querySelector("[name=format]").value = "{form}"')
            (film,) = (patch for patch in press(page, "figure")["patches"] if "file" in patch)
            assert film["file"].endswith(form) and base64.b64decode(film["text"]).startswith(begins)


@pytest.mark.thorough("makes an environment; what the package holds, tests/tools/output/test_sources.py says")
@pytest.mark.timeout(600)
def test_it_is_found_where_it_is_installed(new_tab: Open, engine: str, tmp_path: Path) -> None:
    """A new environment with the package and the lesson, and nothing of this folder."""
    if engine != "chromium":
        pytest.skip("what is installed is the same for every engine")
    written(tmp_path / "lesson")
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / "package" / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (tmp_path / "package").mkdir(exist_ok=True)
            shutil.copyfile(source, tmp_path / "package" / name)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, str(tmp_path / "package"), str(tmp_path / "lesson")], check=True, capture_output=True)
    code = "from microgpt import show; show('olivia', widget='loudest', head=1).save('page.html')"
    subprocess.run([python, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    page = new_tab((tmp_path / "page.html").as_uri())
    assert page.run('document.querySelector(".cases > .pick :checked").value') == "1"
    assert_choices_work(page.run)


def test_build_finds_it_by_its_folder_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["--widget", "loudest"]) == 1  # in this environment it is not installed
    assert "There is no widget “loudest”" in capsys.readouterr().err
