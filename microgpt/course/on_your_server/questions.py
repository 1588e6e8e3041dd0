"""Questions about a log: what fits, what a setting does, what helps a full cache; a start and Little's law on paper."""

from __future__ import annotations

from types import SimpleNamespace as Numbers

from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, unlike

CACHE_TOKENS, TEXT_TOKENS, BLOCK_TOKENS = (
    120_000,
    16_000,
    16,
)  # tokens that a cache holds, of the longest text, of a block
MEMORY_GB, WEIGHT_GB, SHARES = (
    100,
    40,
    (0.5, 0.9),
)  # GB of a GPU, of the weights; two settings of the utilisation
OTHER_GPU = (48, 0.9, 16, 1)  # GB of another GPU, the utilisation, GB of its weights and of what else it needs
PER_TOKEN, ALLOWED = 131_072, 32_768  # bytes of a token, and the longest text
ARRIVALS, STAY, HELD = 8, 5, 1000  # requests per second, seconds that each stays, tokens that each holds on average


def asks() -> Numbers:
    few, many = (share * MEMORY_GB - WEIGHT_GB for share in SHARES)
    return Numbers(
        tokens=CACHE_TOKENS,
        said=f"GPU KV cache size: {CACHE_TOKENS:,} tokens",
        longest=TEXT_TOKENS,
        texts=answers(
            CACHE_TOKENS / TEXT_TOKENS,
            block=CACHE_TOKENS / TEXT_TOKENS / BLOCK_TOKENS,
            blocks=CACHE_TOKENS / BLOCK_TOKENS,
        ),
        memory=MEMORY_GB,
        weights=WEIGHT_GB,
        shares=SHARES,
        grows=answers(many / few, share=SHARES[1] / SHARES[0], gb=(SHARES[1] - SHARES[0]) * MEMORY_GB),
    )


def log() -> Numbers:
    """A start that is not in any log here, and what runs in it."""
    memory, share, weights, more = OTHER_GPU
    left = share * memory - weights - more
    blocks = int(left * 10**9) // (BLOCK_TOKENS * PER_TOKEN)
    halved = int(left * 10**9) // (BLOCK_TOKENS * PER_TOKEN // 2)
    tokens, running = BLOCK_TOKENS * blocks, ARRIVALS * STAY
    unlike(tokens / ALLOWED, running)
    return Numbers(
        memory=memory,
        share=share,
        weights=weights,
        more=more,
        per_token=PER_TOKEN,
        block=BLOCK_TOKENS,
        allowed=ALLOWED,
        arrivals=ARRIVALS,
        stay=STAY,
        held=HELD,
        left=calc("{} × {} − {} − {} = {}", share, memory, weights, more, left, digits=1),
        blocks=calc("{} ÷ ({} × {}) = {}", round(left * 10**9), BLOCK_TOKENS, PER_TOKEN, blocks),
        tokens=calc("{} × {} = {}", BLOCK_TOKENS, blocks, tokens),
        texts=calc("{} ÷ {} = {}", tokens, ALLOWED, tokens / ALLOWED),
        halved=calc("{} × {} = {}", BLOCK_TOKENS, halved, BLOCK_TOKENS * halved),
        running=calc("{} × {} = {}", ARRIVALS, STAY, running),
        usage=calc("{} × {} ÷ {} = {}", running, HELD, tokens, running * HELD / tokens),
    )


TASKS = (Task("log", N_("A log on paper"), 9, "compute", 10, 9, log),)
