import numpy as np

from microgpt.cache import KVCache
from microgpt.model import forward, softmax
from microgpt.weights import shipped

model = shipped("stories")
params, config = model.params, model.config
end = model.tokenizer.start  # it begins a text, too
max_new_tokens = 6
for T in (0.5, 1.0, 2.0):
    rng = np.random.default_rng(0)
    ids = model.tokenizer.encode("The next day is bright")
    cache, new, drawn = KVCache(config), ids, []
    while len(drawn) < max_new_tokens and end not in drawn:
        logits = forward(params, config, new, cache)[-1]
        p = softmax(logits / T)
        new = [int(rng.choice(len(p), p=p))]
        drawn = drawn + new
    why = "end token" if end in drawn else "limit"
    print("T =", T, "drawn:", len(drawn), "until:", why)
    print(model.tokenizer.decode(ids + drawn))
