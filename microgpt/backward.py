"""The backward pass, written by hand: for every x in model.py there is an x_backward, in the same order.

A `Tape` is a hook like any other: it keeps what forward reports, and `backward` walks it from the logits
to the embeddings. A gradient is the variable's name with a d in front. What is differentiated is one
pass over all tokens with a fresh cache; its gradients are those of the cached pass too, since both
compute the same function. Knows no loss and no optimiser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from microgpt.model import GELU_SCALE, NORMS, ROTATIONS, Array, Config, Hook, Params, ignore, linear, rms_plain, silu

Grads = Params  # the same names and shapes


class Tape:
    """A hook that keeps what it is told, by name and layer (-1 outside the layers)."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, int], Array] = {}

    def __call__(self, name: str, value: Array, *, layer: int = -1, pos: int = 0) -> None:
        self.values[name, layer] = value

    def __getitem__(self, key: tuple[str, int]) -> Array:
        return self.values[key]


def backward(
    params: Params, config: Config, token_ids: Sequence[int], tape: Tape, dlogits: Array, hook: Hook = ignore
) -> Grads:
    """Gradients of every parameter, given dlogits [n, vocab_size] and the tape of one pass over `token_ids`.

    `hook` is told dq, dk and dv of each layer: what arrives at each row from all later queries.
    """
    grads: Grads = {}
    positions = np.arange(len(token_ids))
    norm_backward, eps = NORMS_BACKWARD[config.norm], config.norm_eps
    unrotate = ROTATIONS[config.position](config, -positions, params["wte"].dtype)  # turning back is the transpose

    x = tape["resid_final", -1]  # [n, d]
    final = NORMS[config.norm](x, params, "final_norm", eps) if config.final_norm else x
    head = "lm_head" if "lm_head" in params else "wte"
    dx = dlogits @ params[head]  # [n, vocab_size] -> [n, d]
    grads[head] = dlogits.T @ final
    if config.final_norm:
        dx = norm_backward(dx, x, params, "final_norm", eps, grads)
    for layer in reversed(range(config.n_layer)):
        here = f"layer{layer}."
        hidden, m = tape["mlp_hidden", layer], tape["mlp_norm", layer]
        dhidden = linear_backward(dx, hidden, params, here + "fc2", grads)  # [n, d] -> [n, n_mlp]
        dm = MLPS_BACKWARD[config.mlp](dhidden, hidden, m, params, here, grads)  # -> [n, d]
        dx = dx + norm_backward(dm, tape["resid_mid", layer], params, here + "mlp_norm", eps, grads)

        a = tape["attn_norm", layer]
        dmixed = linear_backward(dx, tape["head_out", layer], params, here + "wo", grads)
        q, k, v = tape["q", layer], tape["k", layer], tape["v", layer]
        dq, dk, dv = attention_backward(dmixed, q, k, v, tape["attn_weights", layer])  # each as its row: [n, heads, h]
        hook("dq", dq, layer=layer, pos=0)
        hook("dk", dk, layer=layer, pos=0)
        hook("dv", dv, layer=layer, pos=0)
        n = len(a)
        da = linear_backward(unrotate(dq).reshape(n, -1), a, params, here + "wq", grads)
        da = da + linear_backward(unrotate(dk).reshape(n, -1), a, params, here + "wk", grads)
        da = da + linear_backward(dv.reshape(n, -1), a, params, here + "wv", grads)
        dx = dx + norm_backward(da, tape["resid_pre", layer], params, here + "attn_norm", eps, grads)
    if config.embd_norm:
        dx = norm_backward(dx, tape["embed", -1], params, "embd_norm", eps, grads)
    embed_backward(dx, params, config, token_ids, grads)
    return grads


# ---- the parts, in model.py's order ------------------------------------------------------------------


def embed_backward(dx: Array, params: Params, config: Config, token_ids: Sequence[int], grads: Grads) -> None:
    """Each row of dx goes to the row of wte (and of wpe) that it came from."""
    onto = grads.setdefault("wte", np.zeros_like(params["wte"]))  # a tied head has been here before
    np.add.at(onto, np.asarray(token_ids), dx)
    if config.position == "learned":
        grads["wpe"] = np.zeros_like(params["wpe"])
        grads["wpe"][: len(dx)] = dx


def rms_plain_backward(dy: Array, x: Array, params: Params, name: str, eps: float, grads: Grads) -> Array:
    scale = ((x * x).sum(axis=-1, keepdims=True) / x.shape[-1] + eps) ** -0.5  # [n, 1]
    y = x * scale
    return scale * (dy - y * ((dy * y).sum(axis=-1, keepdims=True) / x.shape[-1]))  # type: ignore[no-any-return]


