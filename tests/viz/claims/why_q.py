"""What the page on q claims."""

from tests.viz.claims import Claim

P = "why-q"
CLAIMS = [
    Claim("seed 4", "Q is thrown away after use; K and V stay", P, "once", (r"rows of K were read 28 times", r"rows of q were read 7 times")),
    Claim("REFERENCE 5", "why not cache Q?", P, "waste", (r"would hold 112 numbers", r"no step would ever read one")),
    Claim("REFERENCE 4", "Q is ephemeral; K and V live as long as the sequence", P, "fate", (r"were read 7 times, once by each step\. Its q was read 1 time",)),
    Claim("REFERENCE 4", "q is compared with previous keys and its own", P, "self", (r"all earlier tokens and its own",)),
    Claim("seed 4", "Q asks, K offers, V carries", P, "asks", (r"k and v are what a token has to offer",)),
    Claim("REFERENCE 5", "what could an old q still compute?", P, "nothing", (r"may look back, but never ahead", r"cannot change", r"Without the mask")),
]  # fmt: skip
