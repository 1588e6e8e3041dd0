"""All text can be translated: the catalogue is complete, and the templates hold no text outside it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from babel.messages.pofile import read_po

from microgpt.viz.phases import PHASES

ROOT = Path(__file__).resolve().parents[1]


def test_the_catalogue_is_up_to_date(tmp_path: Path) -> None:
    fresh = tmp_path / "messages.pot"
    options = ["-F", "babel.cfg", "-k", "N_", "-o", str(fresh), "--no-location", "--omit-header", "--sort-output"]
    subprocess.run(
        [sys.executable, "-m", "babel.messages.frontend", "extract", *options, "."],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    assert fresh.read_text("utf-8") == (ROOT / "locale" / "messages.pot").read_text("utf-8"), "run: make messages"


def test_the_catalogue_holds_the_sentences_of_python_and_of_templates() -> None:
    with (ROOT / "locale" / "messages.pot").open("rb") as file:
        ids = {m.id if isinstance(m.id, str) else m.id[0] for m in read_po(file)}
    assert {phase.sentence for phase in PHASES} <= ids
    assert any("The cache holds" in i for i in ids)
    assert len(ids) > 80


def test_templates_hold_no_text_outside_the_catalogue() -> None:
    allowed = {"K", "V", "q", "k", "v", "x", "S", "Q", "‹", "›", "▶", "❚❚", "…", "%", "−∞", "K ", "V "}
    for path in sorted((ROOT / "templates").rglob("*.html")):
        text = path.read_text("utf-8")
        text = re.sub(
            r"<code>.*?</code>|\{#.*?#\}|\{% trans.*?endtrans %\}|\{%.*?%\}|\{\{.*?\}\}", "", text, flags=re.S
        )
        text = re.sub(r"<!?[a-z/][^>]*>", "\n", text, flags=re.I | re.S)
        left = {line.strip(' ,·:×=+<>"[]') for line in text.splitlines()} - {""} - allowed
        assert not left, (path.name, left)
