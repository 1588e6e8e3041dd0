"""The backward pass, written by hand: for every x in model.py there is an x_backward, in the same order.

A `Tape` keeps what forward reports to its hook, and `backward` walks it from the logits to the
embeddings. A gradient is the variable's name with a d in front. What is differentiated is one pass over
all tokens with a fresh cache; its gradients are those of the cached pass too, since both compute the same
function. Cross-attention has no backward here: nothing is trained with it. Knows no loss and no optimiser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from microgpt.config import Array, Config, Hook, Params, Report
from microgpt.model import ERF, GELU_SCALE, NORMS, expand, linear, silu
from microgpt.rope import ROTATIONS
from microgpt.simd import mean

Grads = Params  # the same names and shapes


class Tape(dict[tuple[str, int], Array]):
    """What forward reports, by name and layer (-1 outside the layers). `tape.keep` is the hook."""

    def keep(self, report: Report) -> None:
        name, value, _, layer = report
        self[name, layer] = value


def backward(
    params: Params,
    config: Config,
    token_ids: Sequence[int],
    tape: Tape,
    dlogits: Array,
    grads: Grads,
    hook: Hook | None = None,
    detached: bool = False,
) -> None:
    """Write the gradient of every parameter into `grads`, which has the names and shapes of `params`.

    dlogits [n, vocab_size] is the gradient that arrives; the tape is that of one pass over `token_ids`.

    `hook` is told dq, dk and dv of each layer: what arrives at each row from all later queries. With `detached`, a row
    learns from its own step alone, as if it had come out of a cache that keeps numbers and no history.
    """
    n = len(token_ids)
    norm_backward, eps = NORMS_BACKWARD[config.norm], config.norm_eps
    # turning back is the transpose
    unrotate = ROTATIONS[config.position](config, range(0, -n, -1), params["wte"].dtype)

    x = tape["resid_final", -1]  # [n, d]
    final = NORMS[config.norm](x, params, "final_norm", eps) if config.final_norm else x
    head = "lm_head" if "lm_head" in params else "wte"
    dx = dlogits @ params[head]  # [n, vocab_size] -> [n, d]
    np.dot(dlogits.T, final, out=grads[head])
    if config.final_norm:
        dx = norm_backward(dx, x, params, "final_norm", eps, grads)
    for layer in reversed(range(config.n_layer)):
        here = f"layer{layer}."
        hidden, m = tape["mlp_hidden", layer], tape["mlp_norm", layer]
        dhidden = linear_backward(dx, hidden, params, here + "fc2", grads)  # [n, d] -> [n, n_mlp]
        dm = MLPS_BACKWARD[config.mlp](dhidden, hidden, m, params, here, grads)  # -> [n, d]
        dx = dx + norm_backward(dm, tape["resid_mid", layer], params, here + "mlp_norm", eps, grads)

        weights, q, k, v = (tape[name, layer] for name in ("attn_weights", "q", "k", "v"))
        keys, values = k, v
        if config.kv_lora_rank:  # what is kept are short keys and latents
            made = expand(q, k.swapaxes(0, 1), v.swapaxes(0, 1), params, here)
            keys, values = (rows.swapaxes(0, 1) for rows in made[1:])  # [n, n_head, .]
        dmixed = linear_backward(dx, tape["head_out", layer], params, here + "wo", grads)
        own = np.eye(n) if detached else None
        dweights, dv = mix_backward(dmixed, weights, values, own)  # -> [n_head, n, n] and the shape of v
        dscores = softmax_backward(dweights, weights)  # a masked pair has weight 0: nothing flows through it
        dq, dk = attn_scores_backward(dscores, q, keys, config.attn_scale, own)  # the shapes of q and k
        if config.kv_lora_rank:
            dk, dv = expand_backward(dk, dv, v, params, here, grads)
        hook and hook(("dv", dv, 0, layer))
        hook and hook(("dq", dq, 0, layer))
        hook and hook(("dk", dk, 0, layer))
        a = tape["attn_norm", layer]
        da = project_backward(unrotate(dq), a, params, here + "wq", eps, grads)
        da = da + project_backward(unrotate(dk), a, params, here + "wk", eps, grads)
        da = da + project_backward(dv, a, params, here + "wv", eps, grads)
        dx = dx + norm_backward(da, tape["resid_pre", layer], params, here + "attn_norm", eps, grads)
    if config.embd_norm:
        dx = norm_backward(dx, tape["embed", -1], params, "embd_norm", eps, grads)
    embed_backward(dx, config, token_ids, grads)


# ---- the parts, in model.py's order ------------------------------------------------------------------


def embed_backward(dx: Array, config: Config, token_ids: Sequence[int], grads: Grads) -> None:
    """Each row of dx goes to the row of wte (and of wpe) that it came from."""
    if not config.tied:  # a tied head has written there before
        grads["wte"].fill(0)
    np.add.at(grads["wte"], token_ids, dx)
    if config.position == "learned":
        grads["wpe"][: len(dx)] = dx
        grads["wpe"][len(dx) :] = 0


def rms_plain_backward(dy: Array, x: Array, params: Params, name: str, eps: float, grads: Grads) -> Array:
    """Take out of dy what points along x, since y does not grow with x; the rest is scaled as x was."""
    mean_square = mean(x * x) + eps  # [n, d] -> [n, 1]
    along = mean(dy * x) / mean_square  # [n, 1]
    return (dy - x * along) / np.sqrt(mean_square)


def rms_backward(dy: Array, x: Array, params: Params, name: str, eps: float, grads: Grads) -> Array:
    grads[name][:] = (dy * NORMS["rms_plain"](x, params, name, eps)).sum(axis=0)
    return rms_plain_backward(dy * params[name], x, params, name, eps, grads)


def layer_norm_backward(dy: Array, x: Array, params: Params, name: str, eps: float, grads: Grads) -> Array:
    grads[name + ".bias"][:] = dy.sum(axis=0)
    dcentred = rms_backward(dy, x - mean(x), params, name, eps, grads)
    return dcentred - mean(dcentred)


def linear_backward(dy: Array, x: Array, params: Params, name: str, grads: Grads) -> Array:
    np.dot(dy.T, x, out=grads[name])  # [out, n] x [n, in]
    if name + ".bias" in params:
        grads[name + ".bias"][:] = dy.sum(axis=0)
    return dy.dot(params[name])  # type: ignore[no-any-return]


def project_backward(dy: Array, x: Array, params: Params, name: str, eps: float, grads: Grads) -> Array:
    """Back through the norm of the heads, where there is one, and the matrix: [n, heads, head_dim] -> [n, d]."""
    head_dim, inner, short = dy.shape[-1], x, None
    if name + ".down" in params:
        short = linear(x, params, name + ".down")  # [n, q_lora_rank]
        inner = NORMS["rms"](short, params, name + ".down.norm", eps)
    if name + ".norm" in params:
        before = linear(inner, params, name).reshape(-1, head_dim)  # [n * heads, head_dim]
        dy = rms_backward(dy.reshape(-1, head_dim), before, params, name + ".norm", eps, grads)
    dx = linear_backward(dy.reshape(len(x), -1), inner, params, name, grads)
    if short is None:
        return dx
    dshort = rms_backward(dx, short, params, name + ".down.norm", eps, grads)
    return linear_backward(dshort, x, params, name + ".down", grads)


def expand_backward(
    dkeys: Array, dvalues: Array, latents: Array, params: Params, here: str, grads: Grads
) -> tuple[Array, Array]:
    """To the short key the sum over all heads; to the latent what comes through both matrices: [n, 1, .] each."""
    n, _, v_dim = dvalues.shape
    down = latents[:, 0]  # [n, kv_lora_rank]
    dlatent = linear_backward(dkeys[..., :v_dim].reshape(n, -1), down, params, here + "wk_up", grads)
    dlatent = dlatent + linear_backward(dvalues.reshape(n, -1), down, params, here + "wv_up", grads)
    return dkeys[..., v_dim:].sum(axis=1, keepdims=True), dlatent[:, None]


def attn_scores_backward(
    dscores: Array, q: Array, k: Array, scale: float = 0.0, reach: Array | None = None
) -> tuple[Array, Array]:
    """To each query from the keys that it read; to each key the sum over all queries (of its `reach`) that read it."""
    n, n_head, head_dim = q.shape
    n_kv_head = k.shape[1]
    dscores = (dscores * (scale or head_dim**-0.5)).reshape(n_kv_head, -1, n)  # [n_kv_head, group * n, n]
    dq = (dscores @ k.swapaxes(0, 1)).reshape(n_head, n, head_dim).swapaxes(0, 1)  # [n, n_head, head_dim]
    if reach is not None:
        dscores = (dscores.reshape(n_head, n, n) * reach).reshape(dscores.shape)
    grouped = q.swapaxes(0, 1).reshape(n_kv_head, -1, head_dim)  # as attn_scores lays them out
    return dq, (dscores.swapaxes(1, 2) @ grouped).swapaxes(0, 1)  # dk [n, n_kv_head, head_dim]


def softmax_backward(dy: Array, y: Array) -> Array:
    """A weight grows only at the cost of the others in its row: their mean gain is taken off."""
    return y * (dy - np.vecdot(dy, y)[..., None])  # type: ignore[no-any-return]


def mix_backward(dmixed: Array, weights: Array, v: Array, reach: Array | None = None) -> tuple[Array, Array]:
    """To each weight how far its value row agrees; to each value row the sum over all queries that mixed it in.

    `reach` [n, n], where given, says which queries a value row hears of.
    """
    n_head, n, _ = weights.shape
    _, n_kv_head, head_dim = v.shape
    dmix = dmixed.reshape(n, n_head, head_dim).swapaxes(0, 1).reshape(n_kv_head, -1, head_dim)
    dweights = (dmix @ v.transpose(1, 2, 0)).reshape(n_head, n, n)
    heard = weights if reach is None else weights * reach
    grouped = heard.reshape(n_kv_head, -1, n)  # [n_kv_head, group * n, n]
    return dweights, (grouped.swapaxes(1, 2) @ dmix).swapaxes(0, 1)  # dv [n, n_kv_head, head_dim]


def relu_mlp_backward(dh: Array, hidden: Array, x: Array, params: Params, here: str, grads: Grads) -> Array:
    return linear_backward(dh * np.sign(hidden), x, params, here + "fc1", grads)  # hidden is 0 or more: slope 0 or 1


def gelu_mlp_backward(dh: Array, hidden: Array, x: Array, params: Params, here: str, grads: Grads) -> Array:
    return linear_backward(gelu_backward(dh, linear(x, params, here + "fc1")), x, params, here + "fc1", grads)


def gelu_exact_mlp_backward(dh: Array, hidden: Array, x: Array, params: Params, here: str, grads: Grads) -> Array:
    y = linear(x, params, here + "fc1")
    slope = 0.5 + 0.5 * ERF(y * 0.5**0.5) + y * np.exp(-0.5 * y * y) / (2 * np.pi) ** 0.5
    return linear_backward(dh * slope.astype(y.dtype), x, params, here + "fc1", grads)


def swiglu_mlp_backward(dh: Array, hidden: Array, x: Array, params: Params, here: str, grads: Grads) -> Array:
    gate, up = linear(x, params, here + "gate"), linear(x, params, here + "fc1")
    dx = linear_backward(silu_backward(dh * up, gate), x, params, here + "gate", grads)
    return dx + linear_backward(dh * silu(gate), x, params, here + "fc1", grads)


def gelu_backward(dy: Array, x: Array) -> Array:
    t = np.tanh(GELU_SCALE * (x + 0.044715 * x * x * x))
    dt = (1.0 - t * t) * GELU_SCALE * (1.0 + 3 * 0.044715 * x * x)
    return dy * 0.5 * (1.0 + t + x * dt)  # type: ignore[no-any-return]


def silu_backward(dy: Array, x: Array) -> Array:
    sigmoid = 1.0 / (1.0 + np.exp(-x))
    return dy * sigmoid * (1.0 + x * (1.0 - sigmoid))


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
    "gelu_exact": gelu_exact_mlp_backward,
    "swiglu": swiglu_mlp_backward,
}
