"""Latent row: its questions, answered by the bytes of a cache, by two ways through a model, and in seconds."""

from dataclasses import replace

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Config
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, logits


def ask_bytes(view: View) -> str:
    """By the bytes that a cache of such rows holds, in a tenth of the layers' shape: one layer after the other."""
    asks = view.asks
    shape = {"n_layer": asks.layers, "kv_lora_rank": asks.latent, "rope_dim": asks.turned}
    config = Config(**shape, n_kv_head=1, head_dim=192, n_ctx=1, position="rope")
    return f"{KVCache(config, np.float16).nbytes_reserved:,}"


def ask_absorbed(view: View) -> str:
    model = shipped("stories-mla")
    ways = [replace(model.config, absorbed=way) for way in (False, True)]
    one, other = (logits(model, [1, 2, 3, 4], config=config) for config in ways)
    assert np.abs(one - other).max() < 1e-12
    return "it stays the same"


def ask_bug(view: View) -> str:
    """Turn, then make; and the other way round."""
    rng, turn = np.random.default_rng(0), np.array([[0.6, -0.8], [0.8, 0.6]])
    up, latent = rng.normal(size=(2, 2)), rng.normal(size=2)
    assert np.abs(up @ (turn @ latent) - turn @ (up @ latent)).max() > 0.1
    return "other keys: turning and making do not commute"


def ask_until(view: View) -> str:
    return str(next(n for n in range(view.asks.state) if n * view.asks.row >= view.asks.state))


def task_roof(facts: Facts) -> Numbers:
    """In seconds; no batch is limited by arithmetic, and with latent rows there is one that is."""
    read, rows = 2 * facts.weights / facts.reads, facts.texts * facts.long * facts.per_token
    step, work = read + rows / facts.reads, facts.texts * 2 * facts.weights / facts.does
    equal = round(facts.equal)
    assert equal * facts.long * facts.per_token == 2 * facts.weights and work < step
    for texts in (1, 100, 10_000, 10**7):
        assert texts * 2 * facts.weights / facts.does < read + texts * facts.long * facts.per_token / facts.reads
    assert 1000 * 2 * facts.weights / facts.does > read + 1000 * facts.long * facts.short / facts.reads
    by_rows, by_latents = (1e6 * facts.long * per_token / facts.reads for per_token in (facts.per_token, facts.short))
    by = {"by_work": 1e6 * work / facts.texts, "by_rows": by_rows, "by_latents": by_latents}
    whole = {"alone": 1000 * read, "step": 1000 * step, "work": 1000 * work}
    return whole | by | {"rows": rows / 1e9, "per_second": facts.texts / step}


LEARNED = r"""
What is a latent row? Only one short row is kept, the latent, of which every head computes its key and its value
Does MLA compress an existing cache? This is not a way to shrink the cache of a finished model
Why is there a short key? A key must also say where it stands
What is absorption? it comes to the same if the matrix is applied to the query instead
Why does the turned part stand apart? another matrix for every distance, and no single one could be absorbed
Is the answer the same? the logits of the whole text differ by less than
What does DeepSeek-V3 keep? DeepSeek-V3 keeps 512 \+ 64 = 576 numbers per token and layer, once, not for K and V each
Where do 93 % come from? against an older model with shared heads, and with rows in six bits\. With two bytes on both sides it is 82\.2 %
Is it less work? It is not less work\. A step over 1,024 rows takes 17,221,812,224 multiply-adds
Is MLA always faster? For a prompt, engines make keys and values; for a step they use absorption
Does it cost quality? in 10 of 12 seeds it is higher.*at this size of the cache latent rows gain nothing over one head here, and may lose
Can a cache stop growing? A layer of Qwen3-Next keeps 548,864 numbers, however long the text
Does a state remember everything? a table cannot hold everything
Has Mamba a small KV cache? it has no keys, no values, and no row per token
"""
