"""The scheduler: which tokens of which request the next step runs.

A batch that stays together until its last text has ended leaves places idle, and a long prompt that runs at once makes
all others wait. So the batch is chosen anew for every step (iteration-level scheduling: Orca, OSDI 2022), and a
prompt may take part in several steps (chunked prefill: Sarathi, arXiv 2308.16369). There are no phases: a request wants
the tokens that it has and that have no row yet, which is a whole prompt in the beginning and one token ever after.

A step has a budget of tokens. Requests that run are served first, in the order in which they came; then those that
wait, as long as there are budget, places and memory. When a running request finds no memory for its rows, the one that
came *last* gives its rows back and waits again, in front of all others (preemption by recomputation).

Knows numbers of tokens, not tokens; memory is a protocol, so that rows may be real ones or only counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, Protocol

from microgpt.config import Hook
from microgpt.errors import N_, UserError


@dataclass(eq=False, slots=True)
class Request:
    """A text to be written: `prompt` tokens, after them at most `answer` more. Times are in steps or in seconds."""

    name: str
    prompt: int
    answer: int
    arrival: float = 0.0
    number: int = 0  # in the order in which they came
    group: str = ""  # requests of one group begin with the same tokens,
    shared: int = 0  # of which there are so many
    written: int = 0  # tokens of the answer so far
    computed: int = 0  # rows so far
    preempted: int = 0  # how often it has lost its rows

    @property
    def length(self) -> int:
        """Tokens that are known: the prompt and what has been written."""
        return self.prompt + self.written

    @property
    def n_waiting(self) -> int:
        """Tokens to run before the next one can be sampled."""
        return self.prompt + self.written - self.computed

    @property
    def has_ended(self) -> bool:
        return self.written >= self.answer


class Chunk(NamedTuple):
    """The next `n` tokens of a request, in one step."""

    request: Request
    n: int


class Memory(Protocol):
    """Where rows are kept."""

    def most(self) -> int:
        """The rows that one request can have if it is alone."""

    def find(self, request: Request) -> int:
        """Rows of its beginning that are there already, and that it holds from now on."""

    def grow(self, request: Request, rows: int) -> bool:
        """Make room for so many rows in all; False, and nothing done, where there is none."""

    def free(self, request: Request) -> None:
        """It holds no rows from now on."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How steps are filled. `budget` tokens a step; at most `places` requests at a time.

    Without `chunked` a prompt runs in one step or waits. A `static` batch takes no request in before its last one has
    ended, and runs its prompts whole, however long they are.
    """

    budget: int = 2048
    places: int = 256
    chunked: bool = True
    static: bool = False

    def __post_init__(self) -> None:
        for name, value in (("budget", self.budget), ("places", self.places)):
            if value < 1:
                sentence = N_("A scheduler with %(name)s %(value)s never runs anything; choose 1 or more.")
                raise UserError(sentence, name=name, value=value)


@dataclass(slots=True)
class Scheduler:
    """Requests that wait and requests that run; `schedule` plans a step, `finish_step` takes note that it has been
    run."""

    policy: Policy
    memory: Memory
    hooks: Callable[[int], Hook] | None = None  # of a request, by its number: `Trace.sequence` is one
    waiting: deque[Request] = field(default_factory=deque)
    running: list[Request] = field(default_factory=list)
    steps: int = 0
    preemptions: int = 0
    added: int = 0

    def add(self, request: Request) -> None:
        """Let it wait at the end of the line. Raises UserError for a request that could never be run."""
        rows, most = request.prompt + request.answer - 1, self.memory.most()  # the last token needs no row
        if request.prompt < 1 or request.answer < 1:
            sentence = N_("Request %(name)s has %(prompt)s tokens and asks for %(answer)s; both must be 1 or more.")
            raise UserError(sentence, name=request.name, prompt=request.prompt, answer=request.answer)
        if rows > most:
            sentence = N_(
                "Request %(name)s needs %(rows)s rows and the whole memory holds %(most)s. "
                "Ask for less, or make the memory larger."
            )
            raise UserError(sentence, name=request.name, rows=rows, most=most)
        if not self.policy.chunked and not self.policy.static and rows > self.policy.budget:
            sentence = N_(
                "Request %(name)s may need a pass of %(rows)s tokens and the budget is %(budget)s. "
                "Allow chunks, or choose a larger budget."
            )
            raise UserError(sentence, name=request.name, rows=rows, budget=self.policy.budget)
        request.number, self.added = self.added, self.added + 1
        self.waiting.append(request)

    def schedule(self) -> list[Chunk]:
        """The next step: for each request that takes part, how many of its tokens. Memory is taken at once."""
        plan, budget = list[Chunk](), self._budget()
        before, turn = self.preemptions, 0
        while turn < len(self.running) and budget:  # the list may lose its end under way
            request = self.running[turn]
            n = min(request.n_waiting, budget)
            if self._room_for(request, request.computed + n):
                plan.append(Chunk(request, n))
                budget -= n
                turn += 1
        if before == self.preemptions:  # else they would take what has just been given back
            self._admit(plan, budget)
        self.steps += 1
        if self.hooks:
            for request, n in plan:
                self.hooks(request.number)(("schedule", n, request.computed, -1))
        return plan

    def finish_step(self, plan: Iterable[Chunk]) -> list[Request]:
        """The step has been run. Returns the requests that have one more token; those that have ended are gone."""
        wrote = list[Request]()
        for request, n in plan:
            request.computed += n
            if not request.n_waiting:
                request.written += 1
                wrote.append(request)
                if request.has_ended:
                    self.memory.free(request)
        if any(request.has_ended for request in wrote):
            self.running = [request for request in self.running if not request.has_ended]
        return wrote

    def _budget(self) -> int:
        """A static batch runs its prompts whole; of those that wait, it has places for the first ones."""
        if not self.policy.static:
            return self.policy.budget
        return sum(request.n_waiting for request in (*self.running, *islice(self.waiting, self.policy.places)))

    def _room_for(self, request: Request, rows: int) -> bool:
        """Whether it has got room, for which the last ones may have had to go; False if it was the last itself."""
        while not self.memory.grow(request, rows):
            last = self.running.pop()
            self.memory.free(last)
            last.computed, last.preempted = 0, last.preempted + 1
            self.waiting.appendleft(last)
            self.preemptions += 1
            if self.hooks:
                self.hooks(last.number)(("preempt", last.length, 0, -1))
            if last is request:
                return False
        return True

    def _admit(self, plan: list[Chunk], budget: int) -> None:
        """Those that wait, first come first served, while there are budget, places and memory."""
        if self.policy.static and self.running:
            return
        while self.waiting and budget and len(self.running) < self.policy.places:
            request = self.waiting[0]
            request.computed = self.memory.find(request)
            n = min(request.n_waiting, budget)
            whole = self.policy.chunked or n == request.n_waiting
            if not whole or not self.memory.grow(request, request.computed + n):
                self.memory.free(request)
                request.computed = 0
                return
            self.running.append(self.waiting.popleft())
            plan.append(Chunk(request, n))
            budget -= n


# ---- memory that is only counted ---------------------------------------------------------------------


class Blocks:
    """`n_blocks` blocks of `block_size` rows, taken when needed: what a pool of blocks has, without the rows."""

    def __init__(self, n_blocks: int, block_size: int = 16) -> None:
        self.n_blocks, self.block_size, self.n_free = n_blocks, block_size, n_blocks
        self._taken: dict[Request, int] = {}

    def most(self) -> int:
        return self.n_blocks * self.block_size

    def find(self, request: Request) -> int:
        return 0

    def grow(self, request: Request, rows: int) -> bool:
        had = self._taken.get(request, 0)
        more = -(-rows // self.block_size) - had
        if more > self.n_free:
            return False
        if more > 0:
            self.n_free -= more
            self._taken[request] = had + more
        return True

    def free(self, request: Request) -> None:
        self.n_free += self._taken.pop(request, 0)

    def count_rows(self, running: Sequence[Request]) -> int:
        """Rows that are there; `running` are the requests that have some."""
        return sum(request.computed for request in running)


class Reserved(Blocks):
    """The same memory, of which every request reserves n_ctx rows for as long as it runs."""

    def __init__(self, n_rows: int, n_ctx: int) -> None:
        super().__init__(n_rows // n_ctx, n_ctx)

    def most(self) -> int:
        return self.block_size if self.n_blocks else 0
