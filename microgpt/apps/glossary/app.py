"""The glossary: a small picture for each word, of a run of `names`, or of `stories` for what only that has.

pictures.svg draws them; here is what they show.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from microgpt.caches.blocks import BlockPool
from microgpt.caches.prefix import begin, publish
from microgpt.config import Array, param_shapes
from microgpt.course import page
from microgpt.decode import prefill
from microgpt.experiments import allocation
from microgpt.experiments.gradient import gradients, losses
from microgpt.experiments.loop import rotary_angles
from microgpt.experiments.trainer import Trainer
from microgpt.trace import Trace
from microgpt.viz import views
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.counters import Guess
from microgpt.viz.drawing.heat import Strip, scale_for
from microgpt.viz.drawing.kit.places import SMALL_WIDTH
from microgpt.viz.drawing.kit.sketch import Sketch, sketch
from microgpt.viz.drawing.picture import Meeting, Picture
from microgpt.viz.rendering.draw import draw_figure, thumb
from microgpt.viz.settings import Settings
from microgpt.viz.text.glossary import GLOSSARY
from microgpt.weights import shipped

PILE_ROWS = 4  # of a pile: the prompt's
N_STEPS = 5  # of what grows step by step


class View:
    """What the pictures are drawn from: the prompt's last step, in the head whose weights differ most."""

    choices: tuple[Choice, ...] = ()

    def __init__(self, settings: Settings) -> None:
        self.recording = settings.run()
        self.machine = Picture(self.recording.trace)
        self.i = self.recording.n_prompt - 1
        self.rows = range(max(0, self.i + 1 - PILE_ROWS), self.i + 1)  # the newest of the pile
        self.with_start = [self.machine.row_token(i) for i in range(self.machine.n)]
        self.tokens = self.with_start[1:]
        self.n_prompt, self.n = self.recording.n_prompt, self.machine.n
        self.n_ctx, self.n_head = self.machine.config.n_ctx, self.machine.config.n_head
        self.own = self.machine.clearest[1]
        self.ids = self.recording.ids[:PILE_ROWS]
        self.target = [*self.recording.ids[: self.n_prompt], self.recording.stop]  # the prompt, as a text to learn
        self.stories = shipped("stories").config
        self.guesses: list[Guess] = self.machine.step(self.i).guesses[:PILE_ROWS]

    def picture(self, slug: str) -> Sketch:
        """That of a word, in the language that is set; of a word that has none of its own, that of its lesson."""
        term = GLOSSARY[slug]
        if not term.own_picture:
            lesson = page(term.page)
            return thumb(lesson, views.of(lesson))._replace(width=SMALL_WIDTH)
        sheet, _ = draw_figure(["apps/glossary/pictures.svg"], slug.replace("-", "_"), view=self)
        return sketch(sheet.pieces)._replace(width=SMALL_WIDTH)

    def value(self, name: str, i: int | None = None) -> Array:
        """What was reported at a step: one row of numbers."""
        layer = -1 if name in ("embed", "resid_final", "logits") else 0
        return np.asarray(self.recording.trace[name, self.i if i is None else i, layer]).reshape(-1)

    def strip(self, name: str) -> Strip:
        """That of this step, as cells on a scale of its own."""
        values = self.value(name)
        return scale_for(values).strip(values)

    def heads(self, name: str, i: int) -> list[Strip]:
        """The row of each head of the first layer, as cells without numbers."""
        return [one._replace(digits=None) for one in self.machine.per_head(name, i)[: self.n_head]]

    def head(self, name: str, i: int) -> Strip:
        found: Strip = self.machine.of(self.machine.per_head(name, i))
        return found._replace(digits=None)

    def weights(self, i: int) -> list[float]:
        """Those of q of a step."""
        layer, head = self.machine.clearest
        found: list[float] = self.recording.trace["attn_weights", i, layer][head, 0].tolist()
        return found

    @cached_property
    def meetings(self) -> list[Meeting]:
        """q of this step with each row of the pile."""
        return [meet for meet in self.machine.of(self.machine.meetings(self.i)) if meet.row in self.rows]

    @property
    def best(self) -> Meeting:
        return max(self.meetings, key=lambda meet: meet.weight)

    @property
    def products(self) -> list[float]:
        """q and the key that it likes best, number by number."""
        pairs = zip(self.head("q", self.i).cells, self.head("k", self.best.row).cells, strict=True)
        return [one.value * other.value for one, other in pairs]

    @property
    def logits(self) -> list[float]:
        found: list[float] = self.value("logits").tolist()
        return found

    @property
    def before(self) -> list[float]:
        """How long the rows of the text are before they are normalised."""
        return [float(np.linalg.norm(self.value("embed", i))) for i in range(self.i + 1)]

    @property
    def after(self) -> list[float]:
        return [float(np.linalg.norm(self.value("resid_pre", i))) for i in range(self.i + 1)]

    @property
    def tables(self) -> tuple[list[int], list[int]]:
        """The blocks of the text and of another one that takes turns with it, when both hold the most."""
        steps = allocation.take_turns(self.recording.model, [self.ids, self.ids], 1, Trace())
        mine, other = max((step.tables for step in steps), key=lambda tables: sum(map(len, tables)))
        return list(mine), list(other)

    @property
    def hits(self) -> list[int]:
        """The rows that are found when the same text comes for the first time, and for the second."""
        model, counts = self.recording.model, []
        pool = BlockPool(model.config, 2 * PILE_ROWS, 1)
        for _ in range(2):
            counts.append(len(cache := begin(pool, self.ids)))
            prefill(model.params, model.config, self.ids[counts[-1] :], cache)
            publish(cache, self.ids)
        return counts

    @property
    def rays(self) -> list[list[tuple[float, float]]]:
        """Where the first two pairs of a key point to at the first positions: to the right, and up."""
        angles = [rotary_angles(self.stories, at)[:2] for at in range(N_STEPS)]
        return [[(math.cos(one[pair]), math.sin(one[pair])) for one in angles] for pair in range(2)]

    @property
    def layers(self) -> list[dict[str, int]]:
        """How many numbers each matrix has in the layers of a deeper model."""
        config = shipped("names-deep").config
        shapes = param_shapes(config)
        names = "wq", "wk", "wv", "wo", "fc1", "fc2"
        return [{name: math.prod(shapes[f"layer{at}.{name}"]) for name in names} for at in range(config.n_layer)]

    @property
    def gradient(self) -> list[float]:
        """That of one token's embedding, as shares of its largest number."""
        model = self.recording.model
        found = gradients(model.params, model.config, self.target)["wte"][self.target[1]]
        shares: list[float] = (found / np.abs(found).max()).tolist()
        return shares

    @property
    def chances(self) -> list[tuple[float, float]]:
        """How likely each right next token is, before training and after."""
        models = Trainer().model(), self.recording.model
        chances = [np.exp(-losses(one.params, one.config, self.target)).tolist() for one in models]
        return list(zip(*chances, strict=True))


view = View
