import numpy as np
from plain_parts import W, c, mlp, norm, rotate, tokenizer

K = [[] for _ in range(c.n_layer)]
V = [[] for _ in range(c.n_layer)]


def step(token, position):
    x = W["wte"][token]
    for i in range(c.n_layer):
        a = norm(x, W[f"layer{i}.attn_norm"])
        q, k, v = (W[f"layer{i}.w{name}"] @ a for name in "qkv")
        K[i].append(rotate(k, position))
        V[i].append(v.reshape(c.n_kv_head, c.head_dim))
        keys, values = np.stack(K[i], 1), np.stack(V[i], 1)
        q = rotate(q, position).reshape(c.n_kv_head, -1, c.head_dim)
        weights = np.exp(q @ keys.swapaxes(1, 2) / np.sqrt(c.head_dim))
        weights /= weights.sum(axis=-1, keepdims=True)
        x = x + W[f"layer{i}.wo"] @ (weights @ values).ravel()
        x = x + mlp(norm(x, W[f"layer{i}.mlp_norm"]), i)
    return W["wte"] @ norm(x, W["final_norm"])


ids = tokenizer.encode("The next day is bright")
for position in range(len(ids) + 4):
    logits = step(ids[position], position)
    if position == len(ids) - 1:
        ids.append(int(logits.argmax()))
        shape = np.stack(K[0], 1).shape
        print("K:", shape, "->", tokenizer.decode(ids[-1:]))
print(tokenizer.decode(ids))
