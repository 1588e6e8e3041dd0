"""Training and the cache: the masked pass, what the cached rows learn, three mistakes; live, the training itself."""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from microgpt.config import Array, Config
from microgpt.course.training.live import HOOKS, SMOOTH
from microgpt.course.training.questions import asks
from microgpt.errors import N_
from microgpt.experiments import mistakes
from microgpt.experiments.gradient import arrivals, by_query, gap, gradients, losses, record_tape
from microgpt.experiments.trainer import Trainer
from microgpt.train import samples
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.chart import Chart, Series, line_chart
from microgpt.viz.drawing.heat import Scale, Strip, scale_for
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import Model, is_own, shipped

__all__ = ["HOOKS", "view"]
HERE = Path(__file__).parent
LOOP = (HERE / "listings" / "loop.py").read_text("utf-8").rstrip("\n")  # the training loop, as a test runs it
LOOP_PRINTS = json.loads((HERE / "printed.json").read_text("utf-8"))["loop"].rstrip("\n")
SHOWN_LAYER, ROUNDING = 0, 1e-12
FIRST_STEP, LIVE, DETACHED = 0, 0, 1  # of what can be chosen: the first step; rows with their history, and without


class QueryLine(NamedTuple):
    """One query of the parallel pass: its weights, and how well it foretold the next token."""

    token: str
    weights: Strip  # over the keys that the mask leaves
    target: str
    loss: float
    same: bool  # as that of the cached step


Sides: TypeAlias = list[tuple[str, float, float]]  # of K and of V: its letter, what comes from its own step, and later


class Learned(NamedTuple):
    """What the cached rows of a layer learn, as lengths of gradients."""

    rows: list[tuple[str, Sides]]  # of each its token, and what its K and its V hear
    # of the loss at each position, for each row that it has read: what reaches its K and its V, of the largest
    losses: list[list[tuple[float, float]]]


MATRIX_NAMES = {"wq": "W_Q", "wk": "W_K", "wv": "W_V"}
MISTAKES = {
    "right": (N_("nothing"), ""),
    "no_mask": (N_("no mask"), N_("Every token reads every token, the ones to come too.")),
    "no_offset": (N_("no position offset"), N_("Each step counts its positions from the start again.")),
    "no_reset": (N_("no reset"), N_("The rows of the last text are still in the cache.")),
}
# what the first four queries of a text read, and the positions of those rows; x is what they should not read
SKETCHES = {
    "right": ("0123", ("#...", "##..", "###.", "####")),
    "no_mask": ("0123", ("#xxx", "##xx", "###x", "####")),
    "no_offset": ("0000", ("#...", "##..", "###.", "####")),
    "no_reset": ("0123456", ("xxx#...", "xxx##..", "xxx###.", "xxx####")),
}


