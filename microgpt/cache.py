"""The KV cache: for each layer, one row of K and one row of V for every token so far.

`Cache` and `LayerCache` are all that `forward` asks of a cache: somewhere to put new rows, and all rows that a query
may read, with their positions. How the rows are kept is the cache's own affair. `KVCache` is the plain one: memory for
n_ctx rows is reserved at once, and `len` says how many are used. Appending copies the new rows in and hands back all
rows as views: nothing old is copied, nothing old is rewritten. `crop` gives rows back, newest first.
`Watched` stands before any of them, and tells a hook what it hands out otherwise than it was appended.

A cache does not know what the rows mean, nor of attention.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from microgpt.config import Array, Config, DType, Hook, row_dims
from microgpt.errors import N_, UserError

L = TypeVar("L", bound=Sized)


class LayerCache(Protocol):
    """The rows of one layer."""

    def append(self, k: Array, v: Array) -> tuple[Array, Array, Sequence[int]]:
        """Keep n new rows, k and v [n, n_kv_head, row_dims]. Return all rows that a query may read.

        Keys and values [n_kv_head, t, row_dims], and the positions of the t rows in the text: a range where they are
        one after the other, up to the newest.
        """


class Cache(Protocol):
    """A cache of all layers, as `forward` sees it."""

    @property
    def next_position(self) -> int:
        """The position of the next token. It is not the number of rows: a cache may have given up old ones."""

    def __getitem__(self, layer: int, /) -> LayerCache: ...

    def check_room(self, n: int) -> None:
        """Raise UserError unless there is room for n more tokens."""


@dataclass(frozen=True)
class Batch:
    """Texts that one pass runs side by side: the cache of each, and how many of the tokens are its, in this order.

    Where they share a pool of blocks, those for the new rows are reserved before: one text does not know what the
    others need.
    """

    caches: Sequence[Cache]
    counts: Sequence[int]


class KVLayer:
    """K and V of one layer: two buffers [n_kv_head, n_ctx, head_dim], of which the first `len` rows are used.

    `v_dim` is given where a row of V has another length than one of K (MLA).
    """

    def __init__(self, n_kv_head: int, n_ctx: int, head_dim: int, dtype: DType = np.float64, v_dim: int = 0) -> None:
        self._keys: Array = np.empty((n_kv_head, n_ctx, head_dim), dtype)
        self._values: Array = np.empty((n_kv_head, n_ctx, v_dim or head_dim), dtype)
        self._len = 0

    def __len__(self) -> int:
        return self._len

    @property
    def keys(self) -> Array:
        """[n_kv_head, len, head_dim], a view."""
        return self._keys[:, : self._len]

    @property
    def values(self) -> Array:
        """[n_kv_head, len, head_dim], a view."""
        return self._values[:, : self._len]

    @property
    def nbytes(self) -> int:
        """Bytes of the rows in use."""
        return self.keys.nbytes + self.values.nbytes

    @property
    def nbytes_reserved(self) -> int:
        """Bytes of the whole buffers, used or not."""
        return self._keys.nbytes + self._values.nbytes

    def check_room(self, n: int) -> None:
        """Raise UserError unless n more rows fit."""
        check_rows(self._len, n, self._keys.shape[1])

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        """Add n rows, k and v [n, n_kv_head, head_dim]; return all keys and values [n_kv_head, len, head_dim]."""
        n_kv_head, n_ctx, head_dim = self._keys.shape
        v_dim = self._values.shape[2]
        if k.shape[1:] != (n_kv_head, head_dim) or v.shape != (len(k), n_kv_head, v_dim):
            sentence = N_(
                "k has shape %(k)s and v %(v)s; this cache takes (n, %(n_kv_head)s, %(head_dim)s) "
                "and (n, %(n_kv_head)s, %(v_dim)s)."
            )
            raise UserError(sentence, k=k.shape, v=v.shape, n_kv_head=n_kv_head, head_dim=head_dim, v_dim=v_dim)
        old, new = self._len, self._len + len(k)
        if new > n_ctx:
            self.check_room(len(k))
        self._keys[:, old:new] = k.swapaxes(0, 1)
        self._values[:, old:new] = v.swapaxes(0, 1)
        self._len = new
        return self._keys[:, :new], self._values[:, :new], range(new)

    def crop(self, n: int) -> None:
        """Keep the first n rows and forget the newer ones: the undo of append."""
        check_crop(self._len, n)
        self._len = n

    def keep(self, rows: Sequence[int]) -> None:
        """Keep these rows, in this order, and forget the others."""
        if not all(0 <= row < self._len for row in rows):
            raise UserError("A cache of %(held)s rows has no row %(row)s.", held=self._len, row=max(rows, key=abs))
        self._keys[:, : len(rows)] = self._keys[:, rows]
        self._values[:, : len(rows)] = self._values[:, rows]
        self._len = len(rows)


def check_rows(held: int, n: int, n_ctx: int) -> None:
    """Raise UserError unless a cache of n_ctx rows, of which so many are held, has room for n more."""
    if held + n > n_ctx:
        sentence = N_(
            "The cache holds %(held)s of %(n_ctx)s rows; %(n)s more do not fit. "
            "Shorten the text, crop the cache or reset it."
        )
        raise UserError(sentence, held=held, n_ctx=n_ctx, n=n)


def check_crop(held: int, n: int) -> None:
    """Raise UserError unless n rows of so many can stay."""
    if not 0 <= n <= held:
        raise UserError("A cache of %(held)s rows cannot be cropped to %(n)s; choose 0 to %(held)s.", held=held, n=n)


def check_position(config: Config, seen: int, n: int) -> None:
    """Raise UserError where the positions are learned, and n tokens after so many have none."""
    if config.position == "learned" and seen + n > config.n_ctx:
        sentence = N_(
            "The model has learned %(n_ctx)s positions, and %(seen)s are taken; %(n)s more do not fit. "
            "Shorten the text."
        )
        raise UserError(sentence, n_ctx=config.n_ctx, seen=seen, n=n)


class Layers(Generic[L]):
    """What caches of ours are: a list of layers that grow and shrink together; `cache[layer]` is that layer's."""

    layers: list[L]

    def __getitem__(self, layer: int) -> L:
        return self.layers[layer]

    def __len__(self) -> int:
        """Rows held. Every layer holds the same number; while a forward pass is under way, the last one tells."""
        return len(self.layers[-1])

    @property
    def next_position(self) -> int:
        """The position of the next token: as many as there are rows, where none is given up but the newest."""
        return len(self)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows in use, over all layers."""
        return self._sum("nbytes")

    @property
    def nbytes_reserved(self) -> int:
        """Bytes set aside, over all layers, used or not."""
        return self._sum("nbytes_reserved")

    def _sum(self, name: str) -> int:
        return sum(getattr(layer, name) for layer in self.layers)


class KVCache(Layers[KVLayer]):
    """Memory for n_ctx rows in every layer.

    >>> cache = KVCache(Config())
    >>> len(cache), cache.nbytes, cache.nbytes_reserved
    (0, 0, 4096)
    """

    def __init__(self, config: Config, dtype: DType = np.float64) -> None:
        k_dim, v_dim = row_dims(config)
        self.layers = [KVLayer(config.n_kv_head, config.n_ctx, k_dim, dtype, v_dim) for _ in range(config.n_layer)]

    def check_room(self, n: int) -> None:
        """Raise UserError unless n more rows fit in every layer."""
        for layer in self.layers:
            layer.check_room(n)

    def crop(self, n: int) -> None:
        """Keep the first n tokens in every layer."""
        for layer in self.layers:
            layer.crop(n)

    def keep(self, rows: Sequence[int]) -> None:
        """Keep these rows in every layer, in this order: what stays of a tree is the way to one of its tokens."""
        for layer in self.layers:
            layer.keep(rows)


# ---- what a cache hands out, against what was put into it ----------------------------------------------


class Told:
    """The rows of K, or of V, of one layer, as a hook has been told of them, by their positions in the text.

    `rows` [n_kv_head, positions, row_dim]: NaN where nothing was told, as of rows that were there before.
    """

    def __init__(self) -> None:
        self.rows: Array = np.empty((0, 0, 0))

    def join(self, new: Array, start: int) -> None:
        """The hook was told of n rows [n, n_kv_head, row_dim], the first of them at position `start`."""
        end, held = start + len(new), self.rows.shape[1]
        if end > held:
            n, n_kv_head, row_dim = new.shape
            rows = np.full((n_kv_head, 2 * end, row_dim), np.nan, new.dtype)
            if held:
                rows[:, :held] = self.rows
            self.rows = rows
        self.rows[:, start:end] = new.swapaxes(0, 1)

    def otherwise(self, read: Array, at: slice | list[int]) -> Array | None:
        """Of the rows [n_kv_head, t, row_dim] that lie at these positions, those from the first that is otherwise than
        was told, to the last; NaN where a number is as told. None where all are. From now on, this has been told."""
        told = self.rows[:, at]
        if np.array_equal(read, told):
            return None
        differs = (read != told) & ~np.isnan(told)
        if not differs.any():
            return None
        self.rows[:, at] = np.where(differs, read, told)
        return np.where(differs, read, np.nan)[:, int(differs.any(axis=(0, 2)).argmax()) :]


class WatchedLayer:
    """One layer of a `Watched` cache."""

    def __init__(self, layer: int, hook: Hook) -> None:
        self._layer, self._hook, self.told = layer, hook, {"k_read": Told(), "v_read": Told()}

    def of(self, rows: LayerCache, start: int) -> WatchedLayer:
        """For the rows that come next: where they go, and the position of the first."""
        self._rows, self._start = rows, start
        return self

    def append(self, k: Array, v: Array) -> tuple[Array, Array, Sequence[int]]:
        """As the cache itself does it."""
        keys, values, positions = self._rows.append(k, v)
        self.compare(k, v, keys, values, positions, self._start)
        return keys, values, positions

    def compare(self, k: Array, v: Array, keys: Array, values: Array, positions: Sequence[int], start: int) -> None:
        """k and v have joined, the first row at position `start`; keys, values, positions are what was handed out."""
        end = start + len(k)
        first = end - keys.shape[1]  # where the rows are one after the other
        at = list(positions) if len(positions) == keys.shape[1] else list(range(first, end))
        places: slice | list[int] = slice(first, end)
        if at != list(range(first, end)):
            places = at
            self._hook(("key_positions", np.array(at, int), start, self._layer))
        for (name, told), new, read in zip(self.told.items(), (k, v), (keys, values), strict=True):
            told.join(new, start)
            if 0 <= min(at) and max(at) < end and (found := told.otherwise(read, places)) is not None:
                self._hook((name, found, start, self._layer))


class Watched:
    """Any cache, watched: `hook` is told of rows that it hands out otherwise than they were appended, or than was told.

    Three reports a layer, with the position of the step, and none of them where all is as it should be: `k_read` and
    `v_read`, see `Told.otherwise`, and `key_positions`, where the rows are not one after the other up to the newest.

    >>> Watched(KVCache(Config()), print).next_position
    0
    """

    def __init__(self, cache: Cache, hook: Hook) -> None:
        self.cache, self.hook = cache, hook
        self._layers = dict[int, WatchedLayer]()

    @property
    def next_position(self) -> int:
        """That of the cache."""
        return self.cache.next_position

    def __getitem__(self, layer: int) -> WatchedLayer:
        if layer not in self._layers:
            self._layers[layer] = WatchedLayer(layer, self.hook)
        return self._layers[layer].of(self.cache[layer], self.cache.next_position)

    def check_room(self, n: int) -> None:
        """Raise UserError unless the cache has room for n more tokens."""
        self.cache.check_room(n)
