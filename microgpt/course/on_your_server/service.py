"""A server at work: requests that come at a steady rate, then faster, then as before, and what the log says of them.

It is the scheduler that serves real texts, by the clock of a data sheet. Knows no HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from microgpt.course.on_your_server.start import (
    BATCH_TEXTS,
    BLOCK_TOKENS,
    BUDGET,
    SERVED_MODEL,
    SMALL_GPU,
    LineParts,
    ServerSettings,
    Start,
)
from microgpt.serving.scheduler import Chunk, Policy, Request, Scheduler
from microgpt.serving.simulate import GroupBlocks, Server, percentiles, requests

EVERY = 10.0  # seconds from line to line
PHASES = ((2.0, 50), (6.0, 100), (2.0, 40))  # requests per second, and how many come so
SYSTEM_PROMPTS, SYSTEM_TOKENS, DRAWN_FROM = 2, 256, 0  # the prompts that requests begin with
LIMITS = (1.0, 0.06)  # seconds until the first token, and per token after it, that readers are to see at most


class LogLine(NamedTuple):
    """What the log says at one moment; rates are those since the line before."""

    seconds: float
    prompt: float  # tokens of prompts per second that were run
    generation: float  # tokens per second that were written
    running: int
    waiting: int
    preemptions: int  # since the line before
    used: int  # blocks that somebody holds,
    blocks: int  # of so many
    rows: int  # of the requests that run
    hit_rate: float  # of all tokens of prompts so far, the share that was found

    @property
    def usage(self) -> float:
        return self.used / self.blocks

    @property
    def mean(self) -> float:
        """Rows of a request that runs."""
        return self.rows / self.running

    @property
    def parts(self) -> LineParts:
        """In the form of the log, which leaves preemptions out where there are none."""
        lost = [(", Preemptions: ", f"{self.preemptions}")] if self.preemptions else []
        return [
            ("Engine 000: Avg prompt throughput: ", f"{self.prompt:.1f} tokens/s"),
            (", Avg generation throughput: ", f"{self.generation:.1f} tokens/s"),
            (", Running: ", f"{self.running} reqs"),
            (", Waiting: ", f"{self.waiting} reqs"),
            *lost,
            (", GPU KV cache usage: ", f"{100 * self.usage:.1f}%"),
            (", Prefix cache hit rate: ", f"{100 * self.hit_rate:.1f}%"),
        ]


@dataclass(slots=True)
class Watched(Server):
    """A server, and what its log and its bookkeeping note: a line every `EVERY` seconds."""

    lines: list[LogLine] = field(default_factory=list)
    admitted: dict[Request, float] = field(default_factory=dict)  # when a request ran for the first time
    texts: float = 0.0  # running requests, times seconds
    asked: int = 0  # tokens of prompts,
    found: int = 0  # and of these, those that had rows
    ran: int = 0  # since the last line: tokens of prompts, tokens that were written, preemptions
    wrote: int = 0
    lost: int = 0

    def _step(self, plan: list[Chunk]) -> None:
        begun, written = self.clock, {request: request.written for request, _ in plan}
        running = list(self.scheduler.running)
        for request, n in plan:
            if request not in self.admitted:
                self.admitted[request] = begun
                self.asked += request.prompt
                self.found += request.computed
            self.ran += max(0, min(n, request.prompt - request.computed))
        used = self.count_used()
        Server._step(self, plan)
        self.texts += len(running) * (self.clock - begun)
        self.wrote += sum(request.written - before for request, before in written.items())
        if self.clock >= EVERY * (len(self.lines) + 1):
            self.note(running, used)

    def count_used(self) -> int:
        """A beginning that is kept and that nobody reads is no longer in use."""
        memory = self.scheduler.memory
        assert isinstance(memory, GroupBlocks)
        idle = sum(blocks for group, blocks in memory.kept.items() if not memory.users.get(group))
        return memory.n_blocks - memory.n_free - idle

    def note(self, running: Sequence[Request], used: int) -> None:
        """A line of the log."""
        memory, since = self.scheduler.memory, self.clock - (self.lines[-1].seconds if self.lines else 0.0)
        assert isinstance(memory, GroupBlocks)
        self.lines.append(
            LogLine(
                seconds=self.clock,
                prompt=self.ran / since,
                generation=self.wrote / since,
                running=len(running),
                waiting=len(self.scheduler.waiting),
                preemptions=self.scheduler.preemptions - self.lost,
                used=used,
                blocks=memory.n_blocks,
                rows=sum(request.computed for request in running),
                hit_rate=self.found / self.asked,
            )
        )
        self.ran, self.wrote, self.lost = 0, 0, self.scheduler.preemptions


class Service:
    """A run: its log, and what the requests have seen. Times are in seconds."""

    def __init__(self, blocks: int) -> None:
        drawn = arrivals()
        server = Watched(
            SERVED_MODEL, SMALL_GPU, Scheduler(Policy(BUDGET, BATCH_TEXTS), GroupBlocks(blocks, BLOCK_TOKENS))
        )
        for number, request in enumerate(drawn):
            server.advance(request.arrival)
            request.number, server.clock, server.times[request] = number, max(server.clock, request.arrival), []
            server.scheduler.add(request)
        server.advance(float("inf"))
        self.lines = server.lines
        self.seconds = server.clock
        self.n = len(drawn)
        self.rate = len(drawn) / server.clock  # requests per second that were answered
        self.running = server.texts / server.clock  # requests that run, the mean over the time
        stays = [at[-1] - server.admitted[request] for request, at in server.times.items()]
        self.stay = sum(stays) / len(stays)  # from the first pass of a request to its last token, the mean
        self.wait = sum(at[0] - request.arrival for request, at in server.times.items()) / self.n
        self.first = percentiles([at[0] - request.arrival for request, at in server.times.items()])
        pairs = [(at[0] - request.arrival, per_token(at)) for request, at in server.times.items()]
        self.each = percentiles([each for _, each in pairs if each])  # time per token after the first
        self.good = sum(first <= LIMITS[0] and each <= LIMITS[1] for first, each in pairs)  # within both limits
        self.preemptions = server.scheduler.preemptions

    @property
    def goodput(self) -> float:
        """Requests per second that were answered within the limits."""
        return self.good / self.seconds


def per_token(at: list[float]) -> float:
    """Seconds per token after the first; 0 where there is no other."""
    return (at[-1] - at[0]) / (len(at) - 1) if len(at) > 1 else 0.0


def arrivals() -> list[Request]:
    """All requests, phase after phase."""
    found, begin = list[Request](), 0.0
    for phase, (per_second, n) in enumerate(PHASES):
        drawn = requests(n, per_second, DRAWN_FROM + phase, SYSTEM_PROMPTS, SYSTEM_TOKENS)
        for request in drawn:
            request.arrival += begin
        found += drawn
        begin = drawn[-1].arrival
    return found


@cache
def service(settings: ServerSettings) -> Service:
    """The run of a server with these settings."""
    return Service(Start(settings).blocks)
