def continuations(prompt, n, length):
    cache = new_cache()
    logits = run(prompt, cache)
    caches, texts = [cache] * n, [[] for _ in range(n)]
    for i in range(n):
        row = logits
        for _ in range(length):
            texts[i].append(draw(row))
            row = run(texts[i][-1:], caches[i])
    return texts
