"""Tokenizer files that were made to harm, each with a text: what they ask for would take for ever, or all of memory.

`CASES` says no more of them than that every one must become ids, or a sentence, at once. Knows no test.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from microgpt.tokenizers.byte_alphabet import BYTES


class Case(NamedTuple):
    name: str
    file: Callable[[], str]
    text: str


ADDED = {"id": 0, **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)}
LETTERS = {letter: i for i, letter in enumerate(sorted(BYTES))}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
A = {"Sequence": {"id": "A", "type_id": 0}}


def file(**parts: Any) -> str:
    """A byte-level tokenizer of 256 letters, but for these parts."""
    model = {"type": "BPE", "vocab": LETTERS, "merges": []}
    plain: dict[str, Any] = {
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL,
        "post_processor": None,
    }
    return json.dumps({"version": "1.0", **plain, "decoder": None, "model": model, **parts})


def model(**fields: Any) -> str:
    return file(model={"type": "BPE", "vocab": LETTERS, "merges": []} | fields)


def replaced(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def cutting(pattern: str) -> str:
    return file(pre_tokenizer=split(pattern))


def sequence(name: str, *steps: Any) -> dict[str, Any]:
    return {"type": "Sequence", name: [*steps]}


def around(pieces: list[Any], ids: list[int]) -> dict[str, Any]:
    special = {"a": {"id": "a", "ids": ids, "tokens": ["a"] * len(ids)}}
    return {"type": "TemplateProcessing", "single": pieces, "pair": [], "special_tokens": special}


def added(*contents: str, **flags: bool) -> list[dict[str, Any]]:
    return [ADDED | {"content": content, "id": 256 + i} | flags for i, content in enumerate(contents)]


def doubling(rounds: int) -> str:
    """Merges that join as many letters as a word has: a a, aa aa, ..."""
    powers = ["a" * 2**i for i in range(rounds)]
    return model(
        vocab=LETTERS | {power: 300 + i for i, power in enumerate(powers[1:])},
        merges=[[power, power] for power in powers[:-1]],
    )


MORE = [replaced({"String": "a"}, "a" * 10)]
MARKED = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
SPECIAL = {"SpecialToken": {"id": "a", "type_id": 0}}
PATTERNS = {
    "a repetition repeated": "(a+)+$",
    "two of one kind": "(a|a)+$",
    "two that overlap": "(a|aa)+$",
    "a place between": r"(?:a+(?=a))+b",
    "nothing repeated": "(a*)*b",
    "nothing counted": "(a?){999}a{999}",
    "one behind the other": "a*a*a*a*a*a*b",
    "all behind the other": ".*" * 200 + "b",
    "counted and counted": "((a{1,9}){1,9}){1,9}b",
    "counted far": "(?:(?:(?:a{999}){999}){999}){999}",
    "more than there is": "a{9999999}",
    "of digits alone": "a{" + "9" * 5000 + "}",
    "in pairs": "(a+a+)+b",
    "lazy": "(a+?)+?b",
    "looked for ahead": "(?=(a+)+$)b",
    "looked for behind": "(?<=" + "a" * 1000 + ")b",
    "not given back": "(?:a|a)++b",
    "words and words": r"^(([a-z])+.)+[A-Z]([a-z])+$",
    "spaces at the end": r"(\s|a)+(\s|a)+(\s|a)+$",
    "many ways": "(" + "|".join(["a"] * 1000) + ")+b",
    "many classes": r"\p{L}?" * 300 + "b",
    "many open": "(" * 30 + "a" + ")+" * 30 + "b",
    "never closed": "(" * 5000,
    "all but one": r"[^\p{Lu}" + "".join(map(chr, range(0x4E00, 0x5200))) + "]" * 1,
}
LONG = "a" * 3000 + "!"
CASES = [
    *(Case(f"pattern: {name}", partial(cutting, rx), LONG) for name, rx in PATTERNS.items()),
    *(Case(f"pattern, short: {name}", partial(cutting, rx), "a" * 40 + "!") for name, rx in PATTERNS.items()),
    Case("pattern that replaces", lambda: file(normalizer=replaced({"Regex": "(a+)+$"}, "b")), LONG),
    Case("pattern, in every piece", lambda: file(pre_tokenizer=sequence(
        "pretokenizers", {"type": "Digits", "individual_digits": True}, *[split("(a+)+$")] * 30
    )), "aaaaaaaaaaaa1" * 300),
    Case("pattern of an added token", lambda: file(
        normalizer=replaced({"Regex": "(a+)+$"}, "b"), added_tokens=added("a" * 60 + "!", normalized=True)
    ), "a"),
    Case("pattern that is long", lambda: file(pre_tokenizer=split("a" * 1_000_000)), LONG),
    Case("replaced by more", lambda: file(normalizer=sequence("normalizers", *MORE * 9)), "a day"),
    Case("replaced by ever more", lambda: file(normalizer=sequence("normalizers", *MORE * 100)), "a day"),
    Case("replaced by much", lambda: file(normalizer=replaced({"String": "a"}, "b" * 1_000_000)), LONG),
    Case("letters in letters", lambda: file(pre_tokenizer=sequence("pretokenizers", *[BYTE_LEVEL] * 40)), "é" * 99),
    Case("a prefix", lambda: file(normalizer={"type": "Prepend", "prepend": "a" * 1_000_000}), "a"),
    Case("many prefixes", lambda: file(
        normalizer=sequence("normalizers", *[{"type": "Prepend", "prepend": "a" * 99}] * 50_000)
    ), "a"),
    Case("many marks", lambda: file(pre_tokenizer=sequence("pretokenizers", *[MARKED] * 50_000)), "a b " * 900),
    Case("many forms", lambda: file(normalizer=sequence("normalizers", *[{"type": "NFKD"}] * 50_000)), "é" * 3000),
    Case("one letter is eighteen", lambda: file(normalizer={"type": "NFKC"}), "\ufdfa" * 4000),
    Case("steps in steps", lambda: file(pre_tokenizer=None).replace(
        '"pre_tokenizer": null', '"pre_tokenizer": ' + '{"type": "Sequence", "pretokenizers": [' * 9999 + "]}" * 9999
    ), "a"),
    Case("a template of many", lambda: file(post_processor=around([A, *[SPECIAL] * 300_000], [0])), "a"),
    Case("a token of many", lambda: file(post_processor=around([A, SPECIAL], [0] * 300_000)), "a"),
    Case("many templates", lambda: file(
        post_processor=sequence("processors", *[around([SPECIAL, A, SPECIAL], [0] * 99)] * 9999)
    ), "a"),
    Case("a text many times", lambda: file(post_processor=around([A] * 300_000, [0])), "a"),
    Case("added tokens", lambda: file(added_tokens=added(*(f"<{i}>" for i in range(100_000)))), "<5>" * 1000),
    Case("added tokens of all lengths", lambda: file(added_tokens=added(*("a" * n + "b" for n in range(430)))), LONG),
    Case("added tokens that are long", lambda: file(added_tokens=added("a" * 10_000_000)), "a"),
    Case("added tokens to normalise", lambda: file(
        normalizer=sequence("normalizers", *[{"type": "NFKD"}] * 40),
        added_tokens=added(*(f"{i:04}" + "é" * 15 for i in range(5000)), normalized=True),
    ), "a"),
    Case("a long word", lambda: doubling(10), "a" * 4000),
    Case("a very long word", lambda: doubling(10), "a" * 100_000),
    Case("a text of ten million", file, "a" * 10_000_000),
    Case("halves of characters", file, "\ud800\udfff" * 100),
    Case("many merges", lambda: model(merges=[["a", "b"]] * 1_000_000), "ab"),
    Case("many tokens", lambda: model(vocab=LETTERS | {f"{i}": 256 + i for i in range(10, 1_000_000)}), "ab"),
    Case("a long token", lambda: model(vocab=LETTERS | {"a" * 10_000_000: 256}), "ab"),
    Case("many lists", lambda: '{"model": [' + "[]," * 9_000_000 + "0]}", "a"),
    Case("a word that is unknown", lambda: file(model={"type": "WordLevel", "vocab": {"a": 0}}), "b" * 4000),
    Case("no token for the unknown", lambda: file(
        model={"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[UNK]"}
    ), "b"),
    Case("read as more", lambda: file(decoder=sequence("decoders", *MORE * 100)), "a day"),
    Case("read by a pattern", lambda: file(
        decoder=sequence("decoders", {"type": "Fuse"}, replaced({"Regex": "(a+)+$"}, ""))
    ), LONG),
    Case("read without end", lambda: file(decoder={"type": "Strip", "content": "a", "start": 10**400, "stop": 10**9}),
         LONG),
    Case("cut and filled up", lambda: file(
        truncation={"direction": "Right", "max_length": 0, "strategy": "LongestFirst", "stride": 10**9},
        padding={"strategy": {"Fixed": 10**9}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                 "pad_type_id": 0, "pad_token": "a"},
    ), "a"),
]  # fmt: skip
