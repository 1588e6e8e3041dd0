"""The same greedy loop in several libraries: the listings as they lie beside the templates, with what they print, and
what goes into each pass and comes out of it, by the shapes of a run.

Listings that need PyTorch do not run here: what they print is recorded (tests/references/test_in_your_code.py).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from microgpt.architectures.known import PRESETS
from microgpt.config import Config
from microgpt.cost import kv_bytes
from microgpt.course.in_your_code.growth import HOOKS, LARGE_MODEL, N_LONG
from microgpt.course.in_your_code.lines import LINES, code_of, pass_lines
from microgpt.course.in_your_code.questions import asks
from microgpt.errors import N_
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.heat import Strip, scale_for
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.lesson import Table
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show

__all__ = ["HOOKS", "view"]

FOLDER = Path(__file__).with_name("listings")
N_NEW = 5  # tokens that each listing adds
FIRST_LISTING = "with_cache"  # of the listings that is on show
TABLE_HEAD = (N_("layer"), N_("shape"), N_("numbers"))

LOOPS = {  # the listings of the widget -> their name, and what its lines have that matter
    "plain": (N_("plain NumPy"), ("K[i].append", "V[i].append", "step(ids[position]")),
    "package": (N_("this package"), ("KVCache(", "new, cache", "new = [")),
    "without_cache": (N_("without past_key_values"), ("use_cache=False", "ids = ids + [new]")),
    "with_cache": (N_("with past_key_values"), ("past_key_values=past", "past = out", "fed, new =")),
    "generate": (N_("generate"), ("model.generate(", "past = out")),
}

IN_SPANISH = {  # what the listings of the Spanish page have in place of ours, with its model: the text, and its words
    '"stories"': '"cuentos"',
    "The next day is bright": "El nuevo día es frío",
    "The cat is": "El gato está",
    "The girl is": "La niña está",
    "The cat": "El gato",
    "vocab_size=99": "vocab_size=112",
    "token_id=98": "token_id=111",
}


class CodeLine(NamedTuple):
    """A line of a listing, and whether it matters here."""

    text: str
    lit: bool

    @property
    def indent(self) -> int:
        """Spaces before its first letter."""
        return len(self.text) - len(self.text.lstrip())


class Listing(NamedTuple):
    """A file, line by line, and what it prints."""

    name: str  # of the file
    label: str
    lines: list[CodeLine]
    printed: str


class LoopRow(NamedTuple):
    """One pass of the loop with a cache, and what the same pass would be without one."""

    tokens: list[str]  # that go in
    position: int  # of the first of them
    length: int  # of the cache after it; without a cache, what goes in
    chosen: str
    shape: str  # of the keys, and of the values, of a layer


class Turn(NamedTuple):
    """One turn of the chat: rows that are cached, those of them that serve it, and the ids that go in."""

    held: int
    kept: int
    fed: int


class View:
    """One text, with a table a pass."""

    def __init__(self, settings: Settings) -> None:
        trace = settings.trace()
        config, tokens = Config(**trace.about["config"]), [show(token) for token in trace.about["tokens"]]
        made, rows = passes(config, tokens, trace.about["n_prompt"]), kv_bytes(PRESETS[LARGE_MODEL].config, 1, 2)
        names = list(LOOPS)
        model = settings.model
        bug = [line.split() for line in prints(model)["bug"].splitlines()]
        self.model = model
        self.trace, self.config, self.asks = trace, config, asks()
        self.choices = (
            Choice("pass", range(len(made)), min(2, len(made) - 1)),
            Choice("listing", range(len(names)), names.index(FIRST_LISTING), in_figure=False),
        )
        self.fields = (Choice("lens", ("", *LINES), "", in_figure=False),)
        self.legend = N_("Pass")
        self.labels = [str(i + 1) for i in range(len(made))]  # of the passes
        self.tables = [table(config, one) for one in made]
        self.listings = [listing(name, model, *LOOPS[name]) for name in names]
        self.passes = made
        self.code = code_of([line.text for line in self.listings[names.index(FIRST_LISTING)].lines])
        self.done = [pass_lines(trace, config, len(one.tokens), one.length) for one in made]  # by those lines
        self.kept = [rows_of_cache(Picture(trace), layer, made[-1].length) for layer in range(config.n_layer)]
        self.tokens = tokens[: made[-1].length + 1]  # that go into some pass, and the one that is chosen last
        # the pass in which each goes in; the last one's would be the next
        self.entered = [*(i for i, one in enumerate(made) for _ in one.tokens), len(made)][: len(self.tokens)]
        self.more = {name: listing(name, model) for name in others()}  # listings of the prose, by their names
        self.versions = record()["versions"]
        self.padded = padding_runs(model)
        _, self.second, self.third, _ = turns(model)  # of the chat
        # compiled by torch.compile: with a cache that grows, and with a static one
        self.graphs = [int(line.split()[-1]) for line in prints(model)["static_cache"].splitlines()]
        # bytes written for such a text, if the cache is a new array at every step
        self.grown = rows * N_LONG * (N_LONG + 1) // 2
        self.reserved = rows * N_LONG  # if the room is there from the start
        self.bug = listing("bug", model)._replace(printed="")  # without what it prints, which would tell
        self.bug_lengths = [int(length) for length, _ in bug]  # of its cache, pass by pass
        self.bug_words = [word for _, word in bug]


view = View


def can_be_asked() -> list[str]:
    return list(LINES)


@cache
def record() -> dict[str, dict[str, str]]:
    """What the listings print, and the versions with which they did."""
    found: dict[str, dict[str, str]] = json.loads((FOLDER.parent / "printed.json").read_text("utf-8"))
    return found


def prints(model: str) -> dict[str, str]:
    """What each listing prints with that model."""
    return record()["printed_es" if model == "cuentos" else "printed"]


def source(name: str, model: str) -> str:
    """The listing in the file of that name, as it is on the page of that model."""
    text = (FOLDER / f"{name}.py").read_text("utf-8")
    for ours, spanish in IN_SPANISH.items() if model == "cuentos" else ():
        text = text.replace(ours, spanish)
    return text


def others() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in LOOPS)


@cache
def listing(name: str, model: str, label: str = "", lit: tuple[str, ...] = ()) -> Listing:
    """A listing, of which those lines are lit that have one of the pieces `lit`."""
    return Listing(
        f"{name}.py",
        label,
        [CodeLine(line, any(piece in line for piece in lit)) for line in source(name, model).splitlines()],
        prints(model).get(name, "").rstrip("\n"),
    )


def passes(config: Config, tokens: list[str], n_prompt: int) -> list[LoopRow]:
    """The prompt in one pass, then a token a pass, until N_NEW tokens are chosen or the text ends."""
    ends = [end for end in range(n_prompt, n_prompt + N_NEW) if end < len(tokens)] or [len(tokens)]
    found, start = list[LoopRow](), 0
    for end in ends:
        chosen, shape = tokens[end] if end < len(tokens) else "", [1, config.n_kv_head, end, config.head_dim]
        found.append(LoopRow(tokens[start:end], start, end, chosen, f"{shape}"))
        start = end
    return found


def rows_of_cache(picture: Picture, layer: int, n: int) -> list[tuple[str, list[list[Strip]]]]:
    """K and V of a layer: by head the row of each of the first n positions. Each of the two has a scale of its own."""
    found = []
    for kind in ("k", "v"):
        rows = [picture.value(kind, i, layer).reshape(-1, picture.config.head_dim) for i in range(n)]
        scale = scale_for(*rows)
        found.append((kind, [[scale.strip(row[head]) for row in rows] for head in range(len(rows[0]))]))
    return found


def table(config: Config, one: LoopRow) -> Table:
    """The arrays that are kept after a pass."""
    kept = config.n_kv_head * one.length * config.head_dim
    rows = [(f"{part} {layer}", one.shape, kept) for layer in range(config.n_layer) for part in "KV"]
    return Table(TABLE_HEAD, rows, 2)


def turns(model: str) -> list[Turn]:
    """Those of the chat, as the listing prints them."""
    return [Turn(*map(int, line.split()[1:6:2])) for line in prints(model)["chat"].splitlines()]


def padding_runs(model: str) -> list[tuple[float, str, float]]:
    """Of each way to run a padded batch, as the listing prints it: how far logits are from those of the text alone with
    rotary positions, what the model then writes, and how far they are with learned positions."""
    rows = [line.split(" | ") for line in prints(model)["left_padding"].splitlines()]
    half = len(rows) // 2
    return [
        (float(apart), token, float(learned[2]))
        for (*_, apart, token), learned in zip(rows[:half], rows[half:], strict=True)
    ]
