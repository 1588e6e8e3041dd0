"""The workbench: the model's own code in an editor, the machine that is drawn from it, and what the checks find.

The program comes from the page with every press, so an answer depends on the fields alone. What is wrong in it is said
at its line; what the machine shows then is the run as far as it came.
"""

from __future__ import annotations

import difflib
import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

from microgpt.decode import generate
from microgpt.errors import N_, UserError
from microgpt.record import Recording
from microgpt.viz.drawing.phases import stage
from microgpt.viz.drawing.picture import MOST_TOKENS, Picture
from microgpt.viz.lesson import page_named
from microgpt.viz.local_files import Files, only
from microgpt.viz.patches import Patch, State, file, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings, parse, radio
from microgpt.weights import SHIPPED, Model, shipped
from microgpt.workbench.examine import Check, Outcome, checks_of, examine
from microgpt.workbench.original import PROGRAM, checks_text, original
from microgpt.workbench.recording import YourRecording, differences, run_ours
from microgpt.workbench.yours import Stop, Yours, place_of

MODELS = SHIPPED
PROMPTS = {"names": "emm", "names-deep": "emm", "stories": "the girl has a ball."}  # on which a model is first seen
FEWEST, MOST_CHECKED = 8, 12  # tokens that the checks run
MOST_PRINTED, MOST_BYTES = 10_000, 200_000  # letters of what a program prints; bytes of one that is opened
AROUND = 2  # lines around a change that are shown
COLUMNS = ("embed", "q", "k", "v", "attn_scores", "attn_weights", "head_out", "logits")  # of the table of differences
CHECKS = "checks.py"  # as the reader's own checks are named in errors
FIELD = "program"  # the control in which a program is chosen
SAYS = {  # what each check of ours looks at: its docstring, which no browser has
    "all_at_once": N_("All tokens in one pass: prefill."),
    "one_by_one": N_("One token a pass, as a text is written: decode."),
    "in_threes": N_("Three tokens a pass: a prompt that comes in chunks."),
    "crop_back": N_("Two tokens too far, then back, then on: a draft that was wrong."),
    "keep_a_branch": N_("Two next tokens side by side in one pass, as a tree; the second stays."),
    "side_by_side": N_("Two texts of different length in one pass."),
    "rows_stay": N_("The cache grows by a row a token, and no old row ever changes."),
    "nothing_from_the_future": N_("No token gives a weight to a token after it."),
    "weights_sum_to_one": N_("The attention weights of each token sum to 1."),
    "q_is_read_once": N_("A pass asks with the queries of its own tokens alone: none is kept."),
    "memory_as_counted": N_("The cache keeps the bytes of K and V that the formula gives, and nothing else."),
    "the_loop": N_("`generate` writes the tokens that ours writes."),
    "with_and_without": N_(
        "One by one with the cache, and anew without: your program against itself, as all pages here compare ours."
    ),
}
ROUNDING = 1e-9  # what only the order of a sum changes is less


@dataclass(frozen=True)
class YourPicture(Picture):
    """The machine, drawn from the reader's code: rows that came out otherwise than ours bear a mark."""

    off: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def marks(self, i: int) -> tuple[str, ...]:
        """Of q, k and v of a row, which are otherwise than ours."""
        return tuple(name for name in self.off.get(i, ()) if name in ("q", "k", "v"))


class Line(NamedTuple):
    """A line of the difference between two programs: + is the reader's, - ours, " " in both."""

    sign: str
    text: str


class Compared(NamedTuple):
    """A run of a program beside ours on the same tokens."""

    picture: YourPicture
    rows: list[tuple[int, str, list[float]]]  # of each step its token, and how far each of COLUMNS is off
    flip: tuple[int, str, str] | None  # the first step whose likeliest token is another: its number, yours, ours

    @property
    def off(self) -> bool:
        """Whether any step is."""
        return any(max(cells) > ROUNDING for _, _, cells in self.rows)


