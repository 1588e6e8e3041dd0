"""The checks: ways in which a cache can be used, and what must hold in each. The first that fails names the fault.

Each is a function of a trial (trial.py). `trial.forward` runs tokens by the reader's program, and compares every report
and every logit with ours; `trial.expect` says what is wrong in a sentence. Another function in the same form is
another check.
"""

from __future__ import annotations

from itertools import islice, zip_longest

from microgpt.cache import Batch, KVCache
from microgpt.errors import N_
from microgpt.workbench.trial import TOLERANCE, Trial

SEVERAL = 3  # tokens a pass, where a prompt comes in pieces


# ---- six ways to run the same tokens: each row must come out the same ------------------------------


def all_at_once(trial: Trial) -> None:
    """All tokens in one pass: prefill."""
    trial.forward(trial.ids, trial.new_cache())


def one_by_one(trial: Trial) -> None:
    """One token a pass, as a text is written: decode."""
    cache = trial.new_cache()
    for token in trial.ids:
        trial.forward([token], cache)


def in_threes(trial: Trial) -> None:
    """Three tokens a pass: a prompt that comes in chunks."""
    cache = trial.new_cache()
    for at in range(0, len(trial.ids), SEVERAL):
        trial.forward(trial.ids[at : at + SEVERAL], cache)


def crop_back(trial: Trial) -> None:
    """Two tokens too far, then back, then on: a draft that was wrong."""
    cache, n = trial.new_cache(), len(trial.ids) // 2 + 1
    trial.forward(trial.ids[:n], cache)
    wrong = [(token + 1) % trial.config.vocab_size for token in trial.ids[n : n + 2]]
    trial.forward(wrong, cache, compare=False)
    trial.crop(cache, n)
    for token in trial.ids[n:]:
        trial.forward([token], cache)


def keep_a_branch(trial: Trial) -> None:
    """Two next tokens side by side in one pass, as a tree; the second stays."""
    cache, n = trial.new_cache(), len(trial.ids) // 2 + 1
    trial.forward(trial.ids[:n], cache)
    other = (trial.ids[n] + 1) % trial.config.vocab_size
    trial.forward([other, trial.ids[n]], cache, compare=False, parents=(-1, -1))
    trial.keep(cache, [*range(n), n + 1])
    for token in trial.ids[n + 1 :]:
        trial.forward([token], cache)


def side_by_side(trial: Trial) -> None:
    """Two texts of different length in one pass."""
    short, long = trial.new_cache(), trial.new_cache()
    trial.forward(trial.ids[:2], short)
    trial.forward(trial.ids[:4], long)
    for at in range(4, len(trial.ids)):
        batch = Batch([short, long], [1, 1])
        logits = trial.forward([trial.ids[at - 2], trial.ids[at]], batch, compare=False)
        trial.same_logits(logits[:1], at - 2)
        trial.same_logits(logits[1:], at)


# ---- what always holds ---------------------------------------------------------------------------


def rows_stay(trial: Trial) -> None:
    """The cache grows by one row per token, and no old row ever changes."""
    cache = trial.new_cache()
    old = [trial.rows(cache, layer) for layer in range(trial.config.n_layer)]
    for pos, token in enumerate(trial.ids):
        trial.forward([token], cache, compare=False)
        for layer in range(trial.config.n_layer):
            new = trial.rows(cache, layer)
            for name, rows in old[layer].items():
                grown = len(new[name]) == pos + 1
                trial.expect(grown, N_("The cache has not grown by one row."), pos, layer)
                same = (new[name][:pos] == rows).all()
                trial.expect(same, N_("An old row of %(event)s has changed."), pos, layer, event=name)
            old[layer] = new


def nothing_from_the_future(trial: Trial) -> None:
    """No token gives a weight to a token after it."""
    trial.forward(trial.ids, trial.new_cache(), compare=False)
    for layer in range(trial.config.n_layer):
        for pos in range(len(trial.ids)):
            later = trial.report("attn_weights", layer)[:, pos, pos + 1 :]
            trial.expect(not later.any(), N_("This token looks at tokens that come after it."), pos, layer)


def weights_sum_to_one(trial: Trial) -> None:
    """The attention weights of each token sum to 1."""
    cache = trial.new_cache()
    for pos, token in enumerate(trial.ids):
        trial.forward([token], cache, compare=False)
        for layer in range(trial.config.n_layer):
            sums = trial.report("attn_weights", layer).sum(axis=-1)
            one = (abs(sums - 1) <= TOLERANCE).all()
            trial.expect(one, N_("The weights of a head sum to %(sum)s."), pos, layer, sum=round(sums.min(), 6))


def q_is_read_once(trial: Trial) -> None:
    """A pass asks with the queries of its own tokens alone: none is kept."""
    cache = trial.new_cache()
    for pos, token in enumerate(trial.ids):
        trial.forward([token], cache, compare=False)
        for layer in range(trial.config.n_layer):
            asked = trial.report("attn_scores", layer).shape[1]
            trial.expect(asked == 1, N_("A pass of one token asks with %(n)s queries."), pos, layer, n=asked)


def memory_as_counted(trial: Trial) -> None:
    """The cache keeps the bytes of K and V that the formula gives, and nothing else."""
    cache, ours = trial.new_cache(), KVCache(trial.config, trial.params["wte"].dtype)
    for token in trial.ids:
        trial.forward([token], cache, compare=False)
    held = trial.bytes_reserved(cache)
    sentence = N_("The cache keeps %(held)s bytes; K and V take %(n)s.")
    trial.expect(held == ours.nbytes_reserved, sentence, held=held, n=ours.nbytes_reserved)


def the_loop(trial: Trial) -> None:
    """The loop writes the tokens that ours writes."""
    n = len(trial.ids)
    written, ours = trial.yours.generate(trial.params, trial.config, trial.ids[:1], n), trial.ours(n)
    for at, (yours, want) in enumerate(zip_longest(islice(written, n + 1), ours), 1):
        trial.expect(yours == want, N_("The loop writes another text: token %(at)s differs."), at=at)


def with_and_without(trial: Trial) -> None:
    """One by one with the cache, and anew without: your program against itself, as all pages here compare ours."""
    cache = trial.new_cache()
    for pos in range(len(trial.ids)):
        cached = trial.forward(trial.ids[pos : pos + 1], cache, compare=False)[-1]
        again = trial.forward(trial.ids[: pos + 1], trial.new_cache(), compare=False)[-1]
        off = abs(cached - again).max()
        trial.expect(off <= TOLERANCE, N_("With the cache a logit is %(off)s off."), pos, off=f"{off:.2g}")
