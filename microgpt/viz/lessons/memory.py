"""What the cache costs in memory: this model's, counted; known models', by formula; the reader's own config.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from microgpt.architectures import Architecture
from microgpt.architectures.known import PRESETS
from microgpt.checkpoints.config_json import from_config_json
from microgpt.cost import kv_bytes
from microgpt.errors import N_, UserError
from microgpt.trace import Trace
from microgpt.viz.controls import Choice, Control, Field
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.patches import Patch, State, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings, parse_number
from microgpt.viz.text.formats import number, percent, whole

GIB = 2**30
CARD = 24  # GiB of memory, for "how many fit"
FIRST = "Llama-3-8B"  # of the models that are on show
SIZES = {"float32": 4, "bfloat16": 2, "float8": 1}  # bytes a number
MOST = 10**9  # of tokens, of sequences, of GiB


class Held(NamedTuple):
    """What one head of one layer holds at the end of the text."""

    layer: int
    head: int
    k: str
    v: str
    used: int  # share of the reserved rows, as a bar width


class Read(NamedTuple):
    """One decode step at a context: bytes of weights and of cache that it must read, as text and bar widths."""

    tokens: str
    weights: str
    cache: str
    weights_width: int
    cache_width: int


class Known(NamedTuple):
    """A model by its shape, everything as text."""

    name: str
    source: str
    sharing: str
    factors: list[tuple[str, str]]  # number, what it counts; their product is per_token
    per_token: str
    if_mha: str
    times: str  # how much larger it would be
    context: str
    window: str
    full: str  # cache of one sequence that fills the context
    weights: str
    params: str
    crossing: str  # "" where a window keeps the cache from ever outweighing the weights
    sequences: str
    card: str
    at: str  # tokens of each of these sequences
    reads: list[Read]
    batch: str
    crossing_in_batch: str
    active: str  # weights that one token reads, where it runs only some of them


class View(NamedTuple):
    """The page."""

    trace: Trace
    choices: tuple[Choice, ...]
    n: int
    n_layer: int
    config: dict[str, str]
    held: list[Held]
    total: dict[str, str]
    known: list[Known]
    names: list[str]
    calculated: Known
    fields: tuple[Control, ...]  # of the form: a model, bytes a number, texts, tokens in each, GiB, a config.json


def view(settings: Settings) -> View:
    recording = settings.recording()
    trace, config = recording.run(), recording.model.config
    picture = Picture(trace)
    n = picture.n
    held = [e for e in trace if e.name in ("k", "v")]
    numbers = sum(np.size(e.value) for e in held)

    def of_head(name: str, layer: int) -> str:
        """Numbers that one head holds, from the shapes of what joined the cache."""
        return whole(sum(e.value.shape[-1] for e in held if (e.name, e.layer) == (name, layer)))  # type: ignore[union-attr]

    heads = [
        Held(layer, head, of_head("k", layer), of_head("v", layer), percent(n / config.n_ctx))
        for layer in range(config.n_layer)
        for head in range(config.n_kv_head)
    ]
    known = [describe(one) for one in PRESETS.values()]
    names = [one.name for one in known]
    return View(
        trace=trace,
        choices=(Choice("known", range(len(known)), names.index(FIRST)),),
        n=n,
        n_layer=config.n_layer,
        config={"n_ctx": whole(config.n_ctx)},
        held=heads,
        total={
            "numbers": whole(numbers),
            "half": whole(2 * numbers),
            "per_token": whole(2 * numbers // n),
            "formula": whole(kv_bytes(config, n, 2)),
        },
        known=known,
        names=names,
        calculated=describe(PRESETS[FIRST]),
        fields=(
            Choice("preset", names, FIRST),
            Choice("size", tuple(SIZES), "bfloat16"),
            Field("batch", "8", 1, MOST),
            Field("tokens", "4096", 1, MOST),
            Field("memory", str(CARD), 1, MOST),
            Field("config"),
        ),
    )


def describe(model: Architecture, tokens: int = 0, batch: int = 8, size: int = 2, memory: int = CARD * GIB) -> Known:
    """All that the page says of a model; `tokens` 0 stands for its whole context."""
    c, full = model.config, tokens or model.config.n_ctx
    if model.latent:
        factors = [(whole(c.n_layer), N_("layers")), (whole(model.row), N_("numbers in the shared row"))]
    else:
        factors = [
            ("2", N_("K and V")), (whole(c.n_layer), N_("layers")), (whole(c.n_kv_head), N_("key and value heads")),
            (whole(c.head_dim), N_("numbers a head")),
        ]  # fmt: skip
    factors.append((whole(size), N_("bytes a number")))
    marks = sorted({max(1, full // 16), max(1, full // 4), full})
    read = model.weight_bytes_read(size, batch)
    most = read + model.cache_bytes(full, batch, size)
    reads = [
        Read(
            whole(t), amount(read), amount(model.cache_bytes(t, batch, size)),
            percent(read / most), percent(model.cache_bytes(t, batch, size) / most),
        )
        for t in marks
    ]  # fmt: skip
    return Known(
        name=model.name,
        source=model.source,
        sharing=model.sharing,
        factors=factors,
        per_token=whole(model.bytes_per_token(size)),
        if_mha=whole(model.bytes_if_mha(size)),
        times=number(model.bytes_if_mha(size) / model.bytes_per_token(size), 1),
        context=whole(full),
        window=whole(model.window) if model.window else "",
        full=amount(model.cache_bytes(full, 1, size)),
        weights=amount(model.weight_bytes(size)),
        params=whole(model.n_params),
        crossing=tokens_of(model.crossing(1, size, size)),
        sequences=whole(model.sequences(memory, full, size, size)),
        card=amount(memory),
        at=whole(full),
        reads=reads,
        batch=whole(batch),
        crossing_in_batch=tokens_of(model.crossing(batch, size, size)),
        active=amount(model.weight_bytes_read(size)) if model.experts else "",
    )


def tokens_of(n: int | None) -> str:
    return "" if n is None else whole(n)


def amount(n_bytes: float) -> str:
    """Bytes in the unit that suits them."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.1f} TiB"


def calculate(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The reader's own numbers: a preset, or a config.json that was pasted."""
    pasted = fields.get("config", "").strip()
    model = from_config_json(pasted) if pasted else preset(fields["preset"])
    if fields["size"] not in SIZES:
        raise UserError(N_("There is no number format “%(text)s” here."), text=fields["size"][:40])
    known = describe(
        model,
        counted(fields["tokens"], N_("The context is “%(text)s”; give a whole number of tokens from 1 to %(most)s.")),
        counted(fields["batch"], N_("The batch is “%(text)s”; give a whole number of sequences from 1 to %(most)s.")),
        SIZES[fields["size"]],
        counted(fields["memory"], N_("The memory is “%(text)s”; give a whole number of GiB from 1 to %(most)s.")) * GIB,
    )
    return state, [patch("#calculated", render.render("lessons/memory/_known.html", known=known))]


def preset(name: str) -> Architecture:
    if name not in PRESETS:
        raise UserError(N_("There is no model “%(name)s” in the list."), name=name[:40])
    return PRESETS[name]


def counted(text: str, message: str) -> int:
    found: Any = parse_number(text, int, message, most=whole(MOST))
    if not 1 <= found <= MOST:
        raise UserError(message, text=text[:40], most=whole(MOST))
    return int(found)


HOOKS = {"calculate": calculate}
