"""Thousands of requests through the scheduler that serves real ones, by a clock that a data sheet sets.

A server is a scheduler, a memory whose rows are only counted, and a processor; each step takes the least time that it
can (`microgpt.serving.hardware`). So what is found are bounds, and differences between policies; a real server is
slower. Requests come at random times, in a fixed mean number a second; their lengths are drawn from log-normal
distributions, many short ones and a few long. All is drawn from one seed.

Several servers share the requests by a routing: in turns, or to the one that already holds the rows of the
beginning of the request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import NamedTuple

from microgpt.architectures import Architecture
from microgpt.errors import N_, UserError
from microgpt.serving.hardware import Load, Processor, lower_bound
from microgpt.serving.scheduler import Blocks, Chunk, Policy, Request, Scheduler

MEDIAN_PROMPT, MEDIAN_ANSWER, SPREAD = 300, 150, 0.9  # tokens; the spread is that of the logarithm
N_CTX = 8192


def requests(
    n: int, per_second: float, seed: int = 0, groups: int = 0, shared: int = 0, n_ctx: int = N_CTX
) -> list[Request]:
    """`n` requests in the order in which they come. With `groups`, each begins with the `shared` tokens of its group.

    Raises UserError for a rate or a number that draws nothing.
    """
    if n < 1 or per_second <= 0:
        sentence = N_("%(n)s requests at %(rate)s a second are nothing to simulate; both must be above 0.")
        raise UserError(sentence, n=n, rate=per_second)
    draw, now, drawn = Random(seed), 0.0, list[Request]()
    for i in range(n):
        now += draw.expovariate(per_second)
        group = f"group {draw.randrange(groups)}" if groups else ""
        prompt = shared + max(1, round(draw.lognormvariate(0, SPREAD) * MEDIAN_PROMPT))
        answer = max(1, round(draw.lognormvariate(0, SPREAD) * MEDIAN_ANSWER))
        prompt = min(prompt, n_ctx - 1)
        drawn.append(Request(str(i), prompt, min(answer, n_ctx - prompt), now, group=group, shared=shared))
    return drawn


class GroupBlocks(Blocks):
    """Blocks in which the beginning of a group is kept once, for all of its requests, until its room is needed."""

    def __init__(self, n_blocks: int, block_size: int = 16) -> None:
        super().__init__(n_blocks, block_size)
        self.kept: dict[str, int] = {}  # group -> blocks; the one that was used longest ago comes first
        self.users: dict[str, int] = {}  # group -> requests that run
        self._lent: dict[Request, int] = {}  # blocks of its group that a request reads

    def find(self, request: Request) -> int:
        if not request.group:
            return 0
        self.users[request.group] = self.users.get(request.group, 0) + 1
        blocks = self.kept.pop(request.group, 0)
        if blocks:
            self.kept[request.group] = self._lent[request] = self._taken[request] = blocks
        return min(blocks * self.block_size, request.prompt - 1)

    def grow(self, request: Request, rows: int) -> bool:
        while not super().grow(request, rows):
            idle = next((group for group in self.kept if not self.users.get(group)), None)
            if idle is None:
                return False
            self.n_free += self.kept.pop(idle)
        return True

    def free(self, request: Request) -> None:
        group, whole = request.group, request.shared // self.block_size
        own = self._taken.pop(request, 0) - self._lent.pop(request, 0)
        if group:
            self.users[group] -= 1
            if group not in self.kept and request.computed >= whole * self.block_size > 0:
                self.kept[group] = whole
                own -= whole
        self.n_free += own

    def count_rows(self, running: Sequence[Request]) -> int:
        own = super().count_rows(running) - sum(self._lent.get(request, 0) for request in running) * self.block_size
        return own + sum(self.kept.values()) * self.block_size


@dataclass(slots=True)
class Server:
    """A scheduler on a processor, and what has been seen of it. Times are in seconds."""

    architecture: Architecture
    processor: Processor
    scheduler: Scheduler
    clock: float = 0.0
    busy: float = 0.0  # time in steps
    operations: float = 0.0
    held: float = 0.0  # rows that the memory has given away, times seconds
    used: float = 0.0  # rows that are there, times seconds
    times: dict[Request, list[float]] = field(default_factory=dict)  # when each token was written

    def advance(self, until: float) -> None:
        """Run steps as long as there is work and the time has not come."""
        scheduler = self.scheduler
        while self.clock < until and (scheduler.running or scheduler.waiting):
            self._step(scheduler.schedule())
        if not (scheduler.running or scheduler.waiting) and until != float("inf"):
            self.clock = max(self.clock, until)

    def _step(self, plan: list[Chunk]) -> None:
        tokens = pairs = rows = logits = 0
        for request, n in plan:
            computed = request.computed
            tokens += n
            rows += computed + n
            pairs += n * computed + n * (n + 1) // 2
            logits += n == request.n_waiting
        least = lower_bound(self.architecture, Load(tokens, pairs, rows, logits))
        seconds = least.seconds(self.processor)
        memory = self.scheduler.memory
        assert isinstance(memory, Blocks)
        self.held += seconds * (memory.n_blocks - memory.n_free) * memory.block_size
        self.used += seconds * (memory.count_rows(self.scheduler.running) + tokens)
        self.clock += seconds
        self.busy += seconds
        self.operations += least.operations
        for request in self.scheduler.finish_step(plan):
            self.times[request].append(self.clock)


class RunSummary(NamedTuple):
    """What a run has shown. Times in seconds; shares from 0 to 1."""

    seconds: float  # from the first request to the last token
    tokens: int  # of answers
    first: tuple[float, float]  # from arrival to first token: the median, and what 99 of 100 do not exceed
    between: tuple[float, float]  # between two tokens of an answer, the same
    busy: float  # share of the time in which a step was under way
    arithmetic: float  # operations, as a share of what the processor could do in that time
    empty: float  # of the rows that the memory has given away, the share that held nothing
    preemptions: int


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """The median, and what 99 of 100 values do not exceed; 0 of none."""
    ranked = sorted(values) or [0.0]
    return ranked[(len(ranked) - 1) // 2], ranked[(len(ranked) - 1) * 99 // 100]


Routing = Callable[[Request, Sequence[Server]], Server]


def in_turns(request: Request, servers: Sequence[Server]) -> Server:
    """One after the other."""
    return servers[request.number % len(servers)]


def by_prefix(request: Request, servers: Sequence[Server]) -> Server:
    """Where the group's rows are, unless twice as much waits there as at the idlest; else there."""
    idlest = min(servers, key=load)
    holding = [server for server in servers if holds(server, request)]
    best = min(holding, key=load, default=idlest)
    return best if load(best) <= 2 * load(idlest) + 1 else idlest


