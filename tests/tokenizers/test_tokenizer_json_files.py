"""What a tokenizer.json may ask for beside the pipelines in use: the library's ids, or a sentence."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.errors import UserError
from microgpt.files import parse_json
from microgpt.tokenizers.tokenizer_json import PlainTokenizer
from tests.support.examples import examples
from tests.support.given.pipelines import KINDS, LLAMA3_WORDS, SOME, both, change, theirs, tokenizers

NFC, LOWER = {"type": "NFC"}, {"type": "Lowercase"}
A, B = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")


def token(i: Any, content: str, **flags: bool) -> dict[str, Any]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": i, "content": content} | plain | flags


def added(kind: str, *tokens: dict[str, Any], **parts: Any) -> str:
    about = json.loads(theirs(kind).to_str())
    return json.dumps(about | {"added_tokens": [*about["added_tokens"], *tokens]} | parts)


def model(kind: str, **fields: Any) -> str:
    return change(kind, model=json.loads(theirs(kind).to_str())["model"] | fields)


def replaced(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def metaspace(scheme: str, **more: bool) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True} | more


def compare(file: str, *texts: str) -> list[list[int]]:
    """The ids of both, and what they read, are the same. Raises UserError where ours refuses."""
    ours, library = PlainTokenizer(file), tokenizers.Tokenizer.from_str(file)
    if getattr(library.model, "dropout", None) is not None:
        library.model.dropout = None
    assert ours.get_vocab() == library.get_vocab()
    for text in texts:
        for special in (True, False):
            ids = library.encode(text, add_special_tokens=special).ids
            assert ours.encode(text, special) == ids, text
            for skip in (True, False):
                assert ours.decode(ids, skip) == library.decode(ids, skip_special_tokens=skip), text
    return [ours.encode(text) for text in texts]


# ---- added tokens ---------------------------------------------------------------------------------


def test_added_tokens_are_normalised_where_they_say_so() -> None:
    """Then a token is found, and read, as it is in a normalised text."""
    lower = added("gpt2", token(401, "<|THE|>", normalized=True, special=True), normalizer=LOWER)
    [first, second, third] = compare(lower, "a <|THE|>", "a<|the|>b", "<|The|>")
    assert first[-1] == second[1] == third[0] == 401 and PlainTokenizer(lower).decode([401]) == "<|the|>"
    assert compare(added("gpt2", token(401, "ﬁ", normalized=True), normalizer={"type": "NFKC"}), "fi", "aﬁ")[0] == [401]
    kept = added("gpt2", token(401, "<|THE|>"), normalizer=LOWER)
    assert compare(kept, "<|THE|>", "<|the|>")[0] == [401]
    compare(added("llama2", token(456, "<t>", normalized=True, special=True)), "<t>", "a <t>", "▁<t> a")


def test_added_tokens_have_the_ids_that_the_library_counts() -> None:
    assert compare(added("gpt2", token(1000, "<a>"), token(7, "<b>")), "<a><b>") == [[401, 402]]
    the = both("gpt2")[0].token_to_id("the")
    assert compare(added("gpt2", token(0, "the")), "the<|endoftext|>") == [[the, 400]]
    compare(added("gpt2", token(401, ""), token(402, "<a>")), "<a>", "")
    longer = added("gpt2", token(401, "<a>"), token(402, "<a><b>"))  # of two that begin alike the longer one
    assert compare(longer, "<a><b>", "<a>b")[0] == [402]
    compare(json.dumps({"model": {"type": "BPE", "vocab": {}, "merges": []}, "added_tokens": [token(3, "a")]}), "aa")
    holes = {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 9}, "merges": []}
    compare(json.dumps({"model": holes, "added_tokens": [token(3, "ab"), token(4, "c"), token(5, "d")]}), "abcd")


@pytest.mark.parametrize("i", [float("inf"), float("nan"), -1, 1.5, True, "5", None, [5], 2**32, 10**400])
def test_an_id_is_a_whole_number(i: Any) -> None:
    said = "must be a whole number from 0 to 4,294,967,295. Fetch it anew."
    special = {"x": {"id": "x", "ids": [i], "tokens": ["x"]}}
    around = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x", "type_id": 0}}, A], "pair": []}
    for file, name in (
        (added("gpt2", token(i, "<a>")), "<a>"),
        (model("gpt2", vocab={"a": i}, merges=[]), "a"),
        (change("gpt2", post_processor=around | {"special_tokens": special}), "x"),
    ):
        with pytest.raises(UserError) as caught:
            PlainTokenizer(file)
        read = json.dumps(parse_json(json.dumps(i)))[:40]  # a number of 401 digits is read as a rounded one
        assert said in str(caught.value) and f"the token “{name}” the id {read};" in str(caught.value)


# ---- the model ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gpt2", "llama3", "words"])
def test_dropout_is_for_training(kind: str) -> None:
    for share in (None, 0.0, 0.5, 1.0):
        file = json.loads(both(kind)[0].to_str())
        if kind != "words":
            file["model"]["dropout"] = share
        text = "the next day is bright"
        assert compare(json.dumps(file), text) == [both(kind)[0].encode(text).ids]


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("unknown", [None, "<unk>", "a"])
def test_letters_without_a_token_between_those_of_bytes(fused: bool, unknown: str | None) -> None:
    """Where only some bytes have tokens, the library puts what is unknown behind them."""
    vocab: dict[str, int] = json.loads(both("llama2")[0].to_str())["model"]["vocab"]
    some = {name: i for name, i in vocab.items() if not name.startswith(("<0xC", "<0xF"))}
    file = model("llama2", vocab=some, unk_token=unknown, fuse_unk=fused)
    texts = ["Σ`", "aΣΣ`👍b", "Σ👍", "`Σ`"]
    if unknown:
        compare(file, *texts)
    else:
        with pytest.raises(UserError, match="no token for “Σ”"):
            PlainTokenizer(file).encode("Σ`")


def test_a_token_for_the_unknown_that_there_is_not_matters_only_where_it_is_needed() -> None:
    file = model("gpt2", unk_token="<x>")
    compare(file, "the next day is bright")
    vocab: dict[str, int] = json.loads(file)["model"]["vocab"]
    part = json.loads(model("gpt2", vocab={"a": vocab["a"]}, merges=[], unk_token="<x>"))
    part["added_tokens"] = []
    with pytest.raises(UserError, match="no token for “b”"):
        PlainTokenizer(json.dumps(part)).encode("ab")


def test_merges_as_older_files_write_them() -> None:
    pairs = json.loads(both("gpt2")[0].to_str())["model"]["merges"]
    compare(model("gpt2", merges=["#version: 0.2", *map(" ".join, pairs)]), "the next day")
    compare(model("gpt2", merges=[*pairs[::-1], pairs[0]]), "the next day")


def test_lowercase_is_letter_by_letter() -> None:
    compare(change("gpt2", normalizer=LOWER), "ΟΔΟΣ", "ΟΔΟΣ ΟΔΟΣ.", "İSTANBUL", "ẞß ǅ")


# ---- what is refused ------------------------------------------------------------------------------

REFUSED = {
    "no such token": (model("gpt2", merges=[["t", "zzz"]]), "joins “t” and “zzz”, but its vocabulary has no “zzz”."),
    "no result": (model("gpt2", merges=["q q"]), "joins “q” and “q”, but its vocabulary has no “qq”."),
    "no pair": (model("gpt2", merges=["a  b"]), "tokenizer.json cannot be read (ValueError"),
    "two of an id": (model("words", vocab={"a": 0, "b": 0}), "gives the id 0 to two tokens, “a” and “b”."),
    "two of a name": (added("gpt2", token(401, "<a>"), token(402, "<a>", special=True)), "adds two tokens “<a>”."),
    "two that read alike": (
        added("gpt2", token(401, "A", normalized=True), token(402, "a", normalized=True), normalizer=LOWER),
        "adds two tokens “a”. Fetch it anew.",
    ),
    "nothing is left": (
        added("gpt2", token(401, "!", normalized=True), normalizer=replaced({"String": "!"}, "")),
        "asks for “normalized”",
    ),
    "not a yes or no": (change("gpt2", added_tokens=[token(400, "a") | {"special": 1}]), "(TypeError: special is 1)"),
    "half a character": (model("gpt2", vocab={"\ud800": 0}, merges=[]), "cannot be read (UnicodeEncodeError"),
    "half a one in front": (change("gpt2", normalizer={"type": "Prepend", "prepend": "\ud800"}), "cannot be read"),
    "nothing in front": (change("gpt2", normalizer={"type": "Prepend", "prepend": ""}), "asks for “Prepend “””"),
    "a sequence of nothing": (change("gpt2", normalizer={"type": "Sequence"}), "cannot be read (IndexError"),
    "no text": (change("gpt2", post_processor={"type": "TemplateProcessing", "single": []}), "“$A × 0”"),
    "two texts": (change("gpt2", post_processor={"type": "TemplateProcessing", "single": [A, A]}), "“$A × 2”"),
    "the other text": (change("gpt2", post_processor={"type": "TemplateProcessing", "single": [B]}), "“$B”"),
    "no mark": (change("gpt2", pre_tokenizer=metaspace("never") | {"replacement": ""}), "replacement is ''"),
    "both schemes": (change("gpt2", pre_tokenizer=metaspace("first", add_prefix_space=False)), "“add_prefix_space”"),
    "no scheme": (change("gpt2", pre_tokenizer=metaspace("last")), "“last”"),
    "first of what": (change("gpt2", normalizer=LOWER, pre_tokenizer=metaspace("first")), "“Lowercase + prep"),
    "first after": (
        change("gpt2", pre_tokenizer={"type": "Sequence", "steps": [{"type": "Whitespace"}, metaspace("first")]}),
        "“Whitespace + prepend_scheme: first”",
    ),
    "a strip of letters": (
        change("gpt2", decoder={"type": "Strip", "content": "ab", "start": 1, "stop": 0}),
        "cannot be read (ValueError: Strip",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_unclear_is_refused(case: str) -> None:
    file, said = REFUSED[case]
    with pytest.raises(UserError) as caught:
        PlainTokenizer(file)
    assert said in str(caught.value)
    assert str(caught.value).count("tokenizer.json") == 1


@pytest.mark.parametrize("pattern", [{"String": ""}, {"Regex": "x*"}, {"Regex": "(?=e)"}])
def test_nothing_cannot_be_replaced(pattern: dict[str, str]) -> None:
    plain = PlainTokenizer(change("gpt2", normalizer=replaced(pattern, "-")))
    with pytest.raises(UserError, match="asks for “Replace “””"):
        plain.encode("the")
    assert plain.encode("") == []


# ---- any file -------------------------------------------------------------------------------------

WORDS = ["the", " ", "▁", "e", "x", "  ", "12", "é", "ﬁ", "<|THE|>", "<|the|>", "the next", " the", "ΟΔΟΣ", "<s>"]
REGEXES = [r"\s+", r"\p{N}{1,3}+", "day$|^the", LLAMA3_WORDS, r"[^\S\n]+", "(?=e)"]
PATTERN = st.one_of(
    st.sampled_from(WORDS).map(lambda word: {"String": word}), st.sampled_from(REGEXES).map(lambda rx: {"Regex": rx})
)
NORMALIZER = st.one_of(
    st.sampled_from(["NFC", "NFD", "NFKC", "NFKD", "Lowercase"]).map(lambda kind: {"type": kind}),
    st.builds(replaced, PATTERN, st.sampled_from(["", "x", " ", "\\1$1"])),
    st.sampled_from(["▁", "e "]).map(lambda text: {"type": "Prepend", "prepend": text}),
)
CUT = st.one_of(
    st.builds(
        lambda space, words: {"type": "ByteLevel", "add_prefix_space": space, "trim_offsets": True, "use_regex": words},
        st.booleans(),
        st.booleans(),
    ),
    st.builds(
        lambda scheme, split: metaspace(scheme, split=split),
        st.sampled_from(["always", "first", "never"]),
        st.booleans(),
    ),
    st.booleans().map(lambda each: {"type": "Digits", "individual_digits": each}),
    st.sampled_from([{"type": "Whitespace"}, {"type": "WhitespaceSplit"}]),
    st.builds(
        lambda pattern, how, invert: {"type": "Split", "pattern": pattern, "behavior": how, "invert": invert},
        PATTERN,
        st.sampled_from(["Isolated", "Removed"]),
        st.booleans(),
    ),
)
TOKENS = st.lists(
    st.builds(
        lambda text, normal, special: token(5, text, normalized=normal, special=special),
        st.sampled_from(WORDS),
        st.booleans(),
        st.booleans(),
    ),
    max_size=3,
    unique_by=lambda token: token["content"],
)


@given(
    kind=st.sampled_from(sorted(KINDS)),
    normal=st.none() | st.lists(NORMALIZER, max_size=2),
    cuts=st.none() | st.lists(CUT, max_size=2),
    tokens=TOKENS,
    texts=st.lists(SOME, max_size=3),
)
@settings(max_examples=examples(400), deadline=None)
def test_any_file_is_followed_or_refused(
    kind: str, normal: list[Any] | None, cuts: list[Any] | None, tokens: list[Any], texts: list[str]
) -> None:
    parts: dict[str, Any] = {}
    if normal is not None:
        parts["normalizer"] = {"type": "Sequence", "normalizers": normal}
    if cuts is not None:
        parts["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": cuts}
    try:
        compare(added(kind, *tokens, **parts), *texts)
    except UserError:
        pass  # a sentence
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # where the library itself breaks, there is nothing to compare
            raise
        ours = PlainTokenizer(added(kind, *tokens, **parts))
        assert all(isinstance(ours.decode(ours.encode(text)), str) for text in texts)
