"""A trial: tokens run by the reader's program, and each report of its hooks held against ours.

What is expected is our own forward, all tokens at once. Whatever way the reader's program is called, each row must come
out as there: that is what a cache promises. The first that does not is a `Finding`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from microgpt import decode
from microgpt.cache import Batch, KVCache
from microgpt.config import Array, Report
from microgpt.errors import N_, UserError
from microgpt.model import forward
from microgpt.trace import OVER_KEYS
from microgpt.weights import Model
from microgpt.workbench.told import check_logits, check_report
from microgpt.workbench.watch import lend
from microgpt.workbench.yours import Yours

TOLERANCE = 1e-9  # in float64, several thousand times what the order of a sum changes


class Finding(Exception):
    """The first thing that is wrong: a sentence, and where there are any, the row, layer, head, name and numbers.

    `pos` is the position of a token, -1 where none can be named; so are `layer` and `head`.
    """

    def __init__(
        self, error: UserError, pos: int = -1, layer: int = -1, head: int = -1, name: str = "",
        yours: float = np.nan, ours: float = np.nan, line: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(str(error))
        self.error, self.pos, self.layer, self.head, self.name = error, pos, layer, head, name
        self.yours, self.ours, self.line = yours, ours, line

    @property
    def is_number(self) -> bool:
        """Whether it names a number, with ours."""
        return bool(np.isfinite(self.yours) and np.isfinite(self.ours))

    @property
    def hides(self) -> bool:
        """Whether the original hides what is seen here."""
        return bool(np.isfinite(self.yours) and self.ours == -np.inf)

    @property
    def misses(self) -> bool:
        """Whether what the original sees is hidden here."""
        return bool(self.yours == -np.inf and np.isfinite(self.ours))


class Expected(NamedTuple):
    """Ours, all tokens at once: logits [n, vocab_size] and every report, by its name and layer."""

    logits: Array
    reports: dict[tuple[str, int], Any]


def expect(model: Model, ids: Sequence[int]) -> Expected:
    told = dict[tuple[str, int], Any]()
    cache = KVCache(model.config, model.params["wte"].dtype)
    logits = forward(model.params, model.config, ids, cache, lambda one: told.__setitem__((one[0], one[3]), one[1]))
    return Expected(logits, {key: value if isinstance(value, int) else np.array(value) for key, value in told.items()})


class Trial:
    """What a check is given: the tokens `ids`, and the reader's program to run them by."""

    def __init__(self, yours: Yours, model: Model, ids: Sequence[int], expected: Expected | None = None) -> None:
        self.yours, self.model, self.ids = yours, lend(model), list(ids)
        self.config, self.params = self.model.config, self.model.params
        self.expected = expected or expect(model, ids)
        self.told = dict[tuple[str, int], Any]()  # the reports of the last pass
        self.first: Finding | None = None  # what was found first
        self.furthest = 0.0  # a logit that was compared is from ours
        self._fed = dict[int, int]()  # tokens that each cache has been given
        self._caches = list[Any]()  # which keeps their ids apart

    def new_cache(self) -> Any:
        made = self.yours.KVCache(self.config, self.params["wte"].dtype)
        self._caches.append(made)
        self._fed[id(made)] = 0
        return made

    def forward(self, ids: Sequence[int], cache: Any, compare: bool = True, **more: Any) -> Array:
        """The logits after these tokens; unless told otherwise, each report and each logit is compared with ours."""
        start, n = self._fed.get(id(cache), 0), len(ids)
        self.told = {}

        def hook(report: Report) -> None:
            name, value, _, layer = check_report(report, self.config)
            self.hear(report)
            self.told[name, layer] = value if isinstance(value, int) else np.array(value)
            if compare and not self.first:
                self.compare(name, value, start, n, layer)

        found = self.yours.forward(self.params, self.config, list(ids), cache, hook, **more)
        logits = check_logits(found, self.config, n, "forward")
        for one, count in zip(cache.caches, cache.counts, strict=True) if isinstance(cache, Batch) else [(cache, n)]:
            self._fed[id(one)] = self._fed.get(id(one), 0) + count
        if compare:
            self.same_logits(logits, start)
        return logits

    def hear(self, report: Report) -> None:
        """For a trial that keeps more than the last pass: a report as it comes, one a text where there are several."""

    def crop(self, cache: Any, n: int) -> None:
        """Have the cache keep its first n rows, and look at them."""
        cache.crop(n)
        self._fed[id(cache)] = n
        self.same_rows(cache, n)

    def keep(self, cache: Any, rows: Sequence[int]) -> None:
        """Have the cache keep these rows, which are to be those of the first tokens, and look at them."""
        cache.keep(rows)
        self._fed[id(cache)] = len(rows)
        self.same_rows(cache, len(rows))

    def report(self, name: str, layer: int) -> Array:
        """What the last pass reported under that name in that layer. Raises UserError where it did not."""
        if (name, layer) not in self.told:
            raise UserError(N_("No line of forward reports “%(name)s” any more."), name=name)
        found: Array = self.told[name, layer]
        return found

    def expect(self, holds: object, sentence: str, pos: int = -1, layer: int = -1, **values: object) -> None:
        """Unless it holds, this sentence is what the check finds, and where it ends."""
        if not holds:
            raise self.first or Finding(UserError(sentence, **values), pos, layer)

    def find(self, sentence: str, pos: int, layer: int = -1, *where: Any, **values: object) -> None:
        """Note what was found, if it is the first: the way goes on, so that the answers at its end are compared too.
        `where` is what else a `Finding` tells: head, name, yours, ours."""
        self.first = self.first or Finding(UserError(sentence, **values), pos, layer, *where)

    # ---- against ours -----------------------------------------------------------------------------

    def compare(self, name: str, value: Any, start: int, n: int, layer: int) -> None:
        """A report of n tokens, the first at position `start`."""
        if isinstance(value, int):
            if name == "cache_append" and value != start + n:
                sentence = N_("Rows that the cache hands out: %(held)s, where it should be %(n)s.")
                self.find(sentence, start + n - 1, layer, -1, name, held=value, n=start + n)
            return
        if (name, layer) not in self.expected.reports:
            return  # of the reader's own
        rows = value.shape[name in OVER_KEYS]
        if rows != n:
            sentence = N_("“%(event)s” is reported of %(rows)s rows; this pass has %(n)s tokens.")
            return self.find(sentence, start, layer, -1, name, event=name, rows=rows, n=n)
        for i in range(n):
            self.compare_row(name, value, i, start + i, layer)

    def compare_row(self, name: str, value: Array, i: int, pos: int, layer: int) -> None:
        """Row i of a report, the one of the token at `pos`."""
        ours, over = self.expected.reports[name, layer], OVER_KEYS.get(name)
        if over is None:
            want, got = ours[pos], value[i]
        else:
            want, got = ours[:, pos, : pos + 1], value[:, i]
            missing = got.shape[-1] - want.shape[-1]
            if missing < 0:
                sentence = N_("It sees %(rows)s rows; there are %(n)s.")
                return self.find(sentence, pos, layer, -1, name, rows=got.shape[-1], n=pos + 1)
            want = np.concatenate([want, np.full((len(want), missing), over)], axis=-1)
        if np.shape(got) != np.shape(want):
            sentence = N_("A row of %(event)s has the shape %(yours)s in place of %(ours)s.")
            return self.find(sentence, pos, layer, event=name, yours=np.shape(got), ours=np.shape(want))
        at = furthest(got, want)
        if at is not None:
            where = self.head_of(name, got, at), name, float(got[at]), float(want[at])
            self.find(N_("A number of %(event)s is not what it should be."), pos, layer, *where, event=name)

    def head_of(self, name: str, row: Array, at: tuple[int, ...]) -> int:
        """The head of a number in a report's row; -1 where heads are not apart."""
        if name == "head_out":
            return at[0] * self.config.n_head // len(row)
        return at[0] if row.ndim == 2 else -1

    def same_logits(self, logits: Array, start: int) -> None:
        """The logits [n, vocab_size] after tokens from position `start` on are ours."""
        want = self.expected.logits[start : start + len(logits)]
        off = np.nan_to_num(np.abs(logits - want), nan=np.inf)
        self.furthest = max(self.furthest, float(off.max()))
        for i, row in enumerate(off):
            if row.max() > TOLERANCE:
                at = first_of(row)
                found = float(logits[i, at]), float(want[i, at])
                return self.find(
                    N_("A number of %(event)s is not what it should be."),
                    start + i,
                    -1,
                    -1,
                    "logits",
                    *found,
                    event="logits",
                )

    def rows(self, cache: Any, layer: int) -> dict[str, Array]:
        """A copy of what a layer of the cache holds of k and v, [row, n_kv_head, head_dim]."""
        kept, found = cache[layer], dict[str, Array]()
        for name, where in (("k", "keys"), ("v", "values")):
            rows = getattr(kept, where, None)
            if not isinstance(rows, np.ndarray) or rows.ndim != 3:
                sentence = N_("The checks look at the rows of a layer by its “%(name)s”, [n_kv_head, rows, head_dim].")
                raise UserError(sentence, name=where)
            found[name] = np.array(rows.swapaxes(0, 1))
        return found

    def same_rows(self, cache: Any, n: int) -> None:
        """The cache holds n rows in each layer, those of the first n tokens."""
        for layer in range(self.config.n_layer):
            for name, rows in self.rows(cache, layer).items():
                if len(rows) != n:
                    sentence = N_("The cache holds %(held)s rows in place of %(n)s.")
                    return self.find(sentence, min(n, len(rows)), layer, held=len(rows), n=n)
                for pos in range(n):
                    want = self.expected.reports[name, layer][pos]
                    at = furthest(rows[pos], want)
                    if at is not None:
                        sentence = N_("The cache holds another row of %(event)s than it should.")
                        found = float(rows[pos][at]), float(want[at])
                        return self.find(sentence, pos, layer, at[0], name, *found, event=name)

    def bytes_reserved(self, cache: Any) -> int:
        """Bytes of all arrays that a cache holds on to."""
        return sum({id(one): one.nbytes for one in arrays_in(cache, set())}.values())

    # ---- the loop ---------------------------------------------------------------------------------

    def ours(self, n: int) -> list[int]:
        """The n tokens that our loop writes after the first one."""
        return list(decode.generate(self.params, self.config, self.ids[:1], n))


def furthest(got: Array, want: Array) -> tuple[int, ...] | None:
    """Where two arrays differ most, None where they do not."""
    with np.errstate(invalid="ignore"):
        off = np.nan_to_num(np.where(got == want, 0.0, np.abs(got - want)), nan=np.inf, posinf=np.inf)
    if not off.size or off.max() <= TOLERANCE:
        return None
    return tuple(map(int, np.unravel_index(first_of(off), off.shape)))


def first_of(off: Array) -> int:
    """The first of the places that are furthest off: which of two alike is further, only rounding would say."""
    return int((off >= min(off.max() - TOLERANCE, np.finfo(np.float64).max)).argmax())


def arrays_in(value: Any, seen: set[int]) -> list[Array]:
    """The arrays that an object holds, itself or by what it holds; of a view, what it is a view of."""
    if id(value) in seen:
        return []
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return [value if value.base is None or not isinstance(value.base, np.ndarray) else value.base]
    if isinstance(value, dict):
        held = list(value.values())
    elif isinstance(value, list | tuple | set):
        held = list(value)
    else:
        held = list(getattr(value, "__dict__", {}).values())
    return [one for part in held for one in arrays_in(part, seen)]
