"""Fewer bits: its questions, answered by the codes of caches."""

import numpy as np

from microgpt.caches.codes import Grid
from tests.support.questions import Facts, Numbers, View


def ask_each(view: View) -> str:
    """From the bytes of a group."""
    grid = Grid(view.asks.bits, scales=np.float16)
    return f"{8 * grid.bytes_of(view.asks.group) / view.asks.group:.2f}"


def ask_off(view: View) -> str:
    """The furthest of many numbers between both ends."""
    low, high = view.asks.range
    x, grid = np.linspace(low, high, 30_000), Grid(view.asks.bits)
    return f"{np.abs(grid.decode(grid.encode(x)) - x).max():.2f}"


def ask_large(view: View) -> str:
    rows, grid = np.random.default_rng(0).normal(size=(200, 16)), Grid(4)
    large = rows.copy()
    large[:, 0] = view.asks.times * np.abs(rows).max(axis=1)
    off, further = (np.abs(grid.decode(grid.encode(x)) - x)[:, 1:].max(axis=1) for x in (rows, large))
    assert 2 < np.median(further / off) < 2 * view.asks.times
    return "several times as far"


def ask_bug(view: View) -> str:
    """Row by row, as the listing does, against one coding of the group."""
    rows, grid = np.random.default_rng(1).normal(size=(64, 16)), Grid(8)
    kept = rows[:0]
    for row in rows:
        kept = grid.decode(grid.encode(np.vstack([kept, row]).T)).T
    once = grid.decode(grid.encode(rows.T)).T
    assert np.abs(kept - rows)[:16].mean() > 1.5 * np.abs(once - rows)[:16].mean()
    return "they have been rounded a thousand times"


def task_coded(facts: Facts) -> Numbers:
    """By the codes of the caches, and once more by the nearest of all points."""
    grid, xs = Grid(facts.bits), [np.array(facts.numbers), np.array([*facts.numbers[:-1], facts.larger])]
    codes = [grid.encode(x) for x in xs]
    back, moved = (grid.decode(code) for code in codes)
    for x, code, found in zip(xs, codes, (back, moved), strict=True):
        points = x.min() + code.scale[0] * np.arange(16)
        assert np.abs(points[np.abs(points[:, None] - x).argmin(axis=0)] - found).max() < 1e-12
    assert [round(one) for one in facts.codes] == grid.unpack(codes[0].packed).tolist()
    off, further = (np.abs(x - found).max() for x, found in zip(xs, (back, moved), strict=True))
    size, symmetric = (
        2 * Grid(facts.bits, scales=np.float16).bytes_of(4),
        Grid(facts.bits, symmetric=True).encode(xs[0]),
    )
    one = {"scale": codes[0].scale[0], "back": back, "off": off, "size": size, "symmetric": symmetric.scale[0]}
    return one | {"wide": codes[1].scale[0], "moved": moved, "further": further}


LEARNED = r"""
Why keep fewer bits? Rows of half the bytes are read in half the time, and twice as many texts fit
How does a number become a code? Of each number only the place of the nearest point is kept: its code
What must be kept beside the codes? scale and smallest number must be kept too, once per group
How far off can a number be? at most half a scale from the nearest point
Is the error a part of the number? a part of the range of its group, not of the number itself
Are four bits four bits? 432scale and minimum5\.0
What does one large number do? It makes the grid of its whole group wider
Why keys per channel? a few places in the row that are large for every token
Why values per token? an error stays with its own token, and few tokens have most of the weight
What does it do in a trained model? off by 13\.0 % per token and by 4\.6 % per channel
Do these models have outliers? Our own models have no outliers
Why do the newest rows stay? A group of one channel needs the numbers of many tokens
May rows be coded again? A finished group must never be coded again
What do the errors do to attention? at most tanh\(e ÷ 2\)
What do floats of eight bits do? e4m3 reaches up to 448
Is it faster? depends on where the codes are turned back
What do engines do? vLLM keeps rows in the type of the model unless --kv-cache-dtype says otherwise
"""
