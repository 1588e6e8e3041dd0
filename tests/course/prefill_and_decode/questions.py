"""Prefill and decode: its questions, answered by the data sheet of a card, and round by round."""

import numpy as np
import pytest

from microgpt.architectures.known import PRESETS
from microgpt.cache import KVCache
from microgpt.course.prefill_and_decode.passes import DRAFT_PROMPT
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, logits

MACHINE = (156e9, 2039e6)  # multiply-adds and bytes per ms, from the data sheet of the A100
MEASURED = ("off by up to 2.31",)


def ask_bug(view: View) -> str:
    """The round once more, by hand: what was rejected stays, or was never there."""
    said, target, draft = view.speculation, shipped("names-deep"), shipped("names")
    ids = target.tokenizer.encode(DRAFT_PROMPT)
    drafted, *_, kept = next(one for one in said.rounds if not all(agreed for _, agreed in one[0]))
    written = [*ids, *target.tokenizer.encode(said.text)[len(ids) :]]
    wrong, found = [draft.tokenizer.vocabulary.index(token) for token, agreed in drafted if not agreed], []
    for rows in (written[:kept], written[:kept] + wrong):
        cache = KVCache(target.config)
        logits(target, rows, cache)
        found.append(logits(target, [written[kept]], cache))
    off = np.abs(found[1] - found[0]).max()
    assert off > 0.5 and abs(off - said.uncropped) < 1e-9
    return "the cache still has the rows of rejected guesses"


def ask_chunks(view: View) -> str:
    return f"{len(range(0, 2000, 256))}"


def ask_time(view: View) -> str:
    return f"{view.prefill.milliseconds + 99 * view.decode.milliseconds:.0f}"


def task_times(facts: Facts) -> Numbers:
    a, (macs, carried) = PRESETS["Llama-3-8B"], MACHINE
    c, weights = a.config, a.n_params - a.config.vocab_size * a.config.n_embd + a.config.n_embd  # of the table one row
    prefill = facts.prompt * weights / macs
    step = (2 * weights + facts.prompt * facts.per_token) / carried
    many = (2 * weights + facts.batch * facts.prompt * facts.per_token) / carried
    assert prefill > 2 * weights / carried and step > weights / macs  # which of the two takes the time
    assert facts.answer * step > 0.9 * facts.total
    assert facts.total == pytest.approx(prefill + facts.answer * step, rel=0.001)
    rates = {
        "rate": pytest.approx(1000 / step, abs=1),
        "rate_together": pytest.approx(facts.batch * 1000 / many, abs=1.5),
    }
    times = {"prefill": prefill, "step": step, "together": many}
    exact = {
        "macs": macs,
        "carried": carried,
        "weights": weights,
        "per_token": 4 * c.n_layer * c.n_kv_head * c.head_dim,
    }
    return exact | {name: pytest.approx(ms, abs=0.01) for name, ms in times.items()} | rates


def task_drafts(facts: Facts) -> Numbers:
    """Played round by round."""
    rows, known, cropped, clock = 0, 1, 0, 0.0
    for one in facts.rounds:
        assert one.appended == 1 + facts.drafted  # the known token and all drafts
        rows += one.appended - (facts.drafted - one.accepted)
        cropped += facts.drafted - one.accepted
        known += one.accepted + 1
        assert rows == known - 1  # what was chosen last has no row
        clock += 1 + facts.drafted / facts.cheap
    return {"written": known - 1, "cropped": cropped, "price": clock, "saved": (known - 1) / clock}


