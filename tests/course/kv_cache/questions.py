"""The cache: its questions, answered by caches of real runs; on the pages of both models."""

import numpy as np

from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, run, softmax, stepped


def ask_bug(view: View) -> str:
    assert view.rows_read(0) == 1  # a step reads its own row: the lines would find none
    return "the token cannot read its own row"


def ask_held(view: View) -> str:
    return f"{(2 * 4 * 4 if view.trace.about['model'] == 'names' else 2 * 2 * 2 * 8) * (view.n + 1):,}"


def ask_alone(view: View) -> str:
    return f"{softmax(view.trace['attn_scores', 0, 0][0, 0])[0]:.2f}"


def task_grown(facts: Facts) -> Numbers:
    """In a cache, step by step."""
    model = shipped("stories")
    cache = stepped(model, model.tokenizer.encode("The sun is warm and the")[: facts.t])
    rows = [one for layer in cache.layers for one in (layer.keys, layer.values)]
    sizes = [sum(one[:, :step].size for one in rows) for step in range(1, facts.t + 1)]
    assert len(cache) == facts.t
    return {"held": sizes[-1], "half": 2 * sizes[-1], "read": sum(sizes), "own": facts.t * sizes[0] / sum(sizes)}


def task_alias(facts: Facts) -> None:
    """The lines give the newest value; mended, the answer of attention."""
    wq, wk, wv, xs = np.random.default_rng(2).normal(size=(4, 4, 4))
    mended = (("(k_new)", "(k_new.copy())"), ("(v_new)", "(v_new.copy())"))
    wrong, right = (run(facts.listing, *change, wq=wq, wk=wk, wv=wv, head_dim=4)["step"] for change in ((), mended))
    for i, x in enumerate(xs, 1):
        answer = softmax(xs[:i] @ wk @ (x @ wq) / 2) @ (xs[:i] @ wv)
        np.testing.assert_allclose(wrong(x), x @ wv)
        np.testing.assert_allclose(right(x), answer)
        assert (np.abs(x @ wv - answer).max() < 1e-9) == (i == 1)


LEARNED = r"""
What does a step compute for its token, and what does it take from the others? asks a question, the query q\. It compares q with one key k per token, and takes the value v of each in proportion
How is a score made into a weight? Softmax turns the scores into parts of one whole, each row’s weight
How often is the first row of K read in this text? In the {n} steps of this text, row 0 of K was read {n} times
How often is its q read? The q of that token was read 1 time: at its own step
Why is there no cache of q? under the causal mask a token looks back, never ahead, so no old q is ever compared with a new key
How much work does the last step take, with the cache and without? Step {n} takes [\d,]+ multiply-adds with the cache\. Without it, all {n} tokens run again: [\d,]+
Which part of the model saves most? Most of the difference is not attention\. The MLP alone would do [\d,]+ instead of [\d,]+
What does the cache not save? What stays is the reading: the new q still meets every key, [\d,]+ multiply-adds
Where is the state of a text? All that a step learns of earlier tokens is in the cache
Is the answer the same? the logits of the \d+ steps that were compared differ by less than 1e-\d+
"""

CLAIMS = r"""
seed 2 | the cache grows by each token's key and value | steps | adds one row\. The cache holds 5 rows: 4 reused, 1 new
seed 2 | older rows are not computed again | rows | cached
seed 4 | Q is not cached; K and V are | reads | row 0 of K was read 7 times | q of that token was read 1 time | under the causal mask a token looks back
REFERENCE 4 | q meets its own key too | steps | q read 1 key and is gone
REFERENCE 5 | recompute one weight from the picture | by-hand | in step 4, layer 0, head \d, that of row \d | ÷ √4 = [−\d.]+ ÷ 2\.00 = [−\d.]+\. That is the score | ÷ [\d.]+ = 0\.\d\d is the weight
REFERENCE 5 | the cause, not the counts | cause | cause is the same causal mask | changes none of them
REFERENCE 5 | one cache in one layer | holds | in the one layer | 4 such heads and 4 numbers in a row, that is 224 numbers after 7 tokens, or 448 bytes
REFERENCE 5 | a cache per layer, rows that heads share | kv-cache-words#holds | Each of the 2 layers has a cache of its own | 4 query heads share these 2; if each had rows of its own
REFERENCE 5 | why bytes are reserved | reserved | 1,792 bytes in use of 4,096 reserved | all 16 tokens of the context | copy every old row
REFERENCE 5 | pre- or post-rotation keys | kv-cache-words#rotated | (\d+) rotations per key head in these \1 steps | again at each step that reads it, \d+ times | pay only where positions change
REFERENCE 4 | most of what is saved is the MLP | saves | Most of the difference is not attention | 14,336 instead of 2,048
REFERENCE 4 | each step still reads every earlier row | saves | the new q still meets every key
REFERENCE 5 | is the output really the same? | same | differ by less than 1e-12 | order
REFERENCE 4 | Llama-type caches hold k after rotation | kv-cache-words#stepper | keys are kept after rotation
"""
