"""A server's log, line by line: what it says as it starts, and while it serves. Knows no HTML."""

from __future__ import annotations

from itertools import accumulate, takewhile
from typing import NamedTuple, TypeAlias

from microgpt.course.on_your_server import start as start
from microgpt.course.on_your_server.questions import asks
from microgpt.course.on_your_server.service import (
    DRAWN_FROM,
    EVERY,
    LIMITS,
    PHASES,
    SYSTEM_PROMPTS,
    SYSTEM_TOKENS,
    LogLine,
    Service,
    service,
)
from microgpt.course.on_your_server.start import SERVED_MODEL, SMALL_GPU, ServerSettings, Start
from microgpt.errors import N_
from microgpt.serving.hardware import HALF_SPEED, LINKS, lower_bound, prefilling
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings

__all__ = ["DRAWN_FROM", "EVERY", "SYSTEM_PROMPTS", "SYSTEM_TOKENS"]

BYTES_OF_GB = 10**9
MORE_IN_A_UNIT = start.GIB / BYTES_OF_GB - 1  # of what the log counts in, than of a GB; as a share
COMMAND = "$ vllm serve"
AS_OF, DEFAULT, FORMER = "2026", 0.92, 0.9  # vLLM's default for the utilisation, and what it was before
SLOWEST = 99  # the percentile beside each median
OPTIONS = ServerSettings._fields[:2]  # that the lines of the start follow from
PLAIN = ServerSettings(DEFAULT, SERVED_MODEL.config.n_ctx)  # what holds if nothing is set
WEIGHTS_LINE, MEMORY_LINE, SIZE_LINE = range(3)  # of a start
MEMORY_PARTS = ("part1", "part2", "kv")  # of a GPU's memory, in order: weights, activations, rows
UTILISATIONS, SECOND_RUN = (0.8, 0.9, 0.95), 1  # of runs that are compared, the first with the second
MORE_MEMORY = UTILISATIONS[SECOND_RUN] / UTILISATIONS[0] - 1  # of the second, than of the first; as a share
TRIED = (  # settings, of which some do not start; each is named by what it has unlike the first
    ServerSettings(0.9, SERVED_MODEL.config.n_ctx),
    ServerSettings(0.95, SERVED_MODEL.config.n_ctx),
    ServerSettings(0.9, 32768),
    ServerSettings(0.9, SERVED_MODEL.config.n_ctx, "fp8"),
    ServerSettings(0.9, 65536, "fp8"),
    ServerSettings(0.9, SERVED_MODEL.config.n_ctx, tensor_parallel_size=2),
)
BASE, UTILISED, SHORTER, HALVED, BOTH, TWO = range(len(TRIED))
OLDER_ERROR = "The model's max seq len is larger than the maximum number of tokens that can be stored in KV cache"
HALF_ROWS = "--kv-cache-dtype fp8"
MOVED_TOKENS = 8192  # tokens whose rows are moved, or computed again
TIERS = {
    "gpu": SMALL_GPU.bandwidth,
    "host": LINKS["pcie"] / 2,
    "disk": LINKS["disk"],
}  # bytes per second; PCIe 4, half of 5
NETWORK = round(8 * LINKS["network"] / BYTES_OF_GB)  # gigabits per second
MONTH = "2026-11"
SELLERS = (  # of a beginning that is kept: who sells it, how long it stays, from how many tokens on, in which steps
    (N_("Anthropic"), N_("5 minutes or 1 hour, as ordered"), N_("512 to 4,096, by model"), N_("a mark in the prompt")),
    (N_("OpenAI, from GPT-5.6 on"), N_("30 minutes"), N_("1,024"), N_("a mark in the prompt")),
    (N_("OpenAI, before"), N_("5 to 10 minutes, an hour at most"), N_("1,024"), N_("a multiple of 128 tokens")),
    (N_("DeepSeek"), N_("hours to days, on disk"), N_("not stated"), N_("the end of an earlier request")),
)
Time: TypeAlias = tuple[float, int, bool]  # as it is written: with so many decimals, and whether in milliseconds


class Run(NamedTuple):
    """The same requests, with other settings; its times are as they are written."""

    start: Start
    served: Service
    first: list[Time]  # until the first token: the median, and the percentile of the slowest
    each: list[Time]  # for a later one, the same


class ServiceLine(NamedTuple):
    """A line of the log that tells of the service, and its place in the log."""

    at: int
    line: LogLine


class Tier(NamedTuple):
    """A place for rows."""

    name: str
    speed: float  # bytes per second
    rows: float  # tokens per second whose rows it hands over
    times: float  # as many as are computed again in that time


