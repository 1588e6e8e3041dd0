"""The rows that attention was given, against those that joined the cache: what a step of transformers read.

What joins is what a layer gives to the cache's `update`; what is read is what its attention gets, whatever the cache
says of itself. As with `Watched` in microgpt/cache.py, only what is otherwise than was told is told. A cache of
transformers hands out rows without their positions: where some have left, they are found by what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from microgpt.cache import WatchedLayer
from microgpt.config import Array, Hook, Report

Pair: TypeAlias = tuple[Any, Any]  # K and V, tensors [1, G, rows, h]


class Update(NamedTuple):
    """What a layer gave to its cache, and what came back."""

    joined: Pair
    given: Pair

    def gave(self, read: Pair) -> bool:
        """Whether that is what attention got. Else it got rows that were made of it, as of latents."""
        return self.given[0] is read[0] and self.given[1] is read[1]


class Rows:
    """What the layers of a model read, pass after pass of one text.

    Rows that were in the cache before the first pass are not compared. With `last`, the hook is told of the last row of
    a pass alone, as of one that joins.
    """

    def __init__(self, hook: Hook, last: bool = False) -> None:
        self._hook, self._last = hook, last
        self._first = self._start = self._end = 0  # positions: of the first row that is told, of the pass, behind it
        self._layers: dict[int, WatchedLayer] = {}
        self._updates: dict[int, Update] = {}
        self._reports: list[Report] = []

    def begins(self, start: int, n: int) -> None:
        """A pass of n tokens, the first of them at position `start`."""
        first = start + n - 1 if self._last else start
        if not (self._layers and self._first <= first <= self._end):
            self._first, self._layers = first, {}
        self._start, self._end, self._updates = start, start + n, {}

    def listen(self, cache: Any) -> Callable[[], None]:
        """Hear what each layer gives to `cache`, until what is returned is called."""
        own, shadowed = cache.update, vars(cache).get("update")

        def update(key_states: Any, value_states: Any, layer_idx: int, *more: Any, **named: Any) -> Any:
            joined = key_states.clone(), value_states.clone()  # a cache may write into what it keeps
            given = own(key_states, value_states, layer_idx, *more, **named)
            self._updates[layer_idx] = Update(joined, given)
            return given

        def ends() -> None:
            if shadowed is None:
                del cache.update
            else:
                cache.update = shadowed

        cache.update = update
        return ends

    def newest(self, layer: int, read: Pair) -> Pair:
        """The new rows of this pass as they joined the cache; where attention gets others, the newest of those."""
        n = self._end - self._start
        newest = read[0][:, :, -n:].clone(), read[1][:, :, -n:].clone()
        update = self._updates.setdefault(layer, Update(newest, read))  # where the model has made its cache on the way
        return update.joined if update.gave(read) else newest

    def compare(self, layer: int, read: Pair) -> None:
        """Tell the hook which rows attention got otherwise than was told, or that it got others. After `newest`."""
        update, t, end = self._updates.pop(layer), int(read[0].shape[2]), self._end - self._first
        watched = self._layers.setdefault(layer, WatchedLayer(layer, self._reports.append))
        new = 1 if self._last else self._end - self._start
        k, v = (numbers(one[0, :, -new:]) for one in update.joined)
        keys, values = (numbers(one[0, :, -end:]) for one in update.given)
        at: Sequence[int] = range(end - keys.shape[1], end)
        if t < self._end:  # some have left
            old = [told.rows[:, : end - new] for told in watched.told.values()] if end > new else [k[:, :0], v[:, :0]]
            told = [np.concatenate(pair, axis=1) for pair in zip(old, (k, v), strict=True)]
            at = row_places(flat(keys, values), flat(*told), self._end - t)
        if any(b - a != 1 for a, b in pairwise(at)) or at[-1] != end - 1:
            older = range(at[0] - t + len(at), at[0])  # that were there before
            self._hook(("key_positions", np.array([*older, *at], int) + self._first, self._start, layer))
        unknown = sum(place < 0 for place in at)
        keys, values, at = keys[:, unknown:], values[:, unknown:], at[unknown:]
        watched.compare(k.swapaxes(0, 1), v.swapaxes(0, 1), keys, values, at, end - new)
        reports = [report for report in self._reports if report[0] != "key_positions"]
        for name, value, *_ in reports if update.gave(read) else latent_reports(reports, read):
            self._hook((name, value, self._start, layer))
        self._reports.clear()


def flat(keys: Array, values: Array) -> Array:
    """K and V [G, rows, h] as one row of numbers a position."""
    return np.concatenate([one.swapaxes(0, 1).reshape(one.shape[1], -1) for one in (keys, values)], axis=1)


def row_places(rows: Array, told: Array, left: int) -> list[int]:
    """Which of the rows that were `told` [c, x] the newest that a cache has handed out, [m, x], are; below 0 are rows
    before the first. `left` rows are no longer there.

    Those that are as told can lie in any order, as in a ring. Of others it is taken for granted that they lie in that
    of the text: of all ways to leave `left` of them out, it is the one with the least differences. Where the first that
    was told has become unlike all, it counts as one that has left, and what lies there as one from before.
    """
    m, c, left = len(rows), len(told), min(left, len(told))
    known = {row.tobytes(): i for i, row in enumerate(told)}
    exact = [known.get(row.tobytes(), -1) for row in rows]
    if min(exact) >= 0 and len({*exact}) == m:
        return exact
    # [m, left + 1]: the differences of each row, if it lies by so many places before where it lies when none has left
    padded = np.concatenate([np.full((left, told.shape[1]), np.nan, told.dtype), told])
    apart = np.stack([np.abs(rows - padded[left + c - m - s :][:m]).mean(axis=1) for s in range(left + 1)], axis=1)
    # of no row told, or nearer than unlike ones
    unknown = np.where(np.array(exact) >= 0, np.inf, np.nanmean(apart) / 2)
    apart = np.where(np.isnan(apart), unknown[:, None], apart)
    for i in range(m - 2, -1, -1):
        apart[i] += np.minimum.accumulate(apart[i + 1])
    found, most = [], left
    for i, row in enumerate(apart):
        most = int(row[: most + 1].argmin())
        found.append(c - m + i - most)
    return found


def latent_reports(reports: list[Report], read: Pair) -> Iterator[Report]:
    """What was told of latents, told of the rows that attention got: those that were made of latents that changed."""
    found = [np.asarray(value) for _, value, *_ in reports]
    changed = np.zeros(max((rows.shape[1] for rows in found), default=0), bool)
    for rows in found:
        changed[-rows.shape[1] :] |= ~np.isnan(rows).all(axis=(0, 2))
    for name, one in zip(("k_read", "v_read"), read if found else (), strict=False):
        yield name, np.where(changed[:, None], numbers(one[0, :, -len(changed) :]), np.nan), 0, -1


def numbers(tensor: Any) -> Array:
    """As NumPy has them; of 16 bits, the same numbers in 32."""
    tensor = tensor.detach()
    found: Array = (tensor if str(tensor.dtype) == "torch.float64" else tensor.float()).cpu().numpy()
    return found
