"""What a trained model loses with fewer rows and with fewer bits, as it was measured: no weights travel.

- `drop_rows`: once the prompt has run, one of its rows leaves in every layer; what the model then writes, row by row
- `compare_windows`: a longer text through a window, and with one early row beside it: the first, or the second instead
- `code_errors`: keys and values of that text through codes, with a scale per token and with one per channel

Rows stay where they were in the text. `python -m tools.trained` measures; what was found lies in data/trained.json.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from microgpt.cache import KVCache, KVLayer
from microgpt.caches.codes import Grid
from microgpt.caches.quantised import Rows
from microgpt.config import Array, Config
from microgpt.experiments.dropping.bits import through
from microgpt.experiments.dropping.shift import shift_of
from microgpt.model import forward, softmax
from microgpt.recipes import DATA
from microgpt.trace import Trace
from microgpt.weights import Model

FILE, FILE_DIGITS = "trained.json", 4  # in DATA; of what is measured
N_NEW = 20  # tokens that are written after the prompt
ROOM, BITS, GROUP, N = 32, (8, 4, 2), 64, 128  # rows; bits; numbers with one scale; tokens of the text
LONG_TEXT = (
    "A river begins small. Rain falls on the hills, and the water that does not sink into the ground runs down into "
    "the nearest valley. There it meets other streams, and the stream becomes a river. In spring, when the snow melts, "
    "it carries sand and stones with it, and leaves them where the land is flat. Farmers have always lived near such "
    "places, because the soil is rich and there is water for the fields. But the same river that feeds a village can "
    "also flood it. That is why people built walls of earth along the banks, and later dams of stone and concrete. A "
    "dam holds back the water, so that it can be used in the dry months."
)
Readable = Callable[[int, int], bool]  # may the step at the newest position, the second, read the row at the first?


class SomeLayer(NamedTuple):
    """A layer of `SomeRows`."""

    rows: KVLayer
    readable: Readable

    def append(self, k: Array, v: Array) -> tuple[Array, Array, Sequence[int]]:
        """Keep n rows; of all, those that may be read, with their positions in the text."""
        keys, values, positions = self.rows.append(k, v)
        some = [row for row in positions if self.readable(row, positions[-1])]
        return keys[:, some], values[:, some], some


class SomeRows:
    """A cache that lets a step read some rows alone: what a model would read if the others were gone."""

    def __init__(self, config: Config, dtype: np.dtype[Any], readable: Readable) -> None:
        self._all, self._readable = KVCache(config, dtype), readable

    def __getitem__(self, layer: int) -> SomeLayer:
        return SomeLayer(self._all[layer], self._readable)

    @property
    def next_position(self) -> int:
        return self._all.next_position

    def check_room(self, n: int) -> None:
        self._all.check_room(n)


def measure(model: Model, prompt: str) -> dict[str, Any]:
    """All that the file has of the model itself. The first N tokens of TEXT are run."""
    ids = model.tokenizer.encode(LONG_TEXT)[:N]
    return {
        "dropped": drop_rows(model, model.tokenizer.encode(prompt)),
        "windowed": compare_windows(model, ids),
        "coded": code_errors(model, ids),
    }


def drop_rows(model: Model, prompt: Sequence[int]) -> dict[str, Any]:
    """Without any row dropped, then without each of the prompt's.

    `moved` is the share of the prediction that goes to other tokens, a mean over the same NEW - 1 steps of the text
    that is written with all rows.
    """
    words = model.tokenizer.vocabulary
    runs, then = list[dict[str, Any]](), go_on(model, prompt, -1)[:-1]
    full = probabilities(model, prompt, then, -1)
    for row in range(-1, len(prompt)):
        moved = np.abs(probabilities(model, prompt, then, row) - full).sum(axis=1) / 2
        runs.append(
            {"row": row, "written": [words[token] for token in go_on(model, prompt, row)], "moved": float(moved.mean())}
        )
    return {"prompt": [words[token] for token in prompt], "runs": runs}


def without(model: Model, prompt: Sequence[int], row: int) -> tuple[SomeRows, int]:
    """A cache in which the prompt has run with all rows, and later steps read all but `row`; the token after it."""
    config = replace(model.config, n_ctx=len(prompt) + N_NEW)
    some = SomeRows(config, model.params["wte"].dtype, lambda at, newest: newest < len(prompt) or at != row)
    return some, int(forward(model.params, config, prompt, some)[-1].argmax())


def go_on(model: Model, prompt: Sequence[int], row: int) -> list[int]:
    """The likeliest tokens after the prompt, when that row is dropped."""
    some, token = without(model, prompt, row)
    found = [token]
    while len(found) < N_NEW:
        found.append(int(forward(model.params, model.config, found[-1:], some)[-1].argmax()))
    return found


def probabilities(model: Model, prompt: Sequence[int], then: Sequence[int], row: int) -> Array:
    """After each of the tokens `then` that come after the prompt, when that row is dropped: [len(then), vocab_size]."""
    some, _ = without(model, prompt, row)
    return softmax(forward(model.params, model.config, then, some).astype(np.float64))


def compare_windows(model: Model, ids: Sequence[int]) -> dict[str, Any]:
    """The perplexity of the text from token ROOM on, with all rows and with ROOM of them, each time the same tokens."""
    config, dtype = replace(model.config, n_ctx=len(ids)), model.params["wte"].dtype
    window = replace(config, window=ROOM, window_from=0)
    beside = {
        name: SomeRows(config, dtype, lambda at, newest, early=early: at == early or newest - at < ROOM - 1)  # type: ignore[misc]
        for name, early in (("first", 0), ("second", 1))
    }
    return {
        "n": len(ids),
        "room": ROOM,
        "all": perplexity(forward(model.params, config, ids, KVCache(config, dtype)), ids),
        "window": perplexity(forward(model.params, window, ids, KVCache(window, dtype)), ids),
    } | {
        name: perplexity(np.array([forward(model.params, config, [token], some)[0] for token in ids]), ids)
        for name, some in beside.items()
    }


def perplexity(logits: Array, ids: Sequence[int]) -> float:
    """Of the tokens after position ROOM, when logits [n, vocab_size] were those of the text."""
    chances = softmax(logits.astype(np.float64))[np.arange(ROOM, len(ids) - 1), ids[ROOM + 1 :]]
    return float(np.exp(-np.log(chances).mean()))


def code_errors(model: Model, ids: Sequence[int]) -> dict[str, Any]:
    """By kind and bits: the error of all heads' rows, root mean square against that of the rows, on average; of keys
    also the attention of the newest queries that moves. GROUP numbers have one scale both ways."""
    config, trace = replace(model.config, n_ctx=len(ids)), Trace()
    held = KVCache(config, model.params["wte"].dtype)
    forward(model.params, config, ids, held, trace.keep)
    keys, values = (np.array([getattr(layer, kind) for layer in held.layers]) for kind in ("keys", "values"))
    layers = range(config.n_layer)
    queries = np.array([trace["q", 0, layer][-1] for layer in layers])  # [n_layer, n_head, head_dim]
    on_first = np.array([trace["attn_weights", 0, layer] for layer in layers])[:, :, 2:, 0].mean(-1)
    lines = [
        {"kind": kind, "bits": bits, **both_ways(rows.astype(np.float64), bits, queries if kind == "k" else None)}
        for kind, rows in (("k", keys), ("v", values))
        for bits in BITS
    ]
    return {
        "n": len(ids),
        "group": GROUP,
        "heads": int(keys[:, :, 0, 0].size),
        "lines": lines,
        "rests": int((on_first > 0.5).sum()),
        "on_first": float(on_first.mean()),
    }


def both_ways(rows: Array, bits: int, queries: Array | None) -> dict[str, Any]:
    """Rows [n_layer, n_kv_head, n, head_dim] per token and per channel."""
    errors, moved = list[Array](), list[float]()
    for kept in (Rows(Grid(bits)), Rows(Grid(bits), per_channel=True, group=GROUP)):
        kind = through(kept, rows)
        off, size = ((x**2).mean(axis=(2, 3)) ** 0.5 for x in (kind.after - kind.before, kind.before))
        errors.append(off / size)
        if queries is not None:
            moved.append(attention_moved(kind.before, kind.after, queries))
    return {"off": [float(one.mean()) for one in errors], "moved": moved, "better": int((errors[1] < errors[0]).sum())}


def attention_moved(before: Array, after: Array, queries: Array) -> float:
    """The share of the attention of queries [n_layer, n_head, head_dim] that goes to other rows, on average."""
    share = queries.shape[1] // before.shape[1]
    moved = [
        shift_of(queries[layer, head], before[layer, head // share], after[layer, head // share]).distance
        for layer, head in np.ndindex(queries.shape[:2])
    ]
    return float(np.mean(moved))


@cache
def load_results() -> dict[str, Any]:
    """What was found, and by what: data/trained.json."""
    found: dict[str, Any] = json.loads((DATA / FILE).read_text("utf-8"))
    return found
