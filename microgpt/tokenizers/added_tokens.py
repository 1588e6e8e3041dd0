"""The tokens that a tokenizer.json adds to those of its model. They are found in a text before it is cut into words.

Their ids are counted as the tokenizers library counts them, whatever the file says: a token that the model has too
keeps its id there, the others are numbered on from the size of the model's vocabulary. Knows texts and these tokens;
knows no model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from microgpt.errors import N_, UserError
from microgpt.tokenizers.limits import check_added, check_tokens
from microgpt.tokenizers.parts import Part, refuse, setting

LARGEST_ID = 2**32 - 1


def check_id(token: str, value: object) -> None:
    """Raise UserError for what is no id: JSON has fractions, and as Python reads it, infinities."""
    if type(value) is not int or not 0 <= value <= LARGEST_ID:
        sentence = N_(
            "tokenizer.json gives the token “%(token)s” the id %(id)s; it must be a whole number from 0 to "
            "%(largest)s. Fetch it anew."
        )
        raise UserError(sentence, token=token[:40], id=json.dumps(value)[:40], largest=format(LARGEST_ID, ","))


class Added:
    """`ids` by what the tokens read in the file, and back: what they read in a text; two ways to find them there."""

    def __init__(self, tokens: list[Part], vocab: dict[str, int], normalize: Callable[[str], str]) -> None:
        self.ids: dict[str, int] = {}
        self.read: dict[int, str] = {}
        self.special: set[str] = set()
        raw: dict[str, int] = {}
        normal: dict[str, int] = {}
        free = len(vocab)
        contents = [setting(token, "content", str) for token in tokens]
        check_added(len(tokens), sum(map(len, contents)))
        check_tokens(contents)
        for token, content in zip(tokens, contents, strict=True):
            check_id(content, token["id"])
            for flag in ("lstrip", "rstrip", "single_word"):
                if setting(token, flag, bool):
                    refuse(flag, ["false"])
            special, normalized = setting(token, "special", bool), setting(token, "normalized", bool)
            if not content:
                continue  # as the library does
            found, reads = (normal, normalize(content)) if normalized else (raw, content)
            if content in self.ids or reads in found:
                raise UserError("tokenizer.json adds two tokens “%(token)s”. Fetch it anew.", token=reads[:40])
            found[reads] = self.ids[content] = vocab.get(content, free)
            free += content not in vocab
            self.read[found[reads]] = reads
            self.special |= {content} if special else set()
        self.raw, self.normal = Finder(raw), Finder(normal)


class Finder:
    """Finds any of some texts in a text; where several begin, the longest."""

    def __init__(self, ids: dict[str, int]) -> None:
        if "" in ids:
            refuse("normalized", ["false"])  # a normaliser left nothing of a token, which would be everywhere
        self.ids = ids
        self.lengths: dict[str, list[int]] = {}  # of those that begin with a letter, the longest first
        for begun, length in sorted({(text[0], len(text)) for text in ids}, reverse=True):
            self.lengths.setdefault(begun, []).append(length)

    def __call__(self, text: str, begins: bool) -> Iterator[tuple[str, int | None, bool]]:
        """What is found and what stands between: each piece, its id if it was found, whether it begins the text."""
        at = end = 0
        while at < len(text):
            length = next((n for n in self.lengths.get(text[at], ()) if text[at : at + n] in self.ids), 0)
            if not length:
                at += 1
                continue
            if end < at:
                yield text[end:at], None, begins and end == 0
            yield text[at : at + length], self.ids[text[at : at + length]], False
            at = end = at + length
        if end < len(text):
            yield text[end:], None, begins and end == 0
