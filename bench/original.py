"""Training and sampling against the original microgpt.py, which the user names: it is not ours to ship.

The file runs as it is, in a process of its own, but for two things done in memory: `num_steps` becomes a
small number, and `print` also notes the time. A training step is the time from one printed line to the
next; a sampled token is the time from one printed name to the next, over the tokens that were drawn for it.

Ours then does the same work: the same names in the same order, as many steps, as many samples from the same
random numbers. That it is the same is checked on the losses and the names that the original prints. What
comes before (reading the names, drawing the weights) is on neither's clock.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.measure import Result, at_least, ratios, timed
from microgpt.train import Run, prepare, samples, train

STEPS, SAMPLES, ROUNDS = 20, 20, 7
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
    said.append((time.perf_counter(), " ".join(map(str, words)).strip()))
exec(compile(source, path, "exec"), {"__name__": "__main__", "print": note})
print(json.dumps(said))
"""


class Original(NamedTuple):
    """What one run of the original took and said."""

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
        run = prepare("names", path.parent / "input.txt", STEPS)
        step, token = run_ours(run, theirs)
        steps.append(theirs.step)
        tokens.append(theirs.token)
        ours_step.append(step)
        ours_token.append(token)
    yardstick = "microgpt.py = 1, times faster"
    return [
        at_least(whats[0], ratios(steps, ours_step), TRAIN_GOAL, yardstick, scale(steps, ours_step)),
        at_least(whats[1], ratios(tokens, ours_token), SAMPLE_GOAL, yardstick, scale(tokens, ours_token)),
    ]


def run_original(path: Path) -> Original:
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
    return Original(
        step=(said[at[-1]][0] - said[at[0] - 1][0]) / STEPS,
        token=(said[drawn[-1]][0] - said[drawn[0] - 1][0]) / n_tokens(names),
        losses=[said[i][1].split()[-1] for i in at],
        names=names,
    )


def run_ours(run: Run, theirs: Original) -> tuple[float, float]:
    """Seconds of a step and of a token; raises SystemExit when it was not the same work."""
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
        step += timed(learn)
        token += timed(draw)
    if [f"{loss:.4f}" for loss in losses] != theirs.losses or names != theirs.names:
        raise SystemExit("bench: the original printed other losses or names than ours; the two cannot be compared")
    return step / AGAIN / STEPS, token / AGAIN / n_tokens(names)


def n_tokens(names: list[str], n_ctx: int = 16) -> int:
    """Forward passes behind these samples: the stop token takes one too, unless the context was full."""
    return sum(min(len(name) + 1, n_ctx) for name in names)


def scale(theirs: list[float], ours: list[float]) -> str:
    return f"{median(theirs) * 1e3:.1f} ms, ours {median(ours) * 1e6:.0f} µs"
