"""What the page on the next token claims."""

from tests.support.claims import Claim

P = "next-token"
CLAIMS = [
    Claim("seed 0", "text is cut into tokens", P, "pieces", (r"cut into pieces from a fixed list", r"vocabulary, has 99 entries")),
    Claim("seed 0", "each token becomes an embedding, which is not yet intelligent", P, "embedding", (r"32 numbers long", r"knows nothing of this text")),
    Claim("seed 0", "positional information is added", P, "position", (r"adds nothing to the embedding", r"turn q and k inside every layer", r"GPT-2 adds, Llama-3-8B turns")),
    Claim("REFERENCE 4", "RoPE: a score depends on the distance alone", P, "position", (r"Turning both by the same angle leaves their product as it was", r"how far apart two tokens stand")),
    Claim("REFERENCE 4", "RoPE is not applied before layer 0 but inside every layer", P, "position", (r"inside every layer",)),
    Claim("seed 0", "a stack of blocks of the same structure; 12, 24 or more", P, "stack", (r"repeats the layer 2 times", r"GPT-2 124M has 12 layers", r"Llama-3-8B has 32 layers")),
    Claim("seed 0", "each layer refines the representation", P, "stack", (r"a little richer",)),
    Claim("seed 0", "attention connects the present with the past", P, "attention", (r"query is compared with the keys of the tokens before it and with its own",)),
    Claim("REFERENCE 4", "q is compared with previous keys and its own", P, "attention", (r"and with its own",)),
    Claim("seed 0", "the mask gives no memory; attention is algebra", P, "mask", (r"a rule and no memory", r"keeps nothing by itself")),
    Claim("seed 0", "the MLP has no interaction; its cost does not depend on the context", P, "mlp", (r"each token alone", r"the same amount of work however long")),
    Claim("seed 0", "residuals and norms keep the flow stable and trainable", P, "norms", (r"steady size", r"only adds to the residual stream", r"trainable")),
    Claim("seed 0", "training: one pass, masked, no recomputation, no cache needed", P, "training", (r"side by side in one pass", r"computed once, so no cache is needed")),
    Claim("seed 0", "inference: the loop recomputes the whole sequence", P, "stateless", (r"ran all 12 tokens to get one more",)),
    Claim("seed 0", "the forward pass is a stateless function", P, "stateless", (r"The pass is a function", r"forgotten both")),
    Claim("seed 3", "training changes the weights, inference keeps them fixed", P, "inference", (r"the weights do not change: 21,760 numbers",)),
    Claim("REFERENCE 4", "the cache is not needed in training, but possible there", P, "inference", (r"not needed in training, but it is not forbidden",)),
    Claim("seed 3", "one token at a time, though it may look otherwise", P, "loop", (r"One pass, one token", r"it never does")),
    Claim("seed 3", "the new token becomes part of the input", P, "loop", (r"put at the end of the text, and the longer text runs",)),
    Claim("seed 3", "it stops at the end token or at a limit", P, "loop", (r"the token that ends a text, or until no more fits",)),
    Claim("seed 3", "the model goes on from “The next day is bright”", P, "open", (r"after “the next day is bright and the”", r"the next day is bright and the boy walks")),
    Claim("seed 3", "greedy choice or sampling", P, "choice", (r"greedy", r"sampling", r"temperature")),
    Claim("seed 3", "only the last token’s logits are used", P, "logits", (r"the last token’s row becomes 99 logits", r"nobody needs them")),
    Claim("seed 3", "a full pass for every token: is all of it necessary?", P, "count", (r"To write 7 tokens, the loop made 63 token passes", r"51 of them, 81 percent, had been made before", r"Only 12 were new")),
    Claim("seed 0", "past tokens’ k and v are recomputed without change", P, "same", (r"computed again came out as before", r"below 1e-12")),
]  # fmt: skip
