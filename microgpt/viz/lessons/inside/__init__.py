"""One token's journey through the model, where it meets other tokens, and what the model is made of. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microgpt.architectures import inventory
from microgpt.architectures.known import PRESETS
from microgpt.checkpoints.names import GPT2, LLAMA, published
from microgpt.experiments import journey
from microgpt.experiments.validity import another
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.heat import Strip
from microgpt.viz.drawing.inventories import Inventory, inventory_of
from microgpt.viz.lessons.inside.route import NAMES, Journey, held, journey_view, scales_for
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import bound, number, percent, show, whole
from microgpt.weights import Model

NEIGHBOURS = 4
LARGE = {"GPT-2 124M": GPT2, "SmolLM2-135M": LLAMA, "Llama-3-8B": LLAMA}


class Effect(NamedTuple):
    """A stop of the last token, with one entry a layer: "" where it is the same, else how far it is off."""

    event: str
    name: str
    off: list[tuple[str, int]]


class Swap(NamedTuple):
    """One earlier token swapped for another."""

    at: int
    old: str
    new: str
    effects: list[Effect]


class View(NamedTuple):
    """Everything that the page places."""

    trace: Trace
    choices: tuple[Choice, ...]
    model: str
    labels: list[str]
    at: int  # the token whose way the prose tells
    journeys: list[Journey]
    legend: Strip
    n_embd: int
    n_layer: int
    n_head: int
    n_kv_head: int
    head_dim: int
    n_mlp: int
    last: str
    swaps: list[Swap]
    swap_labels: list[str]
    alone: dict[str, str]
    adds_up: str
    inventories: list[Inventory]
    inventory_labels: list[str]
    near: list[tuple[str, list[str]]]
    smol: dict[str, str]
    llama: dict[str, str]
    kept_share: str
    largest_options: list[str]  # parts, by name
    largest_right: int
    changed_options: list[str]
    changed_right: int


def view(settings: Settings) -> View:
    recording = settings.recording()
    model, trace, c, n_prompt = recording.model, recording.run(), recording.model.config, recording.n_prompt
    tokens = [show(token) for token in trace.about["tokens"]]
    ways = [journey.stops(trace, c, pos) for pos in range(len(tokens))]
    scales = scales_for(ways)
    journeys = [journey_view(c, tokens[pos], pos, way, scales) for pos, way in enumerate(ways)]
    ids = recording.ids[:n_prompt]
    swaps = [swap(model, ids, at) for at in range(1 if n_prompt > 2 else 0, n_prompt - 1)]
    alone = journey.mlp_alone(model.params, c, ids)
    inventories = [inventory_of(model.name, c)]
    inventories += [inventory_of(name, PRESETS[name].config, published(family)) for name, family in LARGE.items()]
    parts = inventory.totals(c)
    order = ["embedding", "attention", "mlp"]
    kinds = ["q", "attn_scores", "v"]
    return View(
        trace=trace,
        choices=choices(len(tokens), n_prompt - 1, len(swaps), len(inventories)),
        model=model.name,
        labels=[f"{pos} {token}" for pos, token in enumerate(tokens)],
        at=n_prompt - 1,
        journeys=journeys,
        legend=scales["usual"].strip(scales["usual"].limit * np.linspace(-1, 1, 7)),
        n_embd=c.n_embd,
        n_layer=c.n_layer,
        n_head=c.n_head,
        n_kv_head=c.n_kv_head,
        head_dim=c.head_dim,
        n_mlp=c.n_mlp,
        last=tokens[n_prompt - 1],
        swaps=swaps,
        swap_labels=[f"{s.at} {s.old} → {s.new}" for s in swaps],
        alone={"bound": bound(max(alone.moved, alone.replaced)), "others": number(alone.others)},
        adds_up=bound(max(journey.adds_up(trace, c, pos) for pos in range(len(tokens)))),
        inventories=inventories,
        inventory_labels=[one.name for one in inventories],
        near=[near(model, token_id) for token_id in dict.fromkeys(ids[1:])],
        smol=heads_of("SmolLM2-135M"),
        llama=heads_of("Llama-3-8B"),
        kept_share=number(100 * held(ways[0], "sequence") / held(ways[0]), 0),
        largest_options=[inventories[0].shares[list(parts).index(part)].name for part in order],
        largest_right=max(range(len(order)), key=lambda i: parts[order[i]]),
        changed_options=[NAMES[kind] for kind in kinds],
        changed_right=next(i for i, kind in enumerate(kinds) if effect(swaps[0], kind).off[0][0]),
    )


def choices(tokens: int, at: int, swaps: int, inventories: int) -> tuple[Choice, ...]:
    """So many tokens, of which `at` is followed first; so many swaps and inventories."""
    return (
        Choice("token", range(tokens), at),
        Choice("swap", range(swaps), in_figure=False),
        Choice("inventory", range(inventories), in_figure=False),
    )


# ---- the experiment -------------------------------------------------------------------------------


def swap(model: Model, ids: list[int], at: int) -> Swap:
    """Swap the token at `at` and see which stops of the last token notice."""
    new = another(model.config, ids[at], model.tokenizer.start)
    found = journey.changed(model.params, model.config, ids, at, new)
    largest = max(x for row in found.values() for x in row)
    vocabulary = model.tokenizer.vocabulary
    return Swap(
        at=at,
        old=show(vocabulary[ids[at]]),
        new=show(vocabulary[new]),
        effects=[
            Effect(name, NAMES[name], [entry(x, largest) for x in row])
            for name, row in found.items()
            if name != "resid_pre"  # for the later layers it is the row above, for the first the embedding
        ],
    )


def entry(x: float, largest: float) -> tuple[str, int]:
    """A difference that is not nothing never reads as nothing."""
    if x == 0:
        return "", 0
    return (number(x) if x >= 0.005 else "< " + number(0.01)), percent(x / largest)


def effect(swapped: Swap, event: str) -> Effect:
    return next(one for one in swapped.effects if one.event == event)


def near(model: Model, token_id: int) -> tuple[str, list[str]]:
    """A token and those whose embeddings are most like its own."""
    vocabulary = model.tokenizer.vocabulary
    found = journey.neighbours(model.params, token_id, NEIGHBOURS)
    return show(vocabulary[token_id]), [show(vocabulary[i]) for i in found]


def heads_of(name: str) -> dict[str, str]:
    """What the prose says of a large model."""
    c, by_part = PRESETS[name].config, inventory.totals(PRESETS[name].config)
    return {
        "q": whole(c.n_head),
        "kv": whole(c.n_kv_head),
        "dim": whole(c.head_dim),
        "q_width": whole(c.n_head * c.head_dim),
        "kv_width": whole(c.n_kv_head * c.head_dim),
        "group": whole(c.n_head // c.n_kv_head),
        "head": whole(by_part["head"]),
        "total": whole(sum(by_part.values())),
        "without_head": whole(sum(by_part.values()) - by_part["head"]),
        "mlp_share": number(100 * by_part["mlp"] / sum(by_part.values()), 0),
        "embedding_share": number(100 * by_part["embedding"] / sum(by_part.values()), 0),
        "layers": whole(c.n_layer),
        "vocabulary": whole(c.vocab_size),
    }
