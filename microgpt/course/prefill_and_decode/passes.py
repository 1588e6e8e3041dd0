"""Passes of large models, and rows that are given back or shared: what the page on prefill quotes.

Large models are not run: their passes are the closed forms of `schedule`. The rest is run on models that are here.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from microgpt.architectures.known import PRESETS
from microgpt.cache import KVCache
from microgpt.course.prefill_and_decode import reuse
from microgpt.course.prefill_and_decode.reuse import Undone
from microgpt.decode import prefill
from microgpt.errors import N_
from microgpt.experiments import schedule
from microgpt.experiments.growth import log_spaced
from microgpt.experiments.schedule import SchedulePass
from microgpt.serving import speculate
from microgpt.serving.hardware import PER_MAC, PROCESSORS, Bound
from microgpt.viz.drawing.chart import Chart, Series, line_chart
from microgpt.viz.text.formats import show
from microgpt.weights import Model, shipped

# of PRESETS, each with the length of a prompt
LARGE_CONFIGS = {name: (PRESETS[name].config, n) for name, n in (("GPT-2 124M", 1000), ("Llama-3-8B", 2000))}
A100, SOURCE = PROCESSORS["A100"], N_("NVIDIA’s data sheet of the A100 80GB SXM: 312 dense 16-bit TFLOPS, 2,039 GB/s")
BALANCE = A100.ridge / PER_MAC  # multiply-adds that it does in the time in which it reads a byte
CHUNK = 256  # tokens, of a chunked prefill
WIDEST = 4096  # tokens in a pass; how far the chart goes
MORE_TOKENS = 11  # that are written after the longer prompt, as far as the picture of time goes
TOKEN_WIDE = 12  # of the thousandths of the time on show,
TOKEN_EARLY = 8  # and as many before its pass ends, so that it is whole where time is told in hundredths
CACHE_MIDDLE, CACHE_HALF = 104, 14  # of the drawing: K fills upwards from its middle, V downwards
N_BEAMS, BEAM_TOKENS = 4, 8  # continuations of one prompt, and the tokens of each
TARGET, DRAFT, DRAFT_PROMPT, N_DRAFT = "names-deep", "names", "a", 3  # two models with one vocabulary


def large_pass(name: str, phase: str) -> SchedulePass:
    """The whole prompt in one pass, a chunk in its middle, or one token behind it."""
    config, n = LARGE_CONFIGS[name]
    tokens, start = {"prefill": (n, 0), "chunk": (CHUNK, n // 2), "decode": (1, n)}[phase]
    return schedule.estimate(config, tokens, start)


def least_ms(work: SchedulePass) -> float:
    """No pass can be quicker: it must do its multiply-adds, and read its bytes."""
    return 1000 * Bound(PER_MAC * work.macs, work.bytes_read).seconds(A100)


class Estimate:
    """A pass of a large model in 16-bit numbers, and the least time that the machine needs for it."""

    def __init__(self, name: str, phase: str, tokens: int = 0) -> None:
        """One of its passes; with so many `tokens`, that of another prompt."""
        work = schedule.estimate(LARGE_CONFIGS[name][0], tokens, 0) if tokens else large_pass(name, phase)
        self.work = work
        self.model = name
        self.phase = {"prefill": N_("prefill"), "chunk": N_("a chunk of it"), "decode": N_("decode")}[phase]
        self.bound_by = N_("compute") if work.intensity > BALANCE else N_("memory")
        self.milliseconds = least_ms(work)


class Arrival(NamedTuple):
    """How much time is over, as a share of what is on show, and how many new tokens each text has by then, and rows
    in its cache."""

    share: float
    milliseconds: float
    tokens: list[int]
    rows: list[int]


class TimedPass(NamedTuple):
    """A pass on the axis of time, in thousandths of what is on show: it lasts as long as the longer of the last two."""

    start: float
    length: float
    computing: float
    reading: float

    @property
    def token(self) -> float:
        """Where the token stands that it brings, which is TOKEN_WIDE."""
        return self.start + self.length - TOKEN_WIDE - TOKEN_EARLY


class Times(NamedTuple):
    """A prompt and what is written after it."""

    prompt: int
    first: float  # milliseconds
    each: float
    passes: list[TimedPass]

    @property
    def prefill(self) -> float:
        """Its share of the time on show."""
        return self.passes[0].length / 1000

    def rows(self, tokens: int) -> int:
        """In the cache when so many new tokens have come; the last of them has no row yet."""
        return self.prompt + tokens - 1 if tokens else 0

    @property
    def most(self) -> int:
        """Rows at the end of what is on show."""
        return self.rows(len(self.passes))

    @property
    def polygons(self) -> list[tuple[str, list[tuple[float, float]]]]:
        """How full the cache is as time goes, as shapes in the drawing: at `most` rows each is CACHE_HALF high."""
        ends = [0.0, *(one.start + one.length for one in self.passes)]
        shares = [self.rows(i) / self.most for i in range(len(ends))]
        return [
            (kind, [(x, CACHE_MIDDLE + high * y) for x, y in (*zip(ends, shares, strict=True), (ends[-1], 0.0))])
            for kind, high in (("k", -CACHE_HALF), ("v", CACHE_HALF))
        ]


def times(name: str, short: int) -> list[Times]:
    """When the tokens come after its prompt, and after one of `short` tokens, on one axis of time."""
    config, n = LARGE_CONFIGS[name]

    def least(tokens: int, start: int) -> tuple[float, float, float]:
        """The milliseconds of a pass, of its arithmetic and of its reading."""
        work = schedule.estimate(config, tokens, start)
        return least_ms(work), 1000 * PER_MAC * work.macs / A100.operations, 1000 * work.bytes_read / A100.bandwidth

    both = [(prompt, least(prompt, 0), least(1, prompt)) for prompt in (n, short)]
    whole = max(first + MORE_TOKENS * each for _, (first, *_), (each, *_) in both)

    def passes(prompt: tuple[float, float, float], step: tuple[float, float, float]) -> list[TimedPass]:
        starts = [prompt[0] + i * step[0] for i in range(int((whole - prompt[0]) / step[0] + 1e-9))]
        every = [(0.0, *prompt), *((start, *step) for start in starts)]
        return [TimedPass(*(1000 * x / whole for x in one)) for one in every]

    return [Times(tokens, prompt[0], step[0], passes(prompt, step)) for tokens, prompt, step in both]


def arrivals(both: Sequence[Times]) -> list[Arrival]:
    """The beginning, and the end of each pass of the first text."""
    first = both[0]
    ends = [0.0, *(one.start + one.length for one in first.passes)]
    scale = first.first / first.passes[0].length
    came = [[sum(x.start + x.length <= end + 1e-6 for x in one.passes) for one in both] for end in ends]
    return [
        Arrival(end / 1000, end * scale, tokens, [one.rows(n) for one, n in zip(both, tokens, strict=True)])
        for end, tokens in zip(ends, came, strict=True)
    ]


def chart() -> Chart:
    """Multiply-adds per byte read against the tokens in a pass, as far as the context of each model goes."""
    lengths = log_spaced(WIDEST)
    series = [
        Series(name, kind, [(n, schedule.estimate(config, n, 0).intensity) for n in lengths if n <= config.n_ctx])
        for (name, (config, _)), kind in zip(LARGE_CONFIGS.items(), ("needed", "with"), strict=True)
    ]
    series.append(Series(A100.name, "again", [(n, BALANCE) for n in lengths]))
    return line_chart(
        N_("Multiply-adds per byte read"),
        series,
        N_("tokens in the pass"),
        N_("first pass of a text, 16-bit numbers"),
        log=True,
    )


class Speculation:
    """A text that two models write together: the deep one a name, the shallow one its drafts."""

    def __init__(self) -> None:
        target, draft = shipped(TARGET), shipped(DRAFT)
        ids = target.tokenizer.encode(DRAFT_PROMPT)
        writer = speculate.Speculation(target, speculate.SmallModel(draft), ids, N_DRAFT)
        rounds = list(writer.run(target.config.n_ctx - len(ids)))
        lengths = list(accumulate((len(r.tokens) for r in rounds), initial=len(ids)))  # of the text, before and after
        plain = schedule.run_schedule(target, ids, 0, target.config.n_ctx)
        words = [show(token) for token in target.tokenizer.vocabulary]
        self.text = target.tokenizer.decode(writer.ids)
        # a draft and its verification: what was drafted and whether it was accepted, what was chosen ("" when the text
        # ends with what was drafted), and the rows of the target: before, appended, kept
        self.rounds = [
            (
                [(words[token], i < r.accepted) for i, token in enumerate(r.drafted)],
                words[r.chosen] if r.chosen >= 0 else "",
                before - 1,  # the newest token has no row yet
                len(r.drafted) + 1,
                after - 1,
            )
            for r, before, after in zip(rounds, lengths, lengths[1:], strict=False)
        ]
        self.draft_passes = sum(len(r.drafted) for r in rounds)
        self.plain_passes = len(writer.ids) - len(ids)
        self.same = writer.ids == plain.token_ids  # as what the target writes alone
        n = min(len(writer.cache), len(plain.cache))
        # of the target's rows, from those of plain decoding
        self.difference = schedule.largest_difference(writer.cache, plain.cache, n)
        # of the target's logits after the first rejection, if the rejected rows stay
        self.uncropped = stale_rows_error(target, writer.ids, rounds, lengths)


def stale_rows_error(
    target: Model, written: list[int], rounds: Sequence[speculate.Round], lengths: Sequence[int]
) -> float:
    """What the first rejected guesses do to the next logits, if their rows stay in the cache."""
    round, after = next((r, n) for r, n in zip(rounds, lengths[1:], strict=True) if r.accepted < len(r.drafted))
    return reuse.undo(target, written[:after], round.drafted[round.accepted :]).kept


def undone(model: Model, ids: Sequence[int]) -> Undone:
    """Rows appended and cropped, and what that changes."""
    wrong = list(ids[1:])[: model.config.n_ctx - len(ids) + 1][:N_DRAFT]
    return reuse.undo(model, ids, wrong)


def other_end(model: Model, ids: list[int]) -> list[int]:
    """The prompt with the last token that the model would rather have had."""
    logits = prefill(model.params, model.config, ids[:-1], KVCache(model.config))
    best = np.argsort(-logits, kind="stable").tolist()
    return [*ids[:-1], next(token for token in best if token not in (ids[-1], model.tokenizer.start))]
