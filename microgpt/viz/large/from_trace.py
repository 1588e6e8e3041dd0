"""The picture of a large model out of a file alone: a trace or the excerpt of one, without the model and its weights.

What an excerpt does not hold, the counts of all layers and the sum over the whole vocabulary, it says in
`about["whole"]` (excerpt.py). A whole trace, by whatever engine, is checked and cut first. Knows no HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from microgpt.config import Array, Config
from microgpt.cost import kv_bytes
from microgpt.errors import N_, UserError
from microgpt.trace import Trace
from microgpt.viz.drawing.counters import N_GUESSES, Cost, Guess, Held, candidates, costs
from microgpt.viz.large.checks import check_trace
from microgpt.viz.large.heads import (
    Open,
    attention,
    choose_heads,
    distances,
    earlier,
    rule_layers,
    tell_most,
    with_rows,
)
from microgpt.viz.large.picture import BigPicture, picture_of_run


@dataclass(frozen=True)
class ExcerptPicture(BigPicture):
    """As it was drawn where the model ran. The logits are those of some tokens, `ids`, in that order."""

    @property
    def ids(self) -> list[int]:
        found: list[int] = self.about["vocabulary_ids"]
        return found

    @cached_property
    def v_lengths(self) -> Array:
        return np.array(self.about["whole"]["v_lengths"])

    def costs(self, i: int) -> list[Cost]:
        return costs(self.trace, self.config, i, self.about["whole"]["macs"][i])

    def size_after(self, i: int) -> Held:
        """By the rows that each layer has told of, where the engine does not say."""
        if "held" in self.about:
            return super().size_after(i)
        c, size = self.config, bytes_of(self.about["dtype"])
        rows = sum(self.trace.number("cache_append", i, layer) or 0 for layer in range(c.n_layer))
        numbers = rows * c.n_kv_head * (c.head_dim + self.v_dim)
        return Held(8 * size, numbers, numbers * size, 2 * numbers, self.about["nbytes_reserved"])

    def guesses(self, i: int) -> list[Guess]:
        logits, chosen = self.trace["logits", i][0], self.trace.number("sample", i)
        at = None if chosen is None else self.ids.index(chosen)
        shares = np.array(self.about["whole"]["chances"][i])
        return candidates(logits, shares, at, N_GUESSES, lambda k: self.vocabulary_token(self.ids[k]))

    def vocabulary_token(self, token_id: int) -> str:
        return super().vocabulary_token(self.ids.index(token_id))

    def difference(self, i: int) -> float | None:
        found: float | None = self.about["whole"]["apart"][i]
        return found

    def likeliest(self, i: int) -> tuple[int, int] | None:
        """None also in files that do not say it."""
        found = self.about["whole"].get("likeliest", {i: None})[i]
        return None if found is None else (found[0], found[1])

    def token_ids(self) -> list[int]:
        return self.ids

    def excerpt(self, digits: int = 0) -> Trace:
        """It is one."""
        return self.trace


def bytes_of(dtype: str) -> int:
    """Of a number in it. NumPy has no bfloat16, which other engines compute in."""
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


@contextmanager
def drawable() -> Iterator[None]:
    """Around all that draws a trace: what somebody else has written, and cannot be drawn, is a UserError."""
    try:
        yield
    except UserError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        why = repr(error)
        raise UserError("This trace cannot be drawn (%(why)s); docs/trace.md says what it needs.", why=why) from None


def picture_of_trace(trace: Trace, layers: Sequence[int] = (), heads: Sequence[int] = ()) -> ExcerptPicture:
    """The picture of a trace or an excerpt, whichever engine has run it. Raises UserError for what cannot be drawn."""
    check_trace(trace)
    with drawable():
        return picture_of_excerpt(trim(trace, layers, heads), layers, heads)


def trim(trace: Trace, layers: Sequence[int] = (), heads: Sequence[int] = ()) -> Trace:
    """The excerpt of a trace; what is one already stays so."""
    if "whole" in trace.about:
        return trace
    about = complete_about(trace.about)
    n = len(about["tokens"])
    run = Trace(about, [event.report for event in trace])
    for i in range(about["n_prompt"] - 1, n - 1):
        if ("sample", i) not in run:
            run(("sample", about["ids"][i + 1], i, -1))
    return picture_of_run(run, layers, heads).excerpt()


def complete_about(about: Mapping[str, Any]) -> dict[str, Any]:
    """What a trace says of its run, with what may be left out."""
    config, tokens, dtype = Config(**about["config"]), about["tokens"], about.get("dtype", "float64")
    ids = about.get("ids") or [about["vocabulary"].index(token) for token in tokens]
    filled = {"temperature": 0.0, "top_k": 0, "seed": 0, "dtype": dtype, "stops": [], "started": False}
    reserved = {"nbytes_reserved": kv_bytes(config, len(tokens), bytes_of(dtype))}
    return {**filled, **reserved, **about, "ids": ids}


def picture_of_excerpt(part: Trace, layers: Sequence[int] = (), heads: Sequence[int] = ()) -> ExcerptPicture:
    """The picture of an excerpt, with the same heads open as by the rule, or those that are asked for.

    Raises UserError for a layer that the excerpt does not hold.
    """
    config, kept = Config(**part.about["config"]), part.about["cut"]["in_layers"]["layers"]
    for layer in layers:
        if layer not in kept:
            sentence = N_("This excerpt does not hold layer %(layer)s; it has %(kept)s.")
            raise UserError(sentence, layer=layer, kept=", ".join(map(str, kept)))
    weights = attention(part, config, len(part.about["tokens"]))
    before = earlier(part.about, weights)
    told = part.about["cut"]["in_layers"].get("heads")
    if told is None:
        found = choose_heads(weights, config.head_dim, layers or kept, heads, before=before)
        by_rule, by_layer = not heads, not layers
    else:
        far, known = distances(weights, before), {(layer, head): rank for layer, head, rank in told}
        for layer, head in product(layers or kept, heads):
            if (layer, head) not in known:
                sentence = N_("This excerpt does not hold head %(head)s of layer %(layer)s; it has %(kept)s.")
                names = ", ".join(f"{one}.{other}" for one, other in known)
                raise UserError(sentence, layer=layer, head=head, kept=names)
        found = [
            Open(layer, head, float(far[layer, head]), rank)
            for (layer, head), rank in known.items()
            if layer in (layers or kept) and (not heads or head in heads)
        ]
        by_rule = not heads and all(rank >= 0 for rank in known.values())
        by_layer = not layers and kept == rule_layers(with_rows(part.about))
    first, _ = tell_most(weights, found)
    return ExcerptPicture(part, heads=tuple(found), at_head=first, by_rule=by_rule, layers_by_rule=by_layer)
