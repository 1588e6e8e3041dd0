"""What a weights file holds: its tensors by layer, layers that are alike once, and what their shapes say of the model.

Everything follows from names and shapes (safetensors.py, names.py). What they do not say, a config.json would:
how many heads a width is cut into, most of all. Knows no file, no page, and no numbers of a tensor.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from microgpt.architectures.names import AFTER, LAYER, KnownTensor, look_up
from microgpt.architectures.roles import ORDER
from microgpt.checkpoints.safetensors import Tensor

FLOATS = ("F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2")  # where a shape is that of the matrix
OTHER = "other"  # the role of what is not known
NUMBER_IN_NAME = re.compile(r"(?<=\.)\d+(?=\.|$)")


class TensorRow(NamedTuple):
    """Tensors that are alike but for a number in their name: one, or all experts of a layer."""

    name: str
    role: str
    kind: str
    dtype: str
    shape: tuple[int, ...]
    size: int  # of one of them
    nbytes: int
    times: int = 1

    @property
    def all_size(self) -> int:
        return self.times * self.size

    @property
    def all_nbytes(self) -> int:
        return self.times * self.nbytes


class Group(NamedTuple):
    """Where: "before", "layers", "after" or "other"; for layers, which of them are alike."""

    where: str
    layers: tuple[int, ...]
    rows: list[TensorRow]


class FoundShape(NamedTuple):
    """What the shapes say of the model; 0 for what they do not."""

    n_embd: int
    n_vocab: int
    n_ctx: int  # rows of positions
    n_mlp: int
    q_width: int  # numbers of q, all heads together
    kv_width: int  # numbers of k, all heads together; the same in all layers
    head_dim: int
    row: int  # numbers that a token adds to the cache of a layer
    cached: int  # and to that of all layers


class Contents(NamedTuple):
    """A file, counted."""

    tensors: list[Tensor]
    family: str  # "" where the names are not known
    layers: tuple[int, ...]
    whole: bool  # embedding, all layers from the first, what is behind them: a model, not a part of one
    tied: bool  # whole, but without an output head: the embedding is used again
    groups: list[Group]
    shape: FoundShape
    columns: list[dict[str, int]]  # bytes by role: what is before the layers, each layer, what is behind, what is other

    @property
    def size(self) -> int:
        return sum(t.size for t in self.tensors)

    @property
    def nbytes(self) -> int:
        return sum(t.nbytes for t in self.tensors)

    @property
    def dtypes(self) -> dict[str, int]:
        """Parameters by type, the most frequent first."""
        found: Counter[str] = Counter()
        for t in self.tensors:
            found[t.dtype] += t.size
        return dict(found.most_common())


def contents(tensors: Iterable[Tensor]) -> Contents:
    """Sort the tensors of a file by what their names say."""
    tensors = list(tensors)
    first = [look_up(t.name) for t in tensors]
    voted = Counter(k.family for k in first if k and k.layer >= 0).most_common(1)
    family = voted[0][0] if voted else ""
    told = [
        (t, look_up(t.name, family) if k and k.family != family else k) for t, k in zip(tensors, first, strict=True)
    ]
    inside: dict[int, list[tuple[Tensor, KnownTensor | None]]] = defaultdict(list)
    outside: dict[str, list[tuple[Tensor, KnownTensor | None]]] = {"before": [], "after": [], OTHER: []}
    for t, k in told:
        if k and k.layer >= 0:
            inside[k.layer].append((t, k))
        else:
            outside[(("after" if k.role in AFTER else "before") if k else OTHER)].append((t, k))
    alike: dict[tuple[TensorRow, ...], list[int]] = defaultdict(list)
    for layer in sorted(inside):
        alike[tuple(rows(inside[layer], family))].append(layer)
    groups = [
        Group("before", (), rows(outside["before"])),
        *[Group("layers", tuple(layers), list(same)) for same, layers in alike.items()],
        Group("after", (), rows(outside["after"])),
        Group(OTHER, (), rows(outside[OTHER])),
    ]
    groups = [group for group in groups if group.rows]
    layers = tuple(sorted(inside))
    roles = {k.role for _, k in told if k}
    whole = bool(layers) and layers == tuple(range(len(layers))) and "wte" in roles and bool(roles & set(AFTER))
    tied = whole and "lm_head" not in roles
    places = [outside["before"], *[inside[i] for i in layers], outside["after"], outside[OTHER]]
    columns = [by_role(place) for place in places]
    return Contents(tensors, family, layers, whole, tied, groups, shape_of(told), columns)


def rows(told: Sequence[tuple[Tensor, KnownTensor | None]], family: str = "") -> list[TensorRow]:
    """In the order in which a token meets them. Within a layer the names are without it."""
    found: Counter[TensorRow] = Counter()
    for t, k in told:
        name = t.name
        if family and (inside := LAYER[family].fullmatch(name)):
            name = inside[2]
        role, kind = (k.role, k.kind) if k else (OTHER, "weight")
        found[TensorRow(NUMBER_IN_NAME.sub("*", name), role, kind, t.dtype, t.shape, t.size, t.nbytes)] += 1
    order = {role: i for i, role in enumerate(ORDER)}
    listed = sorted(found, key=lambda r: (order.get(r.role, len(order)), r.kind == "scale", r.kind == "bias"))
    return [row._replace(times=found[row]) for row in listed]


def by_role(told: Sequence[tuple[Tensor, KnownTensor | None]]) -> dict[str, int]:
    """Bytes of each role. What makes q, k and v at once, GPT-2's, is a third of each."""
    found: Counter[str] = Counter()
    for t, k in told:
        if k and k.role == "wqkv":
            for role in ("wq", "wk", "wv"):
                found[role] += t.nbytes // 3
        else:
            found[k.role if k else OTHER] += t.nbytes
    return {role: found[role] for role in [*ORDER, OTHER] if found[role]}


