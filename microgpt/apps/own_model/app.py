"""A model of the reader's own: the files of a checkpoint, dropped on the page, stepped through like a built-in model.

Until then the page shows what will come of them: a small model of this course, drawn as a large one is.
Loading and running go in slices: each answer shows how far it is, asks to be sent again, and is a sign of life.
The picture in the end depends on the files, the fields and the state alone (dropped_model.py).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from microgpt.apps.own_model import dropped_model
from microgpt.architectures.names import FAMILY_OF
from microgpt.checkpoints.assemble import HALF_DTYPE
from microgpt.checkpoints.loading import LIMIT, Loading
from microgpt.config import n_params
from microgpt.course.kv_cache import lesson as stepper
from microgpt.errors import N_, UserError
from microgpt.record import Recording
from microgpt.trace import to_json
from microgpt.viz.controls import on_show
from microgpt.viz.drawing.picture import MOST_TOKENS, Picture
from microgpt.viz.large.heads import check_numbers, parse_numbers
from microgpt.viz.large.picture import BigPicture
from microgpt.viz.local_files import Files
from microgpt.viz.patches import Patch, State, again, file, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings, parse, radio
from microgpt.viz.text.formats import megabytes
from microgpt.viz.text.language import say
from microgpt.weights import Model, shipped

__all__ = ["HALF_DTYPE", "LIMIT", "MOST_TOKENS", "view"]  # and what the templates read

FIELD = "checkpoint"  # the control in which the files are chosen
SINGLE = 4  # bytes of a number in 32 bits
EXAMPLE_PROMPT = "The next day is bright"
EXAMPLE, N_ADDED = "stories", 2  # the model that is drawn before there are files; so many tokens are its own
BAR = ("numbers", "check")  # what the reader has switched on in the picture

Answer = tuple[State | None, list[Patch]]


class View:
    def __init__(self, _: Settings) -> None:
        recording = Recording(shipped(EXAMPLE), EXAMPLE_PROMPT, max_new=N_ADDED)
        recording.run()
        self.example = dropped_model.big_picture(recording, {}, (), (), recording.n_prompt)
        self.choices, self.fields = self.example.choices, self.example.fields
        self.params = n_params(recording.model.config)
        self.types = list(FAMILY_OF)


view = View


# ---- what can be pressed --------------------------------------------------------------------------


STOPPED = [patch("#progress", "")]


def go_on(hook: str, files: Files, state: State | None, fields: Mapping[str, str]) -> Answer:
    """A slice of the work that `hook` asks for; once all of it is done, the picture. `hook` is one of HOOK_NAMES."""
    layers, heads = (parse_numbers(name, fields.get(name)) for name in ("layers", "heads"))
    end = time.monotonic() + dropped_model.SLICE
    model, loading = dropped_model.load_slice(files.get(FIELD, ()))
    if model is None:
        return state, [reading(loading), again(hook)]
    check_numbers("layers", layers, model.config.n_layer)
    check_numbers("heads", heads, model.config.n_head)
    settings = parse({**fields, "model": dropped_model.current.key})
    same = state is not None and state["settings"] == settings._asdict()
    n, compared = (state["n"], state["compared"]) if state is not None and same else (0, [])
    recording = dropped_model.recording_of(settings, model)
    goal = recording.limit if hook == "run" else n + (hook == "next") if n else recording.n_prompt
    if len(recording.cache) > goal:  # it was on its way to more, and the reader has thought better of it
        recording = dropped_model.recording_of(settings, model, anew=True)
    before = len(recording.cache)
    while len(recording.cache) < goal and not recording.has_ended:
        dropped_model.run_step(recording)
        if time.monotonic() > end:
            said = N_("Running the model: token %(n)s of %(goal)s.")
            return state, [progress(said, n=len(recording.cache), goal=goal), again(hook)]
    done = len(recording.cache)
    if hook == "next" and done < goal:
        return state, [end_patch(recording)]
    at = pick_step(hook, recording, n, fields)
    compared = sorted({*compared, at}) if hook == "compare" else compared
    for i in compared:
        if ("recompute_logits", i) not in recording.trace:
            if done > before or (ran := dropped_model.compare_slice(recording, i)):
                said = N_("Running step %(n)s again without the cache: %(ran)s of %(n)s tokens.")
                return state, [progress(said, n=i + 1, ran=0 if done > before else ran), again(hook)]
    shown = dropped_model.picture(recording, fields, layers, heads, at)
    stands = frame(shown)
    fresh: State = {"settings": settings._asdict(), "n": done, "compared": compared, "frame": stands}
    if hook == "trace":
        saved = shown.excerpt() if isinstance(shown, BigPicture) else shown.trace
        return fresh, [file("trace-own-model.json", to_json(saved), "application/json"), *STOPPED]
    pressed = {one.name: one.values[0] for one in shown.fields if one.name in BAR and one.name in fields}
    if hook == "next" and state is not None and same and n == done - 1 and stands and state.get("frame") == stands:
        return fresh, [*stepper.one_more(shown, pressed), *over_all(shown, pressed), *STOPPED]
    html = render.widget("kv_cache", shown, asked=pressed)
    return fresh, [patch("#widget", html), patch("#own", about(model, shown)), *STOPPED]


# "run" goes to the end, "next" one token on, from the prompt where files or settings are other ones; "show" draws what
# there is, "compare" runs the chosen step again without the cache, "trace" saves what is on the page, or drawn of it
HOOK_NAMES = ("run", "next", "show", "compare", "trace")
FILE_HOOKS = {name: partial(go_on, name) for name in HOOK_NAMES}


def frame(shown: Picture) -> list[Any]:
    """What a new token must find unchanged, if it is to be added to the picture that stands; nothing of a small model,
    which is drawn anew as quickly."""
    if not isinstance(shown, BigPicture):
        return []
    limits = [[*key, scale.limit] for key, scale in shown.scales.items()]
    return [[[one.layer, one.head, one.rank] for one in shown.heads], limits, shown.columns]


def over_all(shown: Picture, pressed: Mapping[str, object]) -> list[Patch]:
    """The parts of a large picture that speak of all steps at once."""
    at = on_show(shown, pressed)
    parts = {"#legend": "course/kv_cache/_legend.html", ".all-heads": "large/overview.html"}
    return [patch(target, render.render(name, view=shown, at=at), "outer") for target, name in parts.items()]


def pick_step(hook: str, recording: Recording, n: int, fields: Mapping[str, str]) -> int:
    """The step that is shown: the last of the prompt, the newest, or the one that was shown before."""
    if hook == "run" or not n:
        return recording.n_prompt - 1
    newest = len(recording.cache) - 1
    return newest if hook == "next" else radio(fields, "step", 0, newest, newest)


def end_patch(recording: Recording) -> Patch:
    """That the model has chosen the end, which is no error. Raises UserError where the picture is full."""
    if len(recording.cache) == recording.limit:
        raise UserError(
            "The picture is full: it has room for %(most)s tokens. Start again with a shorter prompt.",
            most=recording.limit,
        )
    said = N_("The model chose the end: the text is complete. Change the prompt, the seed or the temperature to go on.")
    return patch("#progress", render.sentence(UserError(said)))


# ---- what is shown --------------------------------------------------------------------------------


def about(model: Model, shown: Picture) -> str:
    return render.render(
        "apps/own_model/_model.html",
        name=model.name,
        config=model.config,
        params=n_params(model.config),
        dtype=shown.about["dtype"],
    )


def reading(loading: Loading | None) -> Patch:
    assert loading is not None
    return progress(
        N_("Reading the numbers: %(read)s of %(total)s MB, %(done)s of %(count)s tensors."),
        read=megabytes(loading.read),
        total=megabytes(loading.total),
        done=loading.n_done,
        count=loading.count,
    )


def progress(message: str, **figures: Any) -> Patch:
    return patch("#progress", render.render("live/sentence.html", text=say(message, **figures)))
