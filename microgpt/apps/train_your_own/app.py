"""A model of the reader's own words: trained in slices, its loss drawn, kept for all lessons.

The state of the page is which run it is, told by its data, and how many steps are taken. The trainer that has taken
them is remembered to save time; without it, training starts again from the first step. Without a script the page shows
the same, of a list of cities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from microgpt.apps.train_your_own.cities import CITIES
from microgpt.checkpoints.ours import file_bytes, read_model
from microgpt.errors import N_, UserError
from microgpt.experiments.trainer import Trainer
from microgpt.recipes import (
    LEAST_TEXTS,
    LONGEST_DATA,
    LONGEST_TEXT,
    MOST_TOKENS,
    SIZES,
    model_so_far,
    own_run,
    own_texts,
)
from microgpt.record import Recording
from microgpt.viz.controls import Choice
from microgpt.viz.drawing import timing
from microgpt.viz.drawing.chart import Chart, Series, line_chart, thin_out
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.local_files import Files, only, text_of
from microgpt.viz.patches import Patch, State, again, file, keep_file, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings, keep_own
from microgpt.viz.text.formats import show
from microgpt.weights import KEPT, OWN_MODEL, Model

__all__ = ["LEAST_TEXTS", "LONGEST_TEXT", "MOST_TOKENS", "view"]  # and what the templates read

SLICE_SECONDS, STEPS_AT_ONCE = 0.25, 5  # seconds of work an answer; steps between two looks at the clock
STAGES = (0, 20, 100, 300)  # steps after which the model writes; it does so at the end, too
N_WORDS = 5  # that it writes
SMOOTH = 50  # steps that the mean line looks back
N_POINTS = 60  # of the line
FILE_NAME = "own.safetensors"
LEARNS = {"letters": N_("letters"), "words": N_("words")}
SIZE_NAMES = {"small": N_("small, quick"), "medium": N_("larger, slower")}


class Stage(NamedTuple):
    """What the model wrote after so many steps, and how much of that it has been given."""

    steps: int
    words: list[str]
    n_known: int


class Training:
    """A run on a reader's data, as far as it has come. `key` tells it from others."""

    def __init__(self, data: str, kind: str, size: str) -> None:
        self.key, self.kind = key_of(data, kind, size), kind
        self.trainer = Trainer(own_run(data, kind, size))
        self.stages = list[Stage]()
        tokenizer = self.trainer.run.tokenizer
        self.known = {tokenizer.decode([tokenizer.ids[one] for one in pieces]) for pieces in own_texts(data, kind)}
        self.write()

    @property
    def n(self) -> int:
        return len(self.trainer.losses)

    @property
    def steps(self) -> int:
        return self.trainer.run.steps

    @property
    def prompt(self) -> str:
        return self.trainer.run.prompt

    @property
    def model(self) -> Model:
        return model_so_far(self.trainer.run)

    def write(self) -> None:
        words = self.trainer.names(N_WORDS)
        self.stages.append(Stage(self.n, [show(one) for one in words], sum(one in self.known for one in words)))

    def go_on(self, goal: int, seconds: float = math.inf) -> None:
        """Take steps up to the `goal`, or for about so long; on the way, let the model write at each stage."""
        end = timing.clock() + seconds
        while self.n < min(goal, self.steps):
            stops = [one for one in (*STAGES, self.steps, goal, self.n + STEPS_AT_ONCE) if one > self.n]
            self.trainer.advance(min(stops) - self.n)
            if self.n in (*STAGES, self.steps):
                self.write()
            if timing.clock() > end:
                break

    @property
    def mean(self) -> float:
        losses = self.trainer.losses[-SMOOTH:]
        return sum(losses) / len(losses)

    @property
    def guess(self) -> float:
        """The loss of one who guesses."""
        return math.log(self.trainer.run.config.vocab_size)

    @property
    def chart(self) -> Chart:
        losses, guess = self.trainer.losses, self.guess
        at = [round(i) for i in thin_out([float(i) for i in range(1, self.n + 1)], N_POINTS)]
        means = [(float(i), sum(losses[max(0, i - SMOOTH) : i]) / min(i, SMOOTH)) for i in at]
        lines = [Series(N_("guessing"), "again", [(1.0, guess), (float(self.steps), guess)])]
        lines += [Series(N_("your model"), "mean", means)] if means else []
        unit = N_("nats a letter") if self.kind == "letters" else N_("nats a word")
        return line_chart(N_("Loss, the mean of the last steps"), lines, N_("steps"), unit, digits=2)


