"""Questions about guesses: how likely one is kept, the tokens of a round, and a draft for three tokens."""

from __future__ import annotations

from types import SimpleNamespace as Numbers

from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, ratio, unlike

P_TARGET, P_DRAFT = 0.2, 0.8
ALPHA, GAMMA = 0.5, 2  # a rate, and the length of a draft
TARGET, DRAFT = (4, 4, 2), (7, 1, 2)  # tenths that three tokens have
GUESSES, PRICE = 3, 5  # of a round; so many guesses cost as much as a pass of the target


def asks() -> Numbers:
    rest = ALPHA + ALPHA**2
    return Numbers(
        p_target=P_TARGET,
        p_draft=P_DRAFT,
        chance=answers(P_TARGET / P_DRAFT, plain=P_TARGET, over=1.0),
        alpha=ALPHA,
        gamma=GAMMA,
        tokens=answers(1 + ALPHA + ALPHA**2, all=float(GAMMA + 1), kept=rest),
    )


def draft() -> Numbers:
    """Three tokens, what target and draft give them, and what a round of guesses brings."""
    p, q = ([n / 10 for n in tenths] for tenths in (TARGET, DRAFT))
    common, left = sum(map(min, p, q)), [max(a - b, 0) for a, b in zip(p, q, strict=True)]
    left = [x / sum(left) for x in left]
    tokens = sum(common**n for n in range(GUESSES + 1))
    times = tokens / (1 + GUESSES / PRICE)
    unlike(times, 1)
    return Numbers(
        p_target=p,
        p_draft=q,
        chance=ratio(p[0], q[0]),  # of the first token to be kept
        common=calc("{} + {} + {} = {}", *map(min, p, q), common),
        left=left,
        back=calc("{} + (1 − {}) × {} = {}", min(p[1], q[1]), common, left[1], p[1]),  # the second, kept and drawn
        guesses=GUESSES,
        price=PRICE,
        tokens=calc("1 + {} + {} × {} + {} × {} × {} = {}", *[common] * 6, tokens),
        times=calc("{} ÷ (1 + {} ÷ {}) = {}", tokens, GUESSES, PRICE, times),
    )


TASKS = (Task("drafted", N_("A draft for three tokens"), 6, "compute", 15, 10, draft),)
