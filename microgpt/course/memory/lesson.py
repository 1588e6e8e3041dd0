"""What the cache costs in memory: this model's, counted; known models', by formula; the reader's own config.json."""

from collections.abc import Mapping
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from microgpt.architectures import Architecture
from microgpt.architectures.config_json import from_config_json
from microgpt.architectures.known import FIRST_PRESETS, PRESETS
from microgpt.cost import kv_bytes
from microgpt.course.memory.questions import asks
from microgpt.errors import N_, UserError
from microgpt.viz.controls import Choice, Field
from microgpt.viz.patches import Patch, State, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings, parse_number
from microgpt.viz.text.formats import whole

GB = 10**9
CARD_GB = 24  # GB of memory, for "how many fit"
FIRST_MODEL = "Llama-3-8B"  # of the models that are on show
ROW_KINDS = ("k", "v")  # what is kept
BYTES_OF = {"float32": 4, "bfloat16": 2, "float8": 1}  # bytes a number
MOST_COUNT = 10**9  # of tokens, of sequences, of GB


FIELDS = (  # of the form: a model, bytes a number, texts, tokens in each, GB, a config.json
    Choice("preset", tuple(PRESETS), FIRST_MODEL),
    Choice("size", tuple(BYTES_OF), "bfloat16"),
    Field("batch", "8", 1, MOST_COUNT),
    Field("tokens", "4096", 1, MOST_COUNT),
    Field("memory", str(CARD_GB), 1, MOST_COUNT),
    Field("config"),
)
ASKED = ("kinds", "layers", "heads", "numbers", "bytes")  # what can be asked where it comes from: the factors
# bytes of the inside of one MLP of FIRST_MODEL, when such a text is run in one pass
ACTIVATIONS = 2 * PRESETS[FIRST_MODEL].config.n_mlp * PRESETS[FIRST_MODEL].config.n_ctx
GIB_OVER_GB = 2**30 / GB - 1  # of a GiB, than of a GB; as a share


class Factor(NamedTuple):
    """A factor of the bytes per token."""

    n: int
    what: str  # it counts
    side: str  # of the box, that it is
    names: tuple[str, ...]  # it is asked for by; the shared row stands for all that make the width of others