class View:
    choices: tuple[Choice, ...] = ()

    def __init__(self, _: Settings) -> None:
        self.kinds, self.sizes = LEARNS, SIZE_NAMES

    def data(self, lang: str) -> str:
        return "\n".join(CITIES.get(lang, CITIES["en"]).split())

    def example(self, lang: str) -> Training:
        return example(self.data(lang))


view = View


@cache
def example(data: str) -> Training:
    """The run that a page without a script shows."""
    made = Training(data, "letters", "small")
    made.go_on(made.steps)
    return made


# ---- what can be pressed --------------------------------------------------------------------------

RUNS = list[Training]()  # the last one


def key_of(data: str, kind: str, size: str) -> str:
    return sha256(repr((data, kind, size)).encode("utf-8", "replace")).hexdigest()[:16]


def read_form(fields: Mapping[str, str]) -> tuple[str, str, str]:
    kind, size = fields["kind"], fields["size"]
    return fields["data"], kind if kind in LEARNS else "letters", size if size in SIZES else "small"


def training_at(state: State | None, fields: Mapping[str, str]) -> Training | None:
    """The run of the state, as far as that says; None where there is none, or its data has gone."""
    key, done = (state or {}).get("run"), (state or {}).get("steps")
    if not isinstance(key, str) or not isinstance(done, int):
        return None
    made = next((one for one in RUNS if one.key == key and one.n <= done), None)
    if made is None and key_of(*read_form(fields)) == key:
        made = Training(*read_form(fields))
    if made is not None:
        made.go_on(done)
        RUNS[:] = [made]
    return made


def train_on(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """A slice more of the run that the form asks for; asks to be asked again until its last step."""
    made = training_at(state, fields)
    if made is None or made.key != key_of(*read_form(fields)):
        made = Training(*read_form(fields))
        RUNS[:] = [made]
    if made.n == made.steps:
        raise UserError(
            "All %(steps)s steps are done. Change the words or the size to train another model.", steps=made.steps
        )
    made.go_on(made.steps, SLICE_SECONDS)
    more = [again("train")] if made.n < made.steps else []
    return {"run": made.key, "steps": made.n}, [run_patch(made), *more]


def stop(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """Nothing more to do until the next press of Train."""
    made = training_at(state, fields)
    return state, [run_patch(made)] if made else []


def run_patch(made: Training) -> Patch:
    return patch("#run", render.render("apps/train_your_own/_run.html", run=made))


def model_at(state: State | None, fields: Mapping[str, str]) -> Model:
    """The model that is trained here, else the one that is kept."""
    made = training_at(state, fields)
    if made is not None and made.n:
        return made.model
    if OWN_MODEL not in KEPT:
        raise UserError("There is no model of yours yet: press Train, or open a file.")
    return KEPT[OWN_MODEL]


def use(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """Keep the model, for the lessons."""
    return state, keep_patches(model_at(state, fields))


def open_model(files: Files, state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """A model that was saved, kept as if it had been trained here."""
    chosen = only(files, "saved")
    return state, keep_patches(read_model(chosen.read, chosen.size, chosen.name))


def keep_patches(model: Model) -> list[Patch]:
    """The model runs from now on, and the page says where."""
    keep_own(model)
    html = render.render("apps/train_your_own/_kept.html", model=KEPT[OWN_MODEL], n=len(model.tokenizer.vocabulary))
    return [patch("#kept", html), keep_file(file_bytes(KEPT[OWN_MODEL]))]


def forget(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    KEPT.pop(OWN_MODEL, None)
    return state, [patch("#kept", render.render("apps/train_your_own/_kept.html", model=None)), keep_file(b"")]


def save_own(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    return state, [file(FILE_NAME, file_bytes(model_at(state, fields)), "application/octet-stream")]


def watch(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The model as it is now, stepping through a text of its own."""
    model = model_at(state, fields)
    return state, [patch("#watch", render.widget("kv_cache", Picture(Recording(model, model.prompt).run())))]


def open_list(files: Files, state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The words of a file, in the field for them."""
    chosen = only(files, "list")
    if chosen.size > 4 * LONGEST_DATA:  # bytes of so many characters, at most
        sentence = N_("“%(name)s” has %(size)s bytes; a list here has at most %(most)s characters.")
        raise UserError(sentence, name=chosen.name[:40], size=format(chosen.size, ","), most=format(LONGEST_DATA, ","))
    text = text_of(chosen)
    own_run(text, *read_form(fields)[1:])  # what cannot work is said now
    return state, [patch("#data", render.render("apps/train_your_own/_data.html", data=text), "outer")]


HOOKS: dict[str, Any] = {
    "train": train_on, "stop": stop, "use": use, "forget": forget, "save": save_own, "watch": watch,
}  # fmt: skip
FILE_HOOKS: dict[str, Any] = {"list": open_list, "open": open_model}
