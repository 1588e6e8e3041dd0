"""A tokenizer.json may say anything: what comes of it is ids and a text, the library's own, or a sentence, at once."""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.architectures.facts import facts_of
from microgpt.checkpoints.tokenizer import read_tokenizer
from microgpt.errors import UserError
from microgpt.tokenizers.checkpoint_tokenizer import CheckpointTokenizer
from microgpt.tokenizers.tokenizer_json import PlainTokenizer
from tests.support.checkpoints import GPT2
from tests.support.examples import examples
from tests.support.given.pipelines import KINDS, both, tokenizers
from tests.support.hostile_tokenizers import CASES, PATTERNS, Case, doubling
from tests.support.memory import at_most
from tests.support.sampled import sampled

SECONDS, BYTES = 5, 150_000_000  # of work, on a machine that may be slow; and of memory
FACTS = facts_of(json.dumps(GPT2 | {"vocab_size": 500}))
TEXTS = [
    "",
    "the next day is bright",
    " The  day\r\n",
    "👩‍👩‍👧 e\u0301 ½ ﷺ",
    "x" * 300,
    "\ud800a\udfff",
    "<|endoftext|><s>12345",
    "\x00\x1c\ufeff\u202e",
    "Москва 天地",
    "▁▁Ġ",
]


def sentence(call: Any, *values: Any) -> Any:
    """What comes of it, or the sentence. Nothing else may leave."""
    try:
        return call(*values)
    except UserError as error:
        assert len(str(error)) < 600 and str(error).endswith(".")
        return error


# of cases that end where others do, these; and of the texts so short that a pattern may come to its end, two
BY_NIGHT = {
    *("many tokens", "added tokens that are long", "a token of many", "a text many times", "pattern of an added token"),
    *("pattern that replaces", "read by a pattern", "a long token", "pattern, short: in pairs"),
    *(f"pattern: {name}" for name in (
        "two of one kind", "two that overlap", "a place between", "one behind the other", "all behind the other",
        "counted and counted", "not given back", "words and words", "many classes", "many open", "in pairs",
        "looked for ahead", "looked for behind", "spaces at the end", "lazy",
    )),
    *(f"pattern, short: {name}" for name in PATTERNS if name not in ("in pairs", "many ways")),
}  # fmt: skip
BY_DAY = [case for case in CASES if case.name not in BY_NIGHT]


