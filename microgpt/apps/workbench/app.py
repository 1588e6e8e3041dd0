"""The workbench: the model's own code in an editor, the machine that is drawn from it, and what the checks find.

The program comes from the page with every press, so an answer depends on the fields alone. What is wrong in it is said
at its line; what the machine shows then is the run as far as it came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from microgpt.apps.workbench.answer import COMPARED, PROMPTS, ROUNDING, Answer, run_program
from microgpt.errors import N_, UserError
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.lesson import page_named
from microgpt.viz.local_files import Files, only
from microgpt.viz.patches import Patch, State, again, file, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings, parse
from microgpt.workbench.original import PROGRAM, checks_text, original
from microgpt.workbench.shelf import BUGS, Bug

LONGEST_PROGRAM = 200_000  # of a program that is opened
FIELD = "program"  # the control in which it is chosen


class View:
    """The page as it is built: our own code, and what it does."""

    def __init__(self, settings: Settings) -> None:
        self.code, self.checks = original(), checks_text()
        self.answer = run_program(self.code, self.checks, settings, {})
        self.lines = self.code.count("\n")
        self.bugs, self.models = BUGS, list(PROMPTS)
        self.columns, self.rounding, self.program = COMPARED, ROUNDING, PROGRAM

    @property
    def picture(self) -> Picture:
        """Ours, for the machine."""
        assert self.answer.run is not None
        return self.answer.run.picture

    @cached_property
    def choices(self) -> Any:
        return self.picture.choices

    @property
    def fields(self) -> Any:
        return self.picture.fields


view = View


# ---- what can be pressed --------------------------------------------------------------------------


def draw(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The machine, drawn from the reader's code; what the checks say of it comes in an answer of its own."""
    answer = answer_of(fields, examines=False)
    later = [again("check")] if answer.checking else []
    return {"settings": parse(fields)._asdict()}, [*answer_patches(answer, fields), *later]


def check(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """What the checks say of a program that is drawn."""
    return state, [one for one in answer_patches(answer_of(fields), fields) if one["target"] != "#widget"]


def answer_of(fields: Mapping[str, str], examines: bool = True) -> Answer:
    """What became of the reader's program."""
    return run_program(fields["code"] or original(), fields["checks"] or checks_text(), parse(fields), fields, examines)


def change_model(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The same code with another model, on a text that it knows."""
    prompt = PROMPTS.get(fields["model"], "")
    chosen = defaultdict(str, {**fields, "prompt": prompt})
    patches = answer_patches(answer_of(chosen), fields)
    return {"settings": parse(chosen)._asdict()}, [
        *patches,
        patch("#prompt", render.render("live/prompt.html", prompt=prompt), "outer"),
    ]


def load_bug(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The program with a fault from the shelf, and its run; with a model in which it can be seen."""
    bug = next((one for one in BUGS if one.name == fields["bug"]), None)
    if bug is None:
        return load(state, fields, original())
    model = fields["model"] if bug.caught_by.get(fields["model"]) else "stories"
    prompt = fields["prompt"] if model == fields["model"] else PROMPTS[model]
    state, patches = load(state, {**fields, "model": model, "prompt": prompt}, bug.text(), bug)
    return state, [
        *patches,
        patch("#text", render.render("apps/workbench/_text.html", chosen=model, prompt=prompt, models=list(PROMPTS))),
    ]


def undo(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """Our own code again, our own checks, and their run."""
    state, patches = load(state, {**fields, "checks": ""}, original())
    checks = render.render("apps/workbench/_checks.html", checks=checks_text(), fresh=True)
    return state, [patch("#own-checks", checks), *patches]


def open_file(files: Files, state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """A program from the reader's disk, and its run."""
    chosen = only(files, FIELD)
    if chosen.size > LONGEST_PROGRAM:
        sentence = N_("“%(name)s” has %(size)s bytes; a program here has at most %(most)s.")
        raise UserError(sentence, name=chosen.name[:40], size=chosen.size, most=LONGEST_PROGRAM)
    try:
        text = chosen.read(0, chosen.size).decode("utf-8")
    except UnicodeDecodeError:
        raise UserError("“%(name)s” is no text in UTF-8.", name=chosen.name[:40]) from None
    return load(state, fields, text)


def load(
    state: State | None, fields: Mapping[str, str], text: str, bug: Bug | None = None
) -> tuple[State | None, list[Patch]]:
    """Another text in the editor, and its run."""
    chosen, name = defaultdict(str, {**fields, "code": text}), bug.name if bug else ""
    return {"settings": parse(chosen)._asdict()}, [
        patch("#code", render.render("apps/workbench/_code.html", code=text, fresh=True)),
        patch("#bugs", render.render("apps/workbench/_bugs.html", bugs=BUGS, loaded=name), "outer"),
        *answer_patches(answer_of(chosen), chosen, bug),
    ]


def save(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The reader's program as a file, which runs where the package is installed."""
    return state, [file(PROGRAM, fields["code"], "text/x-python")]


HOOKS = {"run": draw, "check": check, "model": change_model, "bug": load_bug, "undo": undo, "save": save}
FILE_HOOKS = {"open": open_file}


def answer_patches(answer: Answer, fields: Mapping[str, str], bug: Bug | None = None) -> list[Patch]:
    """What is new on the page. Where no step ran, the machine stays as it was."""
    page = page_named(fields["page"])
    shown = {"answer": answer, "columns": COMPARED, "rounding": ROUNDING, "bug": bug, "PROGRAM": PROGRAM}
    found = [
        patch(f"#{name}", render.render(f"apps/workbench/_{name}.html", **shown)) for name in ("verdict", "findings")
    ]
    if answer.run is None:
        return found
    return [patch("#widget", render.widget("kv_cache", answer.run.picture, page)), *found]
