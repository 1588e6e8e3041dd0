from microgpt.cache import KVCache
from microgpt.model import forward
from microgpt.weights import shipped

model = shipped("stories")
ids = model.tokenizer.encode("The next day is bright")
cache = KVCache(model.config)
new = ids
for _ in range(5):
    logits = forward(model.params, model.config, new, cache)
    new = [int(logits[-1].argmax())]
    ids = ids + new
    shape = cache[0].keys.shape
    print("K:", shape, "->", model.tokenizer.decode(new))
print(model.tokenizer.decode(ids))
