"""The templates: the frame's in templates/, and those of each lesson in its folder."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "templates", ROOT / "microgpt")


def templates(*kinds: str) -> list[Path]:
    """Their files, by the kinds that are asked for: html, svg, css."""
    return sorted(path for folder in FOLDERS for kind in kinds for path in folder.rglob(f"*.{kind}"))
