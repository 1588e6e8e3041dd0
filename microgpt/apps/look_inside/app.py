"""Look inside a file: what a .safetensors file holds, by its header. Two built-in examples, and the reader's own file.

The examples are headers as GPT-2 124M and SmolLM2-135M have them, made from their shapes by formula and read back by
the code that reads the reader's file. Only a header is ever read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from microgpt.apps.look_inside.examples import EXAMPLES, example_file
from microgpt.apps.look_inside.lines import BYTE as BYTE
from microgpt.apps.look_inside.lines import JOINT, Line, role_on_show, size_lines
from microgpt.architectures.known import PRESETS
from microgpt.architectures.names import GPT2, LLAMA
from microgpt.architectures.names import public_names as names_in
from microgpt.architectures.roles import ORDER, ROLES
from microgpt.checkpoints.contents import OTHER, Contents, Group, contents, spans
from microgpt.checkpoints.safetensors import BITS, PREFIX, Header, read_header
from microgpt.errors import N_, printable
from microgpt.viz.controls import Choice
from microgpt.viz.local_files import Files, only
from microgpt.viz.patches import Patch, State, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings

FIELD = "weights"  # the control in which the file is chosen
PICTURE_WIDTH, PICTURE_HEIGHT = 1000, 240  # of the picture, in its own units
COLUMNS, GROUPS, MOST_ROWS = 400, 60, 400  # the most that a page shows
OPEN = 24  # the most lines that are shown unfolded
HALF_BYTES, HALF_BITS = 2, 16  # of a number
TOKENS = 1000  # of the text whose cache is drawn beside the file
GAP = 24  # between the two
START_SHOWN = 240  # characters of a header that are shown
SAID = {"bias": N_("bias"), "scale": N_("scale")}
ASKED = tuple(dict.fromkeys(map(role_on_show, [*ORDER, OTHER])))  # what can be asked where its bytes come from


Area: TypeAlias = tuple[float, float, float, float]  # of the picture: x, y, wide, high


class Share(NamedTuple):
    """What a role holds of the file, and the shape of its tensor: in each layer, where it is in layers."""

    role: str
    symbol: str
    share: float
    nbytes: int
    shape: tuple[int, ...]  # () where there are several
    part: bool  # it is one of several that lie side by side in that tensor
    line: Line | None  # where its bytes come from


class View:
    def __init__(self, _: Settings) -> None:
        self.examples = [Looked(name, *example_file(name), f"{i}-") for i, name in enumerate(EXAMPLES)]
        self.choices = (Choice("file", range(len(EXAMPLES))),)
        self.labels = list(EXAMPLES)
        self.masks = Masks(self.examples[0])
        # one and the same matrix, in two models and here
        self.called = {"gpt2": names_in(GPT2)["fc1"], "llama": names_in(LLAMA)["fc1"], "ours": "fc1"}


view = View


class Masks:
    """What the file that OpenAI published of GPT-2 holds beside its parameters: a mask for each layer, n_ctx by n_ctx
    numbers."""

    def __init__(self, found: Looked) -> None:
        config, (dtype, family) = PRESETS[found.name].config, EXAMPLES[found.name]
        held = config.n_layer * config.n_ctx**2 * BITS[dtype] // 8
        self.model = found.name
        self.tensor = names_in(family)["mask"]
        self.layers = config.n_layer
        self.n_ctx = config.n_ctx
        self.held = held  # bytes of all masks
        self.file = found.size + held  # bytes of the file with them, but for their few entries in its header


def look(files: Files, state: State | None, _: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    file = only(files, FIELD)
    header = read_header(file.read, file.size)
    start = file.read(PREFIX, PREFIX + min(header.length, 4 * START_SHOWN)).decode("utf-8", "ignore")
    found = Looked(file.name, header, start)
    return state, [patch("#looked", render.render("apps/look_inside/_looked.html", looked=found))]


FILE_HOOKS = {"look": look}


# ---- what is said ---------------------------------------------------------------------------------


class Looked:
    def __init__(self, name: str, header: Header, start: str, key: str = "own-") -> None:
        """`key` is what its buttons begin with, on a page of several."""
        found = contents(header.tensors)
        usual = max(found.groups, key=lambda group: len(group.layers), default=None)
        kept = TOKENS * HALF_BYTES * found.shape.cached
        beside = cache_areas(found, kept)
        self.name = printable(name)
        self.key = key
        self.size = header.size  # bytes
        self.length = header.length  # of its header
        self.header_share = header.length / header.size
        self.start = show_start(start)
        self.n_tensors = len(header.tensors)
        self.found = found
        # runs of layers that are here, where the file is a part of a model
        self.part = [] if found.whole else spans(found.layers)
        self.figures = figures(found)
        self.factors = factors(found)
        self.per_token = HALF_BYTES * found.shape.cached  # bytes; 0 where the shapes do not say
        self.kept = kept  # bytes of cache, in numbers of so many bits
        self.areas = areas(found.columns)  # by role, in the picture, PICTURE_WIDTH wide in all
        self.cache = beside  # K and V of these tokens, to the same scale; "any" is one row for both
        self.wide = max([PICTURE_WIDTH, *(x + wide for _, (x, _, wide, _) in beside)])  # the picture
        self.shares = shares(found)
        self.parts = [LineGroup(group, group is usual) for group in found.groups[:GROUPS]]
        self.more = max(0, len(found.groups) - GROUPS)  # groups that are not shown
        self.metadata = [(printable(key), printable(value)) for key, value in list(header.metadata.items())[:20]]


def show_start(text: str) -> str:
    short = text[:START_SHOWN]
    return "".join(printable(c) for c in short) + ("…" if len(text) > START_SHOWN else "")


def symbol(role: str) -> str:
    return ROLES[role].symbol if role in ROLES else N_("not known to this page")


def figures(found: Contents) -> list[tuple[str, int]]:
    """What the shapes say, each with its name."""
    s = found.shape
    said = [
        (N_("layers"), len(found.layers)),
        (N_("numbers in the stream (n_embd)"), s.n_embd),
        (N_("tokens it knows"), s.n_vocab),
        (N_("positions"), s.n_ctx),
        (N_("numbers inside the MLP"), s.n_mlp),
        (N_("numbers in q, all heads"), s.q_width),
        (N_("numbers in k, all heads"), s.kv_width),
    ]
    return [(name, n) for name, n in said if n and found.family]


def factors(found: Contents) -> list[tuple[int, str]]:
    """What the bytes that a token takes in the cache are multiplied from, where all layers are alike."""
    s = found.shape
    if not s.row:
        return []
    layers, size = (len(found.layers), N_("layers")), (HALF_BYTES, N_("bytes per number"))
    if not s.kv_width:
        return [layers, (s.row, N_("numbers in the shared row")), size]
    if s.head_dim and s.kv_width % s.head_dim == 0:
        heads = [(s.kv_width // s.head_dim, N_("key and value heads")), (s.head_dim, N_("numbers per head"))]
    else:
        heads = [(s.kv_width, N_("numbers in k, all heads"))]
    return [(2, N_("K and V")), layers, *heads, size]


class LineGroup:
    def __init__(self, group: Group, usual: bool) -> None:
        self.where, self.n = group.where, len(group.layers)
        self.layers = spans(group.layers)  # runs, from the first to the last
        self.total = sum(row.all_size for row in group.rows)  # parameters, of one layer
        self.rows = [row._replace(name=printable(row.name)) for row in group.rows[:MOST_ROWS]]
        self.more = max(0, len(group.rows) - MOST_ROWS)  # lines that are not shown
        self.open = usual and len(group.rows) <= OPEN


# ---- the picture ----------------------------------------------------------------------------------


def shares(found: Contents) -> list[Share]:
    """What each role holds of the file; all norm gains together."""
    held: Counter[str] = Counter()
    for column in found.columns:
        for role, nbytes in column.items():
            held[role_on_show(role)] += nbytes
    total, written = sum(held.values()), size_lines(found)
    return [
        Share(role, symbol(role), held[role] / total, held[role], *shape_facts(found, role), written.get(role))
        for role in [*ORDER, OTHER]
        if held[role]
    ]


def shape_facts(found: Contents, role: str) -> tuple[tuple[int, ...], bool]:
    """The shape of the tensor with that role, if there is one, and whether q, k and v lie side by side in it."""
    rows = [row for group in found.groups for row in group.rows if row.kind == "weight"]
    own, joint = ({row.shape for row in rows if row.role == name} for name in (role, "wqkv"))
    part = not own and role in JOINT
    shapes = joint if part else own
    return (shapes.pop(), part) if len(shapes) == 1 and role != OTHER else ((), False)


def cache_areas(found: Contents, kept: int) -> list[tuple[str, Area]]:
    """The cache of TOKENS tokens beside the file: as many units for a byte, K over V."""
    total = sum(sum(column.values()) for column in found.columns[:COLUMNS])
    if not kept or not total:
        return []
    wide, kinds = PICTURE_WIDTH * kept / total, ("k", "v") if found.shape.kv_width else ("any",)
    high = PICTURE_HEIGHT / len(kinds)
    return [(kind, (PICTURE_WIDTH + GAP, i * high, wide, high)) for i, kind in enumerate(kinds)]


def areas(columns: list[dict[str, int]]) -> list[tuple[str, list[Area]]]:
    """By role. A column a layer, as wide as its share of the bytes; in it the roles, as high as theirs."""
    columns = [column for column in columns[:COLUMNS] if column]
    total = sum(sum(column.values()) for column in columns)
    found: dict[str, list[Area]] = {}
    x = 0.0
    for column in columns:
        here, y = sum(column.values()), 0.0
        wide = PICTURE_WIDTH * here / total
        for role, nbytes in column.items():
            high = PICTURE_HEIGHT * nbytes / here
            found.setdefault(role_on_show(role), []).append((x, y, wide, high))
            y += high
        x += wide
    return [(role, found[role]) for role in [*ORDER, OTHER] if role in found]
