"""Questions about the saving: how attention grows, positions that all begin anew, and the work of a whole text."""

from types import SimpleNamespace as Numbers

import numpy as np

from microgpt.cost import count_pairs, pass_macs
from microgpt.errors import N_
from microgpt.experiments import mistakes
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, ratio, triangle, unlike
from microgpt.weights import SHIPPED, Model, shipped

MISTAKE_PROMPT = ["e", "m", "m"]  # of a mistake, where the text on show cannot make it


def asks(model: Model, tokens: list[str], doubled: dict[str, int]) -> Numbers:
    """`doubled` is what attention takes of a text twice as long, by the way that it is run."""
    n = len(tokens)
    return Numbers(
        double=answers(doubled["naive"], cached=doubled["cached"], alone=2),
        pairs=answers(count_pairs(n + 1, n + 1), added=count_pairs(n, n) + n, square=(n + 1) ** 2),
        standing=standing(model, tokens),
    )


def standing(model: Model, tokens: list[str]) -> Numbers:
    """How far logits are off where all steps count positions from the start: at the first, and at least after it.

    Of this text, or of another where the model is none of those that ship.
    """
    if model.name not in SHIPPED:
        model, tokens = shipped(SHIPPED[0]), MISTAKE_PROMPT
    ids = [model.tokenizer.vocabulary.index(token) for token in tokens]
    off = np.abs(mistakes.logits_of("no_offset", model, ids, []) - mistakes.logits_of("right", model, ids, [])).max(
        axis=-1
    )
    return Numbers(model=model.name, first=float(off[0]), later=float(off[1:].min(initial=np.inf)))


def work() -> Numbers:
    """Multiply-adds of a whole text: in the layers per token, in the output head per step, per pair of q and k."""
    c = shipped("names").config
    t, pairs = c.n_ctx, triangle(c.n_ctx)
    token, pair, head = (int(pass_macs(c, *one).sum()) for one in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    meets = t * (t + 1) * (t + 2) // 6
    cached, naive = t * token + t * head + pairs * pair, pairs * token + t * head + meets * pair
    unlike(cached, naive)
    form = "{} × {} + {} × {} + {} × {} = {}"
    return Numbers(
        t=t,
        token=token,
        head=head,
        pair=pair,
        pairs=calc("{} × {} ÷ {} = {}", t, t + 1, 2, pairs),
        cached=calc(form, t, token, t, head, pairs, pair, cached),
        meets=calc("{} × {} × {} ÷ {} = {}", t, t + 1, t + 2, 6, meets),
        naive=calc(form, pairs, token, t, head, meets, pair, naive),
        times=ratio(naive, cached),
    )


TASKS = (
    Task("work", N_("The work of a whole text"), 7, "compute", 20, 12, work),
    Task("trust", N_("A test that you can trust"), 7, "explain", 15, 9, also=("in-your-code",)),
)