class Answer(NamedTuple):
    """What became of a program."""

    changed: list[Line]  # against the original
    run: Compared | None = None  # None where no step ran
    outcomes: Sequence[Outcome] = ()  # of the checks
    stop: Stop | None = None  # where it stopped
    printed: str = ""
    restored: Sequence[str] = ()  # reports that were put back

    @property
    def first(self) -> Outcome | None:
        """The first check that fails."""
        return next((one for one in self.outcomes if one.finding), None)

    @property
    def n_failed(self) -> int:
        return sum(one.finding is not None for one in self.outcomes)

    @property
    def n_changed(self) -> int:
        """Lines that are the reader's."""
        return sum(one.sign == "+" for one in self.changed)


class View:
    """The page as it is built: our own code, and what it does."""

    def __init__(self, settings: Settings) -> None:
        self.code, self.checks = original(), checks_text()
        self.answer = run_program(self.code, self.checks, settings, {})
        self.lines = self.code.count("\n")

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


def run(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The machine, drawn from the reader's code, and what the checks say of it."""
    settings = parse(fields)
    answer = run_program(fields["code"] or original(), fields["checks"] or checks_text(), settings, fields)
    return {"settings": settings._asdict()}, answer_patches(answer, fields)


def change_model(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The same code with another model, on a text that it knows."""
    prompt = PROMPTS.get(fields["model"], "")
    state, patches = run(state, {**fields, "prompt": prompt, "code": fields["code"], "checks": fields["checks"]})
    return state, [*patches, patch("#prompt", render.render("live/prompt.html", prompt=prompt), "outer")]


def undo(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """Our own code again, and its run."""
    return load(state, fields, original())


def open_file(files: Files, state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """A program from the reader's disk, and its run."""
    chosen = only(files, FIELD)
    if chosen.size > MOST_BYTES:
        sentence = N_("“%(name)s” has %(size)s bytes; a program here has at most %(most)s.")
        raise UserError(sentence, name=chosen.name[:40], size=chosen.size, most=MOST_BYTES)
    try:
        text = chosen.read(0, chosen.size).decode("utf-8")
    except UnicodeDecodeError:
        raise UserError("“%(name)s” is no text in UTF-8.", name=chosen.name[:40]) from None
    return load(state, fields, text)


def load(state: State | None, fields: Mapping[str, str], text: str) -> tuple[State | None, list[Patch]]:
    """Another text in the editor, and its run."""
    state, patches = run(state, {**fields, "code": text, "checks": fields["checks"]})
    return state, [patch("#code", render.render("apps/workbench/_code.html", code=text)), *patches]


def save(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The reader's program as a file, which runs where the package is installed."""
    return state, [file(PROGRAM, fields["code"], "text/x-python")]


HOOKS = {"run": run, "model": change_model, "undo": undo, "save": save}
FILE_HOOKS = {"open": open_file}


def answer_patches(answer: Answer, fields: Mapping[str, str]) -> list[Patch]:
    """What is new on the page. Where no step ran, the machine stays as it was."""
    page = page_named(fields["page"])
    shown = {"answer": answer, "columns": COLUMNS, "rounding": ROUNDING}
    found = [
        patch(f"#{name}", render.render(f"apps/workbench/_{name}.html", **shown)) for name in ("verdict", "findings")
    ]
    if answer.run is None:
        return found
    return [patch("#widget", render.widget("kv_cache", answer.run.picture, page)), *found]


# ---- a run ----------------------------------------------------------------------------------------


def run_program(code: str, checks: str, settings: Settings, fields: Mapping[str, str]) -> Answer:
    """Run a program on the reader's text, and the checks on it."""
    model, printed, answer = shipped_or_told(settings.model), io.StringIO(), Answer(difference(code))
    with redirect_stdout(printed):
        try:
            yours, known = Yours(code), own_checks(checks)
        except Exception as error:
            return answer._replace(stop=found_in(error))
        recording, stop = record(yours, model, settings)
        outcomes = examine(yours, model, tokens_to_check(model, settings.prompt), known).results
    if known is None:
        outcomes = [one._replace(says=SAYS[one.name]) for one in outcomes]
    return answer._replace(
        run=against_ours(recording, fields) if recording and recording.n else None,
        outcomes=outcomes,
        stop=stop,
        printed=printed.getvalue()[:MOST_PRINTED],
        restored=yours.restored,
    )


def record(yours: Yours, model: Model, settings: Settings) -> tuple[Recording | None, Stop | None]:
    """The text to its end, or as far as the program came. Raises UserError for what is wrong with the text."""
    settings.recording()  # whatever is wrong with it is wrong with ours too
    recording = None
    try:
        recording = YourRecording(
            yours,
            model,
            settings.prompt,
            temperature=settings.temperature,
            top_k=settings.top_k,
            seed=settings.seed,
        )
        while not recording.has_ended and recording.n < MOST_TOKENS:
            recording.step()
    except Exception as error:
        return recording, found_in(error)
    return recording, None


def shipped_or_told(name: str) -> Model:
    """The model of that name. Raises UserError where there is none."""
    if name not in MODELS:
        raise UserError("There is no model “%(name)s”; there is %(names)s.", name=name[:40], names=", ".join(MODELS))
    return shipped(name)


def found_in(error: Exception) -> Stop:
    """Where a program, or the checks, came to a stop."""
    stop = place_of(error)
    return stop if stop.line else place_of(error, CHECKS)._replace(line=0)


def own_checks(text: str) -> dict[str, Check] | None:
    """The reader's checks; None where they are ours."""
    if text.strip().replace("\r\n", "\n") == checks_text().strip():
        return None
    module: ModuleType = Yours(text, CHECKS).module
    return checks_of(module)


def tokens_to_check(model: Model, prompt: str) -> list[int]:
    """The tokens that the checks run: those of the prompt, and what ours writes after them, until there are enough."""
    ids = model.tokenizer.encode(prompt)[:MOST_CHECKED]
    missing = min(FEWEST, model.config.n_ctx) - len(ids)
    return ids + list(generate(model.params, model.config, ids, missing)) if missing > 0 else ids


def against_ours(recording: Recording, fields: Mapping[str, str]) -> Compared:
    """The picture of a run with its marks, and how far each step is off."""
    model, trace, n = recording.model, recording.trace, recording.n
    ours, off = run_ours(model, recording.ids[:n]), dict[int, tuple[str, ...]]()
    flip: tuple[int, str, str] | None = None
    rows = list[tuple[int, str, list[float]]]()
    for pos in range(n):
        found = differences(trace, ours, pos)
        by_name = {name: max(x for (one, _), x in found.items() if one == name) for name, _ in found}
        off[pos] = tuple(name for name, x in by_name.items() if x > ROUNDING)
        rows.append((pos, trace.about["tokens"][pos], [by_name.get(name, 0.0) for name in COLUMNS]))
        theirs, own = (model.tokenizer.vocabulary[one["logits", pos][0].argmax()] for one in (trace, ours))
        if flip is None and theirs != own:
            flip = pos + 1, theirs, own
    layer, head = (radio(fields, name, 0, most - 1, -1) for name, most in size(model).items())
    picture = YourPicture(trace, -1, layer, head, stage(fields), off=off)
    return Compared(picture, rows, flip)


def size(model: Model) -> dict[str, int]:
    return {"layer": model.config.n_layer, "head": model.config.n_head}


def difference(code: str) -> list[Line]:
    """What the reader has changed, with the lines around it; nothing where there is no change."""
    ours, theirs = original().splitlines(), code.replace("\r\n", "\n").splitlines()
    found = list(difflib.unified_diff(ours, theirs, lineterm="", n=AROUND))[2:]
    return [Line(line[:1], line[1:]) for line in found]
