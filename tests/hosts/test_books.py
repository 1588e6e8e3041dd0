"""Books: each is built by its own tool from the code that we give, and stepped through in a browser."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.around import HOSTILE, NODE, TITLE, assert_steps_inside, code, frame, run
from tests.hosts.conftest import Visit

pytestmark = pytest.mark.hosts


def sphinx(folder: Path, pasted: str) -> Path:
    (folder / "conf.py").write_text('project = "A lecture"\n')
    (folder / "index.rst").write_text(f"Lecture\n=======\n\nLook at this.\n\n{pasted}\n\nAnd now?\n")
    run(folder, sys.executable, "-m", "sphinx", "-W", "-b", "html", ".", "out")
    return folder / "out"


def mkdocs(folder: Path, pasted: str) -> Path:
    (folder / "mkdocs.yml").write_text("site_name: A lecture\n")
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(f"# Lecture\n\nLook at this.\n\n{pasted}\n\nAnd now?\n")
    run(folder, sys.executable, "-m", "mkdocs", "build", "--strict")
    return folder / "site"


def jupyter_book_1(folder: Path, pasted: str) -> Path:
    (folder / "_config.yml").write_text("title: A lecture\nexecute:\n  execute_notebooks: 'off'\n")
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (folder / "index.md").write_text(f"# Lecture\n\nLook at this.\n\n{pasted}\n\nAnd now?\n")
    run(folder, str(Path(sys.executable).with_name("jupyter-book")), "build", "-W", ".")
    return folder / "_build" / "html"


def quarto(folder: Path, pasted: str) -> Path:
    if not shutil.which("quarto"):
        pytest.skip("Quarto is not installed; its package on PyPI fetches the program from GitHub")
    (folder / "index.qmd").write_text(f"# Lecture\n\nLook at this.\n\n{pasted}\n\nAnd now?\n")
    run(folder, "quarto", "render", "index.qmd", "--to", "html")
    return folder


BOOKS = {"sphinx": sphinx, "mkdocs": mkdocs, "jupyter-book-1": jupyter_book_1, "quarto": quarto}


@pytest.mark.parametrize("slug", BOOKS)
def test_the_widget_steps_inside_a_book(visit: Visit, address: str, tmp_path: Path, slug: str) -> None:
    build: Callable[[Path, str], Path] = BOOKS[slug]
    shown = frame(address, note=HOSTILE)
    tab = visit(build(tmp_path, code(slug, shown)), "index.html")
    assert "And now?" in tab.inner_text("body")  # the book goes on after the frame
    assert_steps_inside(tab, shown)


def myst_project(folder: Path, pasted: str) -> list[str]:
    tool = NODE / ".bin" / "myst"
    if not tool.exists():
        pytest.skip("mystmd is not installed: run make hosts")
    (folder / "myst.yml").write_text("version: 1\nproject:\n  title: A lecture\nsite:\n  template: book-theme\n")
    (folder / "index.md").write_text(f"# Lecture\n\nLook at this.\n\n{pasted}\n\nAnd now?\n")
    return [str(tool), "build", "--ci"]


def test_myst_reads_the_frame_out_of_its_directive(address: str, tmp_path: Path) -> None:
    """The document as MyST understands it; it is written before the theme is asked for."""
    shown = frame(address, note=HOSTILE)
    command = myst_project(tmp_path, code("myst", shown))
    subprocess.run([*command, "--site"], cwd=tmp_path, capture_output=True, timeout=100)
    document = json.loads((tmp_path / "_build" / "site" / "content" / "index.json").read_text("utf-8"))
    assert find(document["mdast"], "iframe") == [{"type": "iframe", "src": shown.url, "width": "750px", "title": TITLE}]


def test_the_widget_steps_inside_a_myst_book(visit: Visit, address: str, tmp_path: Path) -> None:
    shown = frame(address, note=HOSTILE)
    command = myst_project(tmp_path, code("myst", shown))
    done = subprocess.run([*command, "--html"], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    if "api.mystmd.org" in done.stdout + done.stderr and not (tmp_path / "_build" / "html").exists():
        pytest.skip("MyST fetches its theme from api.mystmd.org and GitHub, which cannot be reached here")
    assert done.returncode == 0, done.stdout + done.stderr
    assert_steps_inside(visit(tmp_path / "_build" / "html", "index.html"), shown)


def find(node: dict[str, object], kind: str) -> list[dict[str, object]]:
    """The nodes of that kind, without the names that MyST gives them."""
    children = node.get("children", [])
    assert isinstance(children, list)
    own = [{name: value for name, value in node.items() if name != "key"}] if node.get("type") == kind else []
    return own + [found for child in children for found in find(child, kind)]
