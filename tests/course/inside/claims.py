"""What the page on the inside of the model claims."""

from tests.support.claims import Claim

P = "inside"
CLAIMS = [
    Claim("seed 4", "everything is tensors", P, "tensors", (r"blocks of numbers with a shape",)),
    Claim("seed 4", "weights are permanent", P, "permanent", (r"Weights are permanent", r"This model has 4,192")),
    Claim("REFERENCE 4", "Q, K, V are ephemeral: Q is; K and V live as long as the sequence", P, "sequence", (r"live as long as the sequence", r"KV cache")),
    Claim("REFERENCE 4", "Q lives for one step", P, "ephemeral", (r"lives for one step: q", r"Of the 315 numbers that the step above makes, 32 stay")),
    Claim("seed 4", "the embedding is looked up once, before any layer", P, "lookup", (r"picks one row", r"once, before any layer", r"The row of its position, from a second table, is added")),
    Claim("seed 4", "the residual stream: each part adds, none replaces", P, "stream", (r"adds its result", r"to within 1e-12", r"hard to lose")),
    Claim("seed 0", "residual connections and norms keep the flow stable", P, "norms", (r"steady size", r"grow or shrink")),
    Claim("seed 4", "q meets all k, scores are normalised, v summed, wo projects back", P, "attention", (r"q meets each row of K", r"summed by weight", r"back to the width of the stream")),
    Claim("seed 4", "several heads in parallel", P, "heads", (r"4 heads side by side", r"each 4 numbers long")),
    Claim("REFERENCE 4", "every head its own W: true here, not where heads share", P, "heads", (r"a key head and a value head of its own",)),
    Claim("seed 4", "the MLP widens, filters and compresses", P, "mlp", (r"One matrix makes 64 of them", r"ReLU, which sets those below zero to zero", r"back to 16")),
    Claim("seed 4", "attention and MLP once a layer, repeated; then logits", P, "layers", (r"Attention and MLP together are a layer", r"logits")),
    Claim("REFERENCE 4", "not every token has its own pass: a prompt runs in one", P, "passes", (r"in the same pass, one row each",)),
    Claim("seed 0", "attention connects tokens", P, "mix", (r"q, k and v of m stay the same to the last bit", r"first stop that notices is the scores")),
    Claim("seed 0", "the MLP has no interaction between tokens", P, "mlp-alone", (r"by less than 1e-12", r"only place where tokens meet")),
    Claim("seed 4", "similar tokens, similar vectors", P, "embeddings", (r"nearest to e are u o a i",)),
    Claim("seed 4", "attention weights route", P, "routing", (r"which token reads which", r"routes more than facts")),
    Claim("seed 4", "MLP weights hold associations", P, "facts", (r"70 percent of Llama-3-8B",)),
    Claim("seed 4", "knowledge is spread; LoRA", P, "distributed", (r"spread over all of it", r"train small additions")),
    Claim("seed 4", "names vary by model", P, "names", (r"its own names for the same tensors",)),
    Claim("REFERENCE 4", "RoPE has no weights and works inside every layer; keys are cached after it", P, "rope", (r"no weights", r"inside every layer", r"after the turn")),
    Claim("REFERENCE 4", "SmolLM2 ties its head; Llama-3-8B’s untied head adds 0.53B", P, "tied", (r"It is tied", r"adds 525,336,576", r"to 8,030,261,248")),
    Claim("REFERENCE 4", "SmolLM2: 9 query heads and 3 KV heads of 64, not 3 of 192", P, "shares", (r"9 query heads of 64", r"576 together", r"only 3 key and value heads of 64, 192 together", r"not every head has a key and a value matrix of its own")),
    Claim("seed 4", "“8B” counts the parameters", P, "count", (r"count of parameters", r"21 percent in SmolLM2-135M")),
    Claim("seed 4", "parts of Llama-3-8B", P, "widget", (r"525,336,576", r"1,342,177,280", r"5,637,144,576", r"8,030,261,248")),
    Claim("REFERENCE 4", "the listed shapes of SmolLM2 sum to 134,515,008", P, "widget", (r"134,515,008", r"\[192, 576\]", r"\[1536, 576\]", r"\[49152, 576\]")),
    Claim("seed 4", "GPT-2’s inventory", P, "widget", (r"124,439,808", r"mlp\.c_fc")),
    Claim("REFERENCE 1", "4,192 parameters in these shapes", P, "widget", (r"The tensors of names: 4,192", r"\[27, 16\]", r"\[64, 16\]")),
]  # fmt: skip
