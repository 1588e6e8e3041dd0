"""What students often write in place of what, exercise by exercise, as edits of the solutions."""

Edit = tuple[str, str]

MISTAKES: dict[str, dict[str, Edit]] = {
    "append": {
        "no copy": ("keys.append(k.copy())", "keys.append(k)"),
        "k for v": ("values.append(v.copy())", "values.append(k.copy())"),
        "counted from 1": ("return len(cache.keys) - 1", "return len(cache.keys)"),
    },
    "attend": {
        "no root": (" / np.sqrt(head_dim)", ""),
        "no mask": ("= -np.inf", "+= 0"),
        "a mask by place in the chunk": ("np.arange(t - n, t)", "np.arange(n)"),
        "softmax that overflows": ("scores - scores.max(axis=-1, keepdims=True)", "scores"),
        "softmax over queries": ("raised.sum(axis=-1, keepdims=True)", "raised.sum(axis=-2, keepdims=True)"),
    },
    "crop": {
        "one row too many": ("[n:]", "[n + 1:]"),
        "keys alone": ("    del cache.values[n:]\n", ""),
        "the oldest go": ("[n:]", "[: 6 - n]"),
        "no check": ("if not 0 <= n <= len(cache.keys):", "if False:"),
    },
    "ring": {
        "rows roll": ("ring[count % window] = row", "ring[:] = np.roll(ring, -1, axis=0)\n    ring[-1] = row"),
        "stops when full": ("ring[count % window] = row", "ring[min(count, window - 1)] = row"),
        "one slot too late": ("ring[count % window]", "ring[(count + 1) % window]"),
        "no empty slots": ("np.where(held < 0, -1, held)", "np.abs(held)"),
    },
    "shared_heads": {
        "heads tiled": ("np.repeat(keys, group, axis=1)", "np.tile(keys, (1, group, 1))"),
        "values tiled": ("np.repeat(values, group, axis=1)", "np.tile(values, (1, group, 1))"),
        "no root": (" / np.sqrt(q.shape[-1])", ""),
    },
    "rope_later": {
        "neighbours as pairs": ("x[:, :half], x[:, half:]", "x[:, ::2], x[:, 1::2]"),
        "one speed": ("base ** (-np.arange(half) / half)", "np.ones(half)"),
        "the cache turns": (
            "return rotate(keys, np.arange(t)) @ turned",
            "keys[:] = rotate(keys, np.arange(t))\n    return keys @ turned",
        ),
        "all keys by one position": ("rotate(keys, np.arange(t))", "rotate(keys, np.full(t, t - 1))"),
        "q as it is": ("rotate(q[None], [t - 1])[0]", "q"),
    },
    "int8_rows": {
        "one scale for all": ("np.abs(rows).max(axis=1)", "np.full(len(rows), np.abs(rows).max())"),
        "cut, not rounded": ("np.rint(rows / scales[:, None])", "(rows / scales[:, None])"),
        "zeros by zero": ("    scales[scales == 0] = 1\n", ""),
    },
    "accept": {
        "the draft is not asked": ("u[i] * draft[i][token]", "u[i]"),
        "on after a rejection": ("return i, left / left.sum()", "continue"),
        "drawn from the target": ("np.maximum(target[i] - draft[i], 0)", "target[i]"),
        "not scaled": ("left / left.sum()", "left"),
    },
    "block_table": {
        "a block per token": ("if position % size == 0:", "if True:"),
        "the table is not asked": ("pool[table[position // size]", "pool[position // size"),
        "whole blocks are read": ("[:n]", ""),
        "blocks stay free": ("free.pop()", "free[-1 - len(table)]"),
    },
}
