"""Words that ask the same rows: each sees what it would see in a text of its own, and the rows stay as they are."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.config import Config
from microgpt.errors import UserError
from microgpt.experiments.referring import DIGITS, SENTENCES, Sentence, ask, cross_validate, margins, measure
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.weights import Model, shipped
from tests.support.examples import examples
from tests.support.strategies import Case, assert_close, configs, model_of

LETTERS = st.text("012345", min_size=1, max_size=5)


@st.composite
def models(draw: st.DrawFn) -> Model:
    """With random weights and tokens 0 to 5."""
    config: Config = replace(draw(configs(n_ctx=10)), vocab_size=7, window=0, window_from=0)
    return model_of(Case(config, draw(st.integers(0, 2**32 - 1)), []))


@given(models(), LETTERS, st.sets(st.sampled_from("012345"), min_size=1))
@settings(max_examples=examples(60))
def test_each_word_sees_what_it_would_see_in_a_text_of_its_own(model: Model, text: str, words: set[str]) -> None:
    found = ask(model, Sentence(text, (), dict.fromkeys(sorted(words), "")))
    n, c = len(found.tokens), model.config
    for word in words:
        trace, ids = Trace(), model.tokenizer.encode(text + word)
        forward(model.params, c, ids, KVCache(c), trace.keep)
        assert len(ids) == n + 1
        for layer in range(c.n_layer):
            assert_close(found.weights[word][layer], trace["attn_weights", 0, layer][:, n], 1e-9)
            assert_close(found.q[word][layer], trace["q", 0, layer][n], 1e-9)
            assert_close(found.own[word][layer], trace["k", 0, layer][n], 1e-9)
            assert_close(found.keys[layer], trace["k", 0, layer][:n].swapaxes(0, 1), 1e-9)


@given(models())
@settings(max_examples=examples(20))
def test_the_chosen_head_prefers_the_right_noun_most(model: Model) -> None:
    """And its weights follow from the keys and queries of the record."""
    sentences = [Sentence("0123", ("1", "2", "3"), {"4": "2", "5": ""}), Sentence("203", ("2", "0"), {"4": "0"})]
    told = measure(model, sentences)
    assert json.loads(json.dumps(told)) == told
    best, by_hand = (told["layer"], told["head"]), np.zeros((2, model.config.n_layer, model.config.n_head))
    for at, (text, noun, others) in enumerate((("0123", "2", "13"), ("203", "0", "2"))):
        weights = ask(model, Sentence(text, (), {"4": ""})).weights["4"]
        tokens = ask(model, Sentence(text, (), {"4": ""})).tokens
        by_hand[at] = weights[..., tokens.index(noun)]
        by_hand[at] -= np.max([weights[..., tokens.index(other)] for other in others], axis=0)
    assert_close(margins(told["sentences"]), by_hand, 2.1 * 10.0**-DIGITS)
    heads, right = cross_validate(told["sentences"])  # each judges what the other has chosen
    for one, other, chosen in zip(by_hand, by_hand[::-1], heads, strict=True):
        assert other[chosen] >= other.max() - 2.1 * 10.0**-DIGITS
        assert right <= 2 and (one[chosen] > 2.1 * 10.0**-DIGITS or right < 2)
    mean = by_hand.mean(axis=0)
    assert mean[best] >= mean.max() - 2.1 * 10.0**-DIGITS
    for word in told["sentences"][0]["words"]:
        rows = np.array([*told["keys"], word["k"]])
        scores = rows @ np.array(word["q"]) * (model.config.attn_scale or model.config.head_dim**-0.5)
        e = np.exp(scores - scores.max())
        size = 1 + np.abs(rows).max() * np.abs(word["q"]).max() * model.config.head_dim
        assert np.abs(e / e.sum() - word["weights"]).max() < 10.0**-DIGITS * (2 + np.abs(scores).max() + size)


def test_a_word_of_several_tokens_is_refused() -> None:
    with pytest.raises(UserError, match="“ma” is 2 tokens to this model"):
        ask(shipped("names"), Sentence("em", (), {"ma": ""}))


def test_every_noun_stands_in_its_sentence_once_before_the_word() -> None:
    for one in SENTENCES:
        for noun in one.nouns:
            assert one.text.count(noun) == 1
        assert {noun for noun in one.words.values() if noun} == set(one.nouns), "each is asked for"
        assert len(set(filter(None, one.words.values()))) == sum(map(bool, one.words.values()))
