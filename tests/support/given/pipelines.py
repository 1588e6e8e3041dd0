"""Tokenizers of all kinds in use, as the tokenizers library makes and trains them, and texts for them."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import strategies as st

from microgpt.tokenizers.tokenizer_json import PlainTokenizer

tokenizers: Any = pytest.importorskip("tokenizers", reason="the library to compare with: pip install '.[checkpoints]'")
decoders, models, normalizers = tokenizers.decoders, tokenizers.models, tokenizers.normalizers
pre, processors, trainers = tokenizers.pre_tokenizers, tokenizers.processors, tokenizers.trainers

TEXTS = [
    "the next day is bright and the sun is warm.",
    "the next night was dark, and the moon was cold!",
    "She's 27 years old; they've 1234 apples, 5.5 pears and no (real) plums.",
    "déjà vu, naïve café — über allen",
    "Москва слезам не верит",
    "天地玄黃 宇宙洪荒",
    "مرحبا بالعالم",
    "  two  spaces\n\nand\tlines\r\n",
    "👩‍👩‍👧 ½ ² ①",
] * 3
LLAMA3_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_WORDS = LLAMA3_WORDS.replace(r"\p{N}{1,3}", r"\p{N}")


def byte_level_bpe(cut: Any, **options: Any) -> Any:
    made = tokenizers.Tokenizer(models.BPE(**options))
    made.pre_tokenizer, made.decoder = cut, decoders.ByteLevel()
    alphabet = pre.ByteLevel.alphabet()
    made.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False))
    return made


def gpt2() -> Any:
    made = byte_level_bpe(pre.ByteLevel(add_prefix_space=False))
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    made.add_special_tokens(["<|endoftext|>"])
    return made


def gpt2_with_a_space_in_front() -> Any:
    return byte_level_bpe(pre.ByteLevel(add_prefix_space=True))


def smollm2() -> Any:
    made = byte_level_bpe(pre.Sequence([pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False)]))
    made.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    return made


def split_by(words: str, **options: Any) -> Any:
    split = pre.Split(tokenizers.Regex(words), behavior="isolated", invert=False)
    return byte_level_bpe(pre.Sequence([split, pre.ByteLevel(add_prefix_space=False, use_regex=False)]), **options)


def llama3() -> Any:
    made = split_by(LLAMA3_WORDS, ignore_merges=True)
    made.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>"])
    start = made.token_to_id("<|begin_of_text|>")
    template = processors.TemplateProcessing(
        single="<|begin_of_text|> $A",
        pair="<|begin_of_text|> $A <|begin_of_text|> $B",
        special_tokens=[("<|begin_of_text|>", start)],
    )
    made.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    return made


def qwen() -> Any:
    made = split_by(QWEN_WORDS)
    made.normalizer = normalizers.NFC()
    made.add_special_tokens(["<|endoftext|>"])
    made.add_tokens([tokenizers.AddedToken("<tool_call>", normalized=False)])
    return made


def with_bytes(made: Any) -> Any:
    """Trained, then given the tokens of all bytes, as SentencePiece's files have them."""
    made.train_from_iterator(
        TEXTS, trainers.BpeTrainer(vocab_size=200, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False)
    )
    about = json.loads(made.to_str())
    vocab = about["model"]["vocab"]
    for byte in range(256):
        vocab[f"<0x{byte:02X}>"] = len(vocab)
    about["model"] |= {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}
    special = [("<s>", vocab["<s>"])]
    made = tokenizers.Tokenizer.from_str(json.dumps(about))
    made.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=special)
    return made


def llama2() -> Any:
    made = tokenizers.Tokenizer(models.BPE(fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return with_bytes(made)


def mistral(scheme: str, split: bool) -> Any:
    made = tokenizers.Tokenizer(models.BPE(fuse_unk=True))
    made.pre_tokenizer = pre.Metaspace(replacement="▁", prepend_scheme=scheme, split=split)
    made.decoder = decoders.Sequence(
        [decoders.Metaspace(replacement="▁", prepend_scheme=scheme), decoders.ByteFallback(), decoders.Fuse()]
    )
    return with_bytes(made)


def words(cut: Any) -> Any:
    made = tokenizers.Tokenizer(models.WordLevel(unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.Lowercase(), cut
    made.train_from_iterator(TEXTS, trainers.WordLevelTrainer(special_tokens=["[UNK]"], show_progress=False))
    return made


KINDS: dict[str, Callable[[], Any]] = {
    "gpt2": gpt2,
    "gpt2, space": gpt2_with_a_space_in_front,
    "smollm2": smollm2,
    "llama2": llama2,
    "llama3": llama3,
    "qwen": qwen,
    "mistral, first": lambda: mistral("first", False),
    "mistral, always": lambda: mistral("always", True),
    "mistral, never": lambda: mistral("never", True),
    "words": lambda: words(pre.Whitespace()),
    "words by spaces": lambda: words(pre.WhitespaceSplit()),
}


@cache
def theirs(kind: str) -> Any:
    return KINDS[kind]()


@cache
def both(kind: str) -> tuple[Any, PlainTokenizer]:
    return theirs(kind), PlainTokenizer(theirs(kind).to_str())


# letters, marks and signs that have been in Unicode for long: the two sides may know different versions of it
AGED = st.characters(max_codepoint=0x1FFFF, exclude_categories=["Cs", "Cn", "Co"]).filter(
    lambda c: ord(c) < 0x590 or 0x3040 <= ord(c) < 0x3090 or 0x4E00 <= ord(c) < 0x9FA6 or c in "٣أبּ½²①Ⅷ\u200d\ufeff👩🦆"
)
SOME = st.lists(
    st.one_of(
        st.sampled_from(
            [*TEXTS, " ", "  ", "\n", "\r\n", "\t", "\x1c", "\x85", "\u3000", "'s", "'LL", "<|endoftext|>"]
        ),
        st.sampled_from(["<s>", "<tool_call>", "▁", "Ġ", "[UNK]", "12345", "e\u0301", "ﬁ", "👩‍👩‍👧", "ſ", "K"]),
        st.text(AGED, max_size=8),
    ),
    max_size=6,
).map("".join)


def change(kind: str, **parts: Any) -> str:
    """The file of that kind with other parts: at once, as modules make many of them when they are loaded."""
    return json.dumps(json.loads(theirs(kind).to_str()) | parts)
