"""What a command says of itself, run here: a process for each would take its second."""

import runpy
import sys
import warnings
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest

ROOT = Path(__file__).resolve().parents[2]


@cache
def help_of(*words: str) -> str:
    """What `python WORDS --help` prints."""
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
