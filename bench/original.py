"""Training and sampling against the original microgpt.py, which the user names: it is not ours to ship.

The file runs as it is, in a process of its own, but for two things done in memory: `num_steps` becomes a
small number, and `print` notes the time. A training step is the time from one printed line to the next; a
sampled token is the time from one printed name to the next, over the tokens that were drawn for it. Both
sides run on one core, and their time is processor time, so that other work on the machine favours neither.

Ours then does the same work: the same names in the same order, as many steps, as many samples from the same
random numbers. That it is the same is checked on the losses and the names that the original prints. What
comes before (reading the names, drawing the weights) is on neither's clock.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.measure import Result, at_least, ratios
from microgpt.recipes import Run, prepare
from microgpt.train import samples, train

STEPS, SAMPLES, ROUNDS = 20, 20, 9
TRAIN_GOAL, SAMPLE_GOAL = 800, 200
AGAIN = 25  # ours is too fast to be timed once

# Runs in the other process: its own microgpt.py, whose print keeps the time.
RUNNER = """
import json, re, sys, time
path, steps = sys.argv[1:]
source = open(path, encoding="utf-8").read()
source, found = re.subn(r"(?m)^num_steps *= *\\d+", f"num_steps = {steps}", source)
if found != 1:
    sys.exit("it has no line that sets num_steps")
said = []
def note(*words, **how):
    said.append((time.process_time(), " ".join(map(str, words)).strip()))
exec(compile(source, path, "exec"), {"__name__": "__main__", "print": note})
print(json.dumps(said))
"""


class Learned(NamedTuple):
    """What one run took and said."""

    step: float  # seconds
    token: float
    losses: list[str]
    names: list[str]


def measure(path: Path | None) -> list[Result]:
    whats = ("a training step of `names`", "a sampled token of `names`")
    if path is None:
        return [Result(what, "not measured: name the file, `make bench MICROGPT=path`") for what in whats]
    steps, tokens, ours_step, ours_token = [], [], [], []
    for _ in range(ROUNDS):
        theirs = run_original(path)
        ours = run_ours(prepare("names", path.parent / "input.txt", STEPS))
        if (ours.losses, ours.names) != (theirs.losses, theirs.names):
            raise SystemExit("bench: the original printed other losses or names than ours; they cannot be compared")
        steps.append(theirs.step)
        tokens.append(theirs.token)
        ours_step.append(ours.step)
        ours_token.append(ours.token)
    yardstick = "microgpt.py = 1, times faster"
    return [
        at_least(whats[0], ratios(steps, ours_step), TRAIN_GOAL, yardstick, scale(steps, ours_step)),
        at_least(whats[1], ratios(tokens, ours_token), SAMPLE_GOAL, yardstick, scale(tokens, ours_token)),
    ]


def run_original(path: Path) -> Learned:
    """One run, in the folder of the file, where it looks for its names (and fetches them when there are none)."""
    command = [sys.executable, "-c", RUNNER, str(path.resolve()), str(STEPS)]
    done = subprocess.run(command, cwd=path.resolve().parent, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"bench: {path.name} cannot be measured: {done.stderr.strip().splitlines()[-1]}")
    said: list[tuple[float, str]] = [(when, text) for when, text in json.loads(done.stdout)]
    at = [i for i, (_, text) in enumerate(said) if re.match(r"step +\d+ */", text)]
    drawn = [i for i, (_, text) in enumerate(said) if re.match(r"sample +\d+:", text)]
    if len(at) != STEPS or len(drawn) != SAMPLES:
        raise SystemExit(f"bench: {path.name} prints other lines than microgpt.py does; is it the final version?")
    names = [said[i][1].partition(":")[2].strip() for i in drawn]
    return Learned(
        step=(said[at[-1]][0] - said[at[0] - 1][0]) / STEPS,
        token=(said[drawn[-1]][0] - said[drawn[0] - 1][0]) / n_tokens(names),
        losses=[said[i][1].split()[-1] for i in at],
        names=names,
    )


def run_ours(run: Run) -> Learned:
    """The same steps and samples, over and over from the same beginning."""
    texts, fresh, before = list(islice(run.texts, STEPS)), run.vector.copy(), run.rng.getstate()
    losses: list[float] = []
    names: list[str] = []

    def learn() -> None:
        losses[:] = train(run.config, run.vector, texts, STEPS, run.rate)

    def draw() -> None:
        names[:] = samples(run, SAMPLES)

    step = token = 0.0
    for _ in range(AGAIN):
        run.vector[:] = fresh
        run.rng.setstate(before)
        step += processor_time(learn) / STEPS
        token += processor_time(draw) / n_tokens(names)
    return Learned(step / AGAIN, token / AGAIN, [f"{loss:.4f}" for loss in losses], names)


def processor_time(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def n_tokens(names: list[str], n_ctx: int = 16) -> int:
    """Forward passes behind these samples: the stop token takes one too, unless the context was full."""
    return sum(min(len(name) + 1, n_ctx) for name in names)


def scale(theirs: list[float], ours: list[float]) -> str:
    return f"{median(theirs) * 1e3:.1f} ms, ours {median(ours) * 1e6:.0f} µs"
