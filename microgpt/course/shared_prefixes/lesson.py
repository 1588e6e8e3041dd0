"""Sharing: texts that begin alike hold the same blocks, until one writes or a token is changed. Knows no HTML."""

from dataclasses import asdict
from functools import cache

from microgpt.caches.blocks import BlockPool
from microgpt.course.shared_prefixes import events as prefixes
from microgpt.course.shared_prefixes.conversations import AT, EDITED, TERMS, UNASKED, bars, chats
from microgpt.course.shared_prefixes.events import CHANGED, FIRST, OTHER, SIZE, Event, Texts
from microgpt.course.shared_prefixes.lanes import COMES, KEY_DIGITS, TEXT_NAMES, drawing
from microgpt.course.shared_prefixes.questions import asks
from microgpt.errors import N_
from microgpt.serving.beams import BeamSearch, rows_of_samples
from microgpt.serving.chat import pays_from
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import Model, shipped

HAPPENS = {  # what an event is called in one word, after the letter of its text
    "run": N_("comes"),
    "fork": N_("forks"),
    "copy": N_("writes"),
    "write": N_("writes"),
    "end": N_("ends"),
    "again": N_("returns"),
    "changed": N_("comes"),
}
CHATS = {"same": N_("nothing changes"), "clock": N_("the time stands first"), "tool": N_("a tool is changed")}
BEAMS = ("ma", 4, 7, 4)  # beginning, width, steps, rows of a block
SAMPLES = (1000, 200, 4)  # tokens of a prompt, of an answer, answers


ENGINE_CACHES = (  # as of which version, and what they do if nobody says otherwise
    ("vLLM V1", "2026", N_("full blocks by a hash; no copy on write")),
    ("SGLang", "2026", N_("a tree of tokens; to the token where a block has one row")),
    ("TensorRT-LLM", "1.3.0rc27", N_("blocks; also a part of a block, which is copied")),
    ("nano-vllm", "2026-04", N_("full blocks by a hash, but never the last one")),
)

__all__ = ["UNASKED", "view"]  # and what the templates read
SEVERAL = 2  # texts that hold a block, in the key
MOST_FOUND = (50, 99)  # percent: the range of hit rates that the same paper names
EDIT = (EDITED + 1, AT)


class View:
    """Texts in one pool."""

    def __init__(self, settings: Settings) -> None:
        model, trace = shipped(settings.model), Trace()
        words = [show(token) for token in model.tokenizer.vocabulary]
        ids = prefixes.beginning(model, settings.prompt)
        texts = Texts(model, ids, trace)
        events = list(texts.events())
        first, other = texts.ids[FIRST], texts.ids[OTHER]
        trace.about |= {"model": model.name, "config": asdict(model.config), "prompt": settings.prompt}
        trace.about |= {"texts": [[words[i] for i in ids] for ids in texts.there], "block_size": SIZE}
        moments = [Moment(events[: i + 1], words) for i in range(len(events))]
        several = chats()
        apart = prefixes.row_distances(model, first, other, CHANGED)
        self.trace, self.moments = trace, moments
        self.choices = (Choice("step", range(len(events)), 1), Choice("chat", range(len(several)), 0, in_figure=False))
        self.labels = [(i, one.letter, HAPPENS[one.event.kind]) for i, one in enumerate(moments, start=1)]
        self.drawing = drawing(events, words)
        # the token at that position, and the one that stands there instead
        self.changed = (words[first[CHANGED]], words[other[CHANGED]])
        self.apart = apart  # how far rows after it are off, layer by layer
        # tokens that are left of a text that is too long; 0: it is not
        self.cut = len(ids) if len(ids) < len(model.tokenizer.encode(settings.prompt)) else 0
        self.copied = moments[3].event.copied or (-1, -1)  # from, to
        self.difference = max(event.difference for event in events)
        self.chats = several
        self.chat_labels = [CHATS[chat.kind] for chat in several]
        self.bars = bars(several)
        self.beams = beams()
        self.sampled = rows_of_samples(*SAMPLES)
        self.asks = asks()
        self.pays = pays_from(TERMS.write, TERMS.read)

    @property
    def deeper(self) -> float:
        """How far the rows after the changed token are off above the first layer, at most."""
        return max(self.apart[1:])


view = View


class Moment:
    """What is said of the last of these events."""

    def __init__(self, events: list[Event], words: list[str]) -> None:
        event = events[-1]
        text, first = event.text, events[0].ids
        alike = next((i for i, (a, b) in enumerate(zip(event.ids, first, strict=False)) if a != b), event.found)
        tables = [
            (
                TEXT_NAMES[one], one, table,
                sum(e.found for e in events if e.text == one), sum(e.run for e in events if e.text == one),
            )
            for one, table in enumerate(event.tables) if any(e.text == one for e in events)
        ]  # fmt: skip
        keys = [event.keys[number].hex()[:KEY_DIGITS] for number in event.tables[text] if number in event.keys]
        hashed = (keys[0], [words[i] for i in event.ids[SIZE : 2 * SIZE]], keys[1]) if len(keys) > 1 else None
        self.event = event
        self.letter = TEXT_NAMES[text]
        self.n_found = event.found // SIZE  # blocks
        # the key before that of its second block, the tokens of that one, its key
        self.hashed = hashed if event.kind in COMES else None
        self.token = words[event.ids[-1]]  # the newest of its text
        # tokens that are run although equal rows exist, before the texts part
        self.spared = max(0, alike - event.found) if len(events) > 1 else 0
        self.last = event.tables[text][-1] if event.tables[text] else -1  # the block with the newest row
        self.tables = tables  # letter, kind, table, rows taken over, tokens run, up to now
        self.found = sum(e.found for e in events)  # of all texts, up to now
        self.run = sum(e.run for e in events)


@cache
def beams() -> BeamSearch:
    """Over the names of the deep model."""
    model: Model = shipped("names-deep")
    prompt, width, steps, size = BEAMS
    pool = BlockPool(model.config, 2 * width * model.config.n_ctx // size, size)
    search = BeamSearch(model, pool, model.tokenizer.encode(prompt), width)
    for _ in range(steps):
        search.step()
    return search
