"""Rows before and after their codes: how far off they may be, how far they are, and what a token takes.

The rows are those that the model computes in full; each is sent through its codes once. What becomes of the text is
another run, whose every step reads what a `QuantisedCache` kept. Bytes are counted with scales, minima and open rows
of sixteen bits, as engines keep them. Knows models and caches; knows no page.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgpt.cache import KVCache
from microgpt.caches.codes import MANTISSA, Float8, Grid, values_of
from microgpt.caches.quantised import QuantisedCache, Rows, kivi
from microgpt.config import Array, Config
from microgpt.model import forward
from microgpt.weights import Model

HALF = np.float16


@dataclass(frozen=True)
class CodedRows:
    """What one of K and V becomes: [n_layer, n_kv_head, n, head_dim], the newest `open` rows as they are."""

    before: Array
    after: Array
    bound: Array  # of each number: how far off it may be

    @property
    def error(self) -> float:
        """The largest."""
        return float(np.abs(self.after - self.before).max())


@dataclass(frozen=True)
class Fewer:
    """A text whose rows are kept in one format."""

    name: str
    keys: CodedRows
    values: CodedRows
    bytes_per_token: float  # K and V in all layers
    bytes_full: float  # the same in sixteen bits
    off: list[float]  # by step: the largest difference of a logit from the one with full rows
    first: int | None  # the first step whose likeliest next token is another

    @property
    def share(self) -> float:
        """Of the bytes in sixteen bits."""
        return self.bytes_per_token / self.bytes_full


def formats(group: int = 4, recent: int = 4) -> dict[str, tuple[Rows, Rows]]:
    """What keys and values are kept as, by name: groups per channel have `group` rows, and KIVI leaves the `recent`
    newest rows as they are."""
    both = {
        "int8": Rows(Grid(8, scales=HALF)),
        "int8 symmetric": Rows(Grid(8, symmetric=True, scales=HALF)),
        "int4": Rows(Grid(4, scales=HALF)),
        "int4 per channel": Rows(Grid(4, scales=HALF), per_channel=True, group=group),
        "e4m3": Rows(Float8("e4m3")),
        "e5m2": Rows(Float8("e5m2")),
    }
    split = {"KIVI, int4": kivi(4, group, recent, HALF), "KIVI, int2": kivi(2, group, recent, HALF)}
    return {name: (rows, rows) for name, rows in both.items()} | split


def compare_formats(model: Model, token_ids: Sequence[int], group: int = 4) -> list[Fewer]:
    """Every format on this text."""
    plain = KVCache(model.config)
    full = forward(model.params, model.config, token_ids, plain)
    return [fewer(model, token_ids, name, rows, plain, full) for name, rows in formats(group).items()]


def fewer(
    model: Model, token_ids: Sequence[int], name: str, rows: tuple[Rows, Rows], plain: KVCache, full: Array
) -> Fewer:
    """One format: its rows, its bytes, and what a run with it says."""
    cache, config = QuantisedCache(model.config, *rows), model.config
    found = np.array([forward(model.params, config, [token], cache)[0] for token in token_ids])
    other = np.flatnonzero(found.argmax(axis=1) != full.argmax(axis=1))
    taken = sum(bytes_of(one, len(token_ids), config) for one in rows)
    return Fewer(
        name,
        through(rows[0], np.array([layer.keys for layer in plain.layers])),
        through(rows[1], np.array([layer.values for layer in plain.layers])),
        taken / len(token_ids),
        2 * config.n_layer * config.n_kv_head * config.head_dim * np.dtype(HALF).itemsize,
        np.abs(found - full).max(axis=1).tolist(),
        int(other[0]) if len(other) else None,
    )


def shares(n: int, head_dim: int, group: int, recent: int) -> dict[str, float]:
    """By format, what n rows of K and of V take of their bytes in sixteen bits, in one head of this width."""
    config = Config(n_layer=1, n_head=1, n_kv_head=1, head_dim=head_dim)
    full = 2 * n * head_dim * np.dtype(HALF).itemsize
    return {name: sum(bytes_of(one, n, config) for one in rows) / full for name, rows in formats(group, recent).items()}


def through(rows: Rows, before: Array) -> CodedRows:
    """Rows [n_layer, n_kv_head, n, head_dim] through their codes, as far as they are closed."""
    n_layer, g, n, d = before.shape
    closed = count_coded(rows, n)
    after, bound = before.copy(), np.zeros_like(before)
    for layer in range(n_layer):
        groups = rows.split_groups(before[layer, :, :closed])
        codes = rows.codes.encode(groups)
        after[layer, :, :closed] = rows.join_groups(rows.codes.decode(codes))
        if isinstance(rows.codes, Grid):
            half = np.broadcast_to(codes.scale.astype(float) / 2, groups.shape)
        else:
            half = float_bound(rows.codes, groups)
        bound[layer, :, :closed] = rows.join_groups(half)
    return CodedRows(before, after, bound)


def float_bound(codes: Float8, x: Array) -> Array:
    """Half the step between two floats of eight bits: it grows with the number, and is even around 0."""
    smallest = values_of(codes.kind)[1] * codes.scale
    bound: Array = np.maximum(np.abs(x) * 2.0 ** -(MANTISSA[codes.kind] + 1), smallest / 2)
    return bound


def count_coded(rows: Rows, n: int) -> int:
    """Of n rows, how many are in codes."""
    return max(0, n - rows.recent) // rows.block * rows.block


def bytes_of(rows: Rows, n: int, config: Config) -> int:
    """Of K or of V, in all layers."""
    closed = count_coded(rows, n)
    d, half = config.head_dim, np.dtype(HALF).itemsize
    groups = closed * d // rows.length(d)
    return config.n_layer * config.n_kv_head * (groups * rows.codes.bytes_of(rows.length(d)) + (n - closed) * d * half)
