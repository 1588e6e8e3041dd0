"""Training and the cache: the masked pass, what the cached rows learn, three mistakes; live, the training itself."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.errors import N_
from microgpt.experiments import mistakes
from microgpt.experiments.credit import arrivals, by_query, gap, gradients, losses, taped
from microgpt.experiments.trainer import Trainer
from microgpt.model import softmax
from microgpt.trace import Trace
from microgpt.train import samples
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.chart import Chart, Series, line_chart
from microgpt.viz.drawing.heat import Cell, Scale
from microgpt.viz.lessons.training.live import HOOKS, SMOOTH
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import bound, number, percent, show, whole
from microgpt.weights import Model, shipped

__all__ = ["HOOKS", "view"]


class Line(NamedTuple):
    """One query of the parallel pass: its weights, and how well it foretold the next token."""

    i: int
    token: str
    cells: list[Cell | None]  # None where the mask is
    target: str
    loss: str
    cached: str


class Learned(NamedTuple):
    """What one cached row learns in one layer: the length of its gradient, from its own step and from later ones."""

    i: int
    token: str
    bars: list[tuple[str, str, int, str, int]]  # K or V; own, its width; later, its width


class Wrong(NamedTuple):
    """A mistake: what it did to the logits and to the mean loss."""

    name: str
    what: str
    change: str
    loss: str


class View(NamedTuple):
    """One text as a lesson for the model."""

    trace: Trace
    choices: tuple[Choice, ...]
    n: int
    tokens: list[str]
    heads: list[list[Line]]  # by head, of layer 0
    mean: str
    same: str
    masked: str
    layers: list[list[Learned]]
    live_is_parallel: str
    last_later: str
    first_later: str
    matrices: list[tuple[str, str, str, bool]]  # name, live, detached, equal
    differs: str
    wrong: list[Wrong]
    right_loss: str
    n_layer: int
    start: dict[str, str]
    before: list[str]
    after: list[str]
    chart: Chart


MATRICES = {"wq": "W_Q", "wk": "W_K", "wv": "W_V"}
MISTAKES = {
    "no_mask": (N_("no mask"), N_("Every token reads every token, the ones to come too.")),
    "no_offset": (N_("no position offset"), N_("Each step counts its positions from the start again.")),
    "no_reset": (N_("no reset"), N_("The rows of the last text are still in the cache.")),
}


def view(settings: Settings) -> View:
    recording = settings.recording()
    model = recording.model
    inner = recording.ids[: recording.n_prompt]
    ids = [*inner, recording.stop]
    ids = ids[: model.config.n_ctx + 1]
    params, config = model.params, model.config
    tokens = [show(model.tokenizer.vocabulary[i]) for i in ids]
    tape, _ = taped(params, config, ids)
    parallel, cached = losses(params, config, ids), losses(params, config, ids, cached=True)
    found = arrivals(params, config, ids)
    summed = by_query(params, config, ids).sum(axis=2)
    live, detached = gradients(params, config, ids), gradients(params, config, ids, detached=True)
    n = len(ids) - 1
    trainer, ready = Trainer(), shipped("names")
    first = next(iter(trainer.run.texts))
    return View(
        trace=recording.run(),
        choices=(
            Choice("pass-head", range(config.n_head)),
            Choice("learned-layer", range(config.n_layer), in_figure=False),
        ),
        n=n,
        tokens=tokens,
        heads=[lines(tape["attn_weights", 0][head], tokens, parallel, cached) for head in range(config.n_head)],
        mean=number(float(parallel.mean())),
        same=bound(float(np.abs(parallel - cached).max())),
        masked=whole(n * (n - 1) // 2),
        layers=[learned(found.own[:, layer], found.later[:, layer], tokens) for layer in range(config.n_layer)],
        live_is_parallel=bound(gap(params, config, ids, summed)),
        last_later=number(float(found.later[:, :, -1].max())),
        first_later=number(float(found.later[1, 0, 0]), 3),
        matrices=[
            (name, length(live, short), length(detached, short), same(live, detached, short))
            for short, name in MATRICES.items()
        ],
        differs=", ".join(name for short, name in MATRICES.items() if not same(live, detached, short)),
        wrong=[wrong(model, ids, name) for name in MISTAKES],
        right_loss=number(float(parallel.mean())),
        n_layer=config.n_layer,
        start={
            "loss": number(float(losses(trainer.model().params, trainer.run.config, first).mean()), 4),
            "reached": number(reached(trainer, ready)),
            "last": whole(SMOOTH),
            "name": trainer.run.tokenizer.decode(first),
            "guess": number(float(np.log(ready.config.vocab_size))),
            "steps": whole(trainer.run.steps),
            "params": whole(trainer.run.vector.size),
        },
        before=trainer.names(6),
        after=samples(trainer.run._replace(vector=flat(ready)), 6),
        chart=frame(trainer, ready),
    )


def lines(weights: Array, tokens: list[str], parallel: Array, cached: Array) -> list[Line]:
    scale = Scale(1.0)
    return [
        Line(
            i,
            tokens[i],
            [scale.cell(x) if j <= i else None for j, x in enumerate(row)],
            tokens[i + 1],
            number(float(parallel[i])),
            number(float(cached[i])),
        )
        for i, row in enumerate(weights.tolist())
    ]


def learned(own: Array, later: Array, tokens: list[str]) -> list[Learned]:
    """own and later [2 (K, V), n] of one layer."""
    largest = float(max(own.max(), later.max()))
    return [
        Learned(
            i,
            tokens[i],
            [
                (
                    kind, number(float(own[side, i]), 3), percent(own[side, i] / largest),
                    number(float(later[side, i]), 3), percent(later[side, i] / largest),
                )
                for side, kind in enumerate("KV")
            ],
        )
        for i in range(own.shape[-1])
    ]  # fmt: skip


def length(grads: dict[str, Array], short: str) -> str:
    squares = [float((grad**2).sum()) for name, grad in grads.items() if name.endswith("." + short)]
    return number(sum(squares) ** 0.5, 3)


def same(a: dict[str, Array], b: dict[str, Array], short: str) -> bool:
    return all(np.abs(a[name] - b[name]).max() < 1e-12 for name in a if name.endswith("." + short))


def wrong(model: Model, ids: list[int], name: str) -> Wrong:
    params, config, inputs = model.params, model.config, ids[:-1]
    before = inputs[: config.n_ctx - len(inputs)]  # as much of an old text as leaves room
    arguments = [before] if name == "no_reset" else []
    good, bad = mistakes.right(params, config, inputs), getattr(mistakes, name)(params, config, inputs, *arguments)
    loss = -np.log(softmax(bad)[np.arange(len(inputs)), ids[1:]]).mean()
    return Wrong(*MISTAKES[name], number(float(np.abs(good - bad).max())), number(float(loss)))


def flat(model: Model) -> Array:
    return np.concatenate([value.ravel() for value in model.params.values()])


def reached(trainer: Trainer, ready: Model) -> float:
    """The mean loss of the shipped weights on the last names of the training."""
    texts = list(islice(trainer.run.texts, trainer.run.steps))[-SMOOTH:]
    return float(np.mean([losses(ready.params, ready.config, ids).mean() for ids in texts]))


def frame(trainer: Trainer, ready: Model) -> Chart:
    """The axes of the loss curve, with what guessing gives and where the shipped weights have got to."""
    steps, end = trainer.run.steps, reached(trainer, ready)
    guess = float(np.log(ready.config.vocab_size))
    chart = line_chart(
        N_("Loss of each step"),
        [
            Series(N_("guessing"), "again", [(1, guess), (steps, guess)]),
            Series(N_("trained"), "needed", [(1, end), (steps, end)]),
        ],
        N_("steps"),
        N_("nats a letter"),
        text=number,
    )
    return chart._replace(grows="loss-lines")
