"""How much a tokenizer.json may ask for: what is more is told before it is done, since some of it would never end.

The limits leave room for every published tokenizer of the models that are read here. Knows sizes; knows no token.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from microgpt import files
from microgpt.errors import N_, UserError

LARGEST_FILE = 40_000_000  # characters of a file; Llama 3's has 17 million
VALUES = 1_000_000  # in a file; Llama 3's has 700,000
OBJECTS = 50_000  # with names: one for each token that is added; Llama 3's has 300
PART = 10_000  # characters of what a file says of one part of the work; o200k's pattern has 500
MOST_STEPS = 40  # in one part; those in use have up to ten
TOKEN = 1000  # characters of a token; the longest in use are 256 spaces
ADDED, ADDED_IN_ALL = 5000, 100_000  # tokens that are added, and their characters
MORE_ADDED, MORE_IN_ALL = 40_000, 2_000_000  # the same in the library
MAP = 1_000_000  # characters of a normaliser there: one may hold a table
MOST_TEXT = 4000  # characters of a text; a page shows 32 tokens
MADE = 50_000  # characters, or tokens, that become of it on the way
GROWN = 50_000_000  # the same in the library, which computes them in no time, and then holds them


def check_limit(n: int, limit: int, sentence: str) -> None:
    if n > limit:
        raise UserError(sentence, n=format(n, ","), limit=format(limit, ","))


def parse_object(text: str) -> dict[str, Any]:
    """What the file says. Raises UserError for too much of it, ValueError or TypeError for what is none."""
    check_limit(len(text), LARGEST_FILE, N_("tokenizer.json has %(n)s characters; up to %(limit)s are read here."))
    check_limit(text.count(","), VALUES, N_("tokenizer.json lists %(n)s things; up to %(limit)s are read here."))
    check_limit(text.count("{"), OBJECTS, N_("tokenizer.json holds %(n)s objects; up to %(limit)s are read here."))
    about = files.parse_json(text)
    if not isinstance(about, dict):
        raise TypeError("it is no object")
    return about


def check_part(about: dict[str, Any], name: str, limit: int = PART) -> None:
    """One part of the work."""
    check_limit(
        len(json.dumps(about.get(name))),
        limit,
        N_("tokenizer.json describes its work in %(n)s characters; up to %(limit)s are read here."),
    )


def check_steps(n: int) -> None:
    check_limit(
        n, MOST_STEPS, N_("tokenizer.json has %(n)s steps of work, one after the other; up to %(limit)s are done here.")
    )


def check_tokens(tokens: Iterable[str]) -> None:
    longest = max(map(len, tokens), default=0)
    check_limit(longest, TOKEN, N_("tokenizer.json has a token of %(n)s characters; up to %(limit)s are read here."))


def check_added(n: int, characters: int, most: int = ADDED, in_all: int = ADDED_IN_ALL) -> None:
    check_limit(n, most, N_("tokenizer.json adds %(n)s tokens to those of its model; up to %(limit)s are read here."))
    check_limit(
        characters, in_all, N_("tokenizer.json adds tokens of %(n)s characters; up to %(limit)s are read here.")
    )


def check_library(about: dict[str, Any]) -> None:
    """What the library would be asked for. Raises UserError where it would take for ever, or all of memory."""
    for name, limit in (("normalizer", MAP), ("pre_tokenizer", PART), ("post_processor", PART), ("decoder", PART)):
        check_part(about, name, limit)
        check_steps(sum("type" in step for step in objects(about.get(name))))
    contents = [str(token["content"]) for token in about.get("added_tokens") or []]
    check_added(len(contents), sum(map(len, contents)), MORE_ADDED, MORE_IN_ALL)


def check_text(text: str) -> None:
    check_limit(len(text), MOST_TEXT, N_("The text has %(n)s characters; up to %(limit)s are read here. Shorten it."))


def check_made(n: int, limit: int = MADE) -> None:
    """What has become of a text."""
    check_limit(
        n,
        limit,
        N_(
            "This tokenizer makes %(n)s characters or tokens of the text; up to %(limit)s are read here. Shorten the "
            "text, or take another model."
        ),
    )


def most_growth(*parts: Any) -> tuple[int, float]:
    """The most that these parts of the work can make of a text: characters that are added, and how often there is each.

    A text of n characters becomes (n + first) * second at most.
    """
    often = 1.0
    for step in [step for part in parts for step in objects(part)]:
        if step.get("type") == "Replace":
            often *= max(1, len(str(step.get("content"))))
        else:
            often *= GROWTH.get(str(step.get("type")), 1)
    return sum(len(json.dumps(part)) for part in parts), often


def check_growth(n: int, grown: tuple[int, float]) -> None:
    """Raise UserError where `most_growth` could make too much of n characters."""
    if grown[1] > 1 and (n + grown[0]) * grown[1] > GROWN:
        raise UserError(
            "tokenizer.json describes work that could make more than %(limit)s characters of this text. Shorten the "
            "text, or take another model.",
            limit=format(GROWN, ","),
        )


GROWTH = {"ByteLevel": 2, "NFC": 3, "NFD": 4, "NFKC": 18, "NFKD": 18}


def objects(part: Any) -> Iterator[dict[str, Any]]:
    """All objects in a part of the file."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from objects(inner)
