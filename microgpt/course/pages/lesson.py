"""Pages: two texts take turns in one pool of blocks, and what several ways to reserve memory waste. Knows no HTML."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import NamedTuple

from microgpt.course.pages.pool import TEXT_LETTERS, drawing
from microgpt.course.pages.questions import asks
from microgpt.errors import N_
from microgpt.experiments import allocation
from microgpt.experiments.allocation import Step
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import is_own, shipped

OTHER = "ch"  # what the second text begins with
BLOCK_ROWS = 2  # rows of a block
BLOCK_SIZES = (16, 4, 1)  # of the blocks that the bars compare
HOLES = ((6, 5, 6, 5, 6, 4), (1, 3, 5), 32, 8)  # texts one after the other, those that have ended, slots, a new text
LAST_ROWS, LAST_SIZES = (100, 500), (16, 128, 256)
YEAR = 2026  # what llama.cpp does is as of
SHARES = {  # of the memory for K and V, in percent: rows, reservation, internal, external; figure 2 of the same paper
    "Orca (Max)": (20.4, 13.3, 57.3, 8.9),
    "Orca (Pow2)": (26.8, 17.9, 13.6, 41.6),
    "Orca (Oracle)": (38.2, 25.2, 0.0, 36.6),
}
PAGED_SHARE, SLOWER = 96.3, (20, 26)  # its vLLM, in percent; and how much slower its kernel is than others, section 7.1
FIGURES = (2, 6)  # of the paper: shares, an example
SECTION = "7.1"


class Policy(NamedTuple):
    """A way to reserve memory: its share of rows, reserved and never filled slots over all steps, and at the end."""

    kind: str  # longest, power or blocks
    size: int
    shares: list[float]
    rows: int
    slots: int

    @property
    def usage(self) -> float:
        return self.rows / self.slots


ENGINE_BLOCKS = (  # rows of a block if nobody says otherwise, 0 where there are none; as of which version
    ("vLLM", 16, "2026"),
    ("SGLang", 1, "2026"),
    ("TensorRT-LLM", 32, "1.3.0rc27"),
    ("nano-vllm", 256, "2026-04"),
    ("llama.cpp", 0, "2025-11"),
)
PAGED_NAME = ENGINE_BLOCKS[0][0]


class View:
    """Two texts in one pool."""

    def __init__(self, settings: Settings) -> None:
        model, trace = shipped(settings.model), Trace()
        other = model.tokenizer.decode(model.tokenizer.encode(model.prompt)[:2]) if is_own(model) else OTHER
        texts = [allocation.complete_text(model, prompt) for prompt in (settings.prompt, other)]
        steps = allocation.take_turns(model, texts, BLOCK_ROWS, trace)
        words = [[show(model.tokenizer.vocabulary[i]) for i in ids] for ids in texts]
        trace.about |= {"model": model.name, "config": asdict(model.config), "prompt": settings.prompt}
        trace.about |= {"texts": words, "block_size": BLOCK_ROWS}
        moments = [Moment(step, words) for step in steps]
        n_blocks = allocation.most_blocks([len(ids) for ids in texts], BLOCK_ROWS)
        fullest = next(i for i, step in enumerate(steps) if step.token is None) - 1
        again = first_reuse(steps)
        self.trace, self.moments, self.n_blocks = trace, moments, n_blocks
        # shown first while a block is free still, so that the queue can be seen
        self.choices = (Choice("step", range(len(steps)), max(0, fullest - 2)),)
        self.end = fullest + 1  # the step at which a text gives its blocks back
        self.labels = [(i, one.letter, one.token or N_("ends")) for i, one in enumerate(moments, start=1)]
        self.drawing = drawing(steps, words, BLOCK_ROWS, n_blocks)
        self.n_ctx = model.config.n_ctx
        self.names = [model.tokenizer.decode(ids) for ids in texts]  # the two texts
        # slots that both would get if each had room for the longest text
        self.longest = len(texts) * model.config.n_ctx
        self.difference = max(step.difference for step in steps)
        self.n_slots = n_blocks * BLOCK_ROWS
        self.reused = again[0] if again else None  # the first block that both have had
        self.reused_by = again[1:] if again else (0, 0)  # from whom to whom
        self.policies = policies()
        sizes, ended, memory, new = HOLES
        self.owners = allocation.owner_of_slots(sizes, ended, memory)  # of slots, where texts stand one after the other
        self.holes = allocation.holes(self.owners)  # free slots between them
        self.n_free = sum(self.holes)
        self.free_blocks = allocation.whole_blocks(self.owners, BLOCK_ROWS)  # free from end to end
        self.needed = -(-new // BLOCK_ROWS)
        # mean rows of texts, share of their slots that is empty, a size each
        self.last = [(n, [allocation.last_block(n, b) for b in LAST_SIZES]) for n in LAST_ROWS]
        self.asks = asks(steps[fullest], BLOCK_ROWS)


view = View


class Moment:
    """What is said of a step."""

    def __init__(self, step: Step, words: list[list[str]]) -> None:
        block, place = divmod(step.slot, BLOCK_ROWS)
        self.step, self.block = step, block
        self.letter = TEXT_LETTERS[step.text]
        self.token = "" if step.token is None else words[step.text][step.row]
        # of each text: letter, table, rows, empty slots
        self.tables = [
            (letter, table, n, len(table) * BLOCK_ROWS - n)
            for letter, table, n in zip(TEXT_LETTERS, step.tables, step.lengths, strict=True)
        ]
        self.place = place  # in the block


def first_reuse(steps: Sequence[Step]) -> tuple[int, int, int] | None:
    """The first block that a text takes after the other has given it back, and these two texts."""
    freed: dict[int, int] = {}
    for step in steps:
        for block in step.taken:
            if block in freed:
                return block, freed[block], step.text
        freed |= dict.fromkeys(step.freed, step.text)
    return None


@cache
def policies() -> list[Policy]:
    """Over microgpt's own names."""
    model = shipped("names")
    lengths, n_ctx = allocation.twenty(model), model.config.n_ctx
    ways = [("longest", n_ctx, allocation.longest_text(n_ctx)), ("power", 0, allocation.power_of_two)]
    ways += [("blocks", size, allocation.blocks(size)) for size in BLOCK_SIZES]
    return [
        Policy(kind, size, allocation.waste(lengths, way).shares, *allocation.at_end(lengths, way))
        for kind, size, way in ways
    ]
