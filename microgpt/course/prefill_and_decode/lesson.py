"""Prefill and decode on one timeline: in which passes a text is run, and what each pass computes and reads.

The passes, rows and tokens are those of real runs, with bytes as if all numbers had 16 bits. Knows no HTML.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import NamedTuple

from microgpt.course.prefill_and_decode import passes, reuse
from microgpt.course.prefill_and_decode.passes import LARGE_CONFIGS, Estimate, chart, undone
from microgpt.course.prefill_and_decode.questions import asks
from microgpt.errors import N_
from microgpt.experiments import schedule
from microgpt.experiments.schedule import SchedulePass, ScheduleRun
from microgpt.record import Recording
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import shipped

MAX_NEW = 8  # decode passes that are shown
MODEL = "Llama-3-8B"  # the one that the prose speaks of


class Block(NamedTuple):
    """One pass as drawn. `cells` has one entry a row of the cache: "new", "old" or ""; shares are those of bars."""

    phase: str
    work: SchedulePass
    tokens: list[str]
    cells: list[str]
    macs_share: float
    weights_share: float
    cache_share: float


class PromptRun(NamedTuple):
    """The prompt run in one way, then decode."""

    size: int  # tokens in a pass
    blocks: list[Block]
    gaps: int  # passes fewer than in the longest way
    phases: list[Phase]
    difference: float  # of the rows, from those of the first way
    next_token: str


class View:
    """Everything that the page places."""

    def __init__(self, settings: Settings) -> None:
        """Run the prompt at once, in chunks and token by token."""
        model = shipped(settings.model)
        ids = Recording(model, settings.prompt).ids  # it says what is wrong with a prompt
        n, config = len(ids), model.config
        trace = Trace({"model": model.name, "config": asdict(config), "prompt": settings.prompt, "n_prompt": n})
        sizes = sorted({n, -(-n // 3), 1}, reverse=True)
        runs = [schedule.run_schedule(model, ids, size, MAX_NEW, hook=trace if size == n else None) for size in sizes]
        names = [[show(model.tokenizer.vocabulary[i]) for i in run.token_ids] for run in runs]
        trace.about |= {"tokens": names[0][: len(runs[0].cache)], "vocabulary": model.tokenizer.vocabulary}
        differences = [schedule.largest_difference(run.cache, runs[0].cache, n) for run in runs]
        prefill, decode = Estimate(MODEL, "prefill"), Estimate(MODEL, "decode")
        estimates = [Estimate(name, phase) for name in LARGE_CONFIGS for phase in ("prefill", "chunk", "decode")]
        head = config.n_embd * config.vocab_size
        ends = min(LARGE_CONFIGS, key=lambda name: LARGE_CONFIGS[name][0].n_ctx)
        enough = schedule.compute_bound_from(LARGE_CONFIGS[MODEL][0], passes.BALANCE)
        assert enough is not None, f"{MODEL} never keeps this machine busy"
        self.trace, self.estimates = trace, estimates
        self.model = model.name
        self.n_prompt = n
        self.columns = names[0][: len(runs[0].cache)]  # the tokens that have a row at the end
        self.ways = [
            PromptRun(
                size,
                blocks(run, runs, text, n),
                max(len(one.passes) for one in runs) - len(run.passes),
                phases(run),
                difference,
                text[n],
            )
            for size, run, text, difference in zip(sizes, runs, names, differences, strict=True)
        ]
        self.difference = max(differences)  # of the rows of all ways
        self.same_next = len({text[n] for text in names}) == 1
        self.head = head  # multiply-adds of the output head, once in each pass
        # of the prompt without it, in any way
        self.bare = sum(one.macs - head for one in runs[0].passes[: runs[0].n_prefill])
        self.prefill, self.decode = prefill, decode  # of MODEL
        self.short = Estimate(MODEL, "prefill", n)  # of a prompt as short as the reader's
        # how many tokens of the prompt take as long as one of decode
        self.faster = decode.milliseconds / (prefill.milliseconds / prefill.work.n)
        self.enough = enough  # tokens in a pass from which computing takes longer than reading
        self.chart = chart()
        self.times = passes.times(MODEL, n)
        self.moments = passes.arrivals(self.times)
        self.choices = (
            Choice("way", range(len(sizes))),
            Choice("tokens", range(len(self.moments)), 1, in_figure=False),  # the first token after the long prompt
        )
        # the model whose line in the chart ends first, and where: it sees no more tokens at once
        self.ends = ends, LARGE_CONFIGS[ends][0].n_ctx
        self.asks = asks(prefill, decode)
        self.speculation = passes.Speculation()
        self.undone = undone(model, ids)
        second = passes.other_end(model, ids)
        self.first, self.second = model.tokenizer.decode(ids), model.tokenizer.decode(second)  # two texts alike
        self.shared = reuse.share(model, ids, second)
        # rows of several continuations: each with a copy of the prompt's, or all with one
        self.copied = passes.N_BEAMS * (n + passes.BEAM_TOKENS)
        self.one_prompt = n + passes.N_BEAMS * passes.BEAM_TOKENS
        self.full = schedule.full(model)
        self.n_ctx = config.n_ctx
        self.one_more = config.n_ctx + 1


view = View


def blocks(run: ScheduleRun, runs: list[ScheduleRun], names: list[str], n: int) -> list[Block]:
    """The passes of a run, their bars on one scale for all runs."""
    macs = max(p.macs for one in runs for p in one.passes)
    read = max(p.bytes_read for one in runs for p in one.passes)
    return [
        Block(
            phase=N_("prefill") if p.end <= n else N_("decode"),
            work=p,
            tokens=names[p.start : p.end],
            cells=["old"] * p.start + ["new"] * p.n + [""] * (len(run.cache) - p.end),
            macs_share=p.macs / macs,
            weights_share=p.weight_bytes / read,
            cache_share=p.cache_bytes / read,
        )
        for p in run.passes
    ]


def phases(run: ScheduleRun) -> list[Phase]:
    """Prefill and decode, each summed over its passes; decode is missing where the context is full."""
    both = [(N_("prefill"), run.passes[: run.n_prefill]), (N_("decode"), run.passes[run.n_prefill :])]
    return [Phase(name, every) for name, every in both if every]


class Phase:
    """All passes of a phase together."""

    def __init__(self, name: str, every: list[SchedulePass]) -> None:
        macs, read = sum(p.macs for p in every), sum(p.bytes_read for p in every)
        self.name, self.macs = name, macs
        self.passes = len(every)
        self.tokens = sum(p.n for p in every)
        self.bytes = read
        self.intensity = macs / read  # multiply-adds per byte
