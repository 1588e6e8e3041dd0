"""Fewer heads: its questions, answered by shapes of a model, and head by head."""

import math

import numpy as np

from microgpt.architectures.known import PRESETS
from microgpt.config import param_shapes
from tests.support.questions import Facts, Numbers, View, run, softmax

LLAMA = PRESETS["Llama-3-8B"]
MEASURED = ("off by up to 0.47",)


def ask_bug(view: View) -> str:
    """Head by head, with the key head of the remainder; the first and the last query head get their own."""
    trace, last = view.trace, view.n - 1
    q = trace["q", last, 0][0]
    k, v = (np.stack([trace[name, i, 0][0] for i in range(view.n)]) for name in "kv")
    d, group = q.shape[-1], view.config.n_head // view.config.n_kv_head
    own = trace["head_out", last, 0][0].reshape(view.config.n_head, d)
    off = []
    for head in range(view.config.n_head):
        mine = head % view.config.n_kv_head
        off.append(float(np.abs(softmax(k[:, mine] @ q[head] / math.sqrt(d)) @ v[:, mine] - own[head]).max()))
        assert (off[-1] > 1e-6) == (mine != head // group)
    assert abs(max(off) - view.asks.mixed_up) < 1e-12
    return "query heads read the keys and values of another group"


def ask_shape(view: View) -> str:
    return f"{[*param_shapes(LLAMA.config)['layer0.wk']]}"


def ask_times(view: View) -> str:
    return f"{LLAMA.bytes_if_mha() / LLAMA.bytes_per_token():.0f}"


def ask_two(view: View) -> str:
    return f"{512 + 64}"


def task_groups(facts: Facts) -> Numbers:
    """The listing as it stands and mended, against keys that are repeated for the heads of a group."""
    keys, values = np.random.default_rng(3).normal(size=(2, facts.n_kv_head, 5, 4))
    q = np.random.default_rng(4).normal(size=(facts.n_head, 4))
    line, size = "head // (n_head // n_kv_head)", facts.n_head // facts.n_kv_head
    assert line in facts.solved
    given = {"n_head": facts.n_head, "n_kv_head": facts.n_kv_head, "head_dim": 4}
    ways = (run(facts.listing, *change, **given)["attend"] for change in ((), (("head % n_kv_head", line),)))
    found, right = (attend(q, keys, values).reshape(facts.n_head, -1) for attend in ways)
    scores = np.einsum("hd,htd->ht", q, np.repeat(keys, size, axis=0)) / 2
    answers = [softmax(row) @ v for row, v in zip(scores, np.repeat(values, size, axis=0), strict=True)]
    np.testing.assert_allclose(right, answers)
    return {"wrong": [head for head in range(facts.n_head) if np.abs(found[head] - right[head]).max() > 1e-9]}


LEARNED = r"""
Does each head need its own keys and values? A head needs a query of its own.* keys and values is a question of what they cost
What is grouped-query attention? the query heads of a group read the same keys and the same values
Which kind is the model of this page? has 4 query heads and 2 key and value heads: GQA
Does sharing save compute? The scores cost what they did before: 768 multiply-adds
What do [192, 576] and nine heads mean in SmolLM2-135M? it is 3 heads of 64, side by side
What does averaging heads do to this model? stays the same in 10 of 12 steps, and the largest change of a logit is 17\.67
What does sharing cost when a model is trained so from the first step? With 2 heads .* 0\.0041 higher, 1\.2 times the spread.* With 1 head .* 0\.0122 higher, 3\.5 times the spread
And what do averages cost that nobody trains further? Averages alone cost far more: the loss is higher by 0\.23 and 0\.37
Is it the missing weights that cost? makes up for them.*So most of the price is that of sharing
What does multi-head latent attention keep? DeepSeek-V3 keeps 576 numbers per token in each of its 61 layers
Why is there no factor of two? There is no factor of two: K and V come out of one row
Why do rotary positions stand in its way? a key that is turned by its position is not a fixed matrix times the short row
"""

CLAIMS = r"""
REFERENCE 4 | every head has its own W_Q, W_K, W_V: in MHA only | every | often said | multi-head attention \(MHA\), and only one way among several
REFERENCE 4 | in GQA and MQA several query heads share one K/V head | gqa | query heads of a group read the same keys and the same values | In multi-query attention \(MQA\) there is one group
seed 4 | attention runs in several heads, each on its own | gqa | Each query head still gets scores and weights of its own
REFERENCE 4 | SmolLM2-135M has 9 query heads and 3 KV heads of 64 | smol | has 9 attention heads and 3 key and value heads | 64 numbers wide | q is \[576, 576\], and those of k and v are \[192, 576\]
seed 4 | K and V show [192, 576] | smol | \[192, 576\]
REFERENCE 4 | not 3 heads of 192 | misread | 3 heads of 192\. That is wrong: it is 3 heads of 64
REFERENCE 3 | SmolLM2 23,040 bytes a token, 69,120 if it were MHA | bytes | keeps 23,040 bytes | would be 69,120 | for all, 7,680
REFERENCE 3 | head_dim is a field of its own, not n_embd / n_head | field | a figure of its own | would be 56, and a head is 128 wide
REFERENCE 3 | bytes a token at two bytes a number | known | GPT-2 124M\s*12\s*12\s*MHA\s*36,864 | Llama-2-7B\s*32\s*32\s*MHA\s*524,288 | Llama-3-8B\s*32\s*8\s*GQA\s*131,072 | DeepSeek-V3\s*128\s*one row\s*MLA\s*70,272
REFERENCE 3 | MLA keeps 576 numbers a layer, no factor 2 | deepseek | keeps 576 numbers per token in each of its 61 layers, 70,272 bytes | no factor of two
REFERENCE 4 | Llama-type caches hold k after rotation; RoPE has no fixed matrix | rotation | turned by its position is not a fixed matrix
seed 1 | each layer keeps tokens x heads x head_dim: of key and value heads, not of query heads | ask-times-answer | 131,072 bytes per token in place of 524,288 | The query heads do not count
question | what sharing heads costs in quality | cost | have a spread of 0\.0035 | With 2 heads a token keeps 32 bytes in place of 64, and the mean loss is 0\.0041 higher, 1\.2 times the spread; in 10 of 12 seeds | With 1 head a token keeps 16 bytes in place of 64, and the mean loss is 0\.0122 higher, 3\.5 times the spread; in 12 of 12 seeds
question | trained, not averaged | conversion | higher by 0\.23 and 0\.37 | for 10 percent of the steps, 0\.0281 and 0\.0544 are left | To share from the first step is still better
question | the price is that of sharing, not of the weights | weights | 3,808 in place of 4,192 | with 1 head is higher by 0\.0094\. So most of the price is that of sharing
question | the models are judged by names that none has learned from | judged | each from 12 seeds | same 2,000 names, which none has learned from
question | large models are converted in the same way | published | with 5 percent of the training that made them
REFERENCE 5 | where does the memory go, and what can be done? | latent | computed again from a row no longer than that
"""
