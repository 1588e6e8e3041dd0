import numpy as np

from microgpt.weights import shipped

model = shipped("stories")
W, c, tokenizer = model.params, model.config, model.tokenizer


def norm(x, gain):
    return x / np.sqrt((x * x).mean() + c.norm_eps) * gain


def rotate(x, position):
    """The heads of q or k, [heads, head_dim], turned by the position."""
    a, b = np.split(x.reshape(-1, c.head_dim), 2, axis=1)
    share = np.arange(c.head_dim // 2) / (c.head_dim // 2)
    angle = position * c.rope_theta**-share
    cos, sin = np.cos(angle), np.sin(angle)
    return np.hstack([a * cos - b * sin, b * cos + a * sin])


def mlp(x, i):
    gate, up = W[f"layer{i}.gate"] @ x, W[f"layer{i}.fc1"] @ x
    return W[f"layer{i}.fc2"] @ (gate / (1 + np.exp(-gate)) * up)
