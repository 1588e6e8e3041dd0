"""A tokenizer.json in plain Python gives what the tokenizers library gives, for every pipeline in use."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from microgpt.errors import UserError
from microgpt.tokenizers.tokenizer_json import PlainTokenizer
from tests.support.examples import examples
from tests.support.given.pipelines import KINDS, SOME, both, change, tokenizers

decoders, models, normalizers = tokenizers.decoders, tokenizers.models, tokenizers.normalizers
pre, processors, trainers = tokenizers.pre_tokenizers, tokenizers.processors, tokenizers.trainers


@pytest.mark.parametrize("kind", KINDS)
@given(text=SOME)
@example(text="")
@example(text="a" * 40)
@settings(max_examples=examples(150))
def test_ids_and_texts_are_those_of_the_library(kind: str, text: str) -> None:
    library, plain = both(kind)
    for special in (True, False):
        ids = library.encode(text, add_special_tokens=special).ids
        assert plain.encode(text, add_special_tokens=special) == ids
        for skip in (True, False):
            assert plain.decode(ids, skip) == library.decode(ids, skip_special_tokens=skip)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=examples(50))
def test_any_tokens_read_as_they_do_there(kind: str, data: st.DataObject) -> None:
    """What a model writes may be no whole characters."""
    library, plain = both(kind)
    vocab = library.get_vocab(with_added_tokens=True)
    assert plain.get_vocab() == vocab
    ids = data.draw(st.lists(st.sampled_from(sorted(vocab.values())), max_size=12))
    assert plain.decode(ids) == library.decode(ids, skip_special_tokens=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "tokenizer.json cannot be read"),
        ("[]", "tokenizer.json cannot be read"),
        ('{"model": 5}', "tokenizer.json cannot be read"),
        ("[" * 100_000, "tokenizer.json cannot be read"),
        (change("gpt2", model={"type": "Unigram", "vocab": []}), "“Unigram”, which cannot be done here. What can: BPE"),
        (change("gpt2", model={"type": "WordPiece", "vocab": {}}), "“WordPiece”"),
        (change("gpt2", pre_tokenizer={"type": "UnicodeScripts"}), "“UnicodeScripts”"),
        (change("gpt2", normalizer={"type": "BertNormalizer"}), "“BertNormalizer”"),
        (change("gpt2", post_processor={"type": "BertProcessing"}), "“BertProcessing”"),
        (change("gpt2", decoder={"type": "CTC"}), "“CTC”"),
    ],
)
def test_what_cannot_be_followed_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        PlainTokenizer(text)
    assert said in str(caught.value)


def test_a_character_without_a_token_is_named() -> None:
    vocab = {"a": 0, "b": 1}
    plain = PlainTokenizer(json.dumps({"model": {"type": "BPE", "vocab": vocab, "merges": []}}))
    assert plain.encode("ab") == [0, 1]
    with pytest.raises(UserError, match="no token for “c”"):
        plain.encode("abc")


def test_half_a_character_is_a_question_mark() -> None:
    assert both("gpt2")[1].encode("\ud800") == both("gpt2")[1].encode("?")


@pytest.mark.parametrize("ignore_merges", [True, False])
def test_a_word_that_is_a_token_need_not_be_joined(ignore_merges: bool) -> None:
    """Llama 3's; without that, a token that no merge leads to is never found."""
    vocab = {"a": 0, "b": 1, "ab": 2, "abb": 3}
    library = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=[("a", "b")], ignore_merges=ignore_merges))
    ids = [3] if ignore_merges else [2, 1]
    assert library.encode("abb").ids == PlainTokenizer(library.to_str()).encode("abb") == ids
