"""`python yours.py`: what the program writes, and what the checks find."""

from __future__ import annotations

import sys
from pathlib import Path

from microgpt.weights import shipped
from microgpt.workbench.examine import examine
from microgpt.workbench.recording import YourRecording
from microgpt.workbench.yours import Yours, place_of

PROMPTS = {"names": "emmali", "stories": "the girl has a ball. she is happy. the"}


def main(path: str) -> None:
    """Print the text that the program writes with each model, and the checks; exit with 1 where one fails."""
    text, wrong = Path(path).read_text("utf-8"), 0
    try:
        yours = Yours(text, path)
    except Exception as error:
        place = place_of(error, path)
        sys.exit(f"{path}, line {place.line}: {place.error}")
    for name, prompt in PROMPTS.items():
        model = shipped(name)
        recording = YourRecording(yours, model, prompt)
        try:
            recording.run()
            print(f"{name}: {''.join(recording.trace.about['tokens'])}")
        except Exception as error:
            place = place_of(error, path)
            print(f"{name}: {path}, line {place.line}: {place.error}")
        for result in examine(yours, model, model.tokenizer.encode(prompt)).results:
            found = result.finding
            wrong += found is not None
            why = f": {found.error}" if found else ""
            where = f" Token {found.pos}, layer {found.layer}, head {found.head}." if found and found.pos >= 0 else ""
            print(f"  {'FAIL' if found else 'ok'}  {result.name}{why}{where}")
    sys.exit(wrong > 0)
