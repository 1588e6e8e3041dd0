r"""A pattern cuts a text as the tokenizers library cuts it by the same pattern, or is refused."""

import os
import string
import unicodedata
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.errors import UserError
from microgpt.tokenizers.limits import MOST_TEXT as TEXT_LIMIT
from microgpt.tokenizers.oniguruma.matching import MOST_STEPS, allow
from microgpt.tokenizers.oniguruma.patterns import translate
from microgpt.tokenizers.oniguruma.unicode_classes import SPACE, category, others, write_class
from microgpt.tokenizers.pre_tokenizers import GPT2_WORDS, isolate, only
from tests.support.examples import examples
from tests.support.given.pipelines import LLAMA3_WORDS, QWEN_WORDS, tokenizers

Regex, Split = tokenizers.Regex, tokenizers.pre_tokenizers.Split

CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PUBLISHED = [
    *(GPT2_WORDS, LLAMA3_WORDS, QWEN_WORDS, CL100K, O200K, r"\s?[!-/:-~！-／：-～‘-‟　-。]+"),
    *r"\s+$ [一-龥ࠀ-一가-퟿]+ [^\S\r\n]+ (?=(\d{3})+(?!\d)) [0-9][0-9][0-9] \p{^L}+|\P{^N} ^the|x day$ \Z|day".split(),
    *r"\z|a \p{N}{1,3}+ (?:a|b){2}+ \x41|\x{1F44D}|\u00e9 [\-a\]\d.$^&-]+ x* |a (?=e) (?i:k|[st])+ (?:a|b)++b?".split(),
    "(?:the|t)+?e",
]
SPACES = [" ", "  ", "\n", "\r\n", "\t", "\x0b", "\x1c", "\x85", "\u3000"]
BITS = [*"a b c t e x the The day 12345 1 's 'LL é Σ ς 漢 ß ſ K k - & ] } . $ ^ ! A ① ½ 👍 e\u0301 /".split(), *SPACES]
SHORT = st.text("aabctE1 2\n\t'sé漢ß-&].$^", max_size=9)  # some patterns try every way to cut a text
TEXT = st.lists(st.sampled_from(BITS), min_size=1, max_size=9).map("".join)

ATOMS = [
    *r"\p{L} \P{L} \p{^N} \s \S \d \D . a b the - & ] } é \x41 \. [a-c] [^a-c] [^\S\n] [-a] [a-] [a&b] [!-/]".split(),
    *(r"[^\P{L}]", "[^^]", r"[\]\[]", "(?i:'s|'ll)", "(?i:the)", r"\n", " "),
]
REPEATED = ["", "", "", "*", "+", "?", "*?", "++", "?+", "{2}", "{1,3}", "{1,3}+", "{2}+", "{,2}", "{2,}?"]
PLACE = ["^", "$", r"\A", r"\Z", r"\z", "(?=a)", r"(?!\S)", "(?<=a)", "(?<! )"]
ATOM = st.tuples(st.sampled_from(ATOMS), st.sampled_from(REPEATED)).map("".join)
GROUP = st.tuples(
    st.lists(st.sampled_from(ATOMS), min_size=1, max_size=2).map("|".join), st.sampled_from(["", "*", "+?", "{1,2}+"])
).map(lambda found: f"({found[0]}){found[1]}")
PATTERN = st.lists(st.one_of(ATOM, ATOM, GROUP, st.sampled_from(PLACE)), min_size=1, max_size=4).map("".join)


def compare(pattern: str, text: str, steps: int = MOST_STEPS) -> None:
    allow(steps)
    ours = translate(pattern)
    for behavior, inverted, cut in (
        ("isolated", False, isolate(ours)),
        ("removed", False, only(ours, False)),
        ("removed", True, only(ours, True)),
    ):
        there = Split(Regex(pattern), behavior, inverted).pre_tokenize_str(text)
        here = [(piece, begins) for piece, begins in cut(text, True) if piece]
        assert here == [(piece, span[0] == 0) for piece, span in there], (pattern, behavior, inverted)


@pytest.mark.parametrize("pattern", PUBLISHED)
@given(text=TEXT)
@settings(max_examples=examples(60))
def test_published_patterns_cut_as_they_do_there(pattern: str, text: str) -> None:
    compare(pattern, text)


def test_steps_are_enough_for_what_is_in_use() -> None:
    """On any text that is not too long to be read."""
    parts = ["a", "A", " ", "\n", " \n", "a1.b, ", ".a", "1 2", "Aa", "'", "\ta", "漢", "the day "]
    for at, part in enumerate(parts):
        text = (part * TEXT_LIMIT)[:TEXT_LIMIT]
        for pattern in PUBLISHED[:5] if os.environ.get("EVERYTHING") else PUBLISHED[at % 5 :][:1]:
            allow()
            found = isolate(translate(pattern))(text, True)
            assert "".join(piece for piece, _ in found) == text, (pattern, part)


@given(patterns=st.lists(PATTERN, min_size=1, max_size=2), text=SHORT)
@settings(max_examples=examples(400))
def test_any_pattern_that_is_let_through_cuts_as_it_does_there(patterns: list[str], text: str) -> None:
    """Or its steps are too many, and that is said: some that are drawn try every way to cut the text."""
    try:
        compare("|".join(patterns), text, 20_000)
    except UserError as error:
        assert "steps on this text" in str(error)