class View:
    """One text as a lesson for the model."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.run()
        model = recording.model
        inner = recording.ids[: recording.n_prompt]
        ids = [*inner, recording.stop]
        ids = ids[: model.config.n_ctx + 1]
        params, config = model.params, model.config
        tokens = [show(model.tokenizer.vocabulary[i]) for i in ids]
        tape, _ = record_tape(params, config, ids)
        parallel, cached = losses(params, config, ids), losses(params, config, ids, cached=True)
        each = by_query(params, config, ids)
        own, later = arrivals(each)
        live, detached = gradients(params, config, ids), gradients(params, config, ids, detached=True)
        n = len(ids) - 1
        # the length of the gradient with live rows and with detached ones, and whether it is the same gradient
        matrices = [
            (name, [length(live, short), length(detached, short)], same(live, detached, short))
            for short, name in MATRIX_NAMES.items()
        ]
        longest = max(max(lengths) for _, lengths, _ in matrices)
        heard = later.max(axis=(0, 1)).tolist()  # by each row, from later steps
        trainer, ready = Trainer(), shipped("names")
        means = mistakes.means(model) if is_own(model) else mistakes.load_means(model.name)
        broken = [Tried(model, ids, kind, means[kind]) for kind in mistakes.MISTAKE_KINDS]
        first = next(iter(trainer.run.texts))
        self.n, self.tokens, self.matrices = n, tokens, matrices
        self.lengths = [[one / longest for one in lengths] for _, lengths, _ in matrices]  # of the longest
        self.trace = recording.trace
        self.choices = (
            Choice("pass-head", range(config.n_head)),
            Choice("at-once", range(n + 1), n - 1, in_figure=False),  # a step for each token, then all together
            Choice("rows-cut", (LIVE, DETACHED), in_figure=False),
            Choice("learned-layer", range(config.n_layer), in_figure=False),
        )
        # by head, of layer 0
        self.heads = [
            query_lines(tape["attn_weights", 0][head], tokens, parallel, cached) for head in range(config.n_head)
        ]
        self.kept = [
            rows_of_head(tape["k", SHOWN_LAYER], tape["v", SHOWN_LAYER], head, config) for head in range(config.n_head)
        ]
        self.mean = float(parallel.mean())
        self.apart = float(np.abs(parallel - cached).max())  # the losses of the parallel pass and of the cached one
        self.masked = n * (n - 1) // 2
        self.layers = [
            gradients_of_rows(own[:, layer], later[:, layer], each[:, layer], tokens) for layer in range(config.n_layer)
        ]
        self.live_is_parallel = gap(params, config, ids, each.sum(axis=2))
        self.last_later = heard[-1]
        self.first_later = float(later[1, 0, 0])
        self.differs = [name for name, _, alike in matrices if not alike]
        self.tried = broken  # the first without a mistake
        worst = max(one.mean for one in broken)
        self.lost = [one.mean / worst for one in broken]  # the mean losses, of the largest
        self.n_tried = mistakes.N_OWN if is_own(model) else mistakes.N_TEXTS  # texts of a mean
        self.misleads = max(broken, key=lambda one: one.lower)  # the mistake that lowers the loss of most texts
        self.n_layer = config.n_layer
        self.run = trainer.run  # microgpt's training: how it begins, and where it ends
        self.first_text = trainer.run.tokenizer.decode(first)
        # before the first step
        self.first_loss = float(losses(trainer.model().params, trainer.run.config, first).mean())
        self.guess = float(np.log(ready.config.vocab_size))  # the loss of blind guessing
        # the mean loss of the last texts of the training, under the shipped weights
        last = list(islice(trainer.run.texts, trainer.run.steps))[-SMOOTH:]
        self.reached = float(np.mean([losses(ready.params, ready.config, ids).mean() for ids in last]))
        self.asks = asks(n, "last" if heard[-1] <= heard[0] else "first", ready.config.vocab_size)
        self.before = trainer.names(6)
        vector = np.concatenate([value.ravel() for value in ready.params.values()])
        self.after = samples(trainer.run._replace(vector=vector), 6)
        self.chart = frame(trainer.run.steps, self.guess, self.reached)


view = View


def rows_of_head(keys: Array, values: Array, head: int, config: Config) -> list[tuple[Strip, Strip]]:
    """The row of K and that of V which each token has for this head: of [n, n_kv_head, head_dim]."""
    mine, scale = head * config.n_kv_head // config.n_head, scale_for(keys, values)
    both = zip(keys[:, mine], values[:, mine], strict=True)
    return [(scale.strip(k)._replace(digits=None), scale.strip(v)._replace(digits=None)) for k, v in both]


def query_lines(weights: Array, tokens: list[str], parallel: Array, cached: Array) -> list[QueryLine]:
    scale = Scale(1.0)
    return [
        QueryLine(
            tokens[i],
            scale.strip(row[: i + 1]),
            tokens[i + 1],
            float(parallel[i]),
            bool(abs(parallel[i] - cached[i]) < ROUNDING),
        )
        for i, row in enumerate(weights)
    ]


def gradients_of_rows(own: Array, later: Array, each: Array, tokens: list[str]) -> Learned:
    """Of one layer: own and later are [2 (K, V), n], each [2, n losses, n rows, heads, head_dim]."""
    pairs = np.stack([own, later], axis=-1)  # [2, n, 2]
    reached = np.sqrt((each**2).sum(axis=(-1, -2)))
    shares = (reached / reached.max()).transpose(1, 2, 0)  # [n losses, n rows, 2]
    return Learned(
        [
            (token, [(kind, *pairs[row, i].tolist()) for row, kind in enumerate("KV")])
            for i, token in enumerate(tokens[: own.shape[-1]])
        ],
        [[(k, v) for k, v in line[: i + 1].tolist()] for i, line in enumerate(shares)],
    )


def length(grads: dict[str, Array], short: str) -> float:
    squares = [float((grad**2).sum()) for name, grad in grads.items() if name.endswith("." + short)]
    return float(sum(squares) ** 0.5)


def same(a: dict[str, Array], b: dict[str, Array], short: str) -> bool:
    return all(np.abs(a[name] - b[name]).max() < 1e-12 for name in a if name.endswith("." + short))


class Tried:
    """The pass with a mistake, or with none: what that did to the logits of this text, and to the loss of many."""

    def __init__(self, model: Model, ids: list[int], kind: str, mean: mistakes.Mean) -> None:
        """The old text in the cache, where it was not reset, is the text itself."""
        inputs = ids[:-1]
        good, bad = (mistakes.logits_of(one, model, inputs, inputs) for one in ("right", kind))
        self.kind = kind
        self.change = float(np.abs(good - bad).max())
        self.mean = mean.loss  # loss, over many
        self.lower = mean.lower  # of them: so many have a lower loss than without the mistake


def frame(steps: int, guess: float, end: float) -> Chart:
    """The axes of the loss curve, with what guessing gives and where the shipped weights have got to."""
    chart = line_chart(
        N_("Loss of each step"),
        [
            Series(N_("guessing"), "again", [(1, guess), (steps, guess)]),
            Series(N_("trained"), "needed", [(1, end), (steps, end)]),
        ],
        N_("steps"),
        N_("nats a letter"),
        digits=2,
    )
    return replace(chart, grows="loss-lines")
