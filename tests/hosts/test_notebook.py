"""show() in real notebooks: JupyterLab and Notebook in Chromium, trusted and not; nbconvert; Jupyter Book; a wheel.

VS Code and Colab cannot be run here; docs/notebooks.md says what is known of them.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, Playwright

from tools.browsers import CHROMIUM_FLAGS, which

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
JUPYTER = str(Path(sys.executable).with_name("jupyter"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the notebook as it is in the repository, and with outputs of an execution elsewhere."""
    folder = tmp_path_factory.mktemp("notebooks")
    shutil.copyfile(NOTEBOOK, folder / "clean.ipynb")
    command = [JUPYTER, "nbconvert", "--to", "notebook", "--execute", "clean.ipynb", "--output", "stored.ipynb"]
    subprocess.run(command, cwd=folder, env=environment(folder), check=True, capture_output=True)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Jupyter with no settings and no signatures but its own."""
    own = {f"JUPYTER_{kind}_DIR": str(folder / f".{kind}") for kind in ("DATA", "CONFIG", "RUNTIME")}
    labs = {f"JUPYTERLAB_{kind}_DIR": str(folder / f".lab-{kind}") for kind in ("SETTINGS", "WORKSPACES")}
    return {**os.environ, **own, **labs, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[str]:
    """JupyterLab, which serves Notebook's pages too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--allow-root", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    options += ["--IdentityProvider.token=", "--ServerApp.password=", "--LabApp.news_url="]
    log = (home / "server.log").open("w")
    process = subprocess.Popen(
        [JUPYTER, "lab", *options], cwd=home, env=environment(home), stdout=log, stderr=subprocess.STDOUT
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            assert process.poll() is None, (home / "server.log").read_text()
            try:
                urllib.request.urlopen(f"{address}/api").close()
                break
            except OSError:
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait(30)
        log.close()


@pytest.fixture
def tab(driver: Playwright) -> Iterator[Page]:
    path = which("chromium")
    if not path:
        pytest.skip("chromium is not installed")
    browser = driver.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
    yield browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    browser.close()


def opened(tab: Page, server: str, program: str, name: str) -> None:
    """A notebook, alone: JupyterLab would open again what was open before."""
    tab.goto(f"{server}/{program}/{name}?reset")


def steps_in_frame(frame: FrameLocator) -> None:
    frame.locator("label.T.R1").click()
    said = frame.locator(".narration:visible")
    said.get_by_text("Step 2:").wait_for()
    assert frame.locator(".row .c-k:visible").count() == 2
    frame.locator(".turn:visible label", has_text="next").click()
    said.get_by_text("Step 3:").wait_for()
    assert frame.locator(".row .c-k:visible").count() == 3


def steps_in_tables(plain: Locator) -> None:
    third = plain.locator("details").nth(2)
    assert not third.locator("table").is_visible()
    third.locator("summary").click()
    assert third.locator("table").is_visible()
    assert third.locator("tbody tr").count() == 1 + 3 + 1
    q = third.locator("tbody tr").first.locator("td").first
    assert q.evaluate("cell => getComputedStyle(cell).backgroundColor") not in (
        "rgba(0, 0, 0, 0)",
        "rgb(255, 255, 255)",
    )
    third.locator("summary").press("Enter")  # by keyboard too
    assert not third.locator("table").is_visible()


# "lab/tree" is JupyterLab, "notebooks" is Notebook; both are on one server
PROGRAMS = ["lab/tree", "notebooks"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_untrusted_notebook_steps_through_tables(tab: Page, server: str, program: str) -> None:
    opened(tab, server, program, "stored.ipynb")
    plain = tab.locator(".microgpt-plain").first
    plain.wait_for()
    assert tab.locator(".microgpt-frame").count() == 0
    steps_in_tables(plain)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_cell_that_was_run_steps_in_its_frame(tab: Page, server: str, program: str) -> None:
    opened(tab, server, program, "clean.ipynb")
    tab.locator(".jp-Notebook .jp-CodeCell").first.click()
    tab.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for(state="attached")
    tab.keyboard.press("Shift+Enter")
    tab.locator(".microgpt-frame").first.wait_for()
    assert not tab.locator(".microgpt-plain").first.is_visible()
    steps_in_frame(tab.frame_locator(".microgpt-frame").first)


def test_a_trusted_notebook_shows_the_frames_that_were_stored(tab: Page, server: str, home: Path) -> None:
    shutil.copyfile(home / "stored.ipynb", home / "trusted.ipynb")
    subprocess.run(
        [JUPYTER, "trust", "trusted.ipynb"], cwd=home, env=environment(home), check=True, capture_output=True
    )
    opened(tab, server, "lab/tree", "trusted.ipynb")
    tab.locator(".microgpt-frame").first.wait_for()
    assert not tab.locator(".microgpt-plain").first.is_visible()
    steps_in_frame(tab.frame_locator(".microgpt-frame").first)


def test_nbconvert_makes_a_page_that_steps(tab: Page, home: Path) -> None:
    command = [JUPYTER, "nbconvert", "--to", "html", "stored.ipynb"]
    subprocess.run(command, cwd=home, env=environment(home), check=True, capture_output=True)
    tab.route("https://**", lambda route: route.abort())  # nbconvert's own page asks for MathJax
    tab.goto((home / "stored.html").as_uri())
    steps_in_frame(tab.frame_locator(".microgpt-frame").first)
    assert not tab.locator(".microgpt-plain").first.is_visible()


def test_a_book_that_runs_the_notebook_steps(tab: Page, home: Path, tmp_path: Path) -> None:
    shutil.copyfile(NOTEBOOK, tmp_path / "notebook.ipynb")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: notebook\n")
    (tmp_path / "_config.yml").write_text("title: A book\nexecute:\n  execute_notebooks: force\n")
    book = str(Path(sys.executable).with_name("jupyter-book"))
    subprocess.run([book, "build", str(tmp_path)], env=environment(home), check=True, capture_output=True)
    tab.route("https://**", lambda route: route.abort())
    tab.goto((tmp_path / "_build" / "html" / "notebook.html").as_uri())
    steps_in_frame(tab.frame_locator(".microgpt-frame").first)
    assert not tab.locator(".microgpt-plain").first.is_visible()


def test_a_user_error_is_one_sentence_in_a_notebook(home: Path) -> None:
    cell: dict[str, object] = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": []}
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    notebook["cells"] = [{**cell, "source": 'from microgpt.viz import show\nshow("emma4")'}]
    (home / "wrong.ipynb").write_text(json.dumps(notebook), "utf-8")
    command = [JUPYTER, "nbconvert", "--to", "notebook", "--execute", "--allow-errors", "--stdout", "wrong.ipynb"]
    done = subprocess.run(command, cwd=home, env=environment(home), check=True, capture_output=True)
    (output,) = json.loads(done.stdout)["cells"][0]["outputs"]
    assert output["traceback"] == [output["evalue"]]
    assert "“4”" in output["evalue"]


def test_an_installed_wheel_shows(tmp_path: Path) -> None:
    """Built and installed as a reader does, outside of the repository."""
    source = tmp_path / "source"
    names = "microgpt templates site locale pyproject.toml setup.py README.md LICENSE NOTICES tools".split()
    for name in names:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        source.mkdir(exist_ok=True)
        copy(ROOT / name, source / name)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", source], check=True, capture_output=True)
    shutil.rmtree(source)
    carried = {path.name for path in (tmp_path / "venv").rglob("microgpt_kv-*.dist-info/licenses/**/*")}
    assert {"LICENSE", "NOTICES", "Apache-2.0.txt"} <= carried
    code = "from microgpt.viz import show; print(len(show('emma', lang='es')._repr_html_()))"
    done = subprocess.run([python, "-I", "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert int(done.stdout) > 100_000
