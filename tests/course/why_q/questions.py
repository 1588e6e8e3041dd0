"""Why not q: its questions, answered by adding up reads, and by a model with a window."""

import math
from dataclasses import replace
from itertools import accumulate

import numpy as np

from microgpt.architectures.known import PRESETS
from microgpt.cost import reads
from microgpt.trace import Trace
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, softmax, stepped


def ask_bug(view: View) -> str:
    """Queries of one head of the first layer, all at once and without a mask."""
    trace, n = view.trace, view.n
    q, k, v = (np.stack([trace[name, i, 0][0, 0] for i in range(n)]) for name in "qkv")
    found = np.stack([softmax(row) for row in q @ k.T / math.sqrt(q.shape[-1])]) @ v
    off = np.abs(found - np.stack([trace["head_out", i, 0][0, : q.shape[-1]] for i in range(n)])).max(axis=-1)
    assert off[-1] < 1e-12 and (off[:-1] > 0.01).all()
    return "the last row is right, and all others were computed for nothing"


def ask_grow(view: View) -> str:
    return ", ".join(map(str, accumulate(range(1, 6))))


def ask_next(view: View) -> str:
    return f"{sum(step >= i for i in range(view.n + 1) for step in range(view.n + 1))}"


def task_window(facts: Facts) -> Numbers:
    """In a model with such a window, and in one without."""
    model, found = shipped("names"), []
    for config in (replace(model.config, window=facts.w), model.config):
        trace = Trace()
        stepped(model, [0] * facts.t, trace, config)
        found.append([len(reads(trace)["k", 0, j]) for j in range(facts.t)])
    return {"reads": found[0], "total": sum(found[0]), "whole": sum(found[1])}


def task_instead(facts: Facts) -> Numbers:
    for one in facts.models:
        c = PRESETS[one.name].config
        kept = len(range(c.n_kv_head * c.head_dim)) * 2
        assert (one.x, one.row, one.times) == (c.n_embd, kept, c.n_embd / kept)
        assert (one.times > 1) == (c.n_kv_head < c.n_head)  # as the answer says
    return {
        "again": facts.long * 2 * 4096 * PRESETS["Llama-3-8B"].config.n_kv_head * 128,
        "own": facts.again / facts.long,
    }


LEARNED = r"""
What is kept of cross-attention? They are computed once and kept, and that cache does not grow
Why has BERT no cache? it reads a whole text at once and writes none, so it needs no cache
How often were the rows of K read, all together? the rows of K were read 28 times in each layer
And those of q? The rows of q were read 7 times: every query once, at its own step
How often was the first key read? The key and the value of .* were read 7 times, once by each step
Why must k and v be in the cache before q asks? The newest q meets the keys of all earlier tokens and its own
Why can an old q say nothing new? The reason is the causal mask: a token may look back, but never ahead
What would an old q give, asked again? each gives the weights that it gave at its own step, and mixes the same values
When would q be needed again? Without the mask, as in an encoder, .* each q would be needed at every step
What would a cache of q hold? A cache of q would hold 112 numbers by now, and no step would ever read one
"""

CLAIMS = r"""
seed 4 | Q is thrown away after use; K and V stay | once | rows of K were read 28 times | rows of q were read 7 times
REFERENCE 5 | why not cache Q? | waste | would hold 112 numbers | no step would ever read one
REFERENCE 4 | Q is ephemeral; K and V live as long as the sequence | fate | were read 7 times, once by each step\. Its q was read 1 time
REFERENCE 4 | q is compared with previous keys and its own | self | all earlier tokens and its own
seed 4 | Q asks, K offers, V carries | asks | k and v are what a token has to offer
REFERENCE 5 | why K and V both? | both | compares q with every k | adds up every v | would find nothing there
REFERENCE 5 | why not cache x? | x | x has 16 numbers per token and layer; k and v together have 32 | at step 7 that takes 3,072 multiply-adds, beside the 3,728 of the whole step
REFERENCE 5 | when caching x would win | x-large | GPT-2 124M, 1,000 tokens: x takes 18\.4 MB, k and v 36\.9 MB\. To compute k and v again takes 14\.1 G multiply-adds per step, the step itself 142 M | Llama-3-8B, 1,000 tokens: x takes 262\.1 MB, k and v 131\.1 MB\. To compute k and v again takes 268 G multiply-adds per step, the step itself 7\.77 G
REFERENCE 5 | and where it would not | x-wins | only where heads are not shared | memory counts for more than arithmetic
REFERENCE 5 | what could an old q still compute? | nothing | may look back, but never ahead | cannot change | Without the mask
"""
