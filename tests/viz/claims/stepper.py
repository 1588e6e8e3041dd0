"""What the stepper's pages claim."""

from tests.viz.claims import Claim

CLAIMS = [
    Claim("seed 2", "the cache grows by each token's key and value", "kv-cache", "steps",
          (r"adds one row\. The cache holds 5 rows: 4 reused, 1 new",)),
    Claim("seed 2", "older rows are not computed again", "kv-cache", "rows", (r"cached",)),
    Claim("seed 4", "Q is not cached; K and V are", "kv-cache", "reads", (r"row 0 of K was read 7 times", r"q of that token was read 1 time", r"under the causal mask a token looks back")),
    Claim("REFERENCE 4", "q meets its own key too", "kv-cache", "steps", (r"q read 1 key and is gone",)),
    Claim("REFERENCE 4", "most of what is saved is the MLP", "kv-cache", "saves", (r"Most of the difference is not attention", r"14,336 instead of 2,048")),
    Claim("REFERENCE 4", "each step still reads every earlier row", "kv-cache", "saves", (r"the new q still meets every key",)),
    Claim("REFERENCE 5", "is the output really the same?", "kv-cache", "same", (r"differ by less than 1e-12", r"order")),
    Claim("REFERENCE 4", "Llama-type caches hold k after rotation", "kv-cache-words", "stepper", (r"keys are kept after rotation",)),
]  # fmt: skip
