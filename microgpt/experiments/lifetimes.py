"""What an old query could still compute: run it again, later, against the cache as it stands then.

It may see the rows up to its own, as the causal mask has it. In a right cache those rows have not changed, so neither
do its weights: what comes out has been used already. Knows traces and the model's own attention; knows no page.
"""

import numpy as np

from microgpt.config import Array, Config, window_of
from microgpt.model import attn_scores, causal_mask, mix, softmax
from microgpt.trace import Reads, Trace


def ask_again(trace: Trace, config: Config, row: int, layer: int, n: int) -> tuple[Array, Array]:
    """Query `row` once more after n steps: its weights [n_head, 1, row + 1] and mixed values [1, n_head * head_dim]."""
    if not row < n:
        raise ValueError(f"row {row} does not exist after {n} steps")
    keys, values = (rows_after(trace, name, layer, n)[:, : row + 1] for name in ("k", "v"))
    mask = causal_mask(range(row, row + 1), range(row + 1), window_of(config, layer))
    weights = softmax(attn_scores(trace["q", row, layer], keys, mask, config.attn_scale))
    return weights, mix(weights, values)


def ask_all(trace: Trace, config: Config, row: int, n: int, layer: int = 0) -> Array:
    """The weights that query `row` would give to all n rows if nothing hid the later ones: [n_head, 1, n]."""
    keys = rows_after(trace, "k", layer, n)
    return softmax(attn_scores(trace["q", row, layer], keys, None, config.attn_scale))


def rows_after(trace: Trace, name: str, layer: int, n: int) -> Array:
    """All rows of k or v after n steps, as the last of them read them: [n_kv_head, n, head_dim]."""
    reads = Reads(trace)
    return np.stack([reads.row(name, i, layer, n - 1) for i in range(n)], axis=1)


def furthest(trace: Trace, config: Config, row: int, n: int) -> float:
    """The largest difference between what query `row` gave at its own step and what it gives after n steps."""
    gaps = [
        np.abs(now - trace[name, row, layer]).max()
        for layer in range(config.n_layer)
        for name, now in zip(("attn_weights", "head_out"), ask_again(trace, config, row, layer, n), strict=True)
    ]
    return float(max(gaps))


def all_asked(trace: Trace, config: Config, n: int, layer: int = 0) -> tuple[float, float]:
    """Ask all n queries against all n rows, without a mask: how far the answer of the newest query is from that of its
    own step, and how far those of the others are, at most."""
    keys, values = (rows_after(trace, name, layer, n) for name in ("k", "v"))
    queries = np.concatenate([trace["q", i, layer] for i in range(n)])
    found = mix(softmax(attn_scores(queries, keys, None, config.attn_scale)), values)
    off = [float(np.abs(found[i] - trace["head_out", i, layer]).max()) for i in range(n)]
    return off[-1], max(off[:-1], default=0.0)
