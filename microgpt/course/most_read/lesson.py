"""What each row of the cache has received: the weights that all steps gave it, head by head, from the trace."""

from __future__ import annotations

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


class View:
    """One text, with a table a head."""

    def __init__(self, settings: Settings) -> None:
        """Run the text to its end, and add up."""
        trace = settings.trace()
        config, tokens = Config(**trace.about["config"]), [show(token) for token in trace.about["tokens"]]
        n, total = len(tokens), sum_weights(trace, config)
        shares = total / even_shares(n)  # [n_layer, n_head, n]
        read = shares[:, :, :-1] if n > 1 else shares  # the newest row has been read once: that says little
        layer, head, row = (int(i) for i in np.unravel_index(read.argmax(), read.shape))
        heads = [(at, one) for at in range(config.n_layer) for one in range(config.n_head)]
        steps = [n - j for j in range(n)]
        self.trace, self.n = trace, n
        self.choices = (Choice("head", range(len(heads)), heads.index((layer, head))),)
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


def sum_weights(trace: Trace, config: Config) -> Array:
    """[n_layer, n_head, n]: the weights that row j has got in a text of n tokens, summed over the steps j to n - 1."""
    n = len(trace.about["tokens"])
    total = np.zeros((config.n_layer, config.n_head, n))
    for layer in range(config.n_layer):
        for step in range(n):
            weights = trace["attn_weights", step, layer]  # [n_head, 1, step + 1]
            total[layer, :, : step + 1] += weights[:, 0]
    return total


def even_shares(n: int) -> Array:
    """[n]: the same, if each query gave every row that it may read the same weight: 1/(j + 1) + ... + 1/n."""
    return np.cumsum(1 / np.arange(n, 0, -1))[::-1]