def load(server: Server) -> int:
    """Requests that it has."""
    return len(server.scheduler.running) + len(server.scheduler.waiting)


def holds(server: Server, request: Request) -> bool:
    """Whether the beginning of that group is there, or on its way."""
    memory = server.scheduler.memory
    return isinstance(memory, GroupBlocks) and (request.group in memory.kept or bool(memory.users.get(request.group)))


def simulate(
    drawn: Sequence[Request],
    architecture: Architecture,
    processor: Processor,
    policy: Policy,
    memory: Callable[[], Blocks],
    servers: int = 1,
    routing: Routing = in_turns,
) -> RunSummary:
    """Run all requests to their end. Deterministic: nothing is drawn here."""
    fleet = [Server(architecture, processor, Scheduler(policy, memory())) for _ in range(servers)]
    for i, request in enumerate(drawn):
        for server in fleet:
            server.advance(request.arrival)
        request.number = i
        chosen = routing(request, fleet)
        chosen.clock = max(chosen.clock, request.arrival)
        chosen.times[request] = []
        chosen.scheduler.add(request)
    for server in fleet:
        server.advance(float("inf"))
    return summarise(fleet, drawn)


def summarise(fleet: Sequence[Server], drawn: Sequence[Request]) -> RunSummary:
    times = [(request, at) for server in fleet for request, at in server.times.items()]
    end, busy = max(server.clock for server in fleet), sum(server.busy for server in fleet)
    seconds, held = end - drawn[0].arrival, sum(server.held for server in fleet)
    return RunSummary(
        seconds,
        sum(len(at) for _, at in times),
        percentiles([at[0] - request.arrival for request, at in times]),
        percentiles([later - sooner for _, at in times for sooner, later in pairwise(at)]),
        busy / (seconds * len(fleet)),
        sum(server.operations for server in fleet) / (busy * fleet[0].processor.operations),
        1 - sum(server.used for server in fleet) / held,
        sum(server.scheduler.preemptions for server in fleet),
    )
