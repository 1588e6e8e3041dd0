"""All text can be translated: the catalogue is complete, and the templates hold no text outside it."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from microgpt.viz.drawing.phases import PHASES
from microgpt.viz.text.language import LANGUAGES

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
    allowed = {"SVG", "PNG", "K", "V", "q", "k", "v", "x", "S", "Q", "‹", "›", "▶", "❚❚", "…", "%", "−∞", "K ", "V "}
    for path in sorted((ROOT / "templates").rglob("*.html")):
        text = path.read_text("utf-8")
        no_text = r"<code>.*?</code>|<style>.*?</style>|\{#.*?#\}|\{% trans.*?endtrans %\}|\{%.*?%\}|\{\{.*?\}\}"
        text = re.sub(no_text, "", text, flags=re.S)
        text = re.sub(r"<!?[a-z/][^>]*>", "\n", text, flags=re.I | re.S)
        left = {line.strip(' ,;·:±×=+<>"[]') for line in text.splitlines()} - {""} - allowed
        assert not left, (path.name, left)


TRANSLATIONS = sorted((ROOT / "locale").glob("*/LC_MESSAGES/messages.po"))


def messages(path: Path) -> dict[Any, Any]:
    with path.open("rb") as file:
        return {m.id: m for m in read_po(file) if m.id}


@pytest.mark.parametrize("path", TRANSLATIONS, ids=lambda p: p.parts[-3])
def test_a_translation_is_complete_and_holds_nothing_stale(path: Path) -> None:
    wanted, there = messages(ROOT / "locale" / "messages.pot"), messages(path)
    assert there.keys() == wanted.keys()
    assert not [
        m.id for m in there.values() if m.fuzzy or not all([m.string] if isinstance(m.string, str) else m.string)
    ]
    for message in there.values():
        assert not list(message.check()), message.id


@pytest.mark.parametrize("path", TRANSLATIONS, ids=lambda p: p.parts[-3])
def test_placeholders_and_tags_survive_translation(path: Path) -> None:
    def marks(text: str) -> list[str]:
        return sorted(re.findall(r"%\(\w+\)[sd]|\{\w+\}|</?\w[^>]*>|&\w+;", text))

    for message in messages(path).values():
        ids, strings = ((x,) if isinstance(x, str) else x for x in (message.id, message.string))
        for string in strings:
            assert marks(string) in [marks(i) for i in ids], message.id


@pytest.mark.parametrize("path", TRANSLATIONS, ids=lambda p: p.parts[-3])
def test_the_compiled_translation_is_the_written_one(path: Path) -> None:
    fresh = io.BytesIO()
    with path.open("rb") as file:
        write_mo(fresh, read_po(file, path.parts[-3]))
    assert fresh.getvalue() == path.with_suffix(".mo").read_bytes(), "run: make messages"


def test_every_language_of_the_site_has_its_translation() -> None:
    assert {path.parts[-3] for path in TRANSLATIONS} == LANGUAGES.keys() - {"en"}
