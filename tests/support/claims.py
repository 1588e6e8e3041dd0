"""What a lesson claims, and where: tests/course/<lesson>/claims.py lists those of a lesson."""

from typing import NamedTuple


class Claim(NamedTuple):
    """A claim of the reference or of a seed text: the element of the page that carries it, and what it must say."""

    source: str  # "REFERENCE 4", "seed 2"
    claim: str
    page: str
    element: str  # its id
    says: tuple[str, ...]  # patterns that the element's text matches, whitespace folded


# What the course has to carry: each source's claims, by words that the entries of claims.py use for them.
WANTED = {
    "REFERENCE 2": ("closed forms", "only what the last token needs", r"O\(n\)", "6 d keys", "a thousand tokens"),
    "REFERENCE 3": (
        "bytes = 2 x layers", "bytes a token of GPT-2", "69,120", "576", "weights and cache", "until the caches cross",
        "never the cache",
    ),
    "REFERENCE 4": (
        r"O\(N\^2\) into O\(N\)", "regardless of how many", "only K and V recomputation", "3 heads of 192|9 and 3|9 query",
        "own W", "ephemeral", "RoPE", "after rotation", "8B", "own forward pass", "draft", "cropped", "only ever grows",
        "reading the cache", "token and position", "whole prefix", "its own", "during inference", "gradients flow",
        "detaching", "-inf", "exactly the same output", "exponential", "MLP is the largest",
    ),
    "REFERENCE 5": (
        "really the same", "old rows still valid", "why not cache Q", "used in training", "token 17", "prefill differ",
        "where does the memory go", "forget the mask",
    ),
    "seed 0": (
        "tokens", "embedding", "position", "stack", "attention", "mask", "MLP", "residual", "training", "inference",
        "stateless", "past tokens", "model stays the same|forward pass is the same",
    ),
    "seed 1": ("complexity", "memory", "bandwidth", "masked self-attention", "FlashAttention"),
    "seed 2": ("grows", "not computed again", "training", "detached", "total work", "one pass"),
    "seed 3": ("training", "one token at a time", "part of the input", "stops", "The next day is", "is all of it necessary"),
    "seed 4": (
        "tensors", "embedding", "Q asks", "residual", "norm", "MLP", "inventory|tensor names", "not cached",
        "never rewritten", "gigabytes", "prefill", "chunked", "prefix caching", "knowledge|contribute",
    ),
}  # fmt: skip
