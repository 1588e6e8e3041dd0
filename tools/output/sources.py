"""What of the repository goes along: our own Python, templates and weights for the browser.

What goes out is listed, by its place and its suffix. Whatever else lies beside the sources stays at home: notes, keys,
backups, what editors and systems leave behind (their names begin with a dot), and whatever a link leads to.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from microgpt.viz.text.po import compile_po
from microgpt.workbench import original

ROOT = Path(__file__).resolve().parents[2]
OWN = {  # what of the repository runs in the browser
    "microgpt": (
        "**/*.py", "**/listings/*.py", "py.typed", "data/*.npz", "data/*.txt", "simd/*.so", "simd/*.wat",
        "**/*.html", "**/*.svg", "**/*.json",
    ),
    "templates": ("**/*.html", "**/*.svg"),
    "locale": ("*/LC_MESSAGES/messages.po",),
}  # fmt: skip
CARD_FILE = "card.png"  # of a lesson, in its folder; those of other pages lie in site/cards
PAGES_ALONE = {  # what pages need, and no Python in a browser: rules, and what links to them show
    "microgpt": ("**/*.css", f"course/*/{CARD_FILE}"),
    "templates": ("**/*.css",),
}
LISTINGS = "/listings/"  # whose Python is shown, and not run
WORKBENCH = "microgpt/workbench"  # where the text lies that a reader can change
SITE = (
    "*.js",
    "*.svg",
    "css/*.css",
    "cards/*.png",
    "traces/*.json",
)  # what of site/ goes along: as it is, the styles as one file
MADE = ("worker.js", "editor.js")  # but these, which become part of others: packing.py, tools/editor/script.py


def our_files() -> dict[str, bytes]:
    """Archive path -> bytes of our own Python, templates, weights and translations, for the browser."""
    paths = [path for folder, patterns in OWN.items() for path in files_in(ROOT / folder, patterns)]
    texts = {original.ORIGINAL: original.write(), original.CHECKS: original.checks_text()}
    own = {f"{WORKBENCH}/{name}": text.encode() for name, text in texts.items()}  # programs that are shown, and changed
    return own | {place.relative_to(ROOT).as_posix(): data for place, data in map(as_sent, paths)}


def as_sent(path: Path) -> tuple[Path, bytes]:
    """A file as it goes out: a translation as the .mo that gettext reads fastest."""
    if path.suffix == ".po":
        return path.with_suffix(".mo"), compile_po(path.read_text("utf-8"))
    return path, path.read_bytes()


def site_files() -> dict[str, Path]:
    """Name -> file of what a page loads from site/, besides its style and what the runtime holds."""
    folder, course = ROOT / "site", ROOT / "microgpt" / "course"
    found = [path for path in files_in(folder, SITE) if path.suffix != ".css" and path.name not in MADE]
    cards = {f"cards/{path.parent.name.replace('_', '-')}.png": path for path in files_in(course, [f"*/{CARD_FILE}"])}
    return {path.relative_to(folder).as_posix(): path for path in found} | cards


def files_in(folder: Path, patterns: Iterable[str]) -> list[Path]:
    """The files of `folder` that fit one of the patterns, by their names; neither hidden ones nor links."""

    def ours(path: Path) -> bool:
        steps = [path, *path.parents][: len(path.relative_to(folder).parts)]
        return path.is_file() and not any(step.name.startswith(".") or step.is_symlink() for step in steps)

    return sorted({path for pattern in patterns for path in folder.glob(pattern) if ours(path)})
