"""Fewer heads: the running model with its heads shared in every possible way, and models in use by their shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from microgpt.architectures import Architecture
from microgpt.architectures.known import PRESETS
from microgpt.config import param_shapes
from microgpt.cost import PARTS, cached
from microgpt.experiments.sharing import choices
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.lessons.heads.ways import ORIGINS, Trial, Way
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import number, percent, show, whole

SHORTEST = 4  # the short rows that are tried: this many widths, up to n_embd
SIZE = 2  # bytes a number: 16 bits
KINDS = ("k", "v")  # what is kept


class Known(NamedTuple):
    """A model in use, as text."""

    name: str
    kind: str
    n_head: str
    n_kv_head: str
    head_dim: str
    n_layer: str
    row: str  # numbers a token and layer
    per_token: str
    if_mha: str
    full: str  # of one whole context
    width: int
    sharing: list[list[int]]  # query heads by key and value head
    shapes: list[tuple[str, str]]  # matrix, [out, in]


@dataclass(frozen=True)
class View:
    """One text, in every way."""

    trace: Trace
    choices: tuple[Choice, ...]
    model: str
    n: int
    token: str
    n_layer: int
    n_head: int
    n_kv_head: int
    head_dim: str
    n_embd: str
    rotates: bool
    ways: list[Way]  # heads shared; the last one is the short row of half the width
    labels: list[str]
    origins: dict[str, str]
    rows: list[Way]  # the same, with short rows of all widths
    short: list[Way]
    spaced: bool  # tokens are words
    kinds: str  # K and V
    size: str
    group: str  # query heads of SmolLM2 that share
    own: Way
    fewest: Way
    fewest_text: str
    whole_row: Way
    free: bool  # K and V are wider than what they are computed from
    smol: list[Known]
    smol_labels: list[str]
    smol_at: int
    smol_n_ctx: str
    misread: str
    known: dict[str, Known]
    rows_in_all: list[str]  # DeepSeek-V3's numbers a token and layer, and two wrong readings
    times: list[str]
    times_right: int
    deepseek: dict[str, str]
    pairs: str  # multiply-adds of the last step's scores, in every way


def view(settings: Settings) -> View:
    """Run the text, then run it again in every other way."""
    recording = settings.recording()
    model = recording.model
    trace, config = recording.run(), model.config
    n = len(recording.cache)
    trial = Trial(model, recording.ids[:n], recording.n_prompt)
    counts = choices(config)
    short = [trial.short(max(1, config.n_embd * i // SHORTEST)) for i in range(1, SHORTEST + 1)]
    ways = [*(trial.shared(m) for m in counts), short[SHORTEST // 2 - 1]]
    own = ways[counts.index(config.n_kv_head)]
    smol, llama = PRESETS["SmolLM2-135M"], PRESETS["Llama-3-8B"].config
    variants = [
        replace(smol, config=replace(smol.config, n_kv_head=m)) for m in choices(smol.config)
    ]  # the published one among them
    latent, group = PRESETS["DeepSeek-V3"], llama.n_head // llama.n_kv_head
    times = sorted({2, group, llama.n_kv_head, llama.n_head})
    return View(
        trace=trace,
        choices=(
            Choice("way", range(len(ways)), ways.index(own)),
            Choice("smol", range(len(variants)), variants.index(smol), in_figure=False),
        ),
        model=model.name,
        n=n,
        token=show(trace.about["tokens"][-1]),
        n_layer=config.n_layer,
        n_head=config.n_head,
        n_kv_head=config.n_kv_head,
        head_dim=whole(config.head_dim),
        n_embd=whole(config.n_embd),
        rotates=config.position == "rope",
        ways=ways,
        labels=[f"{way.kind}: {way.n}" if way.n else way.kind for way in ways],
        origins=ORIGINS,
        rows=[*ways[:-1], *short],
        short=short,
        spaced=bool(model.tokenizer.joiner),
        kinds=whole(len(KINDS)),
        size=whole(SIZE),
        group=whole(smol.config.n_head // smol.config.n_kv_head),
        own=own,
        fewest=ways[len(counts) - 1],
        fewest_text=ways[len(counts) - 1].sentence,
        whole_row=short[-1],
        free=config.n_embd < 2 * config.n_kv_head * config.head_dim,
        smol=[known(one, smol) for one in variants],
        smol_labels=[f"{one.sharing}: {one.config.n_kv_head}" for one in variants],
        smol_at=variants.index(smol),
        smol_n_ctx=whole(smol.config.n_ctx),
        misread=whole(smol.config.n_embd // smol.config.n_kv_head),
        known={name: known(one, one) for name, one in PRESETS.items()},
        rows_in_all=[whole(x * latent.row) for x in (1, len(KINDS), latent.config.n_head)],
        times=[whole(x) for x in times],
        times_right=times.index(group),
        deepseek=latent_figures(latent),
        pairs=whole(cached(config, n)[PARTS.index("scores")]),
    )


def known(model: Architecture, largest: Architecture) -> Known:
    """A model as text; its bar is measured against what `largest` would hold without sharing."""
    c, group = model.config, model.config.n_head // model.config.n_kv_head
    shapes = param_shapes(replace(c, n_layer=1))
    row = model.row
    return Known(
        name=model.name,
        kind=model.sharing,
        n_head=whole(c.n_head),
        n_kv_head="" if model.latent else whole(c.n_kv_head),
        head_dim=whole(c.head_dim),
        n_layer=whole(c.n_layer),
        row=whole(row),
        per_token=whole(model.bytes_per_token(SIZE)),
        if_mha=whole(model.bytes_if_mha(SIZE)),
        full=number(model.cache_bytes(c.n_ctx, 1, SIZE) / 2**20, 0),
        width=percent(model.bytes_per_token(SIZE) / largest.bytes_if_mha(SIZE)),
        sharing=[list(range(i * group, (i + 1) * group)) for i in range(c.n_kv_head)],
        shapes=[(name, f"[{', '.join(map(str, shapes['layer0.' + name]))}]") for name in ("wq", "wk", "wv")],
    )


def latent_figures(model: Architecture) -> dict[str, str]:
    """What there is to say of a model with one short row for all heads."""
    c = model.config
    return {
        "quotient": whole(c.n_embd // c.n_head),  # what head_dim would be if it were n_embd / n_head
        "group": whole(2 * c.head_dim),  # numbers of one key head and one value head
        "groups": number(model.row / (2 * c.head_dim)),
    }
