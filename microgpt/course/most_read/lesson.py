"""What each row of the cache has received: the weights that all steps gave it, head by head, from the trace."""

import itertools
from typing import NamedTuple

import numpy as np

from microgpt.config import Array, Config
from microgpt.course.most_read.questions import asks
from microgpt.errors import N_
from microgpt.trace import Trace
from microgpt.viz.drawing.heat import Strip, scale_for
from microgpt.viz.drawing.lens import as_printed, fewest, near
from microgpt.viz.drawing.picture import MOST_TOKENS, bars
from microgpt.viz.lesson import Choice, Table
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show

TABLE_HEAD = (N_("key of"), N_("weight received"), N_("steps that read it"), N_("times an even share"))

LIBRARIES = 2026, "kvpress"  # what engines do is as of; a library for trying out what they do not
AS_PRINTED = 2  # of what is received
ASKED = tuple(f"r{row}" for row in range(MOST_TOKENS))  # what can be asked where it comes from: what rows have received
STANDS_OUT = 3  # the column with the bars: the weight alone would show how old a row is


class Row(NamedTuple):
    """A key of one head: what each step gave it, what it has received after each, and what even shares would have given
    it; the last three also as shares of the longest bar of that head."""

    token: str
    first: int  # the step that wrote it
    k: Strip
    given: list[float]
    received: list[float]
    even: list[float]
    bars: list[float]
    even_bars: list[float]

    @property
    def gifts(self) -> list[tuple[int, float, float]]:
        """Of each step from its own on: what it gave, and what the row has received by then."""
        return [*zip(itertools.count(self.first), self.given[self.first :], self.received[self.first :], strict=False)]

    @property
    def bars_before(self) -> list[float]:
        """How long its bar was before each step."""
        return [0.0, *self.bars[:-1]]

    @property
    def digits(self) -> int:
        """The decimals with which what was given comes to what has been received, after each step, as printed."""
        return fewest(
            lambda digits: all(
                near(sum(as_printed(x, digits) for x in self.given[: step + 1]), one, AS_PRINTED)
                for step, one in enumerate(self.received)
            )
        )


class Head(NamedTuple):
    """One head: the q of each step, the rows that these have met, and how much more or less than an even share each has
    received, drawn small: newest on top."""

    layer: int
    head: int
    whole: float  # what a q gives in all
    queries: list[Strip]
    rows: list[Row]
    small: str


class View:
    """One text, with a table a head."""

    def __init__(self, settings: Settings) -> None:
        """Run the text to its end, and add up."""
        trace = settings.trace()
        config, tokens = Config(**trace.about["config"]), [show(token) for token in trace.about["tokens"]]
        n, given = len(tokens), weights_by_step(trace, config)
        total = given.sum(axis=0)
        shares = total / even_shares(n)  # [n_layer, n_head, n]
        read = shares[:, :, :-1] if n > 1 else shares  # the newest row has been read once: that says little
        layer, head, row = (int(i) for i in np.unravel_index(read.argmax(), read.shape))
        heads = [(at, one) for at in range(config.n_layer) for one in range(config.n_head)]
        steps = [n - j for j in range(n)]
        self.trace, self.n, self.tokens = trace, n, tokens
        self.choices = (
            Choice("head", range(len(heads)), heads.index((layer, head))),
            # the step that gave it most: there a slice is thick, and the next step is still to come
            Choice("step", range(n), int(given[:, layer, head, row].argmax()), in_figure=False),
        )
        self.heads = heads_of(trace, config, given, shares / read.max())
        self.legend = N_("Layer and head")
        self.labels = [f"{at}.{one}" for at, one in heads]
        self.tables = [
            Table(TABLE_HEAD, [*zip(tokens, total[at].tolist(), steps, shares[at].tolist(), strict=True)], STANDS_OUT)
            for at in heads
        ]
        self.table = self.tables[heads.index((layer, head))]  # of the head with the row that stands out
        # the row that stands out most
        self.layer, self.head, self.token, self.steps = layer, head, tokens[row], steps[row]
        self.received, self.share = float(total[layer, head, row]), float(read.max())  # times an even share
        # heads in which the first row has received more than any other
        self.first_wins = int((total.argmax(axis=-1) == 0).sum())
        self.above = int((shares > 1).any(axis=(0, 1)).sum())  # rows that have more than an even share in some head
        self.asks = asks(float(even_shares(n)[0]), total, (layer, head))
        self.fields = (Choice("lens", ("", *ASKED[:n]), "", in_figure=False),)


view = View


def can_be_asked() -> tuple[str, ...]:
    return ASKED


def weights_by_step(trace: Trace, config: Config) -> Array:
    """[n, n_layer, n_head, n]: the weight that each step has given to each row."""
    n = len(trace.about["tokens"])
    given = np.zeros((n, config.n_layer, config.n_head, n))
    for layer in range(config.n_layer):
        for step in range(n):
            given[step, layer, :, : step + 1] = trace["attn_weights", step, layer][:, 0]  # [n_head, 1, step + 1]
    return given


def heads_of(trace: Trace, config: Config, given: Array, shares: Array) -> list[Head]:
    """Each head; `shares` are [n_layer, n_head, n], as parts of the longest bar of the small pictures."""
    tokens, n_head = [show(token) for token in trace.about["tokens"]], config.n_head
    steps, layers = range(len(tokens)), range(config.n_layer)
    scale = scale_for(*(trace[name, i, at] for name in "qk" for i in steps for at in layers))

    def strips(name: str, at: int, one: int) -> list[Strip]:
        """What head `one` has of the rows of q, or of k, of which several heads may have the same."""
        n_own = config.n_kv_head if name == "k" else n_head
        rows = [trace[name, i, at].reshape(n_own, -1)[one * n_own // n_head] for i in steps]
        return [scale.strip(row)._replace(digits=None) for row in rows]

    return [
        Head(
            at,
            one,
            float(given[0, at, one].sum()),
            strips("q", at, one),
            rows_of(tokens, strips("k", at, one), given[:, at, one]),
            bars(shares[at, one][::-1], 1),
        )
        for at in layers
        for one in range(n_head)
    ]


def rows_of(tokens: list[str], keys: list[Strip], given: Array) -> list[Row]:
    """Each row of one head; `given` is [steps, rows]."""
    n = len(tokens)
    received, even = (
        np.cumsum(one, axis=0) for one in (given, np.tril(np.ones((n, n)) / np.arange(1, n + 1)[:, None]))
    )  # row i may be read from step i on
    longest = max(received.max(), even.max())
    columns = (given, received, even, received / longest, even / longest)
    return [Row(token, row, keys[row], *(one[:, row].tolist() for one in columns)) for row, token in enumerate(tokens)]


def even_shares(n: int) -> Array:
    """[n]: the same, if each query gave every row that it may read the same weight: 1/(j + 1) + ... + 1/n."""
    return np.cumsum(1 / np.arange(n, 0, -1))[::-1]
