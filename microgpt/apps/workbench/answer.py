"""What became of a program: its run beside ours on the same tokens, what the checks found, and where it stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import NamedTuple

from microgpt.apps.workbench.opened import OpenPart
from microgpt.decode import generate
from microgpt.errors import N_, UserError
from microgpt.record import Recording
from microgpt.viz.drawing.phases import stage
from microgpt.viz.drawing.picture import MOST_TOKENS, Picture
from microgpt.viz.settings import Settings, radio
from microgpt.weights import Model, shipped
from microgpt.workbench.examine import Check, Outcome, checks_of, examine
from microgpt.workbench.hooks import HOOK, NO_HOOK_YET, YourHook, place_in_hook
from microgpt.workbench.original import PROGRAM, ChangedLine, Hunk, checks_text, hunks_of
from microgpt.workbench.recording import YourRecording, differences, run_ours
from microgpt.workbench.yours import Printed, Stop, Watched, Yours, place_of

PROMPTS = {"names": "emm", "names-deep": "emm", "stories": "the girl has a ball."}  # on which a model is first seen
FEWEST, MOST_CHECKED = 8, 12  # tokens that the checks run
MOST_PRINTED = 40_000  # letters of what a program prints: all reports of the longest text, a line each
AROUND = 2  # lines around a change that are shown
COMPARED = ("embed", "q", "k", "v", "attn_scores", "attn_weights", "head_out", "logits")  # of the table of differences
CHECKS = "checks.py"  # as the reader's own checks are named in errors
EDITORS = {PROGRAM: "code", CHECKS: "checks", HOOK: "hook"}  # the field of each text by its name
ROUNDING = 1e-9  # what only the order of a sum changes is less
SAYS = {  # what each check of ours looks at: its docstring, which no browser has
    "all_at_once": N_("All tokens in one pass: prefill."),
    "one_by_one": N_("One token a pass, as a text is written: decode."),
    "in_threes": N_("Three tokens a pass: a prompt that comes in chunks."),
    "crop_back": N_("Two tokens too far, then back, then on: a draft that was wrong."),
    "keep_a_branch": N_("Two next tokens side by side in one pass, as a tree; the second stays."),
    "side_by_side": N_("Two texts of different length in one pass."),
    "rows_stay": N_("The cache grows by one row per token, and no old row ever changes."),
    "nothing_from_the_future": N_("No token gives a weight to a token after it."),
    "weights_sum_to_one": N_("The attention weights of each token sum to 1."),
    "q_is_read_once": N_("A pass asks with the queries of its own tokens alone: none is kept."),
    "memory_as_counted": N_("The cache keeps the bytes of K and V that the formula gives, and nothing else."),
    "the_loop": N_("The loop writes the tokens that ours writes."),
    "with_and_without": N_(
        "One by one with the cache, and anew without: your program against itself, as all pages here compare ours."
    ),
}


@dataclass(frozen=True)
class YourPicture(Picture):
    """The machine, drawn from the reader's code: rows that came out otherwise than ours bear a mark."""

    off: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def marks(self, i: int) -> tuple[str, ...]:
        """Of q, k and v of a row, which are otherwise than ours."""
        return tuple(name for name in self.off.get(i, ()) if name in ("q", "k", "v"))


class Compared(NamedTuple):
    """A run of a program beside ours on the same tokens."""

    picture: YourPicture
    rows: list[tuple[int, str, list[float]]]  # of each step its token, and how far each of COMPARED is off
    flip: tuple[int, str, str] | None  # the first step whose likeliest token is another: its number, yours, ours

    @property
    def off(self) -> bool:
        """Whether any step is."""
        return any(max(cells) > ROUNDING for _, _, cells in self.rows)


class Answer(NamedTuple):
    hunks: list[Hunk]  # what differs from the original
    run: Compared | None = None  # None where no step ran
    outcomes: Sequence[Outcome] = ()  # of the checks
    stop: Stop | None = None  # where it stopped
    printed: str = ""
    files: Mapping[str, bytes] = MappingProxyType({})  # that the hook has written, by their names
    halt: tuple[int, int] | None = None  # where the hook ended the run: its line, and the number of the step
    restored: Sequence[str] = ()  # reports that were put back
    checking: bool = False  # whether the checks are still to come
    link: str = ""  # the end of an address that opens the program
    parts: Sequence[OpenPart] = ()  # where not all of it is open
    goal: Sequence[str] = ()  # the checks that must pass
    tells: bool = False  # whether the host of a frame learns that they do

    @property
    def first(self) -> Outcome | None:
        """The first check that fails."""
        return next((one for one in self.outcomes if one.finding), None)

    @property
    def difference(self) -> list[ChangedLine]:
        """The lines that are not in both programs."""
        return [one for hunk in self.hunks for one in hunk.lines if one.sign != " "]

    @property
    def is_met(self) -> bool:
        """Whether the checks that must pass do."""
        return {*self.goal} <= {one.name for one in self.outcomes if not one.finding}

    def place_in_field(self, line: int, name: str = PROGRAM) -> tuple[str, str, int]:
        """The field that holds a line of a program, what is written before its number there, and that number."""
        for part in self.parts if name == PROGRAM else ():
            if part.at < line <= part.at + part.n:
                return part.field, part.name, line - part.at
        return EDITORS[name], "" if name == PROGRAM else name, line


class Texts(NamedTuple):
    code: str
    checks: str
    hook: str


