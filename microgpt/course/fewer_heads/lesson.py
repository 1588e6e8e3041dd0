"""Fewer heads: the running model with its heads shared in every possible way, and models in use by their shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from microgpt.architectures import Architecture
from microgpt.architectures.known import PRESETS
from microgpt.config import param_shapes
from microgpt.cost import PARTS, cached
from microgpt.course.fewer_heads.trained import Quality, quality
from microgpt.course.fewer_heads.ways import ORIGINS, Query, Trial, Way
from microgpt.experiments.shared_heads import choices, in_turn
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings
from microgpt.viz.text.answers import answers
from microgpt.viz.text.formats import show

SHORTEST = 4  # the short rows that are tried: this many widths, up to n_embd
SIZE = 2  # bytes a number: 16 bits
KINDS = ("k", "v")  # what is kept


class Known(NamedTuple):
    """A model in use, in 16-bit numbers."""

    name: str
    kind: str
    n_head: int
    n_kv_head: int  # 0: one short row
    head_dim: int
    n_layer: int
    row: int  # numbers a token and layer
    per_token: int  # bytes
    if_mha: int
    full: int  # bytes of one whole context
    share: float  # of what the largest one holds
    size: int  # query heads that share
    shapes: dict[str, tuple[int, ...]]  # matrix -> out, in


class Latent(NamedTuple):
    """What else there is to say of a model with one short row for all heads."""

    quotient: int  # what head_dim would be if it were n_embd / n_head
    group: int  # numbers of one key head and one value head
    groups: float  # so many of them are as long as the row


class Asks(NamedTuple):
    """What the lesson asks."""

    model: Known
    n_embd: int  # of it
    shape: dict[str, tuple[int, int]]  # of its matrix of k
    times: dict[str, int]  # how much smaller its cache is than without sharing
    rows: dict[str, int]  # numbers that a model with one short row keeps, per token and layer
    mixed_up: float  # how far answers are off where query heads read the key heads in turn


@dataclass(frozen=True)
class View:
    """One text, in every way."""

    trace: Trace
    choices: tuple[Choice, ...]
    model: str
    n: int
    token: str
    n_head: int
    n_kv_head: int
    n_embd: int
    rotates: bool
    queries: list[Query]  # of layer 0, the same in all ways
    ways: list[Way]  # heads shared; the last one is the short row of half the width
    labels: list[tuple[str | int, ...]]  # of each way: its kind, and how many heads keep rows
    origins: dict[str, str]
    rows: list[Way]  # the same, with short rows of all widths
    short: list[Way]
    spaced: bool  # tokens are words
    own: Way
    fewest: Way
    fewest_text: str
    whole_row: Way
    free: bool  # K and V are wider than what they are computed from
    pairs: int  # multiply-adds of the last step's scores, in every way
    kinds: int  # K and V
    size: int  # bytes a number
    variants: list[Known]  # SmolLM2 with its heads shared in every way, from MHA to MQA
    variant_labels: list[tuple[str | int, ...]]
    smol: Known  # as published
    mha: Known
    mqa: Known
    smol_n_ctx: int
    group: int  # query heads of SmolLM2 that share
    misread: int
    known: list[Known]
    llama: Known
    deepseek: Known
    latent: Latent  # of DeepSeek-V3
    asks: Asks
    quality: Quality


def view(settings: Settings) -> View:
    """Run the text, then run it again in every other way."""
    recording = settings.run()
    model = recording.model
    trace, config = recording.trace, model.config
    n = len(recording.cache)
    trial = Trial(model, recording.ids[:n], recording.n_prompt)
    counts = choices(config)
    short = [trial.short(max(1, config.n_embd * i // SHORTEST)) for i in range(1, SHORTEST + 1)]
    ways = [*(trial.shared(m) for m in counts), short[SHORTEST // 2 - 1]]
    own = ways[counts.index(config.n_kv_head)]
    smol, llama, latent = PRESETS["SmolLM2-135M"], PRESETS["Llama-3-8B"], PRESETS["DeepSeek-V3"]
    c = smol.config
    counts_of_smol = choices(c)  # the published one among them
    variants = [known(replace(smol, config=replace(c, n_kv_head=m)), smol) for m in counts_of_smol]
    published = counts_of_smol.index(c.n_kv_head)
    models = {name: known(one, one) for name, one in PRESETS.items()}
    return View(
        trace=trace,
        choices=(
            Choice("way", range(len(ways)), ways.index(own)),
            Choice("smol", range(len(variants)), published, in_figure=False),
        ),
        model=model.name,
        n=n,
        token=show(trace.about["tokens"][-1]),
        n_head=config.n_head,
        n_kv_head=config.n_kv_head,
        n_embd=config.n_embd,
        rotates=config.position == "rope",
        queries=[query for group in own.groups for query in group.queries],
        ways=ways,
        labels=[(way.kind, way.n) if way.n else (way.kind,) for way in ways],
        origins=ORIGINS,
        rows=[*ways[:-1], *short],
        short=short,
        spaced=bool(model.tokenizer.joiner),
        own=own,
        fewest=ways[len(counts) - 1],
        fewest_text=ways[len(counts) - 1].sentence,
        whole_row=short[-1],
        free=config.n_embd < 2 * config.n_kv_head * config.head_dim,
        pairs=int(cached(config, n)[PARTS.index("scores")]),
        kinds=len(KINDS),
        size=SIZE,
        variants=variants,
        variant_labels=[(one.kind, one.n_kv_head) for one in variants],
        smol=variants[published],
        mha=variants[0],
        mqa=variants[-1],
        smol_n_ctx=c.n_ctx,
        group=c.n_head // c.n_kv_head,
        misread=c.n_embd // c.n_kv_head,
        known=list(models.values()),
        llama=models[llama.name],
        deepseek=models[latent.name],
        latent=latent_figures(latent),
        asks=asks(llama, latent, in_turn(trace, config, n)),
        quality=quality(),
    )


def asks(model: Architecture, latent: Architecture, mixed_up: float) -> Asks:
    c = model.config
    return Asks(
        model=known(model, model),
        n_embd=c.n_embd,
        shape=answers(
            (c.n_kv_head * c.head_dim, c.n_embd), each=(c.n_head * c.head_dim, c.n_embd), one=(c.head_dim, c.n_embd)
        ),
        times=answers(c.n_head // c.n_kv_head, kept=c.n_kv_head, asking=c.n_head),
        rows=answers(latent.row, both=len(KINDS) * latent.row, each=latent.config.n_head * latent.row),
        mixed_up=mixed_up,
    )


def known(model: Architecture, largest: Architecture) -> Known:
    """What is said of a model; its bar is measured against what `largest` would hold without sharing."""
    c = model.config
    shapes = param_shapes(replace(c, n_layer=1))
    return Known(
        name=model.name,
        kind=model.sharing,
        n_head=c.n_head,
        n_kv_head=0 if model.latent else c.n_kv_head,
        head_dim=c.head_dim,
        n_layer=c.n_layer,
        row=model.row,
        per_token=model.bytes_per_token(SIZE),
        if_mha=model.bytes_if_mha(SIZE),
        full=model.cache_bytes(c.n_ctx, 1, SIZE),
        share=model.bytes_per_token(SIZE) / largest.bytes_if_mha(SIZE),
        size=c.n_head // c.n_kv_head,
        shapes={name: shapes[f"layer0.{name}"] for name in ("wq", "wk", "wv")},
    )


def latent_figures(model: Architecture) -> Latent:
    c = model.config
    return Latent(c.n_embd // c.n_head, 2 * c.head_dim, model.row / (2 * c.head_dim))