class View:
    """A log of two parts; other starts, other runs, other places for rows."""

    def __init__(self, settings: Settings) -> None:
        first = Start(ServerSettings())
        served = service(first.settings)
        stops = [ServiceLine(at, line) for at, line in enumerate(served.lines, len(first.lines))]
        fullest = max(stops, key=lambda stop: stop.line.usage)
        self.start, self.served, self.stops, self.fullest = first, served, stops, fullest
        self.log = [*first.lines, *(stop.line.parts for stop in stops)]
        self.service_lines = [None] * len(first.lines) + [stop.line for stop in stops]  # None for those of the start
        self.choices = (
            Choice("line", range(len(self.log)), fullest.at),
            Choice("setting", range(len(TRIED)), BASE, in_figure=False),
        )
        self.trace = Trace({"model": SERVED_MODEL.name, "log": ["".join(map("".join, parts)) for parts in self.log]})
        self.used = [line.usage if line else 0.0 for line in self.service_lines]  # share of the rows, line by line
        self.gb = [part / BYTES_OF_GB for part in (first.weights, first.activations, first.left)]
        self.lens = list(accumulate(first.shares))[1:]  # where rows begin and end in the memory of the GPU
        self.marks = [n / first.texts for n in range(1, int(first.texts) + 1)]  # where texts of the longest kind end
        self.tried = [Start(one) for one in TRIED]
        self.runs = [run_with(first.settings._replace(gpu_memory_utilization=share)) for share in UTILISATIONS]
        self.limits = list(map(time_of, LIMITS))
        self.tiers = tiers()
        self.asks = asks()

    @property
    def options(self) -> list[str]:
        """The settings that are tried, as they are written at the command line."""
        return [one.options(TRIED[BASE] if i else PLAIN) for i, one in enumerate(TRIED)]

    @property
    def parts(self) -> list[tuple[float, ...]]:
        """Of each part of a GPU's memory, how large it is with these settings, as a share."""
        return list(zip(*(one.shares for one in self.tried), strict=True))

    @property
    def needs(self) -> list[float]:
        """What a text of the longest kind takes of a GPU with these settings, as a share."""
        return [one.needed / SMALL_GPU.memory for one in self.tried]

    @property
    def rates(self) -> list[float]:
        """Requests per second, phase by phase."""
        return [rate for rate, _ in PHASES]

    @property
    def quiet(self) -> float:
        """Seconds until the last line before somebody waits or is preempted, in the run with the least memory."""
        calm = takewhile(lambda stop: not (stop.line.waiting or stop.line.preemptions), self.stops)
        return max(stop.line.seconds for stop in calm)

    @property
    def times(self) -> float:
        """How many times the tokens of the first run the second has room for."""
        return self.runs[SECOND_RUN].start.tokens / self.start.tokens

    @property
    def product(self) -> float:
        """Requests that run, by Little's law."""
        return self.served.rate * self.served.stay

    @property
    def wait(self) -> Time:
        """Until the first token, the mean."""
        return time_of(self.served.wait)

    @property
    def again(self) -> float:
        """Tokens per second whose rows are computed again."""
        return recompute_rate()

    @property
    def even(self) -> float:
        """Bytes per second from which on fetching is quicker."""
        return recompute_rate() * SERVED_MODEL.bytes_per_token()

    @property
    def prompt_bytes(self) -> int:
        """Bytes of the rows of a prompt."""
        return MOVED_TOKENS * SERVED_MODEL.bytes_per_token()

    @property
    def network_time(self) -> float:
        """Milliseconds in which they cross the network."""
        return 1000 * self.prompt_bytes / LINKS["network"]


view = View


def run_with(settings: ServerSettings) -> Run:
    served = service(settings)
    first, each = (list(map(time_of, times)) for times in (served.first, served.each))
    return Run(Start(settings), served, first, each)


def recompute_rate() -> float:
    return (
        MOVED_TOKENS
        * HALF_SPEED
        * SMALL_GPU.operations
        / lower_bound(SERVED_MODEL, prefilling(MOVED_TOKENS)).operations
    )


def tiers() -> list[Tier]:
    again, per_token = recompute_rate(), SERVED_MODEL.bytes_per_token()
    return [Tier(name, speed, speed / per_token, speed / per_token / again) for name, speed in TIERS.items()]


def time_of(seconds: float) -> Time:
    return (1000 * seconds, 0, True) if seconds < 1 else (seconds, 1, False)
