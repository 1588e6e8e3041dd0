"""Text to ids and back; what is not known is named, with its place and with what is known."""

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microgpt.errors import UserError
from microgpt.tokenizer import START, CharTokenizer, WordTokenizer, ranges

LETTERS = CharTokenizer([*string.ascii_lowercase, START])
WORDS = WordTokenizer([",", ".", "day", "don't", "ice-cream", "is", "next", "the", "umbrella", "été", START])


@given(st.text(string.ascii_lowercase))
def test_letters_come_back(text: str) -> None:
    ids = LETTERS.encode(text)
    assert ids[0] == LETTERS.start == 26 and len(ids) == len(text) + 1
    assert LETTERS.decode(ids) == text


@given(st.lists(st.sampled_from(WORDS.vocabulary[2:-1])))
def test_words_come_back(words: list[str]) -> None:
    ids = WORDS.encode(" ".join(words))
    assert [WORDS.vocabulary[i] for i in ids[1:]] == words
    assert WORDS.decode(ids) == " ".join(words)


def test_punctuation_is_a_token_and_sits_close_again() -> None:
    ids = WORDS.encode("The next , day.")
    assert [WORDS.vocabulary[i] for i in ids] == [START, "the", "next", ",", "day", "."]
    assert WORDS.decode(ids) == "the next, day."


def test_case_space_apostrophes_hyphens_and_accents() -> None:
    assert WORDS.encode("  THE\n\tday ") == WORDS.encode("the day")
    assert len(WORDS.encode("don't ice-cream Été")) == 4
    assert LETTERS.encode(" emma\n") == LETTERS.encode("emma")


@given(st.text(max_size=20))
def test_any_text_is_encoded_or_refused_with_a_sentence(text: str) -> None:
    for tokenizer in (LETTERS, WORDS):
        try:
            ids = tokenizer.encode(text)
        except UserError as error:
            piece = str(error.fields["piece"])
            assert piece in str(error) and piece not in tokenizer.ids
            position = error.fields["position"]
            assert isinstance(position, int) and tokenizer.split(text)[position - 1] == piece
        else:
            assert all(0 <= i < len(tokenizer.vocabulary) - 1 for i in ids[1:])


@given(st.characters())
def test_an_unknown_character_is_named_with_its_place(character: str) -> None:
    assume(character not in string.ascii_lowercase and not character.isspace())
    with pytest.raises(UserError) as caught:
        LETTERS.encode(f"ab{character}c")
    assert caught.value.fields == {"piece": character, "position": 3, "known": "a–z"}


def test_an_unknown_word_is_named_with_near_ones() -> None:
    with pytest.raises(UserError, match=r"“umbrela” \(number 2 of the text\).* 10 words, among them umbrella"):
        WORDS.encode("the umbrela")
    with pytest.raises(UserError, match="among them ,, ., day"):  # nothing near: some that it does know
        WORDS.encode("xylophone")


@pytest.mark.parametrize("tokenizer", [LETTERS, WORDS])
def test_the_start_token_cannot_be_written(tokenizer: CharTokenizer) -> None:
    with pytest.raises(UserError):
        tokenizer.encode(START)
    assert tokenizer.encode("") == [tokenizer.start]
    assert tokenizer.decode([tokenizer.start, 2, tokenizer.start]) == tokenizer.vocabulary[2]


def test_ranges_are_short_and_complete() -> None:
    assert ranges("abcx") == "a–c, x"
    assert ranges("x") == "x"
    assert ranges("") == ""
    assert ranges("ba") == "a–b"
