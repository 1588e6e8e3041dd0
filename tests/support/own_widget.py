"""The lesson of docs/own-widget.md, written down from the document itself."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "own-widget.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """The pieces of code in that language, in the order of the document."""
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)


def written(place: Path) -> Path:
    """The package of the document, in `place`: the folder of the lesson, which has two files."""
    folder = place / "loudest"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(blocks("python")[0], "utf-8")
    (folder / "widget.html").write_text(blocks("jinja")[0], "utf-8")
    (place / "pyproject.toml").write_text(blocks("toml")[0], "utf-8")
    (place / "test_loudest.py").write_text(blocks("python")[1], "utf-8")
    return folder
