"""The catalogue of all text, extracted anew."""

import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def extracted() -> str:
    """The .pot of all text, by the command of the Makefile."""
    (words,) = re.findall(r"^\t\$\(BABEL\) (extract .+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "messages.pot"
        options = [str(made) if word == "locale/messages.pot" else word for word in words.split()]
        command = [sys.executable, "-m", "babel.messages.frontend", "--quiet", *options]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        return made.read_text("utf-8")