@pytest.mark.slow("ends what goes on for ever, by both readers")
@pytest.mark.parametrize("case", sampled(CASES, BY_DAY, "end where others do"), ids=lambda case: case.name)
def test_what_would_take_for_ever_or_all_of_memory_ends_at_once(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """And the library is asked for no more than it can do: else it panics, or fills memory, or writes of its own."""
    file = case.file()
    begun = time.process_time()
    with at_most(BYTES):
        plain = sentence(PlainTokenizer, file)
        if isinstance(plain, PlainTokenizer):
            encoded = sentence(plain.encode, case.text)
            if not isinstance(encoded, UserError):
                sentence(plain.decode, encoded)
    assert time.process_time() - begun < SECONDS
    (tmp_path / "tokenizer.json").write_text(file, "utf-8")
    begun = time.process_time()
    tokenizer = sentence(read_tokenizer, tmp_path, FACTS)
    if isinstance(tokenizer, CheckpointTokenizer):
        sentence(lambda: tokenizer.decode(tokenizer.encode(case.text[:10_000])))
    assert time.process_time() - begun < 4 * SECONDS
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("n", [7, 512, 3999])
def test_the_letters_of_a_long_word_are_joined_as_the_library_joins_them(n: int) -> None:
    library, plain = tokenizers.Tokenizer.from_str(doubling(10)), PlainTokenizer(doubling(10))
    text = "".join(random.Random(n).choices("aaaab", k=n)) if n < 3999 else "a" * n
    assert plain.encode(text) == library.encode(text).ids


# ---- any file -------------------------------------------------------------------------------------

NUMBERS = [0, 1, -1, 255, 400, 2**31, 2**32, 2**64, 10**400, 0.5, -0.0, 1e308, float("inf"), float("nan")]
WORDS = ["", "a", " ", "▁", "ab", "<s>", "[UNK]", "A", "Isolated", "Removed", "first", "never", "ByteLevel", "Replace",
         "Sequence", "WordLevel", "BPE", "\ud800", "👩", r"\s+", "(a+)+", "("]  # fmt: skip
LEAF = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(WORDS))
ANY = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "id", "content", "pattern", "String", "Regex", *WORDS[:8]]), inner, max_size=3
        ),
    ),
    max_leaves=5,
)
FLAG = st.fixed_dictionaries(
    {
        "id": st.sampled_from([0, 5, 400, 2**33]),
        "content": st.sampled_from(WORDS),
        **{name: st.booleans() for name in ("single_word", "lstrip", "rstrip", "normalized", "special")},
    }
)
STEP = st.one_of(
    st.sampled_from(
        (
            "NFC NFKC Lowercase ByteLevel Fuse ByteFallback Whitespace Strip Metaspace Digits Precompiled Nmt "
            "BPEDecoder"
        ).split()
    ).map(lambda kind: {"type": kind}),
    st.builds(
        lambda pattern, content: {"type": "Replace", "pattern": pattern, "content": content},
        st.builds(lambda kind, text: {kind: text}, st.sampled_from(["String", "Regex"]), st.sampled_from(WORDS)),
        st.sampled_from(WORDS),
    ),
    st.sampled_from(WORDS).map(lambda text: {"type": "Prepend", "prepend": text}),
    st.builds(
        lambda text, n: {"type": "Strip", "content": text, "start": n, "stop": n},
        st.sampled_from(WORDS),
        st.sampled_from(NUMBERS),
    ),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a file; of what there are many, the first few."""
    inner = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, held in inner[:12]:
        yield (*at, key)
        yield from places(held, (*at, key))


def changed(kind: str, data: st.DataObject) -> str:
    """The file of a pipeline in use, with one to three changes."""
    about = json.loads(both(kind)[0].to_str())
    for _ in range(data.draw(st.integers(1, 3))):
        where = sorted(places(about), key=str)
        *way, last = data.draw(st.sampled_from(where))
        held: Any = about
        for key in way:
            held = held[key]
        how = data.draw(st.sampled_from(["drop", "any", "any", "leaf", "swap", "step", "token"]))
        if how == "drop":
            del held[last]
        elif how == "swap":
            other: Any = about
            for key in data.draw(st.sampled_from(where)):
                other = other[key]
            held[last] = json.loads(json.dumps(other))
        else:
            held[last] = data.draw({"any": ANY, "leaf": LEAF, "step": STEP, "token": FLAG}[how])
    return json.dumps(about)


@given(kind=st.sampled_from(sorted(KINDS)), data=st.data())
@settings(max_examples=examples(400), deadline=None)
def test_a_changed_file_is_followed_as_the_library_does_or_refused(kind: str, data: st.DataObject) -> None:
    file = changed(kind, data)
    plain = sentence(PlainTokenizer, file)
    if isinstance(plain, UserError):
        return
    try:
        library = tokenizers.Tokenizer.from_str(file)
        if getattr(library.model, "dropout", None) is not None:
            library.model.dropout = None
        library.no_truncation()
        library.no_padding()
    except BaseException:
        library = None
    for text in TEXTS:
        for special in (True, False):
            found = sentence(plain.encode, text, special)
            if isinstance(found, UserError):
                continue
            texts = {skip: sentence(plain.decode, found, skip) for skip in (True, False)}
            if library is not None and text.isprintable():
                try:
                    there = library.encode(text, add_special_tokens=special).ids
                    back = {skip: library.decode(there, skip_special_tokens=skip) for skip in (True, False)}
                except BaseException:
                    continue  # where it fails, ours may be better
                assert found == there
                assert all(isinstance(texts[skip], UserError) or texts[skip] == back[skip] for skip in back)


@given(kind=st.sampled_from(sorted(KINDS)), data=st.data())
@settings(max_examples=examples(200), deadline=None)
def test_a_changed_file_in_a_folder_is_read_or_refused(
    kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "tokenizer.json").write_text(changed(kind, data), "utf-8")
    tokenizer = sentence(read_tokenizer, folder, FACTS)
    if isinstance(tokenizer, CheckpointTokenizer):
        for text in TEXTS:
            ids = sentence(tokenizer.encode, text)
            if not isinstance(ids, UserError):
                sentence(tokenizer.decode, ids)
