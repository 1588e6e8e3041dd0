keys, values = [], []


def step(token):
    position = len(keys)
    x = wte[token] + wpe[position]
    q, k, v = x @ wq, x @ wk, x @ wv
    keys.append(k)
    values.append(v)
    if len(keys) > window:
        del keys[0], values[0]
    return attend(q, keys, values)
