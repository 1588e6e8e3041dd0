"""What of the repository goes along: our own Python, templates and weights for the browser, and all licences."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = ("microgpt", "templates", "locale")  # what of the repository runs in the browser
SOURCES = (".po", ".pot")  # what is only read to make something else of it


def own_files() -> dict[str, bytes]:
    """Archive path -> bytes of our own Python, templates and weights, for the browser."""
    paths = [p for folder in OWN for p in files_under(ROOT / folder) if "__pycache__" not in p.parts]
    return {str(p.relative_to(ROOT).as_posix()): p.read_bytes() for p in paths if p.suffix not in SOURCES}


def notices() -> str:
    """The licences of everything that is carried along."""
    parts = [(ROOT / "NOTICES").read_text("utf-8"), (ROOT / "LICENSE").read_text("utf-8")]
    for package in ("jinja2", "markupsafe"):
        licences = [f for f in distribution(package).files or [] if "licenses/" in str(f)]
        parts += [f"{package}\n\n{Path(str(f.locate())).read_text('utf-8')}" for f in sorted(licences, key=str)]
    parts.append("CPython\n\n" + (ROOT / "tools" / "licences" / "CPython-3.13.txt").read_text("utf-8"))
    return "\n\n----\n\n".join(part.strip() for part in parts) + "\n"


def files_under(folder: Path) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.is_file())
