"""All checks on a program: what each finds, and how far the answers are off. `main` is what `python yours.py` does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from microgpt.errors import N_, UserError
from microgpt.weights import Model, shipped
from microgpt.workbench import checks
from microgpt.workbench.recording import YourRecording
from microgpt.workbench.trial import Finding, Trial, expect
from microgpt.workbench.yours import Yours, place_of

CHECK_SECONDS = 10.0  # of all checks together: where a run ends in time, they do so on a slow phone too
Check = Callable[[Trial], None]
PROMPTS = {"names": "emmali", "stories": "the girl has a ball. she is happy. the"}  # of `main`
SIX = ("all_at_once", "one_by_one", "in_threes", "crop_back", "keep_a_branch", "side_by_side")


class Outcome(NamedTuple):
    """What one check came to: `finding` is None where it passed."""

    name: str
    says: str  # what it looks at, in a sentence: its docstring
    finding: Finding | None


def checks_of(module: ModuleType | None = None) -> dict[str, Check]:
    """The checks of a module by their names, in its order: its own functions that take one argument, the trial."""
    found: Any = vars(module or checks)
    home = found["__name__"]
    return {
        name: one
        for name, one in found.items()
        if not name.startswith("_") and getattr(one, "__module__", "") == home and hasattr(one, "__code__")
        and one.__code__.co_argcount == 1
    }  # fmt: skip


def examine(yours: Yours, model: Model, ids: Sequence[int], known: dict[str, Check] | None = None) -> list[Outcome]:
    """What every check on the program comes to with these tokens, in their order."""
    expected, results = expect(model, ids), list[Outcome]()
    if yours.left:  # it has come to its end before
        yours.left = max(yours.left, CHECK_SECONDS)
    for name, check in (known or checks_of()).items():
        if not yours.left:
            break  # a loop that did not end has used up the time of all
        finding = run_check(check, Trial(yours, model, ids, expected))
        results.append(Outcome(name, " ".join((check.__doc__ or name).split()), finding))
    return results


def run_check(check: Check, trial: Trial) -> Finding | None:
    """What a check finds. Whatever goes wrong in the reader's program, or in a check of the reader's, is found too."""
    try:
        with trial.yours, np.errstate(all="ignore"):
            check(trial)
    except Finding as found:
        return found
    except Exception as error:
        place = place_of(error, trial.yours.name)
        if not place.line and check.__module__ != checks.__name__:
            own = place_of(error, check.__code__.co_filename)
            sentence = N_("The check itself fails at its line %(line)s: %(why)s")
            why = own.error.fields.get("why") or own.error
            place = place._replace(error=UserError(sentence, line=own.line, why=why))
        return trial.first or Finding(place.error, line=place.line)
    return trial.first


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
        for result in examine(yours, model, model.tokenizer.encode(prompt)):
            found = result.finding
            wrong += found is not None
            why = f": {found.error}" if found else ""
            where = f" Token {found.pos}, layer {found.layer}, head {found.head}." if found and found.pos >= 0 else ""
            print(f"  {'FAIL' if found else 'ok'}  {result.name}{why}{where}")
    sys.exit(wrong > 0)
