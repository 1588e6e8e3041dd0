"""What CONTRIBUTING.md names is there, and what it tells to do can be done."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from microgpt import train
from microgpt.course import LESSONS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
SPANS = [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", TEXT)]
BLOCKS = re.findall(r"^ {4}(\S.*)$", TEXT, re.MULTILINE)
BEGINS = r"(\.\w+/bin/)?(make|python3?|npm)\b"
COMMANDS = [shlex.split(text) for text in dict.fromkeys([*SPANS, *BLOCKS]) if re.match(BEGINS, text)]
MADE = {"names.txt", "locale/messages.pot"}  # what a reader brings along or makes: the document says from where
# where a short name may lie
PLACES = [
    ROOT / name
    for name in ("", "microgpt", "microgpt/viz", "tests/attack", "microgpt/course/fewer_heads", "microgpt/apps/index")
]
MADE_UP = r"/w/|^(locale/)?pt/"  # a lesson called w, a language that is not there yet


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
    named = {span for span in SPANS if re.fullmatch(r"[\w/.*-]+(/|\.(py|html|css|js|md|json|toml|po|pot|txt))", span)}
    assert len(named) > 40
    missing = {name for name in named - MADE if not any([*place.glob(name)] for place in PLACES)}
    assert not [name for name in missing if not re.search(MADE_UP, name)]


def test_every_command_is_looked_at() -> None:
    """What is neither make nor Python needs a test of its own."""
    assert {Path(command[0]).name for command in COMMANDS} <= {"make", "python"}
    assert not [block for block in BLOCKS if not re.match(BEGINS, block)]


def test_make_check_leaves_out_what_is_slow_and_make_everything_nothing() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    rules = dict(re.findall(r"^(\w+):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE))
    for word, names in {"not slow": {"daily"}, "--ignore tests": {"daily"}, "EVERYTHING=1": {"everything"}}.items():
        assert {name for name, rule in rules.items() if word in rule} == names


def test_what_is_left_out_says_why() -> None:
    lines = [line for path in (ROOT / "tests").rglob("test_*.py") for line in path.read_text("utf-8").splitlines()]
    marked = [line for line in lines if re.search(r"mark\.(slow|thorough)\b", line)]
    assert marked and [line for line in marked if not re.search(r'\((why=)?".{9,}"\)', line)] == []


@pytest.mark.parametrize("command", [one for one in COMMANDS if "microgpt.train" in one], ids=" ".join)
def test_every_model_begins_to_be_trained_as_it_says(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("emma\nolivia\nava\n")
    words = [str(tmp_path / word) if word in MADE else word for word in command[3:]]
    assert train.main([*words, "--steps", "2", "--out", str(tmp_path / "made.npz")]) == 0
    assert (tmp_path / "made.npz").is_file()


def test_a_new_language_begins_as_it_says(tmp_path: Path) -> None:
    """The command, run as it stands; and what it says that comes of it."""
    (command,) = [command[1:] for command in COMMANDS if "init" in command]
    (tmp_path / "locale").mkdir()
    (tmp_path / "locale" / "messages.pot").write_text('msgid "a token"\nmsgstr ""\n', "utf-8")
    subprocess.run([sys.executable, *command], cwd=tmp_path, check=True, capture_output=True)
    (made,) = [span for span in SPANS if re.match("locale/pt/.", span)]
    assert (tmp_path / made).is_file()


def test_every_lesson_is_made_as_a_new_one_would_be() -> None:
    """What the recipe lists for the widget w; a module may have become a folder."""
    steps = TEXT.split("## A new lesson")[1].split("\n## ")[0]
    for told in ("microgpt/course/w/", "__init__.py", "lesson.py", "widget.html", "prose.html", "words.html"):
        assert f"`{told}`" in steps
    assert "m.ask" in steps
    for macro in ("ask", "term"):
        assert f"{{% macro {macro}(" in (ROOT / "templates/macros.html").read_text("utf-8")
    for folder in {ROOT / "microgpt/course" / page.widget for page in LESSONS}:
        assert {"__init__.py", "lesson.py", "widget.html", "words.html"} <= {path.name for path in folder.iterdir()}
        assert "m.ask(" in (folder / "prose.html").read_text("utf-8"), folder


def test_every_table_that_is_added_to_is_there() -> None:
    for name, file in (
        ("EVENTS", "microgpt/trace.py"),
        ("HOOKS", "microgpt/course/kv_cache/lesson.py"),
        ("LANGUAGES", "microgpt/viz/text/language.py"),
        ("N_", "microgpt/errors.py"),
    ):
        assert name in SPANS
        assert re.search(rf"^(def )?{name}\b", (ROOT / file).read_text("utf-8"), re.MULTILINE), name
