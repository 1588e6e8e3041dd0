"""From text to next token: the loop pass by pass, and the choices that it might have made. Knows no HTML."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from microgpt.architectures.known import PRESETS
from microgpt.config import Array, Report, n_params
from microgpt.course.next_token.questions import asks
from microgpt.decode import likeliest, probabilities
from microgpt.errors import N_
from microgpt.experiments import loop
from microgpt.experiments.loop import LoopPass
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.counters import candidates
from microgpt.viz.drawing.heat import Strip, scale_for
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import Model, shipped

N_GUESSES = 6  # likeliest next tokens that are shown
# how tokens stand beside each other, and how many letters then fit, a gap after each token
CROWDS = ("", 50), ("small", 66), ("smaller", 84)
TEMPERATURES = (0.5, 1.0, 2.0)
SENTENCE_SEEDS = range(5)  # of the drawn sentences; the first five, not the best five
EVENTS_KEPT = ("embed", "logits", "sample")  # of every pass in the page's own trace; all of it would be megabytes
LARGE_CONFIGS = {name: PRESETS[name].config for name in ("GPT-2 124M", "Llama-3-8B")}


class Chip(NamedTuple):
    """A token of the text, its id, and whether an earlier pass has run it already."""

    token: str
    token_id: int
    again: bool


class Stop(NamedTuple):
    """A place on the way through the model: its name, layer, shape, and a mark a row: again, new or nothing."""

    name: str
    layer: int  # -1 outside
    shape: tuple[int, ...]
    cells: list[str]


class PassView:
    """One pass, in the order of its computation; `so_far` and `again` count token passes up to its end, of `total`."""

    def __init__(
        self, model: Model, one: LoopPass, strips: list[tuple[str, Strip]], so_far: int, again: int, total: int
    ) -> None:
        n, c, logits = len(one.trace["embed", 0]), model.config, one.trace["logits", 0]
        marks = ["again"] * one.again + ["new"] * (n - one.again)
        layers = [Stop(N_("layer"), at, one.trace["mlp_out", 0, at].shape, marks) for at in range(c.n_layer)]
        head = Stop(N_("logits"), -1, logits.shape, [""] * (n - len(logits)) + marks[-len(logits) :])
        pairs = zip(one.token_ids, marks, strict=True)
        self.chips = [Chip(word(model, token_id), token_id, mark == "again") for token_id, mark in pairs]
        self.n, self.again, self.pos = n, one.again, n - 1
        self.crowd = crowd([chip.token for chip in self.chips])
        self.token = word(model, one.token_ids[-1])  # the last one, which all is about
        self.strips = strips  # what its vector is made of
        self.stops = [Stop(N_("embedding"), -1, one.trace["embed", 0].shape, marks), *layers, head]
        self.guesses = candidates(one.logits, probabilities(one.logits), one.choice, N_GUESSES, partial(word, model))
        self.choice, self.draw = word(model, one.choice), word(model, one.draw)
        # the model has chosen to stop, or nothing more fits
        self.ends = one.choice == model.tokenizer.start or n == c.n_ctx
        self.text = [chip.token for chip in self.chips]  # of the next pass, without the choice
        self.so_far, self.so_far_again = so_far, again
        self.share_new, self.share_again = (so_far - again) / total, again / total  # of the whole loop


class View:
    """The whole loop on one text."""

    def __init__(self, settings: Settings) -> None:
        model = shipped(settings.model)
        trace = Trace({"model": model.name, "config": asdict(model.config), "prompt": settings.prompt})

        def keep(report: Report) -> None:
            if report[0] in EVENTS_KEPT:
                trace(report)

        passes = loop.run_loop(model, settings.prompt, settings.temperature, settings.top_k, settings.seed, keep)
        tokens = [model.tokenizer.vocabulary[i] for i in passes[-1].token_ids]
        trace.about |= {"n_prompt": len(passes[0].token_ids), "tokens": tokens, "passes": len(passes)}
        trace.about |= {"vocabulary": model.tokenizer.vocabulary}
        c = model.config
        total, again = loop.token_passes(passes)
        at = loop.most_open(passes)
        first_ids, others = passes[0].token_ids, likeliest(passes[at].logits, N_GUESSES)
        other = next(i for i in reversed(others) if i != passes[at].choice)
        table = [
            (t, chance(passes[at].logits, t, others[0]), chance(passes[at].logits, t, other)) for t in TEMPERATURES
        ]
        self.trace = trace
        self.choices = (Choice("pass", range(len(passes)), at or min(1, len(passes) - 1)),)  # where the choice is open
        self.passes = pass_views(model, passes)
        self.labels = [(i, word(model, one.choice)) for i, one in enumerate(passes, start=1)]
        self.config = c
        self.n_params = n_params(c)
        self.temperature = settings.temperature or 1.0
        self.start = word(model, model.tokenizer.start)
        self.total = total  # token passes
        self.total_again = again
        self.total_new = total - again
        self.percent_again = 100 * again / total
        self.difference = max(one.difference for one in passes)
        self.open_text = model.tokenizer.decode(passes[at].token_ids)
        self.open_pass = at
        self.open_best = word(model, others[0])
        self.open_other = word(model, other)
        self.open_table = table  # temperature, probability of both
        self.other_text = model.tokenizer.decode(loop.complete(model, [*passes[at].token_ids, other]))
        self.drawn = [model.tokenizer.decode(loop.complete(model, first_ids, 1.0, seed)) for seed in SENTENCE_SEEDS]
        self.asks = asks(model, passes, *table[-1])


view = View


def pass_views(model: Model, passes: list[LoopPass]) -> list[PassView]:
    """All passes, on one heat scale and one scale of bars."""
    made_of = [vector_parts(model, one) for one in passes]
    scale = scale_for(*(values for rows in made_of for _, values in rows))
    total, _ = loop.token_passes(passes)
    return [
        PassView(model, one, [(name, scale.strip(values)) for name, values in rows], *loop.token_passes(upto), total)
        for one, rows, upto in zip(passes, made_of, accumulate([one] for one in passes), strict=True)
    ]


def crowd(words: Sequence[str]) -> str:
    """How words can stand side by side, each in a column of the same width: as they are, smaller, or upright."""
    letters = len(words) * (1 + max(map(len, words)))
    return next((name for name, most in CROWDS if letters <= most), "upright")


def vector_parts(model: Model, one: LoopPass) -> list[tuple[str, Array]]:
    """What the vector of the last token is made of as it enters the stack."""
    token_id, pos = one.token_ids[-1], len(one.token_ids) - 1
    if model.config.position != "learned":
        return [(N_("its row of the table"), one.trace["embed", 0][-1])]
    return [
        (N_("its row of the table"), model.params["wte"][token_id]),
        (N_("plus the row of its position"), model.params["wpe"][pos]),
        (N_("the sum goes in"), one.trace["embed", 0][-1]),
    ]


def chance(logits: Array, temperature: float, token_id: int) -> float:
    return float(probabilities(logits, temperature)[token_id])


def word(model: Model, token_id: int) -> str:
    return show(model.tokenizer.vocabulary[token_id])
