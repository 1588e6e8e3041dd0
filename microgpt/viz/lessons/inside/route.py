"""The stops of a token: what is done there, with which weights, and how long what comes out lives. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple

from microgpt.architectures import inventory
from microgpt.config import Array, Config
from microgpt.errors import N_
from microgpt.experiments.journey import MADE_WITH, Stop
from microgpt.viz.drawing.heat import Scale, Strip, scale_for

LEGIBLE = 16  # numbers that are written out; of longer rows the heat alone is drawn
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
HOW = {  # what is done there
    "embed": N_("a row of the table"),
    "attn_norm": N_("the stream, at a steady size"),
    "q": N_("norm times a matrix"),
    "k": N_("norm times a matrix"),
    "v": N_("norm times a matrix"),
    "attn_scores": N_("q against the rows of K"),
    "attn_weights": N_("softmax of the scores"),
    "head_out": N_("the rows of V, by weight"),
    "attn_out": N_("mixed values times a matrix"),
    "resid_mid": N_("what it was, plus attention out"),
    "mlp_norm": N_("the stream, at a steady size"),
    "mlp_hidden": N_("norm times a matrix, bent"),
    "mlp_out": N_("inside times a matrix"),
    "resid_final": N_("what it was, plus MLP out"),
    "logits": N_("the stream times a matrix"),
}


class StopView(NamedTuple):
    """One stop: what it is, what it is made with, its numbers, and how long they live."""

    event: str
    name: str
    how: str
    layer: int
    part: str
    weights: list[tuple[str, tuple[int, ...]]]  # name and shape: what is permanent
    shape: tuple[int, ...]
    strip: Strip
    fine: bool  # too many numbers to write out
    zeros: int | None  # of an MLP's inside: how many numbers it has let through as zero; None elsewhere
    kept: bool


class Journey(NamedTuple):
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


def journey_view(c: Config, token: str, pos: int, way: list[Stop], scales: dict[str, Scale]) -> Journey:
    return Journey(
        token=token,
        pos=pos,
        stops=[stop_view(c, stop, scales["head" if stop.part == "head" else "usual"]) for stop in way],
        made=held(way),
        kept=held(way, "sequence"),
    )


def stop_view(c: Config, stop: Stop, scale: Scale) -> StopView:
    fine = stop.value.size > LEGIBLE
    return StopView(
        event=stop.name,
        name=NAMES[stop.name],
        how=how(c, stop),
        layer=stop.layer,
        part=stop.part,
        weights=weights(c, stop.name),
        shape=stop.value.shape,
        strip=strip(scale, stop.value, fine),
        fine=fine,
        zeros=int((stop.value == 0).sum()) if stop.name == "mlp_hidden" and c.mlp == "relu" else None,
        kept=stop.life == "sequence",
    )


def how(c: Config, stop: Stop) -> str:
    """What is done at a stop, where that depends on the architecture or the layer."""
    if stop.name == "resid_pre":
        return HOW["resid_final"] if stop.layer else N_("the embedding, at a steady size")
    if stop.name == "embed" and c.position == "learned":
        return N_("a row of each table, added")
    if stop.name in "qk" and c.position == "rope":
        return N_("norm times a matrix, turned by the position")
    return HOW[stop.name]


def weights(c: Config, event: str) -> list[tuple[str, tuple[int, ...]]]:
    """The tensors of the model that a stop is made with."""
    by_name = {tensor.name: tensor for tensor in inventory.tensors(c)}
    names = ["wte" if name == "lm_head" and c.tied else name for name in MADE_WITH.get(event, ())]
    return [(name, by_name[name].shapes[0]) for name in names if name in by_name]


def strip(scale: Scale, value: Array, fine: bool) -> Strip:
    found = scale.strip(value.ravel())
    return Strip("fine", found.cells, None) if fine else found


def held(way: list[Stop], life: str = "") -> int:
    """Numbers made on the way, or those of one lifetime."""
    return sum(stop.value.size for stop in way if not life or stop.life == life)
