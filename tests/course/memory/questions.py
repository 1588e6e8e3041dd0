"""Memory: its questions, answered by adding up bytes, by filling a card text by text, and in caches."""

from dataclasses import replace

import numpy as np

from microgpt.architectures.known import PRESETS
from microgpt.cache import KVCache
from microgpt.config import Config
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View

LLAMA = PRESETS["Llama-3-8B"]


def ask_own(view: View) -> str:
    return f"{2 * 24 * 4 * 128 * 2:,}"


def ask_batch(view: View) -> str:
    return f"{(2 * (LLAMA.n_params - 128256 * 4096) + 2 * 8192 * 131072) / 1e9:.1f} GB"


def ask_fit(view: View) -> str:
    return f"{2 * 10**9 // (2 * 32 * 8 * 128 * 2):,}"


def task_backwards(facts: Facts) -> Numbers:
    """By trying every number of heads."""
    c, latent = PRESETS["Llama-3-70B"].config, PRESETS["DeepSeek-V3"].latent
    (heads,) = [n for n in range(1, c.n_head + 1) if 2 * 2 * c.n_layer * c.head_dim * n == facts.per_token]
    assert facts.tokens * facts.per_token <= 10**10 < (facts.tokens + 1) * facts.per_token
    assert latent is not None and facts.short == latent.d_c + latent.d_rope == facts.same * 2 * c.head_dim
    return {"heads": heads, "group": c.n_head / heads}


def task_card(facts: Facts) -> Numbers:
    """The card is filled text by text."""
    c = LLAMA.config
    for found, heads, size, tokens in (
        (facts.plain, c.n_kv_head, 2, facts.reserved),
        (facts.halved, c.n_kv_head, 1, facts.reserved),
        (facts.unshared, c.n_head, 2, facts.reserved),
        (facts.pages, c.n_kv_head, 2, facts.mean),
    ):
        free, each = 80 * 10**9 - 2 * LLAMA.n_params, 2 * c.n_layer * heads * c.head_dim * size * tokens
        assert found.texts == len(range(each, free + 1, each))
    assert facts.halved.texts > 2 * facts.plain.texts  # as the answer says
    return {"unused": 1 - facts.mean / facts.reserved}


def task_halves(facts: Facts) -> None:
    """In caches of such models."""
    small = replace(shipped("stories").config, n_head=8, n_kv_head=4, n_layer=4)

    def size(config: Config) -> int:
        cache, row = KVCache(config), np.zeros((1, config.n_kv_head, config.head_dim))
        for layer in cache.layers:
            layer.append(row, row)
        return sum(layer.keys.size + layer.values.size for layer in cache.layers)

    for half in facts.halves:
        made = size(replace(small, **{half.field: getattr(small, half.field) // 2}))
        assert made == size(small) // (2 if half.changed else 1), half.field


def task_blocks(facts: Facts) -> Numbers:
    """Readers are let in one by one."""
    rows, texts = facts.room // PRESETS[facts.name].bytes_per_token(), 0
    few, free = len(range(facts.reserved, rows + 1, facts.reserved)), rows // facts.size
    while free * facts.size >= facts.mean:
        free -= len(range(0, facts.mean, facts.size))
        texts += 1
    return {"few": few, "pool": rows // facts.size, "many": texts}


LEARNED = r"""
Where does the cache lie? The weights and these caches are usually in the memory of a GPU
How much does a token add in GPT-2? GPT-2 124M 36,864
Does the thousandth token add more? The thousandth token would add as much as the first
How much cache does Llama-2-7B hold with a full context? One text of 4,096 tokens takes 2\.1 GB of cache in Llama-2-7B
What must a step read? reads all the weights and the whole cache of its text
When does the cache outweigh the weights? catches up at 114,517 tokens in Llama-3-8B
What do many texts share? Many texts at once, a batch, share one reading of the weights.* None shares its cache
Why are caches stored in pages? servers do not reserve the longest for each, but hand out memory in small pages
How can one hold less? fewer key and value heads, or a single one; one short row for all heads; fewer bytes per number; a window
What does sharing heads save in SmolLM2-135M? Without shared heads it would be 69,120, 3\.0 times as much
"""

CLAIMS = r"""
REFERENCE 3 | bytes = 2 x layers x kv heads x head_dim x tokens x batch x size | formula | two, times layers, times heads, times numbers per head, times bytes per number, times tokens, times texts
REFERENCE 3 | bytes a token of GPT-2, SmolLM2, Llama-2, Llama-3, DeepSeek-V3 | presets | 36,864 | 23,040 | 524,288 | 131,072 | 70,272
REFERENCE 3 | SmolLM2 would hold 69,120 as MHA | shared | would be 69,120, 3\.0 times
REFERENCE 3 | MLA has no factor 2: 576 values a layer | mla | one row of 576 numbers | no factor for the two
REFERENCE 3 | weights dominate at batch 1 until the caches cross | cross | catches up at 114,517 tokens in Llama-3-8B, and at 11,677 in SmolLM2-135M | Neither gets there, since Llama-3-8B sees at most 8,192 tokens and SmolLM2-135M at most 8,192
REFERENCE 3 | batching amortises weights, never the cache | batch | share one reading of the weights | experts | None shares its cache | batch of 14 texts of 8,192 tokens, Llama-3-8B reads more cache
REFERENCE 3 | each step reads weights and cache | both | all the weights and the whole cache | a step of Llama-3-8B reads 15\.0 GB of its 16\.1 GB
REFERENCE 4 | decode is not limited by the cache alone | both | the weights and the cache together
REFERENCE 4 | growth is linear, not exponential | linear | 64 bytes | linear growth; nothing about it is exponential
seed 1 | longer context needs more memory: keys and values, tokens x heads x head_dim | formula | every token
seed 1 | bandwidth sets the pace | both | memory that sets the pace
seed 4 | on large models with long contexts, gigabytes; paged caches | gigabytes | 2\.1 GB of cache | in small pages
REFERENCE 5 | what the figures leave out | left-out | the activations, and for the library | 8,192 tokens in one pass, the inside of a single MLP already takes 234\.9 MB | GiB.* is 7 percent more
REFERENCE 5 | where does the memory go? | gigabytes | each with a cache of its own
"""
