import numpy as np

from microgpt.backward import Tape, backward
from microgpt.cache import KVCache
from microgpt.config import split
from microgpt.model import forward, softmax
from microgpt.recipes import first_thousand

run = first_thousand()
config, vector = run.config, run.vector
gradient = np.zeros_like(vector)
params, grads = split(vector, config), split(gradient, config)
losses = []
for _, ids in zip(range(300), run.texts, strict=False):
    read, comes = ids[:-1], ids[1:]
    cache, tape = KVCache(config), Tape()  # anew for each name
    # one pass, in which the mask hides what comes later
    logits = forward(params, config, read, cache, tape.keep)
    p = softmax(logits)
    told = np.arange(len(read)), comes
    losses.append(-np.log(p[told]).mean())  # over all positions
    p[told] -= 1
    backward(params, config, read, tape, p / len(read), grads)
    vector -= 0.1 * gradient  # and so the params
print(f"first {losses[0]:.4f}, last 50 {np.mean(losses[-50:]):.2f}")
