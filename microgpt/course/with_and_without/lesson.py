"""With the cache and without: two runs of one text side by side, step by step, and how their work grows.

The rows, logits and multiply-adds of both runs are those of a recording; the growth comes from the closed forms.
"""

from dataclasses import replace

import numpy as np

from microgpt.architectures.known import PRESETS
from microgpt.config import Array, Config
from microgpt.cost import PARTS, count, kv_bytes
from microgpt.course.with_and_without import exact
from microgpt.course.with_and_without.curves import CURVE_KINDS, CURVE_NAMES, CURVES, FAR, POWERS, curves, slopes
from microgpt.course.with_and_without.questions import asks
from microgpt.course.with_and_without.race import HOOKS, LENGTHS
from microgpt.decode import likeliest
from microgpt.experiments import growth
from microgpt.experiments.growth import BASELINES, GROUPS
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.lens import Sum, add, logit_factors
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import SHIPPED, Model

__all__ = ["HOOKS", "POWERS", "view"]  # and what the templates read

GPT2_CONFIG = PRESETS["GPT-2 124M"].config
NUMBERS = (0.1, 0.2, 0.3)  # added in two orders
LOGIT = 4  # decimals of a logit
ASKED = ("ran", "logit")  # where they come from: the tokens that have run, and the likeliest one's logit
N_GUESSES = 4  # likeliest next tokens that are shown
DEPTHS, REFERENCE_N = (1, 2, 4), 16  # the published totals: microgpt with so many layers and its whole context
HALF_FAR = FAR // 2


class StepPair:
    """One step of both runs; `most` is the part that the longest bar stands for, `stops`: the text ends with it.

    `runs` counts the tokens that a rerun has run in all steps so far, `again` those of them that it had run before.
    """

    def __init__(self, trace: Trace, i: int, ours: Array, again: Array, most: float, model: Model) -> None:
        tokens, vocabulary = trace.about["tokens"], trace.about["vocabulary"]
        logits, logits_again = trace["logits", i][0], trace["recompute_logits", i]
        chosen = trace.number("sample", i)
        self.number, self.runs, self.again = i + 1, (i + 1) * (i + 2) // 2, i * (i + 1) // 2
        # each part of the model, its multiply-adds with the cache and without, and both as shares of the longest bar
        pairs = zip(PARTS, ours.tolist(), again.tolist(), strict=True)
        self.parts = [(part, a, b, a / most, b / most) for part, a, b in pairs]
        self.total_with, self.total_without = int(ours.sum()), int(again.sum())
        # likeliest next tokens, and their logits in both runs
        likely = likeliest(logits, N_GUESSES)
        self.guesses = [(show(vocabulary[t]), float(logits[t]), float(logits_again[t])) for t in likely]
        self.line = logit_line(trace, i, model, int(likely[0]))  # where the logit of the first comes from
        self.difference = difference(trace, i)
        self.follows = show(tokens[i + 1] if chosen is None else vocabulary[chosen])  # the token that comes next
        self.chosen, self.stops = chosen is not None, chosen in model.tokenizer.stops  # by the model
        self.totals = list[tuple[str, str, int, float]]()


