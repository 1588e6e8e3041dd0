"""The lives of the rows: for every q, k and v the steps at which it was read, and what an old q could still do."""

from itertools import zip_longest
from typing import NamedTuple

from microgpt.architectures.known import PRESETS
from microgpt.config import Config
from microgpt.cost import step_macs
from microgpt.course.why_q.questions import asks
from microgpt.experiments.lifetimes import ask_again, ask_all, furthest
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import Model


class Life(NamedTuple):
    """One token: for q, k and v, at which steps its row was read (in every layer alike), and how often."""

    i: int
    token: str
    tracks: list[tuple[str, list[bool], int]]  # kind, read at step j or not, reads
    so_far: list[list[int]]  # of each kind: reads up to step j


LARGE_MODELS, FAR = ("GPT-2 124M", "Llama-3-8B"), 1000  # models in use, one without shared heads and one with; tokens


class View:
    """One text, run to its end."""

    def __init__(self, trace: Trace, picture: Picture | None = None) -> None:
        picture = picture or Picture(trace)
        config, n, reads = picture.config, picture.n, picture.reads
        lives = [
            Life(
                i,
                show(picture.tokens[i]),
                [(kind, [j in reads[kind, 0, i] for j in range(n)], len(reads[kind, 0, i])) for kind in "qkv"],
                [[sum(at <= j for at in reads[kind, 0, i]) for j in range(n)] for kind in "qkv"],
            )
            for i in range(n)
        ]
        totals = {kind: sum(len(reads[kind, 0, i]) for i in range(n)) for kind in "qkv"}
        so_far = [[sum(life.so_far[kind][j] for life in lives) for kind in range(3)] for j in range(n)]
        self.trace, self.n, self.lives = trace, n, lives
        self.last = n - 1  # step
        self.second = min(1, n - 1)  # the query that is asked again at first
        self.choices = (Choice("old", range(n), self.second), Choice("step", range(n), n - 1, in_figure=False))
        self.n_layer = config.n_layer
        self.olds = [Old(picture, config, i) for i in range(n)]
        self.labels = [show(token) for token in picture.tokens]
        self.reads = totals  # of all rows of one layer, by kind
        self.so_far = so_far  # the same up to each step, in the order of q, k and v
        self.asks = asks(picture, so_far)
        # numbers that a cache of q would hold at the end
        self.held_for_nothing = n * config.n_layer * config.n_head * config.head_dim
        self.instead = Instead("", config, n)  # for this model
        self.large = [Instead(name, PRESETS[name].config, FAR) for name in LARGE_MODELS]  # for each


def view(settings: Settings) -> View:
    return View(settings.trace())


def of_large(model: Model, picture: Picture) -> View:
    """The view of a text that a large model has run."""
    return View(picture.trace, picture)


class Instead:
    """A cache of x, from which k and v are computed again at each step, against one of k and v."""

    def __init__(self, model: str, config: Config, n: int) -> None:
        """By formula: each older x is multiplied by the matrices of k and v, in every layer."""
        kv = 2 * config.n_kv_head * config.head_dim
        rows = n * config.n_layer
        self.model, self.kv = model, kv
        self.tokens = n  # of the text
        self.x = config.n_embd  # numbers per token and layer
        # multiply-adds of its last step for the k and v of all older tokens
        self.again = (n - 1) * config.n_layer * config.n_embd * kv
        self.step = int(step_macs(config, n).sum())  # those of the whole step with the KV cache
        self.x_bytes = 2 * rows * config.n_embd  # of all tokens and layers, in 16-bit numbers
        self.kv_bytes = 2 * rows * kv


class Old:
    """A query after the last step: its numbers, whom it asked, and whether it would now get another answer."""

    def __init__(self, picture: Picture, config: Config, i: int) -> None:
        trace, n = picture.trace, picture.n
        words = [show(token) for token in picture.tokens]
        then = trace["attn_weights", i, 0][0, 0].tolist()
        now = ask_again(trace, config, i, 0, n)[0][0, 0].tolist()
        without = ask_all(trace, config, i, n)[0, 0].tolist()
        self.i = i
        self.token = words[i]
        self.q = [strip._replace(where="") for strip in picture.per_head("q", i)[:1]]
        # of each row its token, and its weight in head 0 of layer 0 then, now and without the mask; None where hidden
        self.weights = list(zip(words, zip_longest(then, now, without), strict=True))
        self.difference = furthest(picture.trace, config, i, picture.n)
        self.later = picture.n - 1 - i  # steps that have come since
        self.later_reads = sum(step > i for step in picture.reads["q", 0, i])
