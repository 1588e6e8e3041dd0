"""What a draft and a target write together has the target's law: enumerated in fractions, and on real models."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.config import Array, Config, Report, n_params, split
from microgpt.decode import generate, recompute
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.serving import speculate
from microgpt.serving.speculate import SmallModel, Speculation, acceptance, law, residual
from microgpt.tokenizer import START, CharTokenizer
from microgpt.weights import Model, init, shipped
from tests.support.examples import examples

NAMES, DEEP, STORIES = shipped("names"), shipped("names-deep"), shipped("stories")
Law = Callable[[Sequence[int]], Array]  # of the next token, by the text so far


def fractions(*numbers: int) -> Array:
    return np.array([Fraction(n, sum(numbers)) for n in numbers], object)


def tables(seed: int) -> Law:
    """A law in fractions for every text: each text has one of its own."""
    return lambda text: fractions(*(Random(f"{seed} {list(text)}").randint(1, 9) for _ in range(3)))


def law_of_a_round(
    p: Law, q: Law, text: tuple[int, ...], gamma: int, left_over: Callable[[Array, Array], Array] = residual
) -> Counter[tuple[int, ...]]:
    """Text after one round -> its probability, over all drafts and all that may be kept of them."""
    found: Counter[tuple[int, ...]] = Counter()
    for drafted in product(range(3), repeat=gamma):
        chance = Fraction(1)
        for i, token in enumerate(drafted):
            chance *= q((*text, *drafted[:i]))[token]
        for i, token in enumerate(drafted):
            ours, theirs = p((*text, *drafted[:i])), q((*text, *drafted[:i]))
            kept = acceptance(ours, theirs)[token]
            for other, share in enumerate(left_over(ours, theirs)):
                found[(*text, *drafted[:i], other)] += chance * (1 - kept) * share
            chance *= kept
        for other, share in enumerate(p((*text, *drafted))):
            found[(*text, *drafted, other)] += chance * share
    return found


def law_of_three(p: Law, q: Law, gamma: int) -> Counter[tuple[int, ...]]:
    """Of the first three tokens, by as many rounds as it takes."""
    texts: Counter[tuple[int, ...]] = Counter({(): Fraction(1)})
    while any(len(text) < 3 for text in texts):
        after: Counter[tuple[int, ...]] = Counter()
        for text, chance in texts.items():
            if len(text) >= 3:
                after[text] += chance
                continue
            for longer, share in law_of_a_round(p, q, text, gamma).items():
                after[longer] += chance * share
        texts = after
    short: Counter[tuple[int, ...]] = Counter()
    for text, chance in texts.items():
        short[text[:3]] += chance
    return short


@pytest.mark.parametrize("gamma", [1, 2, 3])
def test_the_law_of_three_tokens_is_the_targets(gamma: int) -> None:
    """All 27, exactly."""
    p, q = tables(1), tables(2)
    found = law_of_three(p, q, gamma)
    assert len(found) == 27
    for text in product(range(3), repeat=3):
        assert found[text] == p(())[text[0]] * p(text[:1])[text[1]] * p(text[:2])[text[2]]


def test_one_token_by_hand_and_the_usual_mistake() -> None:
    p, q = fractions(5, 3, 2), fractions(2, 6, 2)
    assert acceptance(p, q).tolist() == [1, Fraction(1, 2), 1]
    assert residual(p, q).tolist() == [1, 0, 0]
    assert np.minimum(p, q).sum() == Fraction(7, 10) == (q * acceptance(p, q)).sum()
    rejected = 1 - Fraction(7, 10)
    assert (q * acceptance(p, q) + rejected * residual(p, q)).tolist() == p.tolist()
    wrong = q * acceptance(p, q) + rejected * p
    assert wrong.tolist() == [Fraction(7, 20), Fraction(39, 100), Fraction(13, 50)]


def always(p: Array) -> Model:
    """A model of three tokens that gives each of them this probability, whatever the text says."""
    config = Config(n_embd=1, n_head=1, n_kv_head=1, head_dim=1, n_mlp=1, vocab_size=3)
    params = split(np.zeros(n_params(config)), config)
    params["wte"][:], params["lm_head"][:, 0] = 1, np.log(p)
    return Model("always", config, params, CharTokenizer(["a", "b", START]))


def test_one_seed_for_both_leaves_the_law_as_it_is() -> None:
    """The first token of 1,500 rounds, each with another seed, which the draft and the target share."""
    p, q, n = np.array([0.3, 0.5, 0.2]), np.array([0.6, 0.2, 0.2]), 1500
    target, draft = always(p), always(q)
    assert np.abs(law(recompute(target.params, target.config, [0, 1])[None], 1.0, 0)[0] - p).max() < 1e-4
    found = np.zeros(3)
    for seed in range(n):
        one = Speculation(target, SmallModel(draft, 1.0, 0, seed), [0, 1], 1, 1.0, 0, seed)
        found[one.round(2).tokens[0]] += 1
    assert (np.abs(found / n - p) < 4 * np.sqrt(p * (1 - p) / n)).all()


def test_a_draft_guesses_nothing_beyond_its_context() -> None:
    short = Model(
        "short", replace(DEEP.config, n_ctx=5), {**DEEP.params, "wpe": DEEP.params["wpe"][:5]}, DEEP.tokenizer
    )
    ids = DEEP.tokenizer.encode("mari")
    rounds = list(Speculation(DEEP, SmallModel(short), ids, 3).run(8))
    alone = generate(DEEP.params, DEEP.config, ids, 8, stop=DEEP.tokenizer.start)
    assert [token for one in rounds for token in one.tokens] == list(alone)
    assert any(one.drafted for one in rounds) and not any(one.drafted for one in rounds[1:])


def drawn_model(seed: int, n_layer: int) -> Model:
    config = Config(n_layer=n_layer)
    return replace(NAMES, config=config, params=split(init(config, Random(seed), 0.5), config))


@given(st.integers(0, 99), st.integers(1, 5), st.integers(1, 16), st.booleans())
@settings(max_examples=examples(60))
def test_greedy_with_a_draft_is_greedy_without(seed: int, gamma: int, most: int, itself: bool) -> None:
    """Whatever is guessed. After each round the cache has a row for each token but the newest, and they are those of a
    fresh run: what was cropped might never have been there."""
    target = drawn_model(seed, 2)
    ids = [0, *np.random.default_rng(seed).integers(1, 27, 3).tolist()]
    spoken = Speculation(target, SmallModel(target if itself else drawn_model(seed + 1, 1)), ids, gamma)
    for found in spoken.run(most):
        assert 1 <= len(found.tokens) <= gamma + 1
        assert len(spoken.cache) == len(spoken.ids) - 1
        if itself and found.chosen >= 0:
            assert found.accepted == len(found.drafted)
        fresh = KVCache(target.config)
        forward(target.params, target.config, spoken.ids[:-1], fresh)
        for ours, theirs in zip(spoken.cache.layers, fresh.layers, strict=True):
            assert np.abs(ours.keys - theirs.keys).max() <= 1e-12
    plain = generate(target.params, target.config, ids, most, stop=target.tokenizer.stops)
    assert spoken.ids[len(ids) :] == list(plain)


def test_sampled_texts_have_the_targets_law() -> None:
    """First letters behind "el", drafted by names: as often as names-deep gives them, within chance."""
    ids, n = DEEP.tokenizer.encode("el"), examples(2_000)
    expected = law(recompute(DEEP.params, DEEP.config, ids)[None], 0.8, 5)[0]
    counts = np.zeros(27)
    for seed in range(n):
        spoken = Speculation(DEEP, SmallModel(NAMES, 0.8, 5, seed), ids, 2, 0.8, 5, seed + 10_000)
        counts[spoken.round(3).tokens[0]] += 1
    assert counts[expected == 0].sum() == 0
    assert (np.abs(counts / n - expected) <= 4 * np.sqrt(expected * (1 - expected) / n)).all()


def test_hooks_tell_what_was_guessed_and_what_was_kept() -> None:
    told = list[Report]()
    ids = DEEP.tokenizer.encode("em")
    spoken = Speculation(DEEP, SmallModel(NAMES), ids, 4, hook=told.append)
    rounds = list(spoken.run(20))
    said = Counter(name for name, *_ in told)
    assert said["verify"] == len(rounds) and said["draft"] == sum(len(found.drafted) for found in rounds)
    assert said["accept"] == sum(found.accepted for found in rounds)
    assert said["reject"] == said["draft"] - said["accept"] > 0
    for name, value, pos, _ in told:
        if name == "accept":
            assert spoken.ids[pos] == value


def test_when_a_draft_pays() -> None:
    """Table 1 of arXiv 2211.17192, without the time of the draft, and the best lengths at a twentieth of a pass."""
    table = {(0.6, 2): 1.96, (0.7, 3): 2.53, (0.8, 2): 2.44, (0.8, 5): 3.69, (0.9, 2): 2.71, (0.9, 10): 6.86}
    assert {key: round(speculate.speed_up(*key, 0), 2) for key in table} == table
    assert [speculate.best_gamma(alpha, 0.05) for alpha in (0.5, 0.6, 0.7, 0.8, 0.9)] == [3, 4, 6, 8, 13]
    assert speculate.tokens_per_pass(1, 4) == 5
    some, more = speculate.best_gamma(0.3, 0.3), speculate.best_gamma(0.31, 0.3)
    assert some == 0 and more > 0  # some length pays where alpha is above c


def test_drafts_that_cannot_guess_are_refused() -> None:
    ids = DEEP.tokenizer.encode("em")
    for gamma in (0, -2):
        with pytest.raises(UserError, match=f"A draft of {gamma} tokens guesses nothing; choose 1 or more"):
            Speculation(DEEP, SmallModel(NAMES), ids, gamma)
    with pytest.raises(UserError, match="The draft has a vocabulary of .* Choose a draft with the same tokenizer"):
        Speculation(DEEP, SmallModel(STORIES), ids, 2)