def rms_backward(dy: Array, x: Array, params: Params, name: str, eps: float, grads: Grads) -> Array:
    grads[name] = (dy * rms_plain(x, params, name, eps)).sum(axis=0)
    return rms_plain_backward(dy * params[name], x, params, name, eps, grads)


def layer_norm_backward(dy: Array, x: Array, params: Params, name: str, eps: float, grads: Grads) -> Array:
    grads[name + ".bias"] = dy.sum(axis=0)
    dcentred = rms_backward(dy, x - x.sum(axis=-1, keepdims=True) / x.shape[-1], params, name, eps, grads)
    return dcentred - dcentred.sum(axis=-1, keepdims=True) / x.shape[-1]  # type: ignore[no-any-return]


def linear_backward(dy: Array, x: Array, params: Params, name: str, grads: Grads) -> Array:
    grads[name] = dy.T @ x  # [out, n] x [n, in]
    if name + ".bias" in params:
        grads[name + ".bias"] = dy.sum(axis=0)
    return dy @ params[name]


def attention_backward(dmixed: Array, q: Array, k: Array, v: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Scores, softmax and mix, backwards. A masked pair has weight 0, so nothing flows through it."""
    n, n_head, head_dim = q.shape
    n_kv_head = k.shape[1]

    def grouped(x: Array) -> Array:  # query heads that share a key head, below one another
        return x.reshape(n_kv_head, -1, x.shape[-1])

    keys, values = k.swapaxes(0, 1), v.swapaxes(0, 1)  # [n_kv_head, n, head_dim]
    dmix = grouped(dmixed.reshape(n, n_head, head_dim).swapaxes(0, 1))  # [n_kv_head, group * n, head_dim]
    dvalues = grouped(weights).swapaxes(1, 2) @ dmix  # [n_kv_head, n, head_dim]
    dweights = (dmix @ values.swapaxes(1, 2)).reshape(n_head, n, n)
    dscores = grouped(softmax_backward(dweights, weights)) * head_dim**-0.5
    dq = (dscores @ keys).reshape(n_head, n, head_dim).swapaxes(0, 1)
    dkeys = dscores.swapaxes(1, 2) @ grouped(q.swapaxes(0, 1))  # [n_kv_head, n, head_dim]
    return dq, dkeys.swapaxes(0, 1), dvalues.swapaxes(0, 1)


def softmax_backward(dy: Array, y: Array) -> Array:
    product = dy * y
    return product - y * product.sum(axis=-1, keepdims=True)  # type: ignore[no-any-return]


def relu_mlp_backward(dh: Array, hidden: Array, x: Array, params: Params, here: str, grads: Grads) -> Array:
    return linear_backward(dh * (hidden > 0), x, params, here + "fc1", grads)


def gelu_mlp_backward(dh: Array, hidden: Array, x: Array, params: Params, here: str, grads: Grads) -> Array:
    u = linear(x, params, here + "fc1")
    t = np.tanh(GELU_SCALE * (u + 0.044715 * u * u * u))
    slope = 0.5 * (1.0 + t) + 0.5 * u * (1.0 - t * t) * GELU_SCALE * (1.0 + 3 * 0.044715 * u * u)
    return linear_backward(dh * slope, x, params, here + "fc1", grads)


def swiglu_mlp_backward(dh: Array, hidden: Array, x: Array, params: Params, here: str, grads: Grads) -> Array:
    gate, up = linear(x, params, here + "gate"), linear(x, params, here + "fc1")
    sigmoid = 1.0 / (1.0 + np.exp(-gate))
    dgate = dh * up * sigmoid * (1.0 + gate * (1.0 - sigmoid))
    dx = linear_backward(dgate, x, params, here + "gate", grads)
    return dx + linear_backward(dh * silu(gate), x, params, here + "fc1", grads)


NormBackward = Callable[[Array, Array, Params, str, float, Grads], Array]
MlpBackward = Callable[[Array, Array, Array, Params, str, Grads], Array]

NORMS_BACKWARD: dict[str, NormBackward] = {
    "rms_plain": rms_plain_backward,
    "rms": rms_backward,
    "layer": layer_norm_backward,
}
MLPS_BACKWARD: dict[str, MlpBackward] = {
    "relu": relu_mlp_backward,
    "gelu": gelu_mlp_backward,
    "swiglu": swiglu_mlp_backward,
}
