"""Inside: its questions, answered by arrays of a model, and by two runs."""

import random

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import split
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.weights import init, shipped
from tests.support.questions import Facts, Numbers, View, stepped

MEASURED = ("off by up to 4.96",)


def ask_count(view: View) -> str:
    params = shipped(view.trace.about["model"]).params
    return f"{sum(params[f'layer0.{name}'].size for name in ('fc1', 'fc2')):,}"


def ask_norm(view: View) -> str:
    x = np.random.default_rng(1).normal(size=view.config.n_embd)
    once, louder = (row / np.sqrt((row * row).mean()) for row in (x, view.asks.louder * x))
    assert np.abs(once - louder).max() < 1e-12 and view.asks.steady < 1e-3
    return "the same numbers"


def ask_bug(view: View) -> str:
    model, pos = shipped(view.trace.about["model"]), view.at
    bare = view.trace["mlp_out", pos, view.config.n_layer - 1][0] @ model.params["lm_head"].T
    off = np.abs(bare - view.trace["logits", pos][0]).max()
    assert not model.config.final_norm and off == view.asks.replaced > 1
    return "the MLP replaces the stream instead of adding to it"


def task_count(facts: Facts) -> Numbers:
    """In the arrays of such a model."""
    c = facts.config
    model = split(init(c, random.Random(1)), c)
    shape = forward(model, c, [1, 2, 3], KVCache(c)).shape  # it is a model
    assert shape == (3, c.vocab_size)
    layer = sum(array.size for name, array in model.items() if name.startswith("layer0."))
    kept = c.n_layer * 2 * c.n_kv_head * c.head_dim
    return {"layer": layer, "total": sum(array.size for array in model.values()), "cached": kept}


def task_swap(facts: Facts) -> None:
    """The two texts, run step by step."""
    model, runs = shipped("names-deep"), [Trace(), Trace()]
    assert facts.before[-1] == facts.after[-1] and len(facts.before) == len(facts.after)
    for tokens, trace in zip((facts.before, facts.after), runs, strict=True):
        stepped(model, model.tokenizer.encode("".join(tokens[1:])), trace)
    for stop in facts.stops:
        one, other = (trace[stop.name, len(facts.before) - 1, stop.layer] for trace in runs)
        assert stop.changes == bool(np.abs(one - other).max() > 1e-6)
    assert facts.solved.count("yes") == sum(stop.changes for stop in facts.stops)


LEARNED = r"""
What do heads learn? In BERT, heads have been found that look at the token before, from a verb to its object
Is a cache valid with another LoRA? Rows that were computed with one LoRA are of no use with another
What is d_model? The width of the residual stream is d_model or hidden_size
What is a tensor? tensors: blocks of numbers with a shape
What is the residual stream? No part of a layer replaces it\. Each one reads it, works aside, and adds its result
What is a norm for? scales it to a steady size
How many heads does this model have? in 4 heads side by side.*4, each 4 numbers long
Where do tokens meet? attention is the only place where tokens meet, and the only one that needs the past
How is that shown? Replace the rows of all other tokens in front of it.*that of the last token by less than 1e-12
Do rotary positions have weights? They have no weights, and they are at work inside every layer
Why is Llama-3-8B called 8B? with it to 8,030,261,248
"""

CLAIMS = r"""
seed 4 | everything is tensors | tensors | blocks of numbers with a shape
seed 4 | weights are permanent | permanent | Weights are permanent | This model has 4,192
REFERENCE 4 | Q, K, V are ephemeral: Q is; K and V live as long as the sequence | sequence | live as long as the sequence | KV cache
REFERENCE 4 | Q lives for one step | ephemeral | lives for one step: q | Of the 315 numbers that the step above makes, 32 stay
seed 4 | the embedding is looked up once, before any layer | lookup | picks one row | once, before any layer | The row of its position, from a second table, is added
seed 4 | the residual stream: each part adds, none replaces | stream | adds its result | to within 1e-12 | hard to lose
seed 0 | residual connections and norms keep the flow stable | norms | steady size | grow or shrink
seed 4 | q meets all k, scores are normalised, v summed, wo projects back | attention | q meets each row of K | summed by weight | back to the width of the stream
seed 4 | several heads in parallel | heads | 4 heads side by side | each 4 numbers long
REFERENCE 4 | every head its own W: true here, not where heads share | heads | a key head and a value head of its own
seed 4 | the MLP widens, filters and compresses | mlp | One matrix makes 64 of them | ReLU, which sets those below zero to zero | back to 16
seed 4 | attention and MLP once a layer, repeated; then logits | layers | Attention and MLP together are a layer | logits
REFERENCE 4 | not every token has its own pass: a prompt runs in one | passes | in the same pass, one row each
seed 0 | attention connects tokens | mix | q, k and v of m stay the same to the last bit | first stop that notices is the scores
seed 0 | the MLP has no interaction between tokens | mlp-alone | by less than 1e-12 | only place where tokens meet
seed 4 | similar tokens, similar vectors | embeddings | nearest to e are u o a i
seed 4 | attention weights route | routing | which token reads which | routes more than facts
seed 4 | MLP weights hold associations | facts | 70 percent of Llama-3-8B
seed 4 | knowledge is spread; LoRA | distributed | spread over all of it | train small additions
seed 4 | names vary by model | names | its own names for the same tensors
REFERENCE 4 | RoPE has no weights and works inside every layer; keys are cached after it | rope | no weights | inside every layer | after the turn
REFERENCE 4 | SmolLM2 ties its head; Llama-3-8B’s untied head adds 0.53B | tied | It is tied | adds 525,336,576 | to 8,030,261,248
REFERENCE 4 | SmolLM2: 9 query heads and 3 KV heads of 64, not 3 of 192 | shares | 9 query heads of 64 | 576 together | only 3 key and value heads of 64, 192 together | not every head has a key and a value matrix of its own
seed 4 | “8B” counts the parameters | count | count of parameters | 21 percent in SmolLM2-135M
seed 4 | parts of Llama-3-8B | parts | 525,336,576 | 1,342,177,280 | 5,637,144,576 | 8,030,261,248
REFERENCE 4 | the listed shapes of SmolLM2 sum to 134,515,008 | parts | 134,515,008 | \[192, 576\] | \[1536, 576\] | \[49152, 576\]
seed 4 | GPT-2’s inventory | parts | 124,439,808 | mlp\.c_fc
REFERENCE 1 | 4,192 parameters in these shapes | parts | The tensors of names: 4,192 | \[27, 16\] | \[64, 16\]
"""
