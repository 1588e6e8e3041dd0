"""Where there is no cache: what a mask lets each token see, and which rows that keeps right. Knows no HTML."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from microgpt.attention import cross
from microgpt.course.no_cache.mask import Experiment, drawing
from microgpt.course.no_cache.questions import asks
from microgpt.experiments.validity import another
from microgpt.serving.adapters import draw_adapter as drawn_adapter
from microgpt.serving.adapters import void
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.heat import row_pairs
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import Model

MASK_KINDS = ("causal", "blocks", "none")
SHOWN_STEPS = 6  # of the decoder
ADAPTED = (("wq",), ("wk",), ("wv",), ("wo",), ("fc1",))  # matrices, each in all layers
RANK = 2
DENOISED, DENOISING_PASSES = 256, (256, 64, 16)  # tokens of an answer, and passes over them
WHISPER_SOURCE, WHISPER_WRITTEN, SOURCE_SECONDS = 1500, 448, 30  # rows of the source, tokens at most; of speech, padded
FASTER = 27.6  # Fast-dLLM's best figure, against the same model without a cache
FIRST_LAYER = 0


class Adapted(NamedTuple):
    """What an adapter of these matrices does to the rows of each layer: the largest difference in K and in V."""

    name: str
    layer: int  # the only one that it changes; -1: all
    off: list[tuple[float, float]]

    @property
    def first(self) -> int:
        """The first layer with a row that has changed."""
        return next(i for i, pair in enumerate(self.off) if any(pair))


class View:
    """Three masks, and two changes of the text."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.recording()
        model = recording.model
        recording.run_prompt()
        ids = recording.ids[: recording.n_prompt]
        n, at = len(ids), len(ids) - 1
        block = 4 if n % 4 else 3  # so that the text ends inside a block
        swapped = [*ids[:at], another(model.config, ids[at], model.tokenizer.start), *ids[at + 1 :]]
        changes = [("change", at, swapped)]
        if n < model.config.n_ctx:
            changes.insert(0, ("append", n, list(recording.ids[: n + 1])))
        experiments = [
            Experiment(
                model, kind, {"causal": 1, "blocks": block, "none": model.config.n_ctx}[kind], ids, what, where, now
            )
            for what, where, now in changes
            for kind in MASK_KINDS
        ]
        words = [[show(model.tokenizer.vocabulary[i]) for i in now] for _, _, now in changes for _ in MASK_KINDS]
        strips = row_pairs(
            model.config.head_dim, *(one.rows for one in experiments), *(one.then for one in experiments)
        )
        cached = {one.kind: rows for one, rows in zip(experiments, strips, strict=False)}
        longer = zip(experiments, strips[len(experiments) :], strict=True)
        written = {one.kind: rows for one, rows in longer if one.what == "append"}
        self.n, self.block, self.experiments = n, block, experiments
        self.trace = recording.trace
        self.choices = (Choice("mask", range(len(experiments)), MASK_KINDS.index("none")),)
        self.n_layer = model.config.n_layer
        self.drawing = drawing(experiments, words, cached, written)
        self.steps = decode(model, ids)
        self.known = models_in_use()
        self.adapted = adapt(model, ids)
        # passes over an answer, and the tokens that are run in them
        self.rounds = [(rounds, rounds * DENOISED) for rounds in DENOISING_PASSES]
        self.asks = asks()

    def of(self, kind: str, what: str) -> Experiment:
        return next(one for one in self.experiments if (one.kind, one.what) == (kind, what))


view = View


def decode(model: Model, ids: Sequence[int]) -> list[cross.CrossStep]:
    """The model as its own encoder, and with cross-attention of random numbers as a decoder that writes the same."""
    source = cross.encode(model.params, model.config, ids)
    params, config = cross.with_cross(model.params, model.config)
    return cross.decode_with_source(params, config, source, ids[:SHOWN_STEPS])


def adapt(model: Model, ids: Sequence[int]) -> list[Adapted]:
    """Adapters of random numbers: of one matrix in all layers, and of wk in the last layer alone."""
    last = model.config.n_layer - 1
    kinds = [(names[0], -1, names) for names in ADAPTED] + ([("wk", last, (f"layer{last}.wk",))] if last else [])
    found = []
    for name, layer, names in kinds:
        off = void(model.params, model.config, drawn_adapter(model.config, names, RANK), ids)
        found.append(Adapted(name, layer, [(k, v) for k, v in off.tolist()]))
    return found


@cache
def models_in_use() -> list[tuple[str, int, int]]:
    """Models with an encoder: the bytes of both caches of the decoder, of the source and its own, two a number."""
    shapes = {  # layers of the decoder, its width, rows of the source, rows that it writes at most
        "Whisper tiny": (4, 384, WHISPER_SOURCE, WHISPER_WRITTEN),
        "Whisper large-v3": (32, 1280, WHISPER_SOURCE, WHISPER_WRITTEN),
        "T5-base": (12, 768, 512, 512),
    }
    return [
        (name, cross.nbytes(n_layer, width, source), cross.nbytes(n_layer, width, own))
        for name, (n_layer, width, source, own) in shapes.items()
    ]
