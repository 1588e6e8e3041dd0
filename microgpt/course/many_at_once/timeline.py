"""The picture of six texts in time: what each pass runs of them under each policy.

It is one drawing for all policies. A token that a text writes is one piece of it, wherever a policy has it; so is a
chunk of its prompt, and a time of waiting. Where a policy has no such piece, it is of no length, beside that before it.
How much is seen depends on the time that is on show: the end of a pass.
"""

from collections.abc import Sequence
from typing import NamedTuple

from microgpt.serving.batches import BatchRun, TextPart

MOST_UNITS = 112  # of time, until all texts are done: no text is so long that it takes more
MOST_LENGTH = 40  # of a pass


class Span(NamedTuple):
    """Under one policy: when it begins, how long it is, and how many tokens are run."""

    start: int
    length: int = 0
    n: int = 0


class Piece(NamedTuple):
    """What is the same under all policies, and where each has it."""

    kind: str  # prompt, decode, again (computed anew), wait, place (kept for nobody); or pass
    spans: list[Span]
    ends: bool = False  # here its text is done

    @property
    def labels(self) -> dict[int, list[int]]:
        """Tokens that are run -> the policies under which it is so many."""
        found = dict[int, list[int]]()
        for policy, span in enumerate(self.spans):
            if span.n:
                found.setdefault(span.n, []).append(policy)
        return found


class Lane(NamedTuple):
    """A text: what it asks, each token that it writes with the times at which it does, and its pieces."""

    asked: str
    words: list[tuple[str, list[int]]]
    pieces: list[Piece]
    lost: list[tuple[int, int]]  # policy, and when its rows were taken away


class Timeline(NamedTuple):
    lanes: list[Lane]
    passes: list[Piece]
    end: int  # of the policy that takes longest
    most: int  # tokens of a pass


Found = dict[tuple[str, int], Span]  # kind and number of a piece -> where it is


def timeline(runs: Sequence[BatchRun], asked: Sequence[str], words: Sequence[Sequence[str]]) -> Timeline:
    """All passes of these runs; `words` are the tokens of each text with its answer."""
    lanes = []
    for text, said in enumerate(asked):
        found = [pieces_of(run, text) for run in runs]
        times = list(zip(*(run.written[text] for run in runs), strict=True))
        answer = words[text][len(words[text]) - len(times) :]
        lanes.append(
            Lane(
                said,
                [(word, list(at)) for word, at in zip(answer, times, strict=True)],
                pieces(found, runs, text),
                [(i, one.start) for i, run in enumerate(runs) for one in run.passes if text in one.preempted],
            )
        )
    ends = [run.passes[-1].end for run in runs]
    passes = [[Span(one.start, one.end - one.start, one.tokens) for one in run.passes] for run in runs]
    columns = [
        Piece("pass", [found[i] if i < len(found) else Span(end) for found, end in zip(passes, ends, strict=True)])
        for i in range(max(map(len, passes)))
    ]
    return Timeline(lanes, columns, max(ends), max(one.tokens for run in runs for one in run.passes))


def pieces(found: Sequence[Found], runs: Sequence[BatchRun], text: int) -> list[Piece]:
    keys = dict.fromkeys(key for each in found for key in each)
    last = len(runs[0].written[text]) - 1
    return [
        Piece(
            kind,
            [
                each.get((kind, number)) or missing(kind, number, run, text)
                for each, run in zip(found, runs, strict=True)
            ],
            (kind, number) == ("decode", last),
        )
        for kind, number in sorted(keys)
    ]


def missing(kind: str, number: int, run: BatchRun, text: int) -> Span:
    """Where a piece would be that a policy has not."""
    written = run.written[text]
    if kind == "decode":
        return Span(written[number])
    return Span({"wait": run.came[text], "place": written[-1]}.get(kind, written[0]))


def pieces_of(run: BatchRun, text: int) -> Found:
    """The pieces of a text under one policy. What it waits, or keeps for nobody, from pass to pass is one piece."""
    found, had, idle = Found(), 0, ""
    counts = dict.fromkeys(("prompt", "again", "wait", "place"), 0)
    kept = [places_kept(run, i) if run.policy.static else set() for i in range(len(run.passes))]
    for one, places in zip(run.passes, kept, strict=True):
        part = next((part for part in one.parts if part.text == text), None)
        kind = kind_of(part, had) if part else "place" if text in places else "wait" if text in one.waiting else ""
        length = one.end - one.start
        if kind == "decode":
            found[kind, run.written[text].index(one.end)] = Span(one.start, length, part.n if part else 0)
        elif kind and kind == idle:
            number = counts[kind] - 1
            found[kind, number] = found[kind, number]._replace(length=one.end - found[kind, number].start)
        elif kind:
            found[kind, counts[kind]] = Span(one.start, length, part.n if part else 0)
            counts[kind] += 1
        idle = "" if part else kind
        had = max(had, part.before + part.n) if part else had
    return found


def kind_of(part: TextPart, had: int) -> str:
    """`had` is how many rows the text has had before, at most."""
    return "again" if part.before < had else "prompt" if part.prompt else "decode"


def places_kept(run: BatchRun, i: int) -> set[int]:
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
