"""The listings of the lesson “In your code”, run as a reader runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "templates" / "lessons" / "in_your_code" / "listings"
PRINTED = FOLDER / "printed.json"
RECORDED = json.loads(PRINTED.read_text("utf-8")) if PRINTED.exists() else {}
SHARED = {"plain_parts", "stories_as_llama"}  # what others import; they print nothing


def listings() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in SHARED)


def printed(name: str) -> str:
    """What a listing prints, in a Python of its own, which leaves no files behind."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-B", str(FOLDER / f"{name}.py")]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout
