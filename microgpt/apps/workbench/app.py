"""The workbench: the model's own code in an editor, the machine that is drawn from it, and what the checks find.

The program comes from the page with every press, so an answer depends on the fields alone. What is wrong in it is said
at its line; what the machine shows then is the run as far as it came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from microgpt.apps.workbench import PAGE
from microgpt.apps.workbench.answer import AROUND, COMPARED, PROMPTS, ROUNDING, SAYS, Answer, Texts, run_program
from microgpt.apps.workbench.link import link_of, program_in
from microgpt.apps.workbench.opened import OpenPart, join_program, lines_around, open_names, split_program
from microgpt.course.kv_cache.lesson import LATE, pieces_of
from microgpt.errors import N_, UserError
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.lesson import page_named
from microgpt.viz.local_files import Files, only, text_of
from microgpt.viz.patches import Patch, State, again, file, optional, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import DEFAULTS, Settings, parse
from microgpt.workbench.hooks import HOOK, NO_HOOK_YET, PREPARED, program_of
from microgpt.workbench.original import PROGRAM, checks_text, hunks_of, original
from microgpt.workbench.shelf import BUGS, Bug

LONGEST_PROGRAM = 200_000  # of a program that is opened
FIELD = "program"  # the control in which it is chosen


class View:
    def __init__(self, settings: Settings) -> None:
        self.code, self.checks, self.hook = original(), checks_text(), NO_HOOK_YET
        self.answer = run_program(Texts(self.code, self.checks, self.hook), settings, {})
        self.lines = self.code.count("\n")
        self.bugs, self.prepared, self.models = BUGS, PREPARED, list(PROMPTS)
        self.columns, self.rounding = COMPARED, ROUNDING

    @property
    def picture(self) -> Picture:
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
    state = {"settings": parse(fields)._asdict(), "checking": answer.checking}
    return state, [*answer_patches(answer, fields), *checks_to_come(state)]


def checks_to_come(state: State | None) -> list[Patch]:
    """Asks for the checks of a program that is drawn. What is pressed before they run comes first, and asks again."""
    return [again("check")] if state and state.get("checking") else []


def check(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """What the checks say of a program that is drawn. If those pass that must, the host of a frame is told."""
    answer = answer_of(fields)._replace(tells=True)
    shown = answer.run.picture if answer.run else None
    late = [patch(at, pieces_of(shown, name, range(shown.n))) for at, name in LATE.items()] if shown else []
    return {**(state or {}), "checking": False}, [*answer_patches(answer, fields, draws=False), *late]


def answer_of(fields: Mapping[str, str], examines: bool = True) -> Answer:
    """What became of the reader's program. A goal is judged by our checks."""
    (code, parts), goal, settings = code_in(fields), goal_of(fields), parse(fields)
    checks = checks_text() if goal else fields["checks"] or checks_text()
    answer = run_program(Texts(code, checks, fields["hook"]), settings, fields, examines)
    own = {name: fields[name] for name in ("model", "prompt") if fields[name] != getattr(PAGE, name)}
    return answer._replace(parts=parts, goal=goal, link=link_of(code, **own) if answer.hunks else "")


def code_in(fields: Mapping[str, str]) -> tuple[str, list[OpenPart]]:
    """The reader's program, and the parts that it was typed in, where not all of it is open."""
    opened = open_names(fields["open"])
    return join_program(opened, fields) if opened else (fields["code"] or original(), [])


def goal_of(fields: Mapping[str, str]) -> list[str]:
    """The checks that must pass. Raises UserError for one that is not there."""
    asked = [name.strip() for name in fields["goal"].split(",") if name.strip()]
    for name in asked:
        if name not in SAYS:
            raise UserError("There is no check “%(name)s”; there is %(names)s.", name=name[:40], names=", ".join(SAYS))
    return asked


def start(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """What the address brings along. An edit is shown and not run: as a difference, or in the fields that are open."""
    edit, goal = fields["edit"], goal_of(fields)
    text = program_in(edit) if edit else ""
    if edit and not fields["open"]:
        return state, [ask_reader(goal, edit, text)]
    if not edit:
        state, patches = load_bug(state, fields)
    else:
        patches = [*code_patches(text, fields), *answer_patches(Answer([], goal=goal), fields)]
    return state, [*patches, ask_reader(goal)]


def take(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The edit that a link has brought, and its run."""
    state, patches = load(state, fields, program_in(fields["edit"]))
    return state, [*patches, ask_reader(goal_of(fields))]


def ask_reader(goal: Sequence[str], edit: str = "", text: str = "") -> Patch:
    """What an address asks the reader for: to reach a goal, or to look at an edit."""
    hunks = list(hunks_of(text, AROUND)) if edit else []
    return patch("#edit", render.render("apps/workbench/_edit.html", goal=goal, edit=edit, hunks=hunks))


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
    chosen = defaultdict(str, {**fields, "model": model, "prompt": prompt})
    state, patches = load(state, chosen, bug.text(), bug)
    return state, [
        *patches,
        patch("#text", render.render("apps/workbench/_text.html", chosen=model, prompt=prompt, models=list(PROMPTS))),
    ]


def load_hook(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    text = next((one.text for one in PREPARED if one.name == fields["prepared"]), NO_HOOK_YET)
    chosen = defaultdict(str, {**fields, "hook": text})
    return {"settings": parse(chosen)._asdict()}, [
        hook_patch(text, fields["prepared"]),
        *answer_patches(answer_of(chosen), chosen),
    ]


def hook_patch(text: str, name: str = "") -> Patch:
    """A hook in its editor, and which of the prepared ones it is."""
    shown = {"hook": text, "prepared": PREPARED, "loaded": name, "fresh": True}
    return patch("#own-hook", render.render("apps/workbench/_hook.html", **shown))


def open_file(files: Files, state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    chosen = only(files, FIELD)
    if chosen.size > LONGEST_PROGRAM:
        sentence = N_("“%(name)s” has %(size)s bytes; a program here has at most %(most)s.")
        raise UserError(sentence, name=chosen.name[:40], size=chosen.size, most=LONGEST_PROGRAM)
    return load(state, fields, text_of(chosen))


def load(
    state: State | None, fields: Mapping[str, str], text: str, bug: Bug | None = None
) -> tuple[State | None, list[Patch]]:
    """Another text in the editor, and its run. What a bug is, is told where it is nobody's task to find it."""
    parts = {part.field: part.text for part in parts_of(text, fields)}
    chosen, told = defaultdict(str, {**fields, "code": text, **parts}), None if fields["goal"] else bug
    bugs = render.render("apps/workbench/_bugs.html", bugs=BUGS, loaded=bug.name if bug else "")
    return {"settings": parse(chosen)._asdict()}, [
        *code_patches(text, fields),
        optional(patch("#bugs", bugs, "outer")),
        *answer_patches(answer_of(chosen), chosen, told),
    ]


def parts_of(text: str, fields: Mapping[str, str]) -> list[OpenPart]:
    """What is open of a program, if not all of it is."""
    opened = open_names(fields["open"])
    return split_program(text, opened) if opened else []


def code_patches(text: str, fields: Mapping[str, str]) -> list[Patch]:
    """A program in the editor, or what is open of it in fields of its own, which a draft of the reader's may fill."""
    if parts := parts_of(text, fields):
        rest = "\n".join(lines_around(original(), [part.name for part in parts]))
        return [patch("#code", render.render("apps/workbench/_parts.html", parts=parts, rest=rest))]
    return [patch("#code", render.render("apps/workbench/_code.html", code=text, fresh=True))]


def save(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The reader's program as a file, which runs where the package is installed."""
    return state, [file(PROGRAM, code_in(fields)[0], "text/x-python"), *checks_to_come(state)]


def save_hook(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The reader's hook as a file, which runs by itself on the same text where the package is installed."""
    model, prompt, *sampling = parse(fields)
    chosen = dict(zip(Settings._fields[2:], sampling, strict=True)) if sampling != list(DEFAULTS[2:]) else {}
    text = program_of(fields["hook"] or NO_HOOK_YET, model, prompt, **chosen)
    return state, [file(HOOK, text, "text/x-python"), *checks_to_come(state)]


def save_files(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """What the hook writes into files, as the texts that it has written there. Raises UserError for what is none."""
    answer, saved = answer_of(fields, examines=False), list[Patch]()
    for name, data in answer.files.items():
        try:
            saved.append(file(name, data.decode("utf-8"), "text/plain"))
        except UnicodeDecodeError:
            raise UserError("“%(name)s” is no text in UTF-8.", name=name[:40]) from None
    return state, [*saved, *checks_to_come(state)]


HOOKS = {
    "run": draw, "check": check, "model": change_model, "bug": load_bug, "prepared": load_hook,
    "start": start, "take": take, "save": save, "save-hook": save_hook, "save-files": save_files,
}  # fmt: skip
FILE_HOOKS = {"open": open_file}


def answer_patches(
    answer: Answer, fields: Mapping[str, str], bug: Bug | None = None, draws: bool = True
) -> list[Patch]:
    """What is new on the page. Where no step ran, the machine stays as it was; before the checks run, it is drawn
    without what is asked for later than it is seen."""
    page = page_named(fields["page"])
    shown = {"answer": answer, "columns": COMPARED, "rounding": ROUNDING, "bug": bug}
    found = [
        patch(f"#{name}", render.render(f"apps/workbench/_{name}.html", **shown)) for name in ("verdict", "findings")
    ]
    if answer.run is None or not draws:
        return found
    machine = render.widget("kv_cache", answer.run.picture, page, whole=not answer.checking)
    return [patch("#widget", machine), *found]
