"""What the page on fewer heads claims."""

from tests.support.claims import Claim

P = "fewer-heads"
CLAIMS = [
    Claim("REFERENCE 4", "every head has its own W_Q, W_K, W_V: in MHA only", P, "every", (r"often said", r"multi-head attention \(MHA\), and only one way among several")),
    Claim("REFERENCE 4", "in GQA and MQA several query heads share one K/V head", P, "gqa", (r"query heads of a group read the same keys and the same values", r"In multi-query attention \(MQA\) there is one group")),
    Claim("seed 4", "attention runs in several heads, each on its own", P, "gqa", (r"Each query head still gets scores and weights of its own",)),
    Claim("REFERENCE 4", "SmolLM2-135M has 9 query heads and 3 KV heads of 64", P, "smol", (r"has 9 attention heads and 3 key and value heads", r"64 numbers wide", r"q is \[576, 576\], and those of k and v are \[192, 576\]")),
    Claim("seed 4", "K and V show [192, 576]", P, "smol", (r"\[192, 576\]",)),
    Claim("REFERENCE 4", "not 3 heads of 192", P, "misread", (r"3 heads of 192\. That is wrong: it is 3 heads of 64",)),
    Claim("REFERENCE 3", "SmolLM2 23,040 bytes a token, 69,120 if it were MHA", P, "bytes", (r"keeps 23,040 bytes", r"would be 69,120", r"for all, 7,680")),
    Claim("REFERENCE 3", "head_dim is a field of its own, not n_embd / n_head", P, "field", (r"a figure of its own", r"would be 56, and a head is 128 wide")),
    Claim("REFERENCE 3", "bytes a token at two bytes a number", P, "known", (r"GPT-2 124M\s*12\s*12\s*MHA\s*36,864", r"Llama-2-7B\s*32\s*32\s*MHA\s*524,288", r"Llama-3-8B\s*32\s*8\s*GQA\s*131,072", r"DeepSeek-V3\s*128\s*one row\s*MLA\s*70,272")),
    Claim("REFERENCE 3", "MLA keeps 576 numbers a layer, no factor 2", P, "deepseek", (r"keeps 576 numbers per token in each of its 61 layers, 70,272 bytes", r"no factor of two")),
    Claim("REFERENCE 4", "Llama-type caches hold k after rotation; RoPE has no fixed matrix", P, "rotation", (r"turned by its position is not a fixed matrix",)),
    Claim("seed 1", "each layer keeps tokens x heads x head_dim: of key and value heads, not of query heads", P, "ask-times-answer", (r"131,072 bytes per token in place of 524,288", r"The query heads do not count")),
    Claim("question", "what sharing heads costs in quality", P, "cost", (r"have a spread of 0\.0035", r"With 2 heads a token keeps 32 bytes in place of 64, and the mean loss is 0\.0041 higher, 1\.2 times the spread; in 10 of 12 seeds", r"With 1 head a token keeps 16 bytes in place of 64, and the mean loss is 0\.0122 higher, 3\.5 times the spread; in 12 of 12 seeds")),
    Claim("question", "trained, not averaged", P, "conversion", (r"higher by 0\.23 and 0\.37", r"for 10 percent of the steps, 0\.0281 and 0\.0544 are left", r"To share from the first step is still better")),
    Claim("question", "the price is that of sharing, not of the weights", P, "weights", (r"3,808 in place of 4,192", r"with 1 head is higher by 0\.0094\. So most of the price is that of sharing")),
    Claim("question", "the models are judged by names that none has learned from", P, "judged", (r"each from 12 seeds", r"same 2,000 names, which none has learned from")),
    Claim("question", "large models are converted in the same way", P, "published", (r"with 5 percent of the training that made them",)),
    Claim("REFERENCE 5", "where does the memory go, and what can be done?", P, "latent", (r"computed again from a row no longer than that",)),
]  # fmt: skip