class ModelShape:
    """What the page says of a model; `tokens` 0 stands for its whole context. What it holds and reads is in bytes."""

    def __init__(
        self, model: Architecture, tokens: int = 0, batch: int = 8, size: int = 2, memory: int = CARD_GB * GB
    ) -> None:
        c, full = model.config, tokens or model.config.n_ctx
        layers = Factor(c.n_layer, N_("layers"), N_("the height of the box"), ("layers",))
        if model.latent:
            shared = Factor(
                model.row, N_("numbers in the shared row"), N_("the width of the box"), ("numbers", "heads", "kinds")
            )
            factors = [layers, shared]
        else:
            factors = [
                Factor(len(ROW_KINDS), N_("K and V"), N_("the two halves of the box"), ("kinds",)),
                layers,
                Factor(c.n_kv_head, N_("key and value heads"), N_("the parts of each half"), ("heads",)),
                Factor(c.head_dim, N_("numbers per head"), N_("the width of a part"), ("numbers",)),
            ]
        self.model, self.batch, self.card, self.context = model, batch, memory, full
        # their product is per_token
        self.factors = [*factors, Factor(size, N_("bytes per number"), N_("of all that is in the box"), ("bytes",))]
        self.per_token = model.bytes_per_token(size)
        self.pairs = [(factor.n, factor.what) for factor in self.factors]
        self.names = [factor.names for factor in self.factors]
        self.rest = [self.per_token // factor.n for factor in self.factors]  # bytes, for each of what a factor counts
        self.if_mha = model.bytes_if_mha(size)
        self.times = self.if_mha / self.per_token  # how much larger it would be
        self.windowed = sum(map(bool, model.windows))  # layers that have a window
        self.full = model.cache_bytes(full, 1, size)  # cache of one text that fills the context
        self.weights = model.weight_bytes(size)
        self.read = model.weight_bytes_read(size)  # that a step of one text reads
        # None where a window keeps the cache from outweighing the weights
        self.crossing = model.crossing(1, size, size)
        self.crossing_in_batch = model.crossing(batch, size, size)
        self.sequences = model.sequences(memory, full, size, size)  # texts of `context` tokens that fit on the card
        read = model.weight_bytes_read(size, batch)
        caches = {n: model.cache_bytes(n, batch, size) for n in sorted({max(1, full // 16), max(1, full // 4), full})}
        most = read + caches[full]
        # one decode step at a context: tokens, bytes of weights and of cache, and their shares of the longest bar
        self.reads = [(n, read, cache, read / most, cache / most) for n, cache in caches.items()]


class View:
    """The page. The models that its words name are `known` ones."""

    def __init__(self, settings: Settings) -> None:
        trace, config = settings.trace(), settings.run().model.config
        n = len(trace.about["tokens"])
        held = [e for e in trace if e.name in ROW_KINDS]
        numbers = sum(np.size(e.value) for e in held)

        def of_head(name: str, layer: int) -> int:
            """Numbers that one head holds, from the shapes of what joined the cache."""
            return sum(e.value.shape[-1] for e in held if (e.name, e.layer) == (name, layer))  # type: ignore[union-attr]

        models = sorted((PRESETS[name] for name in FIRST_PRESETS), key=Architecture.bytes_per_token)
        known = {one.name: ModelShape(one) for one in models}
        names = list(known)
        self.trace, self.n, self.names = trace, n, names
        first = names.index(FIRST_MODEL)
        self.choices = (
            Choice("known", range(len(known)), first),
            Choice("against", range(len(known)), first, in_figure=False),
        )
        self.n_ctx = config.n_ctx
        # layer, head, and the numbers of k and of v that it holds at the end of the text
        self.held = [
            (layer, head, of_head("k", layer), of_head("v", layer))
            for layer in range(config.n_layer)
            for head in range(config.n_kv_head)
        ]
        self.used = n / config.n_ctx  # share of the reserved rows
        self.numbers = numbers  # all heads together; in bytes, of 16-bit numbers,
        self.bytes = 2 * numbers
        self.per_token = 2 * numbers // n
        self.formula = kv_bytes(config, n, 2)  # what `bytes` has to be
        self.known = list(known.values())
        # a token as a box: as wide as its numbers in a layer, as tall as the layers, in shares of the largest
        self.wide = [one.row / max(each.row for each in models) for one in models]
        self.tall = [one.config.n_layer / max(each.config.n_layer for each in models) for one in models]
        # the names of those boxes that reach out of the one which is on show first
        self.outer = [
            name if wide > self.wide[first] or tall > self.tall[first] else ""
            for name, wide, tall in zip(names, self.wide, self.tall, strict=True)
        ]
        self.gpt2 = known["GPT-2 124M"]
        self.smol = known["SmolLM2-135M"]
        self.llama2 = known["Llama-2-7B"]
        self.llama = known["Llama-3-8B"]
        self.deepseek = known["DeepSeek-V3"]
        # fewest texts, each as long as FIRST_MODEL sees, for which a step reads at least as much cache as weights
        self.crowd = crowd(PRESETS[FIRST_MODEL])
        self.asks = asks(PRESETS[FIRST_MODEL])
        self.fields = (*FIELDS, Choice("lens", ("", *ASKED), "", in_figure=False))


view = View


def can_be_asked() -> tuple[str, ...]:
    return ASKED


def crowd(model: Architecture) -> int:
    """How many texts of its whole context it takes until a step reads at least as much cache as weights."""
    n = model.config.n_ctx
    return next(batch for batch in count(1) if model.cache_bytes(n, batch) >= model.weight_bytes_read(batch=batch))


def calculate(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The reader's own numbers: a preset, or a config.json that was pasted."""
    pasted = fields.get("config", "").strip()
    if not pasted and fields["preset"] not in PRESETS:
        raise UserError("There is no model “%(name)s” in the list.", name=fields["preset"][:40])
    model = from_config_json(pasted) if pasted else PRESETS[fields["preset"]]
    if fields["size"] not in BYTES_OF:
        raise UserError("There is no number format “%(text)s” here.", text=fields["size"][:40])
    known = ModelShape(
        model,
        parse_count(
            fields["tokens"], N_("The context is “%(text)s”; give a whole number of tokens from 1 to %(most)s.")
        ),
        parse_count(
            fields["batch"], N_("The batch is “%(text)s”; give a whole number of sequences from 1 to %(most)s.")
        ),
        BYTES_OF[fields["size"]],
        parse_count(fields["memory"], N_("The memory is “%(text)s”; give a whole number of GB from 1 to %(most)s."))
        * GB,
    )
    return state, [patch("#calculated", render.render("course/memory/_known.html", known=known, asking=False))]


def parse_count(text: str, message: str) -> int:
    found: Any = parse_number(text, int, message, most=whole(MOST_COUNT))
    if not 1 <= found <= MOST_COUNT:
        raise UserError(message, text=text[:40], most=whole(MOST_COUNT))
    return int(found)


HOOKS = {"calculate": calculate}