def shape_of(told: Sequence[tuple[Tensor, KnownTensor | None]]) -> FoundShape:
    """The model's own figures, as far as shapes tell them: from matrices that are not packed."""
    sides: dict[str, dict[int, tuple[int, ...]]] = defaultdict(dict)
    for t, k in told:
        if k and k.kind == "weight" and t.dtype in FLOATS and len(t.shape) in (1, 2):
            sides[k.role].setdefault(k.layer, t.shape)

    def side(role: str, at: int) -> int:
        """One side, if it is the same in all layers."""
        found = {shape[at] for shape in sides[role].values() if at < len(shape)}
        return found.pop() if len(found) == 1 else 0

    n_embd = side("wte", 1)
    each = {layer: 2 * shape[0] for layer, shape in sides["wk"].items() if len(shape) == 2}
    each |= {layer: 2 * shape[1] // 3 for layer, shape in sides["wqkv"].items() if len(shape) == 2}
    each |= {layer: shape[0] for layer, shape in sides["wkv_down"].items() if len(shape) == 2}
    row = set(each.values()).pop() if len(set(each.values())) == 1 else 0
    fused = side("wqkv", 1) // 3
    heads = side("k_norm", 0)  # in some models one gain for all heads, in others one a head
    return FoundShape(
        n_embd=n_embd,
        n_vocab=side("wte", 0),
        n_ctx=side("wpe", 0),
        n_mlp=side("fc1", 1) if fused else side("fc1", 0),  # GPT-2 writes its matrices [in, out]
        q_width=fused or side("wq", 0),
        kv_width=fused or side("wk", 0),
        head_dim=heads if heads == side("q_norm", 0) < side("wq", 0) else 0,
        row=row,
        cached=sum(each.values()),
    )


def spans(layers: Sequence[int]) -> list[tuple[int, int]]:
    """Runs of numbers: 0 1 2 5 -> (0, 2), (5, 5)."""
    found: list[tuple[int, int]] = []
    for i in layers:
        if found and found[-1][1] == i - 1:
            found[-1] = (found[-1][0], i)
        else:
            found.append((i, i))
    return found
