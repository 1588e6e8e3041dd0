"""Six texts and one model under several policies: what each pass runs, who waits, and when each token is there.

The same engine runs them all. The clock is a simple one: a pass of m tokens takes max(LEAST, m), for it reads all
weights however few tokens it runs, and from some number on every further token takes its time. So a wait can be read
off as a distance. `microgpt.serving.simulate` has the clock of a real processor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

from microgpt.caches.blocks import BlockPool
from microgpt.decode import encode_prompt, generate
from microgpt.serving.engine import Engine
from microgpt.serving.scheduler import Policy, Request
from microgpt.weights import Model, is_own

LEAST = 4  # as long as a pass of so many tokens takes every pass
BLOCK_ROWS = 2  # rows of a block
BUDGET, WHOLE = 8, 16  # tokens of a pass, in chunks and with whole prompts
PASS_TEXTS, SMALL_POOL = 4, 16  # texts in a pass; blocks of a small pool
READER = 6  # tokens that the first text is gone on with
OTHER_TEXTS = {  # by the model that knows them: prompt, tokens to go on with, the pass in which it comes
    "stories": (
        ("a dog", 9, 0),
        ("she is happy and so", 9, 0),
        ("it is", 12, 0),
        ("when it rains , the girl", 5, 4),
        ("so the man looks at the", 7, 4),
    ),
    "cuentos": (
        ("un perro", 9, 0),
        ("la mujer está cansada y", 9, 0),
        ("el niño", 12, 0),
        ("cuando llueve , la niña quiere", 5, 4),
        ("así que el hombre mira el", 7, 4),
    ),
}


class Asked(NamedTuple):
    """A text to be gone on with, by at most `answer` tokens, from the pass of its arrival on (the first is 0)."""

    ids: list[int]
    answer: int
    arrival: int = 0


class TextPart(NamedTuple):
    """What a pass runs of a text."""

    text: int
    n: int
    before: int  # rows that it has had
    whole: bool  # nothing of it is left to be run, so a token is written
    prompt: bool  # at least one of the tokens is of the prompt


class BatchPass(NamedTuple):
    """One pass, and the texts as they are after it."""

    parts: list[TextPart]
    start: int
    end: int
    waiting: list[int]  # texts that have come and do not run
    preempted: list[int]  # that have lost their rows for this pass
    ended: list[int]
    n_free: int  # blocks

    @property
    def tokens(self) -> int:
        return sum(part.n for part in self.parts)


class BatchRun(NamedTuple):
    """All passes under one policy."""

    policy: Policy
    n_blocks: int
    passes: list[BatchPass]
    ids: list[list[int]]  # of each text, prompt and answer
    came: list[int]  # when each came
    written: list[list[int]]  # when each of its tokens was written

    @property
    def first(self) -> list[int]:
        """Of each text the time from its arrival to its first token."""
        return [times[0] - came for times, came in zip(self.written, self.came, strict=True)]

    @property
    def between(self) -> list[int]:
        """Of each text the longest time between two of its tokens; 0 where there is one token alone."""
        return [max((b - a for a, b in pairwise(times)), default=0) for times in self.written]

    @property
    def usage(self) -> float:
        """Of the places of all passes, the share that wrote a token."""
        return sum(map(len, self.written)) / (self.policy.places * len(self.passes))


def six(model: Model, prompt: str) -> list[Asked]:
    """The reader's text and five others. Raises UserError for a text that is empty, too long or not in its words."""
    ids, n_ctx = encode_prompt(model.tokenizer, model.config, prompt), model.config.n_ctx
    first = Asked(ids, min(READER, n_ctx - len(ids) + 1))
    others = OTHER_TEXTS.get(model.name, OTHER_TEXTS["stories"])
    return [first, *(beside(model, *other) for other in others)]


def beside(model: Model, text: str, answer: int, arrival: int) -> Asked:
    """One of the others; a reader's model, which may not know its words, writes one that is as long, if it can."""
    if not is_own(model):
        return Asked(model.tokenizer.encode(text), answer, arrival)
    stop, n, n_ctx = model.tokenizer.start, len(text.split()), model.config.n_ctx
    made = generate(model.params, model.config, [stop], min(n, n_ctx - 1), 1.0, rng=Random(n + arrival), stop=stop)
    ids = [stop, *(one for one in made if one != stop)]
    return Asked(ids, min(answer, n_ctx - len(ids) + 1), arrival)


def ways(asked: Sequence[Asked]) -> dict[str, tuple[Policy, int]]:
    """Policies and the blocks of their pools. Where a text is longer, its pass or its rows are let in all the same."""
    rows = [len(one.ids) + one.answer - 1 for one in asked]
    blocks = [-(-n // BLOCK_ROWS) for n in rows]
    chunks, most = Policy(BUDGET, PASS_TEXTS), sum(blocks)
    return {
        "chunks": (chunks, most),
        "whole": (Policy(max(WHOLE, *rows), PASS_TEXTS, chunked=False), most),
        "static": (Policy(WHOLE, PASS_TEXTS, static=True), most),
        "small": (chunks, max(SMALL_POOL, *blocks)),
    }


def alone(model: Model, asked: Asked) -> list[int]:
    """What a text is when nobody else is there."""
    stops = model.tokenizer.stops
    return asked.ids + list(generate(model.params, model.config, asked.ids, asked.answer, stop=stops))


def serve(model: Model, asked: Sequence[Asked], policy: Policy, n_blocks: int) -> BatchRun:
    """Run all texts to their end. Raises UserError for one that could never run."""
    engine = Engine(model, policy, BlockPool(model.config, n_blocks, BLOCK_ROWS))
    requests, came, clock = dict[Request, int](), dict[int, int](), 0
    passes, written = list[BatchPass](), [list[int]() for _ in asked]
    while len(requests) < len(asked) or engine.scheduler.waiting or engine.scheduler.running:
        for text, one in enumerate(asked):
            if text not in came and one.arrival <= len(passes):
                came[text] = clock
                requests[engine.add(str(text), one.ids, one.answer)] = text
        one_pass = run_pass(engine, requests, clock)
        passes.append(one_pass)
        clock = one_pass.end
        for part in one_pass.parts:
            if part.whole:
                written[part.text].append(clock)
    ids = {text: engine.ids[request] for request, text in requests.items()}
    texts = range(len(asked))
    return BatchRun(policy, n_blocks, passes, [ids[i] for i in texts], [came[i] for i in texts], written)


def run_pass(engine: Engine, requests: Mapping[Request, int], clock: int) -> BatchPass:
    """One pass of the engine."""
    lost = {request: request.preempted for request in requests}
    had = {request: request.written for request in requests}
    plan = engine.step()
    parts = [
        TextPart(
            requests[request],
            n,
            request.computed - n,
            request.written > had[request],
            request.computed - n < request.prompt,
        )
        for request, n in plan
    ]
    return BatchPass(
        parts,
        clock,
        clock + max(LEAST, sum(part.n for part in parts)),
        [requests[request] for request in engine.scheduler.waiting],
        [text for request, text in requests.items() if request.preempted > lost[request]],
        [requests[request] for request, _ in plan if request.has_ended],
        engine.memory.pool.n_free,
    )
