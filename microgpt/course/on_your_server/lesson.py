"""A server's log, line by line: what it says as it starts, and while it serves. Knows no HTML."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from microgpt.course.many_at_once.lesson import MOST as MOST
from microgpt.course.many_at_once.lesson import Time, time_of
from microgpt.course.memory.lesson import GIB_OVER_GB as GIB_OVER_GB
from microgpt.course.on_your_server import start as start
from microgpt.course.on_your_server.questions import asks
from microgpt.course.on_your_server.service import GROUPS, LIMITS, SEED, SHARED, Service, service
from microgpt.course.on_your_server.start import GPU, MODEL, ServerSettings, Start
from microgpt.course.reading_limit.lesson import HALF_SPEED, LINKS
from microgpt.course.shared_prefixes.conversations import TERMS
from microgpt.errors import N_
from microgpt.serving.hardware import lower_bound, prefilling
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings

__all__ = ["GROUPS", "SEED", "SHARED"]

UTILISATIONS, SECOND_RUN = (0.8, 0.9, 0.95), 1  # of runs that are compared, the first with the second
AS_OF, DEFAULT, FORMER = "2026", 0.92, 0.9  # vLLM's default for the utilisation, and what it was before
PLAIN = ServerSettings(DEFAULT, MODEL.config.n_ctx)  # what holds if nothing is set
WEIGHTS_LINE, MEMORY_LINE, SIZE_LINE = range(3)  # of a start
PARTS = ("part1", "part2", "kv")  # of a GPU's memory, in order: weights, activations, rows
GB = 10**9
TRIED = (  # settings, of which some do not start; each is named by what it has unlike the first
    ServerSettings(0.9, MODEL.config.n_ctx),
    ServerSettings(0.95, MODEL.config.n_ctx),
    ServerSettings(0.9, 32768),
    ServerSettings(0.9, MODEL.config.n_ctx, "fp8"),
    ServerSettings(0.9, 65536, "fp8"),
    ServerSettings(0.9, MODEL.config.n_ctx, tensor_parallel_size=2),
)
FIRST_TRIED = 0
NETWORK = round(8 * LINKS["network"] / GB)  # gigabits per second
PROMPT = 8192  # tokens whose rows are moved, or computed again
TIERS = {"gpu": GPU.bandwidth, "host": LINKS["pcie"] / 2, "disk": LINKS["disk"]}  # bytes per second; PCIe 4 is half of 5
MONTH = TERMS.month
SELLERS = (  # of a beginning that is kept: who sells it, how long it stays, from how many tokens on, in which steps
    (N_("Anthropic"), N_("5 minutes or 1 hour, as ordered"), N_("512 to 4,096, by model"), N_("up to a mark in the prompt")),
    (N_("OpenAI, from GPT-5.6 on"), N_("30 minutes"), N_("1,024"), N_("up to a mark in the prompt")),
    (N_("OpenAI, before"), N_("5 to 10 minutes, an hour at most"), N_("1,024"), N_("128 tokens")),
    (N_("DeepSeek"), N_("hours to days, on disk"), N_("none stated"), N_("whole units, earlier 64 tokens")),
)


class Tier(NamedTuple):
    """A place for rows."""

    name: str
    speed: float  # bytes per second
    rows: float  # tokens per second whose rows it hands over
    times: float  # as many as are computed again in that time


class View:
    """A log of two parts, other starts, other runs, other places for rows."""

    def __init__(self, settings: Settings) -> None:
        first = Start(ServerSettings())
        served = service(first.settings)
        lines = [*first.lines, *(line.parts for line in served.lines)]
        fullest = max(range(len(served.lines)), key=lambda i: served.lines[i].usage)
        self.trace = Trace({"model": MODEL.name, "log": ["".join(map("".join, parts)) for parts in lines]})
        self.start, self.served, self.log = first, served, lines
        self.gb = [part / GB for part in (first.weights, first.activations, first.left)]
        *_, before, after = accumulate(first.shares)
        self.lens = (before, after)  # where rows begin and end in the memory of the GPU
        self.marks = [n / first.texts for n in range(1, int(first.texts) + 1)]  # where texts of the longest kind end
        self.lead = len(first.lines)  # lines of the start
        self.fullest = self.lead + fullest  # the line that tells of the fullest cache,
        self.full = served.lines[fullest]  # and what it tells
        self.used = [0.0] * self.lead + [line.usage for line in served.lines]  # share of the rows, line by line
        self.tried = [Start(one) for one in TRIED]
        self.options = [one.options(TRIED[FIRST_TRIED] if i else PLAIN) for i, one in enumerate(TRIED)]
        self.tried_shares = list(zip(*(one.shares for one in self.tried), strict=True))
        self.needs = [one.needed / GPU.memory for one in self.tried]  # of one text of the longest kind
        self.choices = (
            Choice("line", range(len(lines)), self.fullest),
            Choice("setting", range(len(TRIED)), FIRST_TRIED, in_figure=False),
        )
        self.runs = [run(first.settings._replace(gpu_memory_utilization=share)) for share in UTILISATIONS]
        self.more = UTILISATIONS[SECOND_RUN] / UTILISATIONS[0] - 1  # memory of the second, than of the first; as a share
        self.wait = time_of(served.wait)  # until the first token, the mean
        self.limits = list(map(time_of, LIMITS))
        self.times = self.runs[SECOND_RUN].start.tokens / first.tokens
        self.product = served.rate * served.stay  # by Little's law
        again = PROMPT * HALF_SPEED * GPU.operations / lower_bound(MODEL, prefilling(PROMPT)).operations
        per_token = MODEL.bytes_per_token()
        self.again = again  # tokens per second whose rows are computed again
        self.even = again * per_token  # bytes per second from which on fetching is quicker
        self.tiers = [Tier(name, speed, speed / per_token, speed / per_token / again) for name, speed in TIERS.items()]
        self.moved = PROMPT * per_token
        self.sent = 1000 * self.moved / LINKS["network"]  # milliseconds
        self.asks = asks()


view = View


class Run(NamedTuple):
    """The same requests, with other settings; its times are as they are written."""

    start: Start
    served: Service
    first: list[Time]  # until the first token: the median, and the 99th percentile
    each: list[Time]  # for a later one, the same


def run(settings: ServerSettings) -> Run:
    served = service(settings)
    first, each = (list(map(time_of, times)) for times in (served.first, served.each))
    return Run(Start(settings), served, first, each)
