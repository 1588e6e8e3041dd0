"""With and without: its questions, answered by sums over steps and by runs of its own."""

import numpy as np

from microgpt.cost import PARTS
from microgpt.experiments import mistakes
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, logits

MEASURED = ("less than 1e-12, and those of each later step are off by 0.96",)


def ask_share(view: View) -> str:
    work = np.sum([[with_cache for _, with_cache, *_ in step.parts] for step in view.steps], axis=0)
    of = dict(zip(PARTS, work.tolist(), strict=True))
    faces = {
        "projections: q, k, v and output": of["qkv"] + of["out"],
        "MLP": of["mlp"],
        "attention: scores and mixing": of["scores"] + of["mixing"],
        "output head": of["head"],
    }
    return max(faces, key=faces.__getitem__)


def ask_double(view: View) -> str:
    one, other = (sum(t * t + t for t in range(1, n + 1)) for n in (1000, 2000))
    return f"{other / one:.0f}"


def ask_bug(view: View) -> str:
    """The positions of all tokens are the first: the same run as of each token by itself, but for the rows."""
    model = shipped(view.model)
    ids = [model.tokenizer.vocabulary.index(token) for token in view.trace.about["tokens"]]
    right = np.stack([view.trace["logits", i][0] for i in range(view.n)])
    off = np.abs(mistakes.no_offset(model.params, model.config, ids) - right).max(axis=-1)
    assert off[0] < 1e-12 and off[1:].min() > 0.5
    return "from the second step on"


def ask_pairs(view: View) -> str:
    return f"{sum(range(1, view.n + 2))}"


def task_work(facts: Facts) -> Numbers:
    """Step by step, row by row."""
    c = shipped("names").config
    token, head = c.n_embd * (4 * c.n_embd + 2 * c.n_mlp), c.n_embd * c.vocab_size
    cached = naive = 0
    for step in range(1, c.n_ctx + 1):
        naive += sum(token + row * 2 * c.n_embd for row in range(1, step + 1)) + head
        cached += token + step * 2 * c.n_embd + head
    long = 3000
    pairs = [sum(range(1, t + 1)) for t in range(1, long + 1)]
    assert sum(pairs) / pairs[-1] == (long + 2) / 3 and sum(pairs) == long * (long + 1) * (long + 2) // 6
    return {"cached": cached, "naive": naive, "times": naive / cached}


def task_trust(facts: Facts) -> None:
    """A wrong position can leave every word as it is: the same text does not show the same logits."""
    ids = shipped("stories").tokenizer.encode("The sun is")
    right, wrong = logits("stories", ids)[-1], logits("stories", [ids[0], *ids])[-1]
    assert right.argmax() == wrong.argmax() and np.abs(right - wrong).max() > 0.01


LEARNED = r"""
Is the answer the same with the cache? Over all 7 steps above, the logits of the two runs differ by less than 1e-\d+
Why not to the last bit? only when the same additions happen in the same order, on arrays of the same shape
How often do old tokens run for nothing? over these 7 steps, old tokens run 21 times for nothing
What is saved besides K and V? would also pass the output projection, the norms and the MLP of every layer
Which part of the saving is the largest? the MLP alone makes 43,008 of them, 65 percent
What could one leave out without a cache? leave out what the last token does not need, and do 1\.42 times the work
How does the work of attention grow with the cache, in one step and in sum? from quadratic to linear.*Summed over the text it is 28 pairs against 84
From how many keys on is attention the larger part? only at 96 keys\. In GPT-2 that happens at 4,608 keys
What does it save over a thousand tokens? For 1,000 tokens .*: 353 times as many
What does it cost? Each token adds 64 bytes in 16-bit numbers
"""

CLAIMS = r"""
REFERENCE 2 | closed forms at 16 tokens, one, two and four layers, three ways | sums | 60,416 1\.00 times ?121,856 2\.02 times ?450,816 7\.46 times | 113,920 .*565,760 .*894,720 | 220,928 .*1,453,568 .*1,782,528
REFERENCE 2 | only what the last token needs is a fairer baseline; one layer needs only old k and v | baseline | leave out what the last token does not need | one layer.*for its k and v alone
REFERENCE 2 | with the cache projections and MLP are O(n), attention O(n²); a rerun is O(n³) | orders | O\(n²\) with the cache, O\(n³\) without | projections and MLP, goes from O\(n²\) to O\(n\)
REFERENCE 2 | attention equals all other work only at 6 d keys | crossing | only at 96 keys | 4,608 keys, beyond the 1,024
REFERENCE 2 | curves to a thousand tokens | far | 1,000 tokens.*19,520,000 .*6,887,312,000 without | context ends at 16 tokens
REFERENCE 4 | the cache turns O(N^2) into O(N) | orders | Half of that is true | for one step, attention goes from quadratic to linear | 28 pairs against 84
REFERENCE 4 | total work becomes O(n), regardless of how many came before | still-reads | one pass per token | still reads all 7 rows, its own included
REFERENCE 4 | only K and V recomputation is saved | saved | not only the keys and values | output projection, the norms and the MLP | MLP alone makes [\d,]+
REFERENCE 4 | the MLP is the largest share | largest | largest part .* 56 percent
REFERENCE 4 | exactly the same output | same | differ by less than 1e-12 | In exact arithmetic | same order, on arrays of the same shape
REFERENCE 4 | exponential growth of the cache | linear | 64 bytes | linear growth, not exp
REFERENCE 5 | is the output really the same? | same | changes nothing about what the model say
REFERENCE 5 | why floats differ | order | gives 0\.6000+1 on this machine.*gives 0\.6\.
TEACHING 2.2 | sixteen-bit numbers: in one order the two agree to the last bit; engines have several kernels | short | sum is taken in 4 interleaved parts | agree to the last bit, in every format
TEACHING 2.2 | tokens flip where sums are rounded too | flips | no choice changes in these models | in bfloat16 4 of 200 texts of names go on otherwise | 14 of 186 of stories
seed 0 | at every step without optimization the entire sequence is processed again | saved | run the old tokens through the whole model | 21 times for nothing
seed 0 | the past is not recomputed, the model stays the same | same | changes nothing
seed 1 | complexity becomes O(N) instead of O(N²) | orders | quadratic work into linear work
seed 2 | O(n²) total work without the cache, O(n) with | orders | O\(n³\) without
seed 2 | one pass per token, regardless of how many came before | still-reads | does not make that pass free of the past
seed 3 | a full pass for every new token: is all of it necessary? | saved | for nothing
"""
