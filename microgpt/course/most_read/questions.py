"""Questions about the weight that rows receive: even shares, a sum, and a key that is dropped."""

from types import SimpleNamespace as Numbers

import numpy as np

from microgpt.config import Array
from microgpt.errors import N_
from microgpt.viz.settings import Settings
from microgpt.viz.text.answers import answers
from microgpt.viz.text.formats import show
from microgpt.viz.text.tasks import Task, calc, chain, ratio

STORY, LAYER, HEAD, N_ROWS = Settings("stories", "The sun is"), 0, 1, 4


def asks(even: float, total: Array, most: tuple[int, int]) -> Numbers:
    """Of total, [n_layer, n_head, n], in the head `most`; `even` is what the first row would get in even shares."""
    n = total.shape[-1]
    return Numbers(
        even=answers(round(even, 2), once=1.0, all=float(n)),
        sums=answers(round(total[most].sum()), one=1, weights=n * (n + 1) // 2),
        newest=int((total.argmin(axis=-1) == n - 1).sum()),  # heads in which it has received least
    )


def without_one() -> Numbers:
    """A triangle of weights, and the last row of it once the key is gone that got least from the last query."""
    trace = STORY.trace()
    weights = [[round(float(w), 2) for w in trace["attn_weights", i, LAYER][HEAD, 0]] for i in range(N_ROWS)]
    tokens = [show(token) for token in trace.about["tokens"][:N_ROWS]]
    rows = [weight_of(tokens[j], j, weights) for j in range(N_ROWS - 1)]  # the newest has been read once
    last, gone = weights[-1], int(np.argmin(weights[-1][:-1]))
    stay = [w for j, w in enumerate(last) if j != gone]
    return Numbers(
        tokens=tokens,
        weights=weights,
        rows=rows,
        most=max(rows, key=lambda one: one.times.values[-1]).token,  # compared with an even share
        gone=gone,
        left=chain(stay, "+"),
        again=[ratio(w, sum(stay)) for w in stay],
    )


def weight_of(token: str, j: int, weights: list[list[float]]) -> Numbers:
    """The weight that a row has received, all queries together."""
    received, counts = [row[j] for row in weights[j:]], [i + 1 for i in range(j, len(weights))]
    even = sum(1 / n for n in counts)
    return Numbers(
        token=token,
        received=chain(received, "+"),
        even=calc(" + ".join(["1 ÷ {}"] * len(counts)) + " = {}", *counts, even),
        times=ratio(sum(received), even),
    )


TASKS = (Task("dropped", N_("A key is dropped"), 7, "compute", 20, 12, without_one),)
