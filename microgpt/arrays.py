"""A run as arrays: one report by its key, or everything of a name in one array. Knows traces; knows no page.

Only for runs of one token a step (microgpt/record.py), where position and step are the same number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from microgpt.model import Array
from microgpt.trace import Trace

Key = tuple[str, int] | tuple[str, int, int]
OVER_KEYS = {"attn_scores": -np.inf, "attn_weights": 0.0}  # one number a key: what stands for keys yet to come


class TraceArrays(Mapping[Key, "Array | int"]):
    """trace["q", 3, 0] is what the hook reported as q at position 3 in layer 0; trace.arrays() stacks all of it."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._found: dict[Key, Array | int] = {
            (e.name, e.pos) if e.layer < 0 else (e.name, e.pos, e.layer): e.value for e in trace
        }

    @property
    def about(self) -> dict[str, Any]:
        """What describes the run: model, config, prompt, tokens, vocabulary, ..."""
        return self._trace.about

    def __getitem__(self, key: Key) -> Array | int:
        if key not in self._found:
            names, n = ", ".join(sorted({known[0] for known in self._found})), len(self.about["tokens"])
            raise KeyError(
                f"There is no {key}. Ask for (name, position, layer), or (name, position) outside the layers: "
                f"positions 0 to {n - 1}, layers 0 to {self.about['config']['n_layer'] - 1}, names {names}."
            )
        return self._found[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<{len(self)} reports over {len(self.about['tokens'])} positions; .arrays() stacks them by name>"

    def arrays(self) -> dict[str, Array]:
        """One new array a name; n is the number of positions, and layers stand in front where a name has them.

        q                          [n_layer, n, n_head, head_dim]
        k, v                       [n_layer, n, n_kv_head, head_dim]
        attn_scores, attn_weights  [n_layer, n, n_head, n]: query, head, key; -inf and 0 for keys yet to come
        head_out                   [n_layer, n, n_head * head_dim]
        resid_pre, attn_norm, attn_out, resid_mid, mlp_norm, mlp_out [n_layer, n, n_embd]; mlp_hidden wider
        embed, resid_final         [n, n_embd]
        logits, recompute_logits   [n, vocab_size]
        cache_append               [n_layer, n]: rows that the cache then holds
        sample                     [n]: the id that was chosen, -1 where the prompt goes on
        recompute_macs             [n, 6]: multiply-adds without a cache, by part
        """
        n, layers = len(self.about["tokens"]), self.about["config"]["n_layer"]
        names = {key[0]: len(key) == 3 for key in self._found}
        return {
            name: np.stack([self._over_steps(name, n, layer) for layer in range(layers)])
            if inside
            else self._over_steps(name, n)
            for name, inside in names.items()
        }

    def _over_steps(self, name: str, n: int, *layer: int) -> Array:
        """Everything of one name in one layer, a row a position."""
        rows = []
        for pos in range(n):
            value = np.asarray(self._found.get((name, pos, *layer), -1))  # type: ignore[arg-type]
            if name in OVER_KEYS:  # [head, 1, keys so far]
                missing = np.full((len(value), n - value.shape[-1]), OVER_KEYS[name])
                value = np.concatenate([value[:, 0], missing], axis=1)
            elif value.ndim > 1:
                value = value[0]  # the one new row
            rows.append(value)
        return np.stack(rows)
