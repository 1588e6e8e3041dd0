"""Many at once: six texts under four policies, pass by pass, and ten thousand requests by a simulated clock. Knows no
HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from typing import TypeAlias

from microgpt.course.many_at_once.questions import asks
from microgpt.course.many_at_once.timeline import places_kept, timeline
from microgpt.course.many_at_once.waits import TICKS, share_of_line, waits
from microgpt.serving import batches, measured
from microgpt.serving.batches import BatchPass, BatchRun, TextPart
from microgpt.serving.simulate import RunSummary, requests
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import shipped

TEXT_LETTERS = "ABCDEF"
Time: TypeAlias = tuple[float, int, bool]  # as it is written: with so many decimals, and whether in milliseconds
LEFT_OUT = ("tight", "wide")  # other budgets of whole prompts, which the text alone speaks of
OTHERS = (2048, 256)  # tokens and texts of a pass in vLLM on a card of less than LARGE_CARD, or an A100
MOST = 99  # the percentile beside each median
LARGE_CARD, SMALL_CARD, AS_OF = 70 * 2**30, "A100", "2026"  # bytes, a card that is not for all that; of vLLM's defaults


class View:
    """Six texts, and ten thousand."""

    def __init__(self, settings: Settings) -> None:
        model, trace = shipped(settings.model), Trace()
        asked = batches.six(model, settings.prompt)
        policies = batches.ways(asked)
        runs = {kind: batches.serve(model, asked, *one) for kind, one in policies.items()}
        ways = [PolicyPasses(place, kind, run) for place, (kind, run) in enumerate(runs.items())]
        words = [[show(model.tokenizer.vocabulary[i]) for i in one.ids] for one in asked]
        whole = [[show(model.tokenizer.vocabulary[i]) for i in ids] for ids in runs["chunks"].ids]
        trace.about |= {"model": model.name, "config": asdict(model.config), "prompt": settings.prompt, "texts": words}
        trace.about |= {"passes": {one.kind: [column.plan for column in one.columns] for one in ways}}
        busy = [(rate, loads(ways)) for rate, ways in measured.load_measures().policies.items()]
        self.trace, self.ways = trace, ways
        self.choices = (
            Choice("policy", range(len(ways)), 0),
            *(Choice(one.kind, range(len(one.columns)), min(3, len(one.columns) - 1), in_figure=False) for one in ways),
            Choice("rate", range(len(busy)), len(busy) - 2, in_figure=False),  # the most that is kept up with
        )
        # letter, and how the text begins
        self.names = [
            (letter, model.tokenizer.decode(one.ids)) for letter, one in zip(TEXT_LETTERS, asked, strict=True)
        ]
        self.timeline = timeline([one.run for one in ways], [said for _, said in self.names], whole)
        # every text under every policy is what it is alone
        self.same = all(run.ids == [batches.alone(model, one) for one in asked] for run in runs.values())
        shown = [kind for kind in busy[0][1] if kind not in LEFT_OUT]
        self.waits = [
            waits(kind, busy[0][1][kind].budget, [policies[kind].seen for _, policies in busy]) for kind in shown
        ]
        self.ticks = [(share_of_line(x), (1000 * x, 0, True) if x < 1 else (x, 0, False)) for x in TICKS]
        self.loads = busy  # requests per second, the fewest first, and what they see by policy
        # requests per second, by the policies that do not keep up with the most
        self.most_served = {kind: measured.REQUESTS / busy[-1][1][kind].seen.seconds for kind in ("static", "reserved")}
        self.longest = longest()  # the tokens of the longest prompt, and how many of the requests have it
        # by how much two budgets above that differ at most, in any of the times
        self.apart = max(time_difference(policies["whole"].seen, policies["wide"].seen) for _, policies in busy)
        self.fleet = loads(measured.load_measures().fleet)
        self.asks = asks()

    @property
    def sooner(self) -> int:
        """Units that the last text waits less if texts join at every pass; prompts are run whole both times."""
        return self.way("static").run.first[-1] - self.way("whole").run.first[-1]

    def way(self, kind: str) -> PolicyPasses:
        return next(way for way in self.ways if way.kind == kind)


view = View


class PolicyPasses:
    """A policy, with all passes of the six texts."""

    def __init__(self, place: int, kind: str, run: BatchRun) -> None:
        again = list(rows_lost(run))
        self.run = run
        self.place = place  # among the policies
        self.kind = kind  # chunks, whole, static or small
        self.columns = [PassColumn(run, i) for i in range(len(run.passes))]
        self.budget = 0 if run.policy.static else run.policy.budget  # 0 where none is kept
        self.preempted = len(again)
        self.lost = sum(lost for lost, _ in again)  # rows that were taken away,
        self.found = sum(found for _, found in again)  # and of these, those that were found again


def rows_lost(run: BatchRun) -> Iterator[tuple[int, int]]:
    """Of each preemption the rows that were lost, and those that the text still found when it ran again."""
    for i, one in enumerate(run.passes):
        for text in one.preempted:
            last = [part for each in run.passes[:i] for part in each.parts if part.text == text][-1]
            again = next(part for each in run.passes[i:] for part in each.parts if part.text == text)
            yield last.before + last.n, again.before


class PassColumn:
    """A pass: how long it takes, a box per text, and what it runs."""

    def __init__(self, run: BatchRun, i: int) -> None:
        one = run.passes[i]
        parts = {part.text: part for part in one.parts}
        kept = places_kept(run, i) if run.policy.static else set()
        self.length = one.end - one.start
        self.clock = f"{one.end} for{self.length}"  # in states.css: by and this, when it ends and how long it takes
        # of each text: prompt, decode, wait, place (kept for nobody) or nothing, and the tokens that are run
        self.boxes = [box(one, text, parts.get(text), text in kept) for text in range(len(run.ids))]
        self.tokens = one.tokens
        self.plan = " ".join(TEXT_LETTERS[part.text] + str(part.n) for part in one.parts)
        self.waiting = letters_of(one.waiting)
        self.lost = letters_of(one.preempted)
        self.ended = letters_of(one.ended)
        self.n_free = one.n_free


def letters_of(texts: Iterable[int]) -> str:
    return ", ".join(TEXT_LETTERS[text] for text in texts)


def box(one: BatchPass, text: int, part: TextPart | None, kept: bool) -> tuple[str, int]:
    if part:
        return "prompt" if part.prompt else "decode", part.n
    return "place" if kept else "wait" if text in one.waiting else "", 0


def loads(kept: Mapping[str, RunSummary]) -> dict[str, Load]:
    return {kind: Load(kind, seen) for kind, seen in kept.items()}


class Load:
    """Ten thousand requests under a policy or a routing."""

    def __init__(self, kind: str, seen: RunSummary) -> None:
        policy = measured.POLICIES.get(kind, measured.POLICIES["chunks"])
        self.kind, self.seen = kind, seen
        # until the first token, and between two tokens: the median, and the 99th percentile
        self.first, self.gap = (tuple(map(time_of, times)) for times in (seen.first, seen.between))
        self.budget = 0 if policy.static else policy.budget  # tokens of a pass; 0 where none is kept


def time_difference(one: RunSummary, other: RunSummary) -> float:
    """By which share the times differ at most, rounded up to a thousandth."""
    pairs = zip((*one.first, *one.between), (*other.first, *other.between), strict=True)
    return math.ceil(1000 * max(abs(a - b) / b for a, b in pairs)) / 1000


@cache
def longest() -> tuple[int, int]:
    """The tokens of the longest prompt, and how many have so many: lengths do not depend on the rate."""
    prompts = [request.prompt for request in requests(measured.REQUESTS, measured.RATES[0], measured.SEED)]
    return max(prompts), prompts.count(max(prompts))


def time_of(seconds: float) -> Time:
    if seconds < 1:
        return 1000 * seconds, int(seconds < 0.01), True
    return seconds, int(seconds < 100), False
