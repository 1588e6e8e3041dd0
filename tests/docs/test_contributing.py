"""The places that CONTRIBUTING.md names are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_every_stop_of_the_walks_is_where_it_says() -> None:
    stops = re.findall(r"`([\w/.]+)`: `(\w+)`", TEXT)
    assert len(stops) >= 28
    for file, name in stops:
        source = (ROOT / file).read_text("utf-8")
        told = rf"(def|class|function) {name}\b" if file.endswith(".py") else rf"\b{name}\b"
        assert re.search(told, source), f"{file} has no {name}"


def test_no_stop_is_visited_twice() -> None:
    for walk in TEXT.split("## Two walks")[1].split("\nFrom a ")[1:]:
        modules = re.findall(r"`(microgpt/[\w/.]+)`: ", walk)
        assert len(modules) == len(set(modules))


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:microgpt|tests|tools|site|docs|bench|templates|locale)/[\w/.-]*)`", TEXT))
    missing = {name for name in named if not (ROOT / name).exists()}
    made_up = r"(w|8-w)\.(py|html|css)$|^locale/pt/"  # a lesson called w, a language that is not there yet
    assert not [name for name in missing if not re.search(made_up, name)]
