"""The race, live: one text with the cache and one read again at every step, side by side, by the clock of this machine.

Both get the same time, slice by slice, until both have run all tokens of a lap; what counts is the median of the laps.
The state holds how far they have come and how long it took. The runners that have come so far are remembered to save
time; without them, the lap begins anew.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Config, Params
from microgpt.course.with_and_without.curves import CURVE_KINDS, CURVE_NAMES
from microgpt.decode import decode_step, recompute
from microgpt.errors import UserError
from microgpt.experiments import growth
from microgpt.viz.drawing import timing
from microgpt.viz.drawing.timing import Lane, final_lanes, medians
from microgpt.viz.lesson import page_named
from microgpt.viz.patches import Patch, State, again, patch
from microgpt.viz.rendering import render
from microgpt.viz.request import settings_from

LENGTHS = (16, 64, 256)  # tokens of a text
LAP = LENGTHS[-1]  # tokens of a lap: one long text, or several shorter ones
LAPS = 3
SLICE = 0.04  # seconds that each of the two gets in one answer
WAYS_RUN = ("cached", "naive")


class Course(NamedTuple):
    """What is run: the model, stretched to the length of the text, and the tokens."""

    config: Config
    params: Params
    ids: list[int]


class Runner:
    """One of the two. `done` counts the tokens of this lap, `spent` its seconds."""

    def __init__(self, way: str, course: Course) -> None:
        self.way, self.course, self.done, self.spent = way, course, 0, 0.0
        self.cache = KVCache(course.config)

    def run(self) -> None:
        """Run tokens until the slice of time is over, or the lap; at least one."""
        began = timing.clock()
        now = began
        while self.done < LAP and (now - began < SLICE or now == began):
            self.step()
            now = timing.clock()
        self.spent += now - began

    def step(self) -> None:
        config, params, ids = self.course
        at = self.done % len(ids)
        if self.way == "naive":
            recompute(params, config, ids[: at + 1])
        else:
            if at == 0:
                self.cache.crop(0)
            decode_step(params, config, ids[at], self.cache)
        self.done += 1


class Result(NamedTuple):
    """What came out: how many times as quick the cache is, in seconds and by multiply-adds."""

    ratio: float
    macs: float
    browser: str


_kept: dict[str, Any] = {}


def course_of(fields: Mapping[str, str], n: int) -> Course:
    """The text of the page, over and over; positions beyond the model's context begin again from the first."""
    run = settings_from(page_named(fields["page"]), {"model": "", "prompt": "", **fields}).run()
    config, params = run.model.config, run.model.params
    if n > config.n_ctx and "wpe" in params:
        params = {**params, "wpe": np.resize(params["wpe"], (n, config.n_embd))}
    ids = [*run.ids] * n
    return Course(replace(config, n_ctx=max(n, config.n_ctx)), params, ids[:n])


def runners_of(key: tuple[Any, ...], course: Course, old: Mapping[str, Any]) -> tuple[list[Runner], list[list[float]]]:
    """The two as far as the state says they have come, and the laps before; without a memory of them, a lap anew."""
    laps = [list(lap) for lap in old.get("laps", [])]
    kept: list[Runner] = _kept.get("runners", [])
    if _kept.get("key") == key and [one.done for one in kept] == old.get("done"):
        return kept, laps
    return [Runner(way, course) for way in WAYS_RUN], laps


def race(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """A slice of time for each; asks to be asked again until the last lap is over. A finished race begins anew."""
    length = fields.get("race_length", "")
    if length not in map(str, LENGTHS):
        raise UserError("“%(text)s” is no length of this race; choose one of the list.", text=length[:40])
    n = int(length)
    course = course_of(fields, n)
    key = (n, course.config, tuple(course.ids))
    name = [n, fields.get("model", ""), fields.get("prompt", "")]
    old = (state or {}).get("race", {})
    if old.get("name") != name or len(old["laps"]) == LAPS:
        old = {}
    runners, laps = runners_of(key, course, old)
    for one in runners:
        one.run()
    lanes = [
        Lane(CURVE_NAMES[one.way], CURVE_KINDS[one.way], one.done, one.done / LAP, 1000 * one.spent / one.done)
        for one in runners
    ]
    if all(one.done == LAP for one in runners):
        laps.append([one.spent / LAP for one in runners])
        runners = [Runner(way, course) for way in WAYS_RUN]
    _kept.update(key=key, runners=runners)
    done = [one.done for one in runners]
    new = {**(state or {}), "race": {"name": name, "done": done, "laps": laps}}
    result = None
    if len(laps) == LAPS:
        cached, naive = medians(laps)
        lanes = final_lanes([CURVE_NAMES[way] for way in WAYS_RUN], [CURVE_KINDS[way] for way in WAYS_RUN], LAP, laps)
        work = [growth.group_macs(course.config, way, "total", n) for way in WAYS_RUN]
        result = Result(naive / cached, work[1] / work[0], fields.get("browser", ""))
    html = render.render(
        "course/with_and_without/_race.html",
        lanes=lanes,
        lap=min(len(laps) + 1, LAPS),
        laps=LAPS,
        of=LAP,
        n=n,
        result=result,
    )
    return new, [patch("#race", html), *([] if result else [again("race")])]


HOOKS: dict[str, Any] = {"race": race}
