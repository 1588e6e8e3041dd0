"""What the page on memory claims."""

from tests.support.claims import Claim

P = "memory"
CLAIMS = [
    Claim("REFERENCE 3", "bytes = 2 x layers x kv heads x head_dim x tokens x batch x size", P, "formula", (r"two, times layers, times heads, times numbers per head, times bytes per number, times tokens, times texts",)),
    Claim("REFERENCE 3", "bytes a token of GPT-2, SmolLM2, Llama-2, Llama-3, DeepSeek-V3", P, "presets", (r"36,864", r"23,040", r"524,288", r"131,072", r"70,272")),
    Claim("REFERENCE 3", "SmolLM2 would hold 69,120 as MHA", P, "shared", (r"would be 69,120, 3\.0 times",)),
    Claim("REFERENCE 3", "MLA has no factor 2: 576 values a layer", P, "mla", (r"one row of 576 numbers", r"no factor for the two")),
    Claim("REFERENCE 3", "weights dominate at batch 1 until the caches cross", P, "cross", (r"catches up at 114,517 tokens in Llama-3-8B, and at 11,677 in SmolLM2-135M", r"Neither gets there, since Llama-3-8B sees at most 8,192 tokens and SmolLM2-135M at most 8,192")),
    Claim("REFERENCE 3", "batching amortises weights, never the cache", P, "batch", (r"share one reading of the weights", r"experts", r"None shares its cache", r"batch of 14 texts of 8,192 tokens, Llama-3-8B reads more cache")),
    Claim("REFERENCE 3", "each step reads weights and cache", P, "both", (r"all the weights and the whole cache", r"a step of Llama-3-8B reads 15\.0 GB of its 16\.1 GB")),
    Claim("REFERENCE 4", "decode is not limited by the cache alone", P, "both", (r"the weights and the cache together",)),
    Claim("REFERENCE 4", "growth is linear, not exponential", P, "linear", (r"64 bytes", r"linear growth; nothing about it is exponential")),
    Claim("seed 1", "longer context needs more memory: keys and values, tokens x heads x head_dim", P, "formula", (r"every token",)),
    Claim("seed 1", "bandwidth sets the pace", P, "both", (r"memory that sets the pace",)),
    Claim("seed 4", "on large models with long contexts, gigabytes; paged caches", P, "gigabytes", (r"2\.1 GB of cache", r"in small pages")),
    Claim("REFERENCE 5", "what the figures leave out", P, "left-out", (r"the activations, and for the library", r"8,192 tokens in one pass, the inside of a single MLP already takes 234\.9 MB", r"GiB.* is 7 percent more")),
    Claim("REFERENCE 5", "where does the memory go?", P, "gigabytes", (r"each with a cache of its own",)),
]  # fmt: skip
