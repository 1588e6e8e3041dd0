"""What each row of the cache has received: the weights that all steps gave it, head by head, from the trace."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microgpt.config import Array, Config
from microgpt.course.most_read.questions import asks
from microgpt.errors import N_
from microgpt.trace import Trace
from microgpt.viz.lesson import Choice, Table
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show

TABLE_HEAD = (N_("key of"), N_("weight received"), N_("steps that read it"), N_("times an even share"))

LIBRARIES = 2026, "kvpress"  # what engines do is as of; a library for trying out what they do not
STANDS_OUT = 3  # the column with the bars: the weight alone would show how old a row is


class Row(NamedTuple):
    """A key of one head, after each step: what it has received, and what even shares would have given it; both also as
    shares of the longest bar of that head."""

    token: str
    first: int  # the step that wrote it
    received: list[float]
    even: list[float]
    bars: list[float]
    even_bars: list[float]

    @property
    def figures(self) -> list[tuple[list[tuple[int, float]], int]]:
        """Of each step from its own on: what it has received by then, how often it was read, and how many times an even
        share that is; with the decimals of each."""
        there = range(self.first, len(self.received))
        return [
            ([(step, self.received[step]) for step in there], 2),
            ([(step, step - self.first + 1) for step in there], 0),
            ([(step, self.received[step] / self.even[step]) for step in there], 2),
        ]


class View:
    """One text, with a table a head."""

    def __init__(self, settings: Settings) -> None:
        """Run the text to its end, and add up."""
        trace = settings.trace()
        config, tokens = Config(**trace.about["config"]), [show(token) for token in trace.about["tokens"]]
        n, so_far = len(tokens), np.cumsum(weights_by_step(trace, config), axis=0)
        total = so_far[-1]
        shares = total / even_shares(n)  # [n_layer, n_head, n]
        read = shares[:, :, :-1] if n > 1 else shares  # the newest row has been read once: that says little
        layer, head, row = (int(i) for i in np.unravel_index(read.argmax(), read.shape))
        heads = [(at, one) for at in range(config.n_layer) for one in range(config.n_head)]
        steps = [n - j for j in range(n)]
        self.trace, self.n, self.tokens = trace, n, tokens
        self.choices = (
            Choice("head", range(len(heads)), heads.index((layer, head))),
            Choice("step", range(n), n - 1, in_figure=False),
        )
        self.rows = [rows_of(tokens, so_far[:, at, one]) for at, one in heads]
        self.legend = N_("Layer and head")
        self.labels = [f"{at}.{one}" for at, one in heads]
        self.tables = [
            Table(TABLE_HEAD, [*zip(tokens, total[at].tolist(), steps, shares[at].tolist(), strict=True)], STANDS_OUT)
            for at in heads
        ]
        self.n_heads = len(heads)  # of all layers
        self.first = tokens[0]  # the first token of the text
        # the row that stands out most
        self.layer, self.head, self.token, self.steps = layer, head, tokens[row], steps[row]
        self.received, self.share = float(total[layer, head, row]), float(read.max())  # times an even share
        # heads in which the first row has received more than any other
        self.first_wins = int((total.argmax(axis=-1) == 0).sum())
        self.above = int((shares > 1).any(axis=(0, 1)).sum())  # rows that have more than an even share in some head
        self.asks = asks(float(even_shares(n)[0]), total, (layer, head))


view = View


def weights_by_step(trace: Trace, config: Config) -> Array:
    """[n, n_layer, n_head, n]: the weight that each step has given to each row."""
    n = len(trace.about["tokens"])
    given = np.zeros((n, config.n_layer, config.n_head, n))
    for layer in range(config.n_layer):
        for step in range(n):
            given[step, layer, :, : step + 1] = trace["attn_weights", step, layer][:, 0]  # [n_head, 1, step + 1]
    return given


def rows_of(tokens: list[str], received: Array) -> list[Row]:
    """Each row of one head; `received` is [steps, rows]."""
    n = len(tokens)
    even = np.cumsum(
        np.tril(np.ones((n, n)) / np.arange(1, n + 1)[:, None]), axis=0
    )  # row i may be read from step i on
    longest = max(received.max(), even.max())
    columns = (received, even, received / longest, even / longest)
    return [Row(token, row, *(one[:, row].tolist() for one in columns)) for row, token in enumerate(tokens)]


def even_shares(n: int) -> Array:
    """[n]: the same, if each query gave every row that it may read the same weight: 1/(j + 1) + ... + 1/n."""
    return np.cumsum(1 / np.arange(n, 0, -1))[::-1]
