"""Full cache: its questions, answered by a ring, and by models with a window."""

from dataclasses import replace

import numpy as np

from microgpt.cache import KVCache
from microgpt.caches.ring import RingLayer
from microgpt.course.full_cache.policies import after_shift
from microgpt.weights import shipped
from tests.support.questions import View, logits


def ask_held(view: View) -> str:
    """A ring of that window, after that text."""
    ring = RingLayer(1, view.asks.window, 2)
    for _ in range(view.asks.text // 100):
        ring.append(np.zeros((100, 1, 2)), np.zeros((100, 1, 2)))
    return f"{len(ring):,}"


def ask_reach(view: View) -> str:
    """Change the first token of a model of so many layers: the last position whose logits differ."""
    model = shipped("names-deep")
    assert model.config.n_layer == view.asks.layers
    config = replace(model.config, window=view.asks.small)
    one, other = (logits(model, [first, *[2] * 14], config=config) for first in (1, 3))
    return str(int(np.flatnonzero(np.abs(one - other).max(axis=1) > 1e-9).max()))


def ask_shift(view: View) -> str:
    off = [max(pair) for pair in after_shift(shipped("stories"), list(range(1, 17)), 1)]
    assert off[0] < 1e-12 < 0.1 < min(off[1:])
    return "in the first"


def ask_bug(view: View) -> str:
    cache = KVCache(shipped("names").config)
    logits("names", [1, 2, 3, 4], cache)
    keys = cache[0].keys.copy()
    cache.crop(3)
    assert (cache[0].keys == keys[:, :3]).all()
    return "the newest, not the oldest"


LEARNED = r"""
What happens at one token more? microgpt has learned 16 positions, and for one token more there is no row in its table
What does RoPE do beyond its training? at distances that it has never seen in training
What do servers do? Most servers stop then, and say that the length was the reason
When is a window exact? If the model was trained with one
How many rows does a ring need? Between two steps W − 1 rows are enough
How far does a window reach? Over 32 layers a token can be noticed up to 131,040 tokens later
Does a window bound the memory of every model? only some layers have a window\. The others keep all rows
What are sinks? Large models learn to put what is left on the first rows
How many heads of a trained model rest on the first token? 189 of its 270 heads give the first token more than half
What becomes of a text without that row? 22\.6 % of the prediction moves without its row
What does a window do to a head with a sink? The softmax gives out the whole weight again, now to rows that hardly had any
What do sinks bring? a perplexity of 5,158 with a window alone, and of 5\.40
Do sinks extend the context? such a model can write for ever, but cannot tell you what stood on page one
Is a context shift exact? In the first layer a row depends on its own token alone, so there the rows are right
What does H2O keep? H2O keeps the rows that have received most attention so far
What does SnapKV do? SnapKV lets the last tokens of the prompt vote, once
Which is best? Do not rank the methods by this page
What do engines do? vLLM and SGLang drop nothing inside a text
"""
