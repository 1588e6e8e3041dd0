"""Questions about the loop: what runs again, and the odds of two tokens."""

import math
from types import SimpleNamespace as Numbers

import numpy as np

from microgpt.errors import N_
from microgpt.experiments import loop
from microgpt.experiments.loop import LoopPass
from microgpt.viz.settings import Settings
from microgpt.viz.text.answers import answers
from microgpt.viz.text.formats import show
from microgpt.viz.text.tasks import Task, calc, chain, ratio, triangle, unlike
from microgpt.weights import Model

N_STUCK = 4  # passes of a loop that takes the wrong row of logits
WORDS = Settings("stories", "The sun is")
LONG = (1000, 500)  # a prompt, and passes
COOL = 0.5  # a temperature


def asks(model: Model, passes: list[LoopPass], warm: float, best: float, other: float) -> Numbers:
    """`best` and `other` are the probabilities of two tokens at the temperature `warm`."""
    total, _ = loop.token_passes(passes)
    n, times = len(passes[-1].token_ids), best / other
    stuck = loop.stuck(model, passes[0].token_ids, N_STUCK)  # what it appends that chooses by the first row of logits
    return Numbers(
        runs=n + 1,
        more=answers(total + n + 1, newest=total + 1, again=total + n),
        warm=warm,
        cold=warm / 2,
        times=times,
        colder=answers(round(times**2), doubled=round(2 * times), same=round(times)),
        stuck=[show(model.tokenizer.vocabulary[i]) for i in stuck],
    )


def rows() -> Numbers:
    """The loop without a cache: a prompt of p tokens, n passes."""
    run = WORDS.run()
    p, n = run.n_prompt, len(run.trace.about["tokens"]) - run.n_prompt + 1
    long_p, long_n = LONG
    total, first = long_n * long_p + triangle(long_n - 1), long_p + long_n - 1
    unlike(total, first)
    return Numbers(
        p=p,
        n=n,
        runs=chain([p + i for i in range(n)], "+"),
        first=calc("{} + {} − {} = {}", p, n, 1, p + n - 1),
        long=LONG,
        long_runs=calc("{} × {} + {} × {} ÷ {} = {}", long_n, long_p, long_n, long_n - 1, 2, total),
        long_first=calc("{} + {} − {} = {}", long_p, long_n, 1, first),
        times=total / first,
    )


def odds() -> Numbers:
    """The three largest logits after a prompt."""
    run = WORDS.run()
    logits = run.trace["logits", run.n_prompt - 1, -1][0]
    likeliest = [int(i) for i in np.argsort(-logits)[:3]]
    words = [(show(run.model.tokenizer.decode([i])), round(float(logits[i]), 2)) for i in likeliest]
    (best, first), (second, other), _ = words
    apart = first - other
    return Numbers(
        prompt=" ".join(run.trace.about["tokens"][1 : run.n_prompt]),
        best=best,
        second=second,
        logits=words,
        apart=calc("{} − {} = {}", first, other, apart),
        ratio=round(math.exp(apart)),
        temperature=COOL,
        cooled=ratio(apart, COOL),
        cooled_ratio=round(math.exp(apart / COOL)),
    )


TASKS = (
    Task("rows", N_("Tokens that run again"), 1, "compute", 10, 7, rows),
    Task("odds", N_("Two tokens out of many"), 2, "compute", 10, 7, odds),
)