LEARNED = r"""
How many rows does a long prompt leave, and each pass after it? A prompt of 2,000 tokens leaves 2,000 rows in each layer
Which of the two sets the wait before an answer? The time to the first token \(TTFT\) is the wait before an answer begins, and prefill sets it
Is FlashAttention a cache? It keeps nothing from one step to the next
Why must a prefix match exactly? from the first token that differs on, the rows must be computed again
What are cached tokens on a bill? tokens of a prompt whose rows were still there
What is prefill? Prefill runs the prompt\. All its tokens are known, so one pass can take all 6 of them
Why is decode one token per pass? no pass can start before the one before has said which token comes next
Does it matter for the rows how the prompt is run? the rows of K and V differ by less than 1e-\d+
What bounds prefill? 964 multiply-adds for each byte\. .*prefill is bound by compute
What bounds decode? 0\.53 multiply-adds per byte\. .*decode is bound by memory
Which takes longer to read in decode, weights or cache? for a single text the weights are most of it: 15\.0 GB against 262\.1 MB
What does FlashAttention do, what PagedAttention? compute the same attention and carry fewer bytes.* keeps the cache in pages, so that many texts share one memory without gaps
May rows be taken back? The newest rows can be cropped
Which model works in parallel in speculative decoding? What runs in parallel is the check: the large model, the target, runs all guesses in one pass
How many passes did the target save? The target took 3 passes instead of 6
What may two prompts share? they share 5 rows, start token included
What happens when the context is full? Nothing is overwritten and nothing is quietly dropped
"""

CLAIMS = r"""
REFERENCE 3 | each decode step reads weights and cache; at batch one the weights dominate | weights-and-cache | weights and the cache | 15\.0 GB against 262\.1 MB here, after 2,000 tokens | share one reading of the weights, but each has a cache of its own
REFERENCE 4 | every token has its own forward pass | two-kinds | one pass can take all 6 | not true that every token needs a pass of its own
REFERENCE 4 | the speculative draft is prefill-like | speculation | guesses them one by one | the target, runs all guesses in one pass | rows of the others are cropped
REFERENCE 4 | rejected rows are cropped | rounds | n a rejected: n ?l ?1 ?4 ?4 i rejected: <s> | <s> the end ?6 ?2 ?7
REFERENCE 4 | speculation gives the target's own text | speculated | The text is analia | target took 3 passes instead of 6 | text is the same
REFERENCE 4 | the cache only ever grows | crop | nothing forces it | 3 wrong tokens | less than 1e-12 | Windows .*eviction
REFERENCE 4 | decode is limited by reading the cache; by bandwidth, not parameters | weights-and-cache | waits for the cache. It waits for the weights and the cache | the parameters are what the bandwidth is spent on
REFERENCE 5 | why does prefill differ from decode? | decode-work | all the weights again, 15\.0 GB | 0\.5\d multiply-adds per byte | bound by memory
REFERENCE 5 | what happens at token 17 of a 16-token context? | full | has 24 positions | at token 25\? | Nothing is overwritten
REFERENCE 5 | what the model says when the context is full | full-error | The cache holds 24 of 24 rows; 1 more do not fit\.
seed 0 | the model's forward pass is the same | same-cache | The function is the same
seed 1 | inference is limited by memory bandwidth, not model parameters | weights-and-cache | said that bandwidth is the limit, and not the number of parameters
seed 2 | each generated token's k and v join the cache, one pass a token | two-kinds | one token per pass
seed 3 | a full pass for every new token | two-kinds | those of the prompt share one
seed 4 | prefill: all prompt tokens in parallel, bound by compute, fills the cache | prefill-work | 2,000 tokens | reads each weight once | 964 multiply-adds for each byte | bound by compute
seed 4 | prefill is fast, decode is slow | seconds | the prompt takes 92\.84 ms and each later token 7\.48 ms | it runs 161 tokens of the prompt
seed 4 | and when it is not: a short prompt | short | fewer than 164 tokens | 7\.36 ms for a prompt of 6 tokens, against 7\.48 ms
seed 4 | only the last row of a prompt needs logits | head | output head: 3,168 of them each time | 113,280 multiply-adds in all three ways
REFERENCE 5 | what beams do with rows | beams | With 4 beams of 8 new tokens each, after a prompt of 6, copies hold 56 rows | it is 38\.
seed 4 | chunked prefill | same-cache | differ by less than 1e-12 | cut a long prompt into chunks
seed 4 | prefix caching | prefix | share 5 rows | ran 1 token instead of all | differ from those of a full run by less than 1e-12
seed 4 | past entries are never rewritten, the cache only grows | crop | can be cropped
seed 1 | attention kernels move fewer bytes: FlashAttention | kernels | same attention and carry fewer bytes | last bits may differ
seed 4 | paged caches | kernels | keeps the cache in pages
"""
