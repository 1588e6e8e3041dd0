"""Reading is the limit: a decode step under its roofline, several processors, and rows that travel. Knows no HTML."""

from functools import cache
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from microgpt.architectures.known import PRESETS
from microgpt.attention.ranks import context_parallel, kv_heads_of, rows_held, tensor_parallel
from microgpt.config import Array
from microgpt.course.reading_limit import questions
from microgpt.course.reading_limit.dealing import processors, trays
from microgpt.course.reading_limit.questions import asks
from microgpt.course.reading_limit.roofline import drawing
from microgpt.serving.hardware import (
    HALF_SPEED,
    LINKS,
    PER_MAC,
    PROCESSORS,
    decoding,
    intensity_limit,
    lower_bound,
    most_rows,
    prefilling,
    shape,
)
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.heat import Scale, scale_for
from microgpt.viz.drawing.lens import as_printed, fewest, near
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show

LARGE, GPU, OLDER = "Llama-3-8B", "H100", "A100"  # OLDER is that of the lesson on prefill
LENGTHS, BATCHES = (128, 512, 2048, 8192), (1, 4, 16, 64, 256, 1024)
LENGTH_SHOWN = 2  # the length on show
ASKED = tuple(f"b{i}" for i in range(len(BATCHES)))  # batches that can be asked where they lie
GB = 10**9
SPEED, PEAK = PROCESSORS[GPU].bandwidth / GB / 1000, PROCESSORS[GPU].operations / GB / 1000  # GB per ms, and operations
RANKS = (1, 2, 4)
OTHERS = ("Llama-2-7B", "Llama-3-8B", "Llama-3-70B")
PAPER = (7.4, 12.6)  # DistServe: times the requests, or times as tight a limit
ALL = 1.0
NETWORK_CODE = f"{questions.NETWORK} * 10**9"
ROWS_CODE = f"{questions.ROWS} * 10**9"
LONGEST = LENGTHS[-1]
RIGHT_SIDE = 0.75  # of the width: what is said of a line further to the right stands left of it


class Line(NamedTuple):
    """How long a step lasts, and where it lies, out of bytes and operations, both in thousands of millions."""

    weights: float
    rows: float
    operations: float
    digits: int = 0

    @property
    def read(self) -> float:
        return self.weights + self.rows

    @property
    def reads(self) -> bool:
        """Whether it is reading that the step waits for."""
        return self.read / SPEED >= self.operations / PEAK

    def true(self, digits: int) -> bool:
        """Whether what is printed with so many decimals comes to what is printed of the results."""
        weights, rows, done = (as_printed(x, digits) for x in (self.weights, self.rows, self.operations))
        read = as_printed(self.read, digits)
        reading = near(read / SPEED, self.read / SPEED, 1)
        return (
            near(weights + rows, self.read, digits)
            and (reading if self.reads else near(done / PEAK, self.operations / PEAK, 1))
            and near(done / read, self.operations / self.read, 1)
        )


class BatchStep(NamedTuple):
    """A decode step of so many texts."""

    batch: int
    intensity: float
    milliseconds: float
    rows: float  # share of what is read
    per_second: float  # tokens, all texts together
    fits: bool
    line: Line

    @property
    def weights(self) -> float:
        """Share of what is read."""
        return 1 - self.rows


class Case(NamedTuple):
    """Texts of one length."""

    length: int
    limit: float  # operations per byte that no batch gets beyond
    most: int  # texts that fit into the memory beside the weights
    steps: list[BatchStep]


