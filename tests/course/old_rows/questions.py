"""Old rows: its questions, answered by counting rows, by trying every order, and by running again."""

import itertools
from typing import Any

import numpy as np

from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, run, stepped

MEASURED = ("11 of 16 rows",)


def ask_bug(view: View) -> str:
    (one,) = (one for one in view.experiments if one.kind == "move")
    assert one.n_stale and not any(off for row in one.rows[: one.at] for off, _ in row.off)
    return "rows after it are stale"


def ask_stale(view: View) -> str:
    return f"{1 + (view.n_layer - 1) * (view.n - view.asks.at)}"


def ask_last(view: View) -> str:
    return f"{view.n_layer * (view.n - 1)}"


def task_order(facts: Facts) -> Numbers:
    """In every order, and row by row."""
    parts = {"told": facts.told, "date": facts.date, "examples": facts.examples, "question": facts.question}

    def again(order: tuple[str, ...]) -> int:
        first = next(i for i, part in enumerate(order) if part in {"date", "question"})
        return sum(parts[part] for part in order[first:])

    n, first, last = sum(parts.values()), facts.told, facts.told + facts.date
    stale = sum(first <= at < last or (layer > 0 and at >= first) for layer in range(facts.layers) for at in range(n))
    best = min(map(again, itertools.permutations(parts)))
    return {"again": again(tuple(parts)), "best": best, "stale": stale, "rows": facts.layers * n}


def task_places(facts: Facts) -> Numbers:
    """The listing, with a table that notes what it is asked for."""
    taken: list[int] = []

    class Table(dict[int, Any]):
        def __missing__(self, position: int) -> Any:
            taken.append(position)
            return np.zeros(2)

    eye, attend = np.eye(2), lambda q, keys, values: len(keys)
    given = {"wte": np.zeros((1, 2)), "wpe": Table(), "wq": eye, "wk": eye, "wv": eye, "window": facts.window}
    step = run(facts.listing, **given, attend=attend)["step"]
    assert all(step(0) <= facts.window for _ in facts.positions)
    return {"positions": taken, "first": 1 + next(i for i, position in enumerate(taken) if position != i)}


def task_kept(facts: Facts) -> Numbers:
    """What may stay is what a fresh run writes again; and the function on other lists."""
    model, kept = shipped("names-deep"), run(facts.listing)["kept"]
    rows = range(min(len(facts.old), len(facts.new)))
    last = [stepped(model, ids).layers[-1].keys for ids in (facts.old, facts.new)]
    right = [bool(np.abs(last[0][:, row] - last[1][:, row]).max() < 1e-9) for row in rows]
    assert kept(facts.old, facts.new) == facts.n and right == [row < facts.n for row in rows]
    assert any(facts.old[row] == facts.new[row] for row in rows if row > facts.n)  # as the last question says
    for old, new in (([], [1]), ([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), ([4], [1, 2])):
        n = kept(old, new)
        assert n < len(new) and old[:n] == new[:n] and (n in (len(old), len(new) - 1) or old[n] != new[n])
    return {"n": right.index(False), "run": len(facts.new[right.index(False) :])}


LEARNED = r"""
What does a row of the first layer depend on? comes from one token alone: its embedding and its position
What does a row of a deeper layer depend on? A row now depends on its own token and on every token before it
How many rows of the last layer spoils a change at position 1? After the change at position 1, 4 of 5 rows of the last layer are stale
Why none? The causal mask sees to that: no token reads ahead
And without the mask? makes 15 of 20 rows stale
What happens to rows when a token is taken out before them? its rows are those of another position\. Here 11 of 16 rows were stale
What does one step of training do to a cache? One step of training makes 20 of 20 rows stale
I edit the middle of a prompt: what must be computed again? Change one, and every row after it must be computed again, in every layer but the first
"""

CLAIMS = r"""
REFERENCE 4 | in layer 0 k, v depend on token and position alone | layer0 | position 1 changes, 1 row of layer 0 is stale
REFERENCE 4 | deeper rows depend on the whole prefix | deeper | “names-deep”, has 4 layers | 4 of 5 rows of the last layer are stale
REFERENCE 4 | and never on later tokens | append | 0 of 20 cached rows change
REFERENCE 4 | needs a causal mask, the same positions and weights | careful | if the places and the weights stay too, and in a model with a causal mask
REFERENCE 5 | I edit the middle of a prompt: what may I keep? | edit | at position 2, m becomes n | may stay in all layers: 8 of 20 | The other 12 must be run again | Only 2 rows, in layer 0, come out as they were | prefix caching
REFERENCE 4 | the same weights | fixed | makes 20 of 20 rows stale
REFERENCE 4 | the same positions | place | Here \d+ of \d+ rows were stale
seed 0 | if past tokens do not change, their keys and values do not | careful | names only the first of the three
seed 4 | past entries are never rewritten | append | not even in the last bit
REFERENCE 5 | why are old rows still valid in deeper layers? | append | no token reads ahead
seed 1 | masked self-attention is what makes caching possible; encoders gain nothing like it | encoder | makes 15 of 20 rows stale | decoder, whose tokens look back only
"""