class View:
    """Everything that the page places. A dict by group is of GROUPS, one by way of BASELINES."""

    def __init__(self, model: Model, trace: Trace) -> None:
        config, n = model.config, len(trace.about["tokens"])
        steps = both_runs(trace, model)
        work = {b: {g: growth.group_macs(config, b, g, n) for g in GROUPS} for b in BASELINES}
        far = {b: growth.group_macs(config, b, "total", FAR) for b in BASELINES}
        saved = {g: work["naive"][g] - work["cached"][g] for g in GROUPS}
        twice = {b: round(2 ** growth.exponent(config, b, "attention", FAR)) for b in BASELINES}
        groups, layers = ["projections", "mlp", "attention", "head"], max(config.n_layer, DEPTHS[-1])
        self.trace, self.n, self.steps = trace, n, steps
        self.choices = (
            Choice("step", range(n), trace.about["n_prompt"] - 1),
            Choice("work", range(n), n - 1, in_figure=False),
            Choice("group", range(len(CURVES)), len(CURVES) - 1, in_figure=False),
            Choice("numbers", range(len(SHIPPED)), in_figure=False),
            Choice("race_length", LENGTHS, LENGTHS[-1], in_figure=False),
        )
        self.fields = (Choice("lens", ("", *ASKED), "", in_figure=False),)
        self.model = model.name
        self.config = config
        self.context_ends = config.n_ctx < FAR  # before the curves do
        self.labels = [(i, show(token)) for i, token in enumerate(trace.about["tokens"], start=1)]
        self.difference = max(difference(trace, i) for i in range(n))  # over all steps
        # the steps, from 1, whose likeliest token is not the same in both runs
        self.others = [
            i + 1 for i in range(n) if trace["logits", i][0].argmax() != trace["recompute_logits", i].argmax()
        ]
        self.saved_rows = n * (n - 1) // 2  # rows that a rerun computes again, over all steps
        self.ratio = ratio(config, "naive", n)  # all again / with the cache
        self.ratio_needed = ratio(config, "needed", n)
        # only needed / with the cache, if the model had one layer
        self.one_layer = ratio(replace(config, n_layer=1), "needed", n)
        self.deep = ratio(replace(config, n_layer=layers), "needed", n)  # the same with deep_layers
        self.deep_layers = layers
        self.reference = [reference_sums(depth) for depth in DEPTHS]
        # of the work with the cache, by group
        self.shares = {g: work["cached"][g] / work["cached"]["total"] for g in GROUPS}
        self.saved = saved  # multiply-adds, by group
        self.saved_shares = {g: x / saved["total"] for g, x in saved.items()}
        self.largest_part = max(groups, key=work["cached"].__getitem__)  # of projections, mlp, attention and head
        self.largest = max(work["cached"][g] for g in groups) / work["cached"]["total"]
        self.charts = [curves(config, group, log=True) for group in CURVES]
        self.slopes = [slopes(config, group) for group in CURVES]
        self.linear = curves(config, "total", log=False)
        self.totals_far = far
        self.ratio_far = far["naive"] / far["cached"]
        self.attention_doubled = twice
        # (query, key) pairs a head: of the last step of a rerun, as of all steps with the cache; and of all steps
        self.pairs, self.all_pairs = n * (n + 1) // 2, n * (n + 1) * (n + 2) // 6
        self.crossing = growth.crossing(config)
        self.gpt2_crossing = growth.crossing(GPT2_CONFIG)
        self.row_bytes = kv_bytes(config, 1, 2)
        self.cache_bytes = [(t, kv_bytes(config, t, 2)) for t in (1, 10, 100, FAR)]  # (tokens, bytes in 16-bit numbers)
        a, b, c = NUMBERS
        self.left, self.right = (a + b) + c, a + (b + c)
        self.tested = [exact.Tested(name) for name in SHIPPED]  # in shorter numbers, model by model
        self.asks = asks(model, trace.about["tokens"], twice)


def can_be_asked() -> tuple[str, ...]:
    return ASKED


def view(settings: Settings) -> View:
    """Run the text to its end in both ways."""
    return View(settings.run().model, settings.trace())


def of_large(model: Model, picture: Picture) -> View:
    """The view of a text that a large model has run."""
    return View(model, picture.trace)


def ratio(config: Config, baseline: str, n: int) -> float:
    """How many times the work of the cache this way takes for n tokens."""
    return growth.group_macs(config, baseline, "total", n) / growth.group_macs(config, "cached", "total", n)


def reference_sums(n_layer: int) -> tuple[int, list[tuple[int, float]]]:
    """A model with so many layers: multiply-adds of a text in each of BASELINES, and how many times the first."""
    config = Config(n_layer=n_layer)
    work = [(growth.group_macs(config, b, "total", REFERENCE_N), ratio(config, b, REFERENCE_N)) for b in BASELINES]
    return n_layer, work


def difference(trace: Trace, i: int) -> float:
    """The largest difference between the logits of step i in the two runs."""
    return float(np.abs(trace["logits", i][0] - trace["recompute_logits", i]).max())


def logit_line(trace: Trace, i: int, model: Model, token_id: int) -> Sum | None:
    """The products that the logit of a token at step i is the sum of; None where more is done to it."""
    (row,), matrix = logit_factors(model.params, model.config, trace["resid_final", i])
    pairs = list(zip(row.tolist(), matrix[token_id].tolist(), strict=True))
    return add(pairs, float(trace["logits", i][0][token_id]), LOGIT)


def both_runs(trace: Trace, model: Model) -> list[StepPair]:
    """Every step, with the multiply-adds that were counted in both runs."""
    config, n = model.config, len(trace.about["tokens"])
    ours = [count(config, [e for e in trace if e.pos == i]) for i in range(n)]
    again = [trace["recompute_macs", i] for i in range(n)]
    most, all_again = float(np.max(again)), float(np.sum(again))
    found = [StepPair(trace, i, ours[i], again[i], most, model) for i in range(n)]
    for i, step in enumerate(found):
        so_far = {
            "cached": int(np.sum(ours[: i + 1])),
            "needed": growth.group_macs(config, "needed", "total", i + 1),  # a closed form: nobody runs it here
            "naive": int(np.sum(again[: i + 1])),
        }
        # multiply-adds so far, in each of the three ways: its name, its kind, and their share of the longest bar too
        step.totals = [(CURVE_NAMES[b], CURVE_KINDS[b], x, x / all_again) for b, x in so_far.items()]
    return found