class View:
    """The limits of a large model, and real tensors over ranks."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.recording()
        recording.run_prompt()
        trace, config, n = recording.trace, recording.model.config, recording.n_prompt
        card, model = PROCESSORS[GPU], PRESETS[LARGE]
        layers, head, _, row = shape(model)
        weights = 2 * (layers + head)
        again = lower_bound(model, prefilling(LENGTHS[-1])).operations / (HALF_SPEED * card.operations)
        cases = [case(length) for length in LENGTHS]
        self.trace, self.cases, self.n = trace, cases, n
        self.choices = (
            Choice("length", range(len(cases)), LENGTH_SHOWN),
            Choice("ranks", range(len(RANKS)), len(RANKS) - 1, in_figure=False),
        )
        self.fields = (Choice("lens", ("", *ASKED), "", in_figure=False),)
        self.peak = card.operations / 10**12  # millions of millions of operations per second
        self.bandwidth = card.bandwidth / 10**9  # GB per second
        self.memory = card.memory / 10**9  # GB
        self.ridge = card.ridge
        than = PROCESSORS[OLDER]  # the card of another lesson
        self.macs = than.ridge / PER_MAC  # its ridge in multiply-adds; and in times of it what this card does
        self.quicker = card.operations / than.operations
        self.wider = card.bandwidth / than.bandwidth
        self.weights = weights  # bytes that a step reads
        self.row = row  # bytes per token
        self.equal = weights / row  # tokens whose rows are as large as the weights
        self.drawing = drawing(
            card.ridge, [[one.intensity for one in c.steps] for c in cases], [c.limit for c in cases]
        )
        # up to how many tokens per text a batch can be limited by arithmetic
        self.most = [(name, most_rows(PRESETS[name], card)) for name in OTHERS]
        self.token = show(str(trace.about["tokens"][n - 1]))
        self.model = recording.model.name
        self.config = config
        answer = trace["attn_out", n - 1, 0][0]
        scale = scale_for(answer)
        self.ranks = [Ranks(trace, recording.model.params["layer0.wo"], n, ranks, scale) for ranks in RANKS]
        self.processors, self.trays = processors(RANKS), trays(RANKS, config.n_head, config.n_kv_head)
        self.answer = scale.strip(answer)._replace(digits=None)
        self.moved = LENGTHS[-1] * row  # bytes of rows of the longest text
        self.links = travel(LENGTHS[-1] * row, again)
        self.again = 1000 * again  # milliseconds
        self.asks = asks()


view = View


@cache
def case(length: int) -> Case:
    model, card = PRESETS[LARGE], PROCESSORS[GPU]
    _, _, _, row = shape(model)
    most = int((card.memory - model.weight_bytes(2)) // (length * row))
    steps = []
    for batch in BATCHES:
        load = lower_bound(model, decoding(batch, length))
        seconds, rows = load.seconds(card), batch * length * row
        line = Line((load.read - rows) / GB, rows / GB, load.operations / GB)
        steps.append(
            BatchStep(
                batch,
                load.intensity,
                1000 * seconds,
                rows / load.read,
                batch / seconds,
                batch <= most,
                line._replace(digits=fewest(line.true, 1)),
            )
        )
    return Case(length, intensity_limit(model, length), most, steps)


class Ranks:
    """The heads of one layer over several processors."""

    def __init__(self, trace: Trace, wo: Array, n: int, ranks: int, scale: Scale) -> None:
        """Layer 0 of the newest token: its heads, and its rows, dealt to so many ranks."""
        q = trace["q", n - 1, 0][0]  # [n_head, head_dim]
        keys, values = (np.stack([trace[name, i, 0][0] for i in range(n)], axis=1) for name in "kv")
        n_head, n_kv_head = len(q), len(keys)
        parts = tensor_parallel(q, keys, values, wo, ranks)
        total = np.sum(parts, axis=0)
        mixed = context_parallel(q, keys, values, ranks)
        self.ranks = ranks
        self.parts = [scale.strip(part)._replace(digits=None) for part in parts]  # of the answer, by processor
        self.heads = n_head // ranks
        self.kv_heads = len(kv_heads_of(0, ranks, n_head, n_kv_head))
        self.held = rows_held(ranks, n_head, n_kv_head)  # rows of all together, in times of those of one
        self.by_heads = float(np.abs(total - trace["attn_out", n - 1, 0][0]).max())  # the largest difference of the sum
        self.by_rows = float(np.abs(mixed - trace["head_out", n - 1, 0][0]).max())


def can_be_asked() -> tuple[str, ...]:
    return ASKED


def travel(n_bytes: int, again: float) -> list[tuple[str, float, float]]:
    """The ways that rows can take, the quickest first: name, milliseconds, share of the `again` seconds in which they
    are computed again."""
    found = [(name, 1000 * n_bytes / speed, n_bytes / speed / again) for name, speed in LINKS.items()]
    return sorted(found, key=itemgetter(1))
