"""What became of a program: its run beside ours on the same tokens, what the checks found, and where it stopped."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from types import ModuleType
from typing import NamedTuple

from microgpt.decode import generate
from microgpt.errors import N_, UserError
from microgpt.record import Recording
from microgpt.viz.drawing.phases import stage
from microgpt.viz.drawing.picture import MOST_TOKENS, Picture
from microgpt.viz.settings import Settings, radio
from microgpt.weights import Model, shipped
from microgpt.workbench.examine import Check, Outcome, checks_of, examine
from microgpt.workbench.original import ChangedLine, Hunk, checks_text, hunks_of
from microgpt.workbench.recording import YourRecording, differences, run_ours
from microgpt.workbench.yours import Stop, Yours, place_of

PROMPTS = {"names": "emm", "names-deep": "emm", "stories": "the girl has a ball."}  # on which a model is first seen
FEWEST, MOST_CHECKED = 8, 12  # tokens that the checks run
MOST_PRINTED = 10_000  # letters of what a program prints
AROUND = 2  # lines around a change that are shown
COMPARED = ("embed", "q", "k", "v", "attn_scores", "attn_weights", "head_out", "logits")  # of the table of differences
CHECKS = "checks.py"  # as the reader's own checks are named in errors
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
    """What became of a program."""

    hunks: list[Hunk]  # what differs from the original
    run: Compared | None = None  # None where no step ran
    outcomes: Sequence[Outcome] = ()  # of the checks
    stop: Stop | None = None  # where it stopped
    printed: str = ""
    restored: Sequence[str] = ()  # reports that were put back
    checking: bool = False  # whether the checks are still to come

    @property
    def first(self) -> Outcome | None:
        """The first check that fails."""
        return next((one for one in self.outcomes if one.finding), None)

    @property
    def difference(self) -> list[ChangedLine]:
        """The lines that are not in both programs."""
        return [one for hunk in self.hunks for one in hunk.lines if one.sign != " "]

    @property
    def n_failed(self) -> int:
        return sum(one.finding is not None for one in self.outcomes)

    @property
    def n_changed(self) -> int:
        """Lines that are the reader's."""
        return sum(one.sign == "+" for one in self.difference)


class Program(NamedTuple):
    """A program that has been loaded, and has run the text as far as it came."""

    yours: Yours
    checks: dict[str, Check] | None  # the reader's checks; None where they are ours
    recording: Recording | None
    stop: Stop | None
    printed: io.StringIO


_drawn: dict[tuple[str, str, Settings], Program] = {}  # what was drawn last, until its checks run


def run_program(code: str, checks: str, settings: Settings, fields: Mapping[str, str], examines: bool = True) -> Answer:
    """Run a program on the reader's text and, unless they are to come later, the checks on it.

    What was drawn is kept for its checks, to save time: without it, it is loaded and run again.
    """
    model, answer, key = model_named(settings.model), Answer(list(hunks_of(code, AROUND))), (code, checks, settings)
    program = _drawn.pop(key, None) if examines else None
    _drawn.clear()
    try:
        program = program or load_program(code, checks, settings, model)
    except Unloadable as error:
        return answer._replace(stop=error.stop)
    yours, known, recording, stop, printed = program
    outcomes = list[Outcome]()
    if examines:
        with redirect_stdout(printed):
            outcomes = examine(yours, model, tokens_to_check(model, settings.prompt), known).results
    else:
        _drawn[key] = program
    return answer._replace(
        run=against_ours(recording, fields) if recording and recording.n else None,
        outcomes=[one._replace(says=SAYS[one.name]) for one in outcomes] if known is None else outcomes,
        stop=stop,
        printed=printed.getvalue()[:MOST_PRINTED],
        restored=yours.restored,
        checking=not examines,
    )


class Unloadable(Exception):
    """A program, or the reader's checks, that cannot be loaded."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(str(stop.error))
        self.stop = stop


def load_program(code: str, checks: str, settings: Settings, model: Model) -> Program:
    """The program, once it has run the text. Raises Unloadable, or UserError for what is wrong with the text."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        try:
            yours, known = Yours(code), own_checks(checks)
        except Exception as error:
            raise Unloadable(stop_at(error)) from None
        return Program(yours, known, *record_yours(yours, model, settings), printed)


def record_yours(yours: Yours, model: Model, settings: Settings) -> tuple[Recording | None, Stop | None]:
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
        return recording, stop_at(error)
    return recording, None


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
        rows.append((pos, trace.about["tokens"][pos], [by_name.get(name, 0.0) for name in COMPARED]))
        theirs, own = (model.tokenizer.vocabulary[one["logits", pos][0].argmax()] for one in (trace, ours))
        if flip is None and theirs != own:
            flip = pos + 1, theirs, own
    layer, head = (radio(fields, name, 0, most - 1, -1) for name, most in size(model).items())
    picture = YourPicture(trace, -1, layer, head, stage(fields), off=off)
    return Compared(picture, rows, flip)


def size(model: Model) -> dict[str, int]:
    return {"layer": model.config.n_layer, "head": model.config.n_head}
