"""The templates: the frame's in templates/, and those of each lesson in its folder."""

from functools import cache
from pathlib import Path

from jinja2 import nodes

from microgpt.viz.rendering.render import environment

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "templates", ROOT / "microgpt")


def templates(*kinds: str) -> list[Path]:
    """Their files, by the kinds that are asked for: html, svg, css."""
    return sorted(path for folder in FOLDERS for kind in kinds for path in folder.rglob(f"*.{kind}"))


@cache
def parsed(source: str) -> nodes.Template:
    """The syntax of a template, read once for all who look at it."""
    return environment().parse(source)