class Program(NamedTuple):
    """A program that has been loaded, and has run the text as far as it came."""

    yours: Yours
    checks: dict[str, Check] | None  # the reader's checks; None where they are ours
    recording: YourRecording | None
    stop: Stop | None
    printed: Printed
    files: dict[str, bytes]  # that the hook has written, by their names


_drawn: dict[tuple[Texts, Settings], Program] = {}  # what was drawn last, until its checks run


def run_program(texts: Texts, settings: Settings, fields: Mapping[str, str], examines: bool = True) -> Answer:
    """Run a program on the reader's text and, unless they are to come later, the checks on it.

    What was drawn is kept for its checks, to save time: without it, it is loaded and run again.
    """
    model, answer, key = model_named(settings.model), Answer(list(hunks_of(texts.code, AROUND))), (texts, settings)
    kept = _drawn.pop(key, None) if examines else None
    _drawn.clear()
    program = kept or load_program(texts, settings, model)
    if isinstance(program, Stop):
        return answer._replace(stop=program)
    yours, known, recording, stop, printed, files = program
    outcomes = list[Outcome]()
    if examines:
        with redirect_stdout(printed):
            outcomes = examine(yours, model, tokens_to_check(model, settings.prompt), known)
    else:
        _drawn[key] = program
    return answer._replace(
        run=against_ours(recording, fields) if recording and recording.n else None,
        outcomes=[one._replace(says=SAYS[one.name]) for one in outcomes] if known is None else outcomes,
        stop=stop,
        printed=shorten(printed.getvalue()),
        files=files,
        halt=halt_of(recording),
        restored=yours.restored,
        checking=not examines,
    )


def load_program(texts: Texts, settings: Settings, model: Model) -> Program | Stop:
    """The program, once it has run the text; where it, or the reader's checks, cannot be loaded, why. Raises UserError
    for what is wrong with the text."""
    printed = Printed()
    with redirect_stdout(printed):
        try:
            yours, known = Yours(texts.code), own_checks(texts.checks)
        except Exception as error:
            return stop_at(error)
        if texts.hook.strip().replace("\r\n", "\n") in ("", NO_HOOK_YET.strip()):
            return Program(yours, known, *record_yours(yours, model, settings), printed, {})
        recording, stop, files = record_for_hook(yours, model, settings, texts.hook)
        return Program(yours, known, recording, stop, printed, files)


def record_for_hook(
    yours: Yours, model: Model, settings: Settings, text: str
) -> tuple[YourRecording | None, Stop | None, dict[str, bytes]]:
    """The same with a hook that is told of it, and the files that it has written: it runs in a folder of its own.

    A hook that fails is told no more, and the run goes on: where it failed is said unless the program has stopped too.
    """
    hook: YourHook | None = None
    wrong: Exception | None = None
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, chdir(folder):
        try:
            hook = YourHook(text)
        except Exception as error:
            wrong = error
        recording, stop = record_yours(yours, model, settings, hook)
        if hook:
            hook.close_files()
        files = {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*")) if path.is_file()}
    wrong = wrong or (recording.hook_error if recording else None)
    return recording, stop or (place_in_hook(wrong, text) if wrong else None), files


def record_yours(
    yours: Yours, model: Model, settings: Settings, hook: YourHook | None = None
) -> tuple[YourRecording | None, Stop | None]:
    """The text to its end, or as far as the program came. Raises UserError for what is wrong with the text."""
    settings.recording()  # whatever is wrong with it is wrong with ours too
    recording = None
    try:
        recording = YourRecording(
            yours,
            model,
            settings.prompt,
            hook,
            temperature=settings.temperature,
            top_k=settings.top_k,
            seed=settings.seed,
        )
        while not recording.has_ended and recording.n < MOST_TOKENS:
            recording.step()
    except Exception as error:
        return recording, stop_at(error)
    return recording, None


def shorten(printed: str) -> str:
    """What was printed, as much of it as a page shows."""
    return printed if len(printed) <= MOST_PRINTED else printed[:MOST_PRINTED] + "\n…"


def halt_of(recording: YourRecording | None) -> tuple[int, int] | None:
    """The line at which the hook has ended the run, and the step; None where it has not."""
    if recording is None or recording.ended_by is None:
        return None
    return place_of(recording.ended_by, HOOK).line, recording.n


def model_named(name: str) -> Model:
    """The model of that name. Raises UserError where there is none."""
    if name not in PROMPTS:
        raise UserError("There is no model “%(name)s”; there is %(names)s.", name=name[:40], names=", ".join(PROMPTS))
    return shipped(name)


def stop_at(error: Exception) -> Stop:
    """Where a program, or the reader's checks, came to a stop."""
    stop, in_checks = place_of(error), place_of(error, CHECKS)
    return in_checks._replace(name=CHECKS) if in_checks.line and not stop.line else stop


def own_checks(text: str) -> dict[str, Check] | None:
    """The reader's checks; None where they are ours."""
    if text.strip().replace("\r\n", "\n") == checks_text().strip():
        return None
    return checks_of(Watched(text, CHECKS).module)


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
        rows.append((pos, trace.about["tokens"][pos], [by_name.get(name, 0.0) for name in COMPARED]))
        theirs, own = (model.tokenizer.vocabulary[one["logits", pos][0].argmax()] for one in (trace, ours))
        if flip is None and theirs != own:
            flip = pos + 1, theirs, own
    layer = radio(fields, "layer", 0, model.config.n_layer - 1, -1)
    head = radio(fields, "head", 0, model.config.n_head - 1, -1)
    picture = YourPicture(trace, -1, layer, head, stage(fields), off=off)
    return Compared(picture, rows, flip)
