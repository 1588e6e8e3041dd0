"""microgpt's training, live: a few steps an answer, a curve that grows, names that get better.

Its state is the number of steps taken. The trainer that has taken them is remembered to save time; without it,
training starts again from the first step, so an answer depends on the state alone.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from microgpt.course import prompt_for
from microgpt.errors import UserError
from microgpt.experiments.trainer import Trainer
from microgpt.record import Recording
from microgpt.viz.drawing.chart import BOTTOM, CHART_HEIGHT, CHART_WIDTH, LEFT, RIGHT, TOP, axis
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.patches import Patch, State, again, patch
from microgpt.viz.rendering import render
from microgpt.weights import shipped

AT_ONCE = 5  # training steps an answer: few enough to be watched, and for a press of Pause to be heard at once
STEPS_BETWEEN = 100  # steps between two looks at what the model writes
SMOOTH = 50  # steps that the mean line looks back

_trainers: list[Trainer] = []


def trainer_after(steps: int) -> Trainer:
    """A trainer that has taken exactly `steps`: the kept one if it has, else a new one."""
    trainer = _trainers.pop() if _trainers else Trainer()
    if len(trainer.losses) != steps:
        trainer = Trainer()
        trainer.advance(steps)
    _trainers[:] = [trainer]
    return trainer


def steps_of(state: State | None) -> int:
    return int((state or {}).get("steps", 0))


def train_on(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """A few more steps; asks to be asked again until the last one."""
    trainer = trainer_after(steps_of(state))
    if trainer.is_done:
        raise UserError("All %(steps)s steps are done. Press Reset to train again.", steps=trainer.run.steps)
    fresh = not trainer.losses
    old = len(trainer.losses)
    trainer.advance(AT_ONCE)
    patches = [patch("#loss-lines", curve(trainer.losses, old, trainer.run.steps), "append"), count(trainer)]
    if fresh or len(trainer.losses) // STEPS_BETWEEN > old // STEPS_BETWEEN:
        written = render.render("course/training/_written.html", steps=len(trainer.losses), names=trainer.names(6))
        patches.append(patch("#written", written, "append"))
    if not trainer.is_done:
        patches.append(again("train"))
    return {**(state or {}), "steps": len(trainer.losses)}, patches


def pause(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """Nothing more to do until the next press of Train."""
    return state, [count(trainer_after(steps_of(state)))]


def reset(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """Back to the first weights."""
    _trainers.clear()
    cleared = [patch(target, "") for target in ("#loss-lines", "#written", "#watch")]
    return {**(state or {}), "steps": 0}, [*cleared, count(trainer_after(0))]


def watch(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The model as it is now, stepping through a name."""
    trace = Recording(trainer_after(steps_of(state)).model(), prompt_for("names")).run()
    return state, [patch("#watch", render.widget("kv_cache", Picture(trace)))]


HOOKS: dict[str, Any] = {"train": train_on, "pause": pause, "reset": reset, "watch": watch}


def curve(values: list[float], old: int, steps: int) -> str:
    """Two lines from step `old` on: each step's loss, and the mean of the last few."""
    x_at, _ = axis(0.0, steps, LEFT, CHART_WIDTH - RIGHT, False)
    y_at, _ = axis(0.0, float(np.log(shipped("names").config.vocab_size)), CHART_HEIGHT - BOTTOM, TOP, False)
    start = max(0, old - 1)
    means = [float(np.mean(values[max(0, i + 1 - SMOOTH) : i + 1])) for i in range(start, len(values))]

    def points(ys: list[float]) -> list[tuple[float, float]]:
        return [(x_at(start + i + 1), y_at(y)) for i, y in enumerate(ys)]

    return render.render("course/training/_curve.html", each=points(values[start:]), mean=points(means))


def count(trainer: Trainer) -> Patch:
    done, values = len(trainer.losses), trainer.losses
    text = render.render(
        "course/training/_trained.html",
        done=done,
        of=trainer.run.steps,
        loss=values[-1] if values else None,
        mean=float(np.mean(values[-SMOOTH:])) if values else None,
    )
    return patch("#trained", text)
