"""Documents: every command that they name is one; README's listing runs, and its figures are counted."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
import warnings
from contextlib import redirect_stdout
from functools import cache
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from microgpt.config import Config, n_params
from microgpt.weights import SHIPPED, shipped

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
BEGINS = r"(make|python|microgpt) [\w.-]"


def commands(text: str) -> set[str]:
    """What is to be typed: in the words, and in lines of their own, which may go on in the next."""
    spans = [re.sub(r"\s+", " ", span) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", text)]
    lines = re.findall(r"^ {4}(\S.*)$", re.sub(r"\\\n *", "", text), re.M)
    return {one for one in [*spans, *lines] if re.match(BEGINS, one)}


FOUND = sorted({one for path in DOCUMENTS for one in commands(path.read_text("utf-8"))})


def test_there_are_many() -> None:
    assert len(FOUND) >= 25 and {one.split()[0] for one in FOUND} == {"make", "python", "microgpt"}


@cache
def help_of(*words: str) -> str:
    """What `python WORDS --help` prints, run here: a process for each would take its second."""
    name, *rest = words[1:] if words[0] == "-m" else words
    said = StringIO()
    with redirect_stdout(said), patch.object(sys, "argv", [name, *rest, "--help"]), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that it is there already
        with pytest.raises(SystemExit) as ended:
            if words[0] == "-m":
                runpy.run_module(name, run_name="__main__")
            else:
                runpy.run_path(str(ROOT / name), run_name="__main__")
    assert not ended.value.code
    return said.getvalue()


@pytest.mark.parametrize("command", FOUND)
def test_a_command_that_is_named_is_one_with_its_options(command: str) -> None:
    program, *words = shlex.split(command, comments=True)
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
        assert {*words} <= {*targets}
        return
    if words[0] == "-c":
        compile(words[1], command, "exec")
        return
    if program == "microgpt":
        known = re.findall(r"^    (\w+) ", help_of("-m", "microgpt"), re.M)
        asked = ["-m", "microgpt", *(word for word in words[:1] if word in known)]
    else:
        asked = words[: 2 if words[0] == "-m" else 1]
        assert find_spec(asked[1]) if len(asked) > 1 else (ROOT / asked[0]).is_file(), asked
    for option in [word for word in words if word.startswith("--")]:
        assert re.search(rf"(?<![\w-]){option}\b", help_of(*asked)), option


def test_the_listing_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (listing,) = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(listing, {})
    assert capsys.readouterr().out.count("[") > 2  # arrays


def test_the_hook_in_a_notebook_hears_of_every_step() -> None:
    section = (ROOT / "docs/notebooks.md").read_text("utf-8").split("## A hook of your own")[1]
    exec(re.findall(r"```python\n(.*?)```", section, re.S)[0], found := dict[str, Any]())
    n = len(found["run"].about["tokens"])
    assert n > 4 and found["reads"] == {(0, row): n - row for row in range(n)}


def test_its_figures_are_those_of_the_models() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", README, re.M))
    assert [*rows] == [*SHIPPED]
    for name, said in rows.items():
        config: Config = shipped(name).config
        layers, heads = re.search(r"(\d+) layers?", said), re.search(r"(\d+) (query )?heads", said)
        assert layers and int(layers[1]) == config.n_layer, name
        assert not heads or int(heads[1]) == config.n_head, name
        for total in re.findall(r"([\d,]+) parameters", said):
            assert total == f"{n_params(config):,}", name
        for shared in re.findall(r"(\d+) key/value heads", said):
            assert int(shared) == config.n_kv_head, name
