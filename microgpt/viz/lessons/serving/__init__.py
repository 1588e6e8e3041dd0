"""Many at once: six texts under four policies, pass by pass, and ten thousand requests by a simulated clock. Knows no
HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import NamedTuple

from microgpt.serving import batches, measured
from microgpt.serving.batches import LEAST, PLACES, SIZE, Part, Pass, Run
from microgpt.serving.simulate import Seen
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing import thumbs
from microgpt.viz.drawing.thumbs import HEIGHT, WIDTH
from microgpt.viz.settings import Settings
from microgpt.viz.text.answers import answers
from microgpt.viz.text.formats import show
from microgpt.weights import shipped

LETTERS = "ABCDEF"
SECONDS = (0.01, 1000.0)  # ends of the scale of waits, whose steps are tens
ASKED_STATIC = (4, (6, 9, 9, 12))  # places, and the tokens that four texts write
ASKED_CHUNKS = (20, 3, 8)  # a prompt, texts that write meanwhile, the budget of a pass


class Box(NamedTuple):
    """A text in a pass."""

    kind: str  # prompt, decode, wait, place (kept for nobody), or nothing
    n: int  # tokens that are run
    lost: bool  # its rows were taken from it
    first: bool  # here it writes its first token
    ends: bool


class Column(NamedTuple):
    """A pass: how long it takes, a box per text, what it runs of its budget, and the passes after which it is there."""

    length: int
    boxes: list[Box]
    tokens: int
    share: float  # of the largest pass of all
    plan: str
    waiting: str
    lost: str
    ended: str
    n_free: int


class Way(NamedTuple):
    """A policy, with all passes of the six texts."""

    kind: str  # chunks, whole, static or small
    columns: list[Column]
    budget: int  # 0 where none is kept
    budget_share: float
    n_blocks: int
    first: list[int]  # of each text, until its first token
    between: list[int]
    used: float
    preempted: int

    @property
    def longest(self) -> int:
        """Between two tokens of a text that writes."""
        return max(self.between)

    @property
    def end(self) -> int:
        return sum(column.length for column in self.columns)


class Time(NamedTuple):
    """A time as it is written: in milliseconds, or from a second on in seconds, with so many decimals."""

    value: float
    digits: int
    thousandths: bool


class Load(NamedTuple):
    """Ten thousand requests under a policy or a routing."""

    kind: str
    seen: Seen
    waits: tuple[float, float]  # the median and 99 of 100, as shares of the scale
    first: tuple[Time, Time]  # the same
    gap: Time  # of 99 of 100


class Asks(NamedTuple):
    """What the lesson asks."""

    places: int
    answers: tuple[int, ...]
    idle: dict[str, int]  # places that wait in a batch that stays together
    prompt: int
    others: int
    budget: int
    passes: dict[str, int]  # until the prompt is done


class View(NamedTuple):
    """Six texts, and ten thousand."""

    trace: Trace
    choices: tuple[Choice, ...]
    names: list[tuple[str, str]]  # letter, and how the text begins
    ways: list[Way]
    same: bool  # every text under every policy is what it is alone
    policies: list[Load]
    fleet: list[Load]
    asks: Asks
    places: int = PLACES
    least: int = LEAST
    size: int = SIZE
    n: int = measured.REQUESTS
    rate: int = measured.RATE
    servers: int = measured.SERVERS
    fleet_rate: int = measured.FLEET_RATE
    groups: int = measured.GROUPS
    shared: int = measured.SHARED
    seed: int = measured.SEED
    model: str = measured.MODEL
    processor: str = measured.PROCESSOR
    defaults: tuple[int, int] = (2048, 256)  # of vLLM's API: tokens and texts of a pass
    as_of: str = "2026"
    most: tuple[int, int] = (99, 100)  # of so many values, those that the larger figures of the large run cover

    def way(self, kind: str) -> Way:
        return next(way for way in self.ways if way.kind == kind)

    def load(self, kind: str) -> Load:
        return next(load for load in (*self.policies, *self.fleet) if load.kind == kind)


def view(settings: Settings) -> View:
    model, trace = shipped(settings.model), Trace()
    asked = batches.six(model, settings.prompt)
    policies = batches.ways(asked)
    runs = {kind: batches.serve(model, asked, *one) for kind, one in policies.items()}
    most = max(one.tokens for run in runs.values() for one in run.passes)
    ways = [way(kind, run, most) for kind, run in runs.items()]
    words = [[show(model.tokenizer.vocabulary[i]) for i in one.ids] for one in asked]
    trace.about |= {"model": model.name, "config": asdict(model.config), "prompt": settings.prompt, "texts": words}
    trace.about |= {"passes": {one.kind: [column.plan for column in one.columns] for one in ways}}
    kept = measured.kept()
    return View(
        trace=trace,
        choices=(
            Choice("policy", range(len(ways)), 0),
            *(Choice(one.kind, range(len(one.columns)), len(one.columns) - 1, in_figure=False) for one in ways),
        ),
        names=[(letter, model.tokenizer.decode(one.ids)) for letter, one in zip(LETTERS, asked, strict=True)],
        ways=ways,
        same=all(run.ids == [batches.alone(model, one) for one in asked] for run in runs.values()),
        policies=loads(kept["policies"]),
        fleet=loads(kept["fleet"]),
        asks=asks(),
    )


def way(kind: str, run: Run, most: int) -> Way:
    held = run.policy.static
    return Way(
        kind,
        [column(run, i, most, held) for i in range(len(run.passes))],
        0 if held else run.policy.budget, 0.0 if held else min(1.0, run.policy.budget / most),
        run.n_blocks, run.first, run.between, run.used, sum(len(one.preempted) for one in run.passes),
    )  # fmt: skip


def column(run: Run, i: int, most: int, static: bool) -> Column:
    one = run.passes[i]
    parts = {part.text: part for part in one.parts}
    kept = places_kept(run, i) if static else set()
    return Column(
        one.end - one.start,
        [box(run, one, text, parts.get(text), text in kept) for text in range(len(run.ids))],
        one.tokens, one.tokens / most,
        " ".join(LETTERS[part.text] + str(part.n) for part in one.parts),
        named(one.waiting), named(one.preempted), named(one.ended), one.n_free,
    )  # fmt: skip


def named(texts: Iterable[int]) -> str:
    return ", ".join(LETTERS[text] for text in texts)


def places_kept(run: Run, i: int) -> set[int]:
    """Texts that have ended while others of their batch go on: their places stay empty until the batch is done."""
    batch, ended = set[int](), set[int]()
    for one in run.passes[: i + 1]:
        texts = {part.text for part in one.parts}
        if not texts & batch:
            batch, ended = texts, set()
        batch |= texts
        gone = ended.copy()
        ended |= set(one.ended)
    return gone & batch


def box(run: Run, one: Pass, text: int, part: Part | None, kept: bool) -> Box:
    lost, times = text in one.preempted, run.written[text]
    if part is None:
        return Box("place" if kept else "wait" if text in one.waiting else "", 0, lost, False, False)
    return Box(
        "prompt" if part.prompt else "decode", part.n, lost, part.whole and one.end == times[0], text in one.ended
    )


def loads(kept: Mapping[str, Seen]) -> list[Load]:
    low, high = map(math.log, SECONDS)

    def share(seconds: float) -> float:
        return min(1.0, max(0.0, (math.log(seconds) - low) / (high - low)))

    return [
        Load(
            kind, seen, (share(seen.first[0]), share(seen.first[1])), (time_of(seen.first[0]), time_of(seen.first[1])),
            time_of(seen.between[1]),
        )
        for kind, seen in kept.items()
    ]  # fmt: skip


def time_of(seconds: float) -> Time:
    if seconds < 1:
        return Time(1000 * seconds, int(seconds < 0.01), True)
    return Time(seconds, int(seconds < 100), False)


def asks() -> Asks:
    places, written = ASKED_STATIC
    prompt, others, budget = ASKED_CHUNKS
    idle = places * max(written) - sum(written)
    room = budget - others
    return Asks(
        places, written, answers(idle, used=sum(written), last=max(written) - min(written)),
        prompt, others, budget, answers(-(-prompt // room), whole=-(-prompt // budget), one=1),
    )  # fmt: skip


def thumb(view: View) -> Iterable[thumbs.Cell]:
    """The lanes of the first policy: prompts, and tokens that are written."""
    columns, high = view.ways[0].columns, HEIGHT // len(LETTERS)
    unit, at = WIDTH / view.ways[0].end, 0
    for one in columns:
        for lane, found in enumerate(one.boxes):
            if found.n:
                kind = "new" if found.kind == "prompt" else "kept"
                yield kind, round(at * unit), lane * high, max(2, round(one.length * unit) - 2), high - 3
        at += one.length
