"""Fewer heads: the running model with its heads shared in every possible way, and models in use by their shapes."""

from __future__ import annotations

from dataclasses import replace

from microgpt.architectures.known import PRESETS
from microgpt.config import param_shapes
from microgpt.cost import PARTS, step_macs
from microgpt.course.fewer_heads import training
from microgpt.course.fewer_heads.questions import asks
from microgpt.course.fewer_heads.readers import Readers, lines, readers, readers_of
from microgpt.course.fewer_heads.variants import ORIGINS, Trial
from microgpt.experiments.shared_heads import choices, in_turn, quality
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import SHIPPED, shipped

__all__ = ["ORIGINS", "quality", "readers_of", "view"]  # and what the templates read

SHORTEST = 4  # the short rows that are tried: this many widths, up to n_embd
BYTES_A_NUMBER = 2  # bytes a number: 16 bits
ROW_KINDS = ("k", "v")  # what is kept
MATRICES = ("wq", "wk", "wv")


class View:
    """One text, in every way."""

    def __init__(self, settings: Settings) -> None:
        """Run the text, then run it again in every other way."""
        recording = settings.run()
        model = recording.model
        trace, config = recording.trace, model.config
        n = len(recording.cache)
        trial = Trial(model, recording.ids[:n], recording.n_prompt)
        counts = choices(config)
        short = [trial.short(max(1, config.n_embd * i // SHORTEST)) for i in range(1, SHORTEST + 1)]
        ways = [*(trial.share(m) for m in counts), short[SHORTEST // 2 - 1]]
        own = ways[counts.index(config.n_kv_head)]
        smol, llama, latent = PRESETS["SmolLM2-135M"], PRESETS["Llama-3-8B"], PRESETS["DeepSeek-V3"]
        c = smol.config
        counts_of_smol = choices(c)  # the published one among them
        variants = [replace(smol, config=replace(c, n_kv_head=m)) for m in counts_of_smol]
        published = counts_of_smol.index(c.n_kv_head)
        self.trace, self.n, self.short, self.own = trace, n, short, own
        self.own_way = ways.index(own)
        self.asked = readers(config)
        self.singles = [Readers(head, head) for head in range(config.n_head)]
        self.digits = trial.digits
        self.lines = [lines(config, way, own, self.digits) for way in ways]
        self.fields = (Choice("lens", ("", *(one.name for one in self.asked)), "", in_figure=False),)
        self.choices = (
            Choice("way", range(len(ways)), self.own_way),
            Choice("smol", range(len(variants)), published, in_figure=False),
        )
        self.model = model.name
        self.tokens = [show(token) for token in trace.about["tokens"][:n]]
        self.config = config
        self.queries = [query for group in own.groups for query in group.queries]  # of layer 0, the same in all ways
        self.ways = ways  # heads shared; the last one is the short row of half the width
        # of each way: its kind, and how many heads keep rows
        self.labels = [(way.kind, way.n) if way.n else (way.kind,) for way in ways]
        self.rows = [*ways[:-1], *short]  # the same, with short rows of all widths
        self.spaced = bool(model.tokenizer.joiner)  # tokens are words
        self.fewest = ways[len(counts) - 1]
        self.most_row = 2 * config.n_head * config.head_dim  # numbers of a row where every head has its own
        # K and V are wider than what they are computed from
        self.free = config.n_embd < 2 * config.n_kv_head * config.head_dim
        # multiply-adds of the last step's scores, in every way
        self.pairs = int(step_macs(config, n)[PARTS.index("scores")])
        self.variants = variants  # SmolLM2 with its heads shared in every way, from MHA to MQA
        self.variant_labels = [(one.sharing, one.config.n_kv_head) for one in variants]
        self.shares = [one.row / variants[0].row for one in variants]  # of what the largest holds
        # heads of K and V -> matrix -> out, in; the same in all layers
        shapes = {one.config.n_kv_head: param_shapes(one.config) for one in variants}
        self.shapes = {n: {name: found[f"layer0.{name}"] for name in MATRICES} for n, found in shapes.items()}
        self.smol = variants[published]  # as published
        self.misread = c.n_embd // c.n_kv_head
        self.known = list(PRESETS.values())
        self.deepseek = latent
        self.quotient = latent.config.n_embd // latent.config.n_head  # what its head_dim would be by that
        self.pair = 2 * latent.config.head_dim  # numbers of one key head and one value head
        self.groups = latent.row / self.pair  # so many of them are as long as the row
        self.asks = asks(llama, latent, in_turn(trace, config, n))
        self.trained, self.ticks = training.models()
        self.most, *self.fewer = self.trained  # heads
        # most of what a single head costs stays when it has as many weights
        self.by_sharing = self.fewer[-1].widened > self.fewer[-1].more / 2
        # to share from the first step beats averages that are trained further
        self.start_better = all(one.more < one.continued for one in self.fewer)

    def by(self, one: Readers) -> str:
        """The classes of what stays lit when such readers are asked for."""
        return " ".join(f"by-{other.name}" for other in self.asked if other.meet(one))


view = View


def can_be_asked() -> list[str]:
    """By the names of all readers that any of our models has here."""
    return sorted({one.name for name in SHIPPED for one in readers(shipped(name).config)})