@pytest.mark.parametrize(
    ("pattern", "text", "pieces"),
    [
        (r"\p{N}{1,3}+", "a12345", ["a", "12345"]),  # not the three digits that are never given back
        ("(?:a|b){2}+", "ababa", ["abab", "a"]),
        ("day$", "a day\nday", ["a ", "day", "\n", "day"]),
        ("^a", "a\na", ["a", "\n", "a"]),
        (r"a\Z", "aa\n", ["a", "a", "\n"]),
        (r"\n?^", "a\n\n", ["a", "\n", "\n"]),
        ("x*", "axb", ["a", "x", "b"]),
        ("[^\\S\n]+", "a \n\tb", ["a", " ", "\n", "\t", "b"]),
    ],
)
def test_what_python_reads_otherwise(pattern: str, text: str, pieces: list[str]) -> None:
    compare(pattern, text)
    assert [piece for piece, _ in isolate(translate(pattern))(text, True) if piece] == pieces


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        *(
            (one, one)
            for one in (
                r"[a-z&&[^e]] \pL+ (?m). (?i)the \w+ \bthe \G (?>a) (?<n>a) ( ) [ []a] [\s-a] [a-c-e] [!--] "
                r"\p{Greek} \p{Zz} (?i:ss) (?i:fi) (?i:é) \x{110000} \ "
            ).split()
        ),
        ("a|[[:alpha:]]+", "[[:alpha:]]+"),
        (r"a\h", r"\h"),
        (r"(a)\1", r"\1"),
        ("a{2}?", "{2}?"),
        ("a**", "*"),
        ("^*", "*"),
        ("(?=a)+", "+"),
        ("(a*)*", "*"),
        ("a{,2}+", "{,2}+"),
        ("a{", "{"),
        ("*a", "*"),
        ("[b-a]", "b-a"),
        ("a{3,1}", "{3,1}"),
        ("(?<=a|bb)c", "(?<="),
        ("(?x) a", "(?x) a"),
        ("(" * 50, "(" * 40),
        ("a" * 100 + "{" * 100, "{" * 40),
    ],
)
def test_what_may_mean_something_else_is_refused(pattern: str, part: str) -> None:
    with pytest.raises(UserError) as caught:
        translate(pattern)
    assert f"a pattern with “{part}”, which cannot be followed here. Try it at the command line" in str(caught.value)


@cache
def everything() -> str:
    """Every character that has a category in this Python: the library may know more."""
    return "".join(c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs"))


def findall(pattern: str, text: str) -> list[str]:
    allow(10**8)
    return [piece for piece, _ in only(translate(pattern), True)(text, True)]


@pytest.mark.thorough("looks at all letters there are")
def test_categories_are_those_of_the_library() -> None:
    names = ("L", "Lu", "Ll", "Lt", "Lm", "Lo", "N", "Nd", "P", "S", "Z")
    for name in names if os.environ.get("EVERYTHING") else names[1::4]:
        pieces = Split(Regex(rf"\p{{{name}}}+"), "removed", True).pre_tokenize_str(everything())
        ours = [chr(code) for first, last in category(name) for code in range(first, last + 1)]
        assert "".join(piece for piece, _ in pieces) == "".join(ours), name
        ends = {chr(code) for run in category(name) for end in run for code in (end - 1, end, end + 1) if code >= 0}
        text = "".join(sorted(ends & {*everything()}))
        assert "".join(findall(rf"\p{{{name}}}", text)) == "".join(sorted(ends & {*ours})), name


@pytest.mark.thorough("looks at all letters there are")
def test_letters_have_the_same_capitals() -> None:
    """Among the characters that are any of these letters in any way, here or there."""
    each = [f"(?i:{letter})" for letter in sorted({*string.ascii_lowercase} - {"i"})]
    there = Split(Regex("|".join(each)), "removed", True).pre_tokenize_str(everything())
    cased = {c for c in everything() if c.isascii() or len({c, c.lower(), c.upper(), c.casefold()}) > 1}
    tried = everything() if os.environ.get("EVERYTHING") else "".join(cased)  # a minute's work for others, by night
    found = {piece for piece, _ in there} | {*findall("|".join(each), tried)}
    assert {*map(len, found)} == {1} and len(found) > 2 * len(each)
    text = "".join(sorted(found))
    for letter in each:
        there = Split(Regex(letter), "removed", True).pre_tokenize_str(text)
        assert len(there) >= 2 and [piece for piece, _ in there] == findall(letter, text), letter


def test_sets_of_characters() -> None:
    assert category("Nd")[0] == (0x30, 0x39) and category("Zl", "Zp") == ((0x2028, 0x2029),) and category("Xx") == ()
    assert others(()) == ((0, 0x10FFFF),) and others(others(SPACE)) == SPACE
    assert others(((0, 5), (3, 8), (9, 9), (0x10FFFF, 0x10FFFF))) == ((10, 0x10FFFE),)
    assert write_class(((0x62, 0x63), (0x61, 0x61))) == r"\U00000061-\U00000063"
    spaces = translate(r"\s")
    assert not spaces("\x1c", 0) and spaces("\x85", 0)
