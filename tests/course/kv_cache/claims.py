"""What the stepper's pages claim."""

from tests.support.claims import Claim

CLAIMS = [
    Claim("seed 2", "the cache grows by each token's key and value", "kv-cache", "steps",
          (r"adds one row\. The cache holds 5 rows: 4 reused, 1 new",)),
    Claim("seed 2", "older rows are not computed again", "kv-cache", "rows", (r"cached",)),
    Claim("seed 4", "Q is not cached; K and V are", "kv-cache", "reads", (r"row 0 of K was read 7 times", r"q of that token was read 1 time", r"under the causal mask a token looks back")),
    Claim("REFERENCE 4", "q meets its own key too", "kv-cache", "steps", (r"q read 1 key and is gone",)),
    Claim("REFERENCE 5", "recompute one weight from the picture", "kv-cache", "by-hand", (r"in step 4, layer 0, head \d, that of row \d", r"÷ √4 = [−\d.]+ ÷ 2\.00 = [−\d.]+\. That is the score", r"÷ [\d.]+ = 0\.\d\d is the weight")),
    Claim("REFERENCE 5", "the cause, not the counts", "kv-cache", "cause", (r"cause is the same causal mask", r"changes none of them")),
    Claim("REFERENCE 5", "one cache in one layer", "kv-cache", "holds", (r"in the one layer", r"4 such heads and 4 numbers in a row, that is 224 numbers after 7 tokens, or 448 bytes")),
    Claim("REFERENCE 5", "a cache per layer, rows that heads share", "kv-cache-words", "holds", (r"Each of the 2 layers has a cache of its own", r"4 query heads share these 2; if each had rows of its own")),
    Claim("REFERENCE 5", "why bytes are reserved", "kv-cache", "reserved", (r"1,792 bytes in use of 4,096 reserved", r"all 16 tokens of the context", r"copy every old row")),
    Claim("REFERENCE 5", "pre- or post-rotation keys", "kv-cache-words", "rotated", (r"(\d+) rotations per key head in these \1 steps", r"again at each step that reads it, \d+ times", r"pay only where positions change")),
    Claim("REFERENCE 4", "most of what is saved is the MLP", "kv-cache", "saves", (r"Most of the difference is not attention", r"14,336 instead of 2,048")),
    Claim("REFERENCE 4", "each step still reads every earlier row", "kv-cache", "saves", (r"the new q still meets every key",)),
    Claim("REFERENCE 5", "is the output really the same?", "kv-cache", "same", (r"differ by less than 1e-12", r"order")),
    Claim("REFERENCE 4", "Llama-type caches hold k after rotation", "kv-cache-words", "stepper", (r"keys are kept after rotation",)),
]  # fmt: skip
