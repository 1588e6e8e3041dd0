"""What the page on training claims."""

from tests.support.claims import Claim

P = "training"
CLAIMS = [
    Claim("seed 0", "in training the whole sequence runs in one pass with a causal mask; each Q, K, V once, so no cache", P, "parallel", (r"all 5 positions run in one pass", r"nothing to cache")),
    Claim("REFERENCE 4", "the mask adds -inf before the softmax, it does not multiply", P, "mask", (r"added to the scores, not multiplied: minus infinity wherever a key comes later than the query \(10 in all above\)",)),
    Claim("REFERENCE 4", "the cache is not only relevant during inference: a cached pass is the same function", P, "same", (r"2\.73 on average, apart by less than 1e-12", r"not only for inference")),
    Claim("seed 3", "training adjusts the weights, inference uses them fixed", P, "stale", (r"After each step of training the weights are others",)),
    Claim("seed 2", "cached keys and values are live in training: gradients flow through them", P, "live-rows", (r"gradients do flow through a cache",)),
    Claim("REFERENCE 4", "gradients flow through cached K, V; the live cache gradient is the parallel one", P, "live-rows", (r"adds up to the gradient of the parallel pass, to within 1e-12",)),
    Claim("REFERENCE 4", "detaching changes dW_k and dW_v, and dW_q from two layers on", P, "detached", (r"gradients of W_K, W_V would come out wrong", r"W_Q stays right")),
    Claim("seed 2", "in production the cache holds detached tensors", P, "detached", (r"keeps numbers and no history",)),
    Claim("REFERENCE 5", "can the cache be used in training?", P, "same", (r"same losses",)),
    Claim("REFERENCE 5", "what breaks if I forget the mask, the position offset, or a reset?", P, "breaks", (r"no mask.*no position offset.*no reset", r"off by up to \d")),
    Claim("TEACHING 2.1", "what breaks, as means over many texts: each mistake makes the mean worse, though not every text", P, "breaks", (r"Over 200 texts .* the mean loss is 2\.38 in place of 2\.32", r"2\.76 in place of 2\.32", r"3\.19 in place of 2\.32")),
    Claim("TEACHING 2.1", "one text alone can mislead", P, "misleads", (r"of the 200, 32 have a lower loss with the mistake “no mask”",)),
    Claim("REFERENCE 1", "the first published loss", P, "first", (r"Its loss is 3\.3660",)),
]  # fmt: skip
