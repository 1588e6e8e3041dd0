"""What the page on q claims."""

from tests.support.claims import Claim

P = "why-q"
CLAIMS = [
    Claim("seed 4", "Q is thrown away after use; K and V stay", P, "once", (r"rows of K were read 28 times", r"rows of q were read 7 times")),
    Claim("REFERENCE 5", "why not cache Q?", P, "waste", (r"would hold 112 numbers", r"no step would ever read one")),
    Claim("REFERENCE 4", "Q is ephemeral; K and V live as long as the sequence", P, "fate", (r"were read 7 times, once by each step\. Its q was read 1 time",)),
    Claim("REFERENCE 4", "q is compared with previous keys and its own", P, "self", (r"all earlier tokens and its own",)),
    Claim("seed 4", "Q asks, K offers, V carries", P, "asks", (r"k and v are what a token has to offer",)),
    Claim("REFERENCE 5", "why K and V both?", P, "both", (r"compares q with every k", r"adds up every v", r"would find nothing there")),
    Claim("REFERENCE 5", "why not cache x?", P, "x", (r"x has 16 numbers per token and layer; k and v together have 32", r"at step 7 that takes 3,072 multiply-adds, beside the 3,728 of the whole step")),
    Claim("REFERENCE 5", "when caching x would win", P, "x-large", (
        r"GPT-2 124M, 1,000 tokens: x takes 18\.4 MB, k and v 36\.9 MB\. To compute k and v again takes 14\.1 G multiply-adds per step, the step itself 142 M",
        r"Llama-3-8B, 1,000 tokens: x takes 262\.1 MB, k and v 131\.1 MB\. To compute k and v again takes 268 G multiply-adds per step, the step itself 7\.77 G")),
    Claim("REFERENCE 5", "and where it would not", P, "x-wins", (r"only where heads are not shared", r"memory counts for more than arithmetic")),
    Claim("REFERENCE 5", "what could an old q still compute?", P, "nothing", (r"may look back, but never ahead", r"cannot change", r"Without the mask")),
]  # fmt: skip
