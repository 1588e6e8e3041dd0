"""Questions about the way through the stack: parameters, a norm, a replaced stream, what a change reaches."""

from __future__ import annotations

import math
from types import SimpleNamespace as Numbers

import numpy as np

from microgpt.architectures import inventory
from microgpt.config import Config, n_params, param_shapes
from microgpt.course.inside import path
from microgpt.errors import N_
from microgpt.trace import Trace
from microgpt.viz.settings import Settings
from microgpt.viz.text.answers import answers
from microgpt.viz.text.formats import show
from microgpt.viz.text.tasks import Task, calc, chain
from microgpt.weights import Model

LOUDER = 10  # times the stream in front of a norm
SMALL = Config(n_layer=2, n_embd=32, n_head=4, n_kv_head=2, head_dim=8, n_mlp=128, n_ctx=64, vocab_size=50)
BEFORE, AFTER = Settings("names-deep", "leo"), Settings("names-deep", "mio")  # up to the last letter, which is the same
STOPS = (("embed", -1), ("q", 0), ("k", 0), ("attn_scores", 0), ("head_out", 0), ("q", 1), ("k", 1), ("logits", -1))


def asks(model: Model, trace: Trace, pos: int) -> Numbers:
    """Of the token at `pos`."""
    c, made = model.config, inventory.totals(model.config)["mlp"] // model.config.n_layer
    matrices = made // (c.n_embd * c.n_mlp)
    return Numbers(
        matrices=matrices,
        parameters=answers(made, one=c.n_embd * c.n_mlp, added=matrices * (c.n_embd + c.n_mlp)),
        louder=LOUDER,
        steady=path.steady(model.params, c, trace, pos, LOUDER),  # how far the norm is then off
        replaced=path.replacer_error(model.params, c, trace, pos),  # and logits, if the last MLP replaces the stream
    )


def count_parameters() -> Numbers:
    """The parameters of a small model, by their tensors."""
    sizes = {name: math.prod(shape) for name, shape in param_shapes(SMALL).items()}
    layer = [size for name, size in sizes.items() if name.startswith("layer0.")]
    rest = [size for name, size in sizes.items() if not name.startswith("layer")]
    own = {name: shape for name, shape in param_shapes(SMALL).items() if not name.startswith("layer1.")}
    return Numbers(
        config=SMALL,
        tables=[(name.removeprefix("layer0."), chain(shape, "×")) for name, shape in own.items()],
        layer=chain(layer, "+"),
        total=calc(
            " + ".join(["{}"] * len(rest)) + " + {} × {} = {}", *rest, SMALL.n_layer, sum(layer), n_params(SMALL)
        ),
        cached=chain([SMALL.n_layer, 2 * SMALL.n_kv_head * SMALL.head_dim], "×"),
    )


def swap() -> Numbers:
    """Two texts with the same last token, and the stops at which it differs."""
    one, other = BEFORE.trace(), AFTER.trace()
    last = len(BEFORE.prompt)
    before, after = ([show(token) for token in trace.about["tokens"][: last + 1]] for trace in (one, other))
    stops = [
        Numbers(name=name, layer=layer, changes=not np.array_equal(one[name, last, layer], other[name, last, layer]))
        for name, layer in STOPS
    ]
    return Numbers(before=before, after=after, stops=stops)


TASKS = (
    Task("count", N_("Count the parameters"), 3, "compute", 15, 10, count_parameters),
    Task("swap", N_("What the last token notices"), 4, "predict", 10, 5, swap, also=("old-rows",)),
)
