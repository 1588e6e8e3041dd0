"""The stops of a token: what is done there, with which weights, and how long what comes out lives. Knows no HTML."""

from __future__ import annotations

import math
from typing import NamedTuple

from microgpt.architectures import inventory
from microgpt.config import Array, Config
from microgpt.course.inside.lines import MOST_ASKED
from microgpt.course.inside.path import MADE_WITH, MET, Stop
from microgpt.errors import N_
from microgpt.viz.drawing.heat import Scale, Strip, scale_for

LEGIBLE = 16  # numbers of a row of the figure that are written out; of longer rows the heat alone is drawn
LARGER = ("attn_scores", "mlp_hidden", "logits")  # may go beyond the stream's scale
NAMES = {
    "embed": N_("embedding"),
    "resid_pre": N_("residual stream"),
    "attn_norm": N_("norm"),
    "q": "q",
    "k": "k",
    "v": "v",
    "attn_scores": N_("scores"),
    "attn_weights": N_("attention weights"),
    "head_out": N_("mixed values"),
    "attn_out": N_("attention out"),
    "resid_mid": N_("residual stream"),
    "mlp_norm": N_("norm"),
    "mlp_hidden": N_("MLP, inside"),
    "mlp_out": N_("MLP out"),
    "resid_final": N_("residual stream"),
    "logits": N_("logits"),
}
HOW = {  # what is done there, in one sentence
    "embed": N_("The token picks one row of the table wte. The row is x, the start of the stream."),
    "attn_norm": N_("A copy of x leaves the stream, scaled to a steady size."),
    "q": N_("What this token looks for."),
    "k": N_("How later tokens will find this one."),
    "v": N_("What this one will hand on to them."),
    "attn_scores": N_("q meets every row of K. Tokens meet here and nowhere else."),
    "attn_weights": N_("Softmax turns the scores of each head into shares of one."),
    "head_out": N_("The rows of V are added up, each by its weight."),
    "attn_out": N_("The matrix wo shapes the sum for the stream."),
    "resid_mid": N_("The branch joins: x, plus what attention has found."),
    "mlp_norm": N_("A copy of x leaves the stream again, scaled to a steady size."),
    "mlp_out": N_("The matrix fc2 brings it back to the width of the stream."),
    "resid_final": N_("The branch joins: x, plus what the MLP has made of it."),
    "logits": N_("The matrix lm_head gives each token of the vocabulary one number."),
}
NORMED = N_("A norm brings x to a steady size. Here the stream begins.")
TABLES = N_("One row of wte for the token plus one of wpe for its position: x, the start of the stream.")
HIDDEN = {  # the inside of the MLP, by its activation
    "relu": N_("The matrix fc1 makes the row wider. ReLU sets what is negative to zero."),
    "swiglu": N_("The matrices gate and fc1 each make a wider row. SiLU of the one multiplies the other."),
}
TURNED = {  # by rotary positions
    "q": N_("What this token looks for, turned by its position."),
    "k": N_("How later tokens will find this one, turned by its position."),
}
WIDENED = N_("The matrix fc1 makes the row wider, and an activation function goes over it.")
TIED = N_("The table wte, used once more, gives each token of the vocabulary one number.")


class TokenPath(NamedTuple):
    """All stops of one token."""

    token: str
    pos: int
    stops: list[StopView]
    made: int  # numbers
    kept: int


def scales_for(ways: list[list[Stop]]) -> dict[str, Scale]:
    """One scale for all that has the size of the stream; of what is larger, the logits have a scale of their own."""
    usual = [stop.value for way in ways for stop in way if stop.name not in LARGER]
    head = [stop.value for way in ways for stop in way if stop.part == "head"]
    return {"usual": scale_for(*usual), "head": scale_for(*head)}


def token_paths(c: Config, tokens: list[str], ways: list[list[Stop]]) -> list[TokenPath]:
    """The way of each token."""
    scales = scales_for(ways)
    return [
        TokenPath(
            token=token,
            pos=pos,
            stops=[StopView(c, stop, scales["head" if stop.part == "head" else "usual"]) for stop in way],
            made=sum(stop.value.size for stop in way),
            kept=sum(stop.value.size for stop in way if stop.life == "sequence"),
        )
        for pos, (token, way) in enumerate(zip(tokens, ways, strict=True))
    ]


class StopView:
    """One stop: what it is, what it is made with, its numbers, and how long they live."""

    def __init__(self, c: Config, stop: Stop, scale: Scale) -> None:
        self.event = stop.name
        self.name = NAMES[stop.name]
        self.how = how(c, stop)
        self.layer = stop.layer
        self.part = stop.part
        self.weights = weights(c, stop.name)  # what is permanent
        self.shape = stop.value.shape
        self.strip = strip(scale, stop.value)
        self.kept = stop.life == "sequence"
        self.asked = stop.name in MET or stop.value.size <= MOST_ASKED  # each of its numbers can be, or the largest


def how(c: Config, stop: Stop) -> str:
    """What is done at a stop, where that depends on the architecture or the layer."""
    if stop.name == "resid_pre":
        return HOW["resid_final"] if stop.layer else NORMED
    if stop.name == "embed" and c.position == "learned":
        return TABLES
    if stop.name in TURNED and c.position == "rope":
        return TURNED[stop.name]
    if stop.name == "mlp_hidden":
        return HIDDEN.get(c.mlp, WIDENED)
    if stop.name == "logits" and c.tied:
        return TIED
    return HOW[stop.name]


def weights(c: Config, event: str) -> list[tuple[str, tuple[int, ...], int]]:
    """The tensors of the model that a stop is made with, with their shapes and how many numbers they have."""
    by_name = {tensor.name: tensor for tensor in inventory.tensors(c)}
    names = ["wte" if name == "lm_head" and c.tied else name for name in MADE_WITH.get(event, ())]
    return [(name, shape, math.prod(shape)) for name in names if name in by_name for shape in by_name[name].shapes[:1]]


def strip(scale: Scale, value: Array) -> Strip:
    found = scale.strip(value.ravel())
    return Strip("fine", found.cells, None) if value.size > LEGIBLE else found
