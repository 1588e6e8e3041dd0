"""Context shift: when the cache is full, half of the text leaves and the rest moves down. llama.cpp has it.

The first `n_keep` rows stay. Of the others the older half is dropped, and those behind it move down to where it was:
their keys are turned back by as many positions as rows have left (R(-m) R_j k = R_(j-m) k). The next token follows as
if the text had always been the shorter one.

It had not. The rows that stay were computed while the dropped ones could still be read: from the second layer on they
are not the rows of the shorter text. In the first layer they are, for there a row depends on its own token alone.

Learned positions are in the embedding, not in the keys, and cannot be turned: such models are refused.
"""

from __future__ import annotations

import numpy as np

from microgpt.cache import KVCache, check_rows
from microgpt.config import Config, DType, Hook
from microgpt.errors import N_, UserError
from microgpt.rope import rope


class ShiftCache(KVCache):
    """A plain cache of `rows` rows (0: n_ctx) that makes room for itself. Call `make_room` before each step.

    >>> ShiftCache(Config(position="rope"), n_keep=1).make_room()
    0
    """

    def __init__(self, config: Config, n_keep: int = 0, rows: int = 0, dtype: DType = np.float64) -> None:
        if config.position != "rope":
            raise UserError("This model’s positions are learned, and its keys cannot be turned to new ones.")
        super().__init__(config, dtype)
        self._config, self.n_keep, self.rows = config, n_keep, rows or config.n_ctx
        if not 0 < self.rows <= config.n_ctx:
            raise UserError("A cache of %(rows)s rows: choose 1 to %(n_ctx)s.", rows=self.rows, n_ctx=config.n_ctx)
        if not 0 <= n_keep <= self.rows - 2:
            sentence = N_("%(n_keep)s rows to keep of %(rows)s: choose 0 to %(most)s, so that some can leave.")
            raise UserError(sentence, n_keep=n_keep, rows=self.rows, most=self.rows - 2)
        self._positions, self._seen = list[int](), 0  # of the rows that have been counted

    @property
    def positions(self) -> list[int]:
        """Which tokens of the text the rows belong to."""
        new = len(self) - len(self._positions)  # those that `forward` has appended since
        self._positions += range(self._seen, self._seen + new)
        self._seen += new
        return self._positions

    def check_room(self, n: int) -> None:
        """Raise UserError unless n more rows fit."""
        check_rows(len(self), n, self.rows)

    def make_room(self, n: int = 1, hook: Hook | None = None) -> int:
        """Before a step of n tokens: shift if they do not fit. Returns how many rows have left."""
        if len(self) + n <= self.rows or len(self) - self.n_keep < 2:
            return 0
        return self.shift((len(self) - self.n_keep) // 2, hook)

    def shift(self, n: int, hook: Hook | None = None) -> int:
        """Drop n rows behind the kept ones; the others move down and are turned."""
        if not 0 < n <= len(self) - self.n_keep:
            raise UserError("%(n)s rows cannot leave; choose 1 to %(most)s.", n=n, most=len(self) - self.n_keep)
        positions, held = list(self.positions), len(self)
        left, rest = positions[self.n_keep : self.n_keep + n], positions[: self.n_keep] + positions[self.n_keep + n :]
        turn = rope(self._config, range(-n, -n + 1), self[0].keys.dtype)
        for layer, rows in enumerate(self.layers):
            moving = rows.keys[:, self.n_keep + n :].swapaxes(0, 1)  # [n, n_kv_head, head_dim]
            rows.keys[:, self.n_keep : held - n] = turn(moving).swapaxes(0, 1)
            rows.values[:, self.n_keep : held - n] = rows.values[:, self.n_keep + n :].copy()
            hook and hook(("cache_evict", np.tile(left, (self._config.n_kv_head, 1)), held, layer))
        super().crop(held - n)
        self._positions = rest
        return n

    def crop(self, n: int) -> None:
        """Keep the first n rows in every layer: the newest tokens have not been seen."""
        positions = self.positions
        super().crop(n)
        self._seen -= len(positions) - n
        del positions[n:]
