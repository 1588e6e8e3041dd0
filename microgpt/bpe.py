"""A tokenizer.json read in plain Python, where the tokenizers library is not: in a browser.

`Plain` has the three methods of the library's Tokenizer that checkpoint_tokenizer.py calls, and gives the same ids.
It knows byte-pair encoding and plain lists of words, behind the steps that GPT-2, SmolLM2, Llama 2 and 3, Mistral and
Qwen take (cutting.py); what it does not know it refuses by name. Knows no model and no file.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from microgpt.cutting import CUTS, DECODERS, NORMALIZERS, Part, one_of, refuse, steps
from microgpt.errors import N_, UserError
from microgpt.nesting import nested

Encode = Callable[[str], list[int]]


class Encoded(NamedTuple):
    """As the library answers."""

    ids: list[int]


class Plain:
    """What tokenizer.json describes. Raises UserError for a file that it cannot read or follow."""

    def __init__(self, text: str) -> None:
        try:
            if nested(text.encode("utf-8", "replace")):
                raise ValueError("its brackets do not match, or are nested too deep")
            about = json.loads(text)
            model, added = about["model"], about.get("added_tokens") or []
            model.setdefault("type", "BPE" if "merges" in model else "WordLevel")
            self._encode: Encode = one_of(MODELS, model)
            self._vocab: dict[str, int] = model["vocab"]
            self._added = {token["content"]: token["id"] for token in added}
            self._pieces = {i: piece for piece, i in [*self._vocab.items(), *self._added.items()]}
            self._special = {token["id"] for token in added if token["special"]}
            self._raw, self._normal = (finder(added, normalized) for normalized in (False, True))
            self._normalize = [one_of(NORMALIZERS, part) for part in steps(about.get("normalizer"))]
            self._cut = [one_of(CUTS, part) for part in steps(about.get("pre_tokenizer"))]
            self._around = [one_of(AROUND, part) for part in steps(about.get("post_processor"))]
            self._decode = [one_of(DECODERS, part) for part in steps(about.get("decoder"))]
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise UserError(
                N_("tokenizer.json cannot be read (%(why)s). Fetch it anew."),
                why=textwrap.shorten(f"{type(error).__name__}: {error}", 100),
            ) from None
        self._known: dict[str, list[int]] = {}  # words that were encoded before

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        return {**self._vocab, **self._added} if with_added_tokens else dict(self._vocab)

    def encode(self, text: str, add_special_tokens: bool = True) -> Encoded:
        """The ids of `text`; if asked, with those that the file puts around a text."""
        ids: list[int] = []
        text = text.encode("utf-8", "replace").decode()  # halves of characters, which no file can hold
        for raw, known, first in apart(text, self._raw, True):
            if known:
                ids.append(self._added[raw])
                continue
            for step in self._normalize:
                raw = step(raw)
            for part, known, begins in apart(raw, self._normal, first):
                ids += [self._added[part]] if known else self._words(part, begins)
        for around in self._around if add_special_tokens else ():
            ids = around(ids)
        return Encoded(ids)

    def _words(self, text: str, begins: bool) -> list[int]:
        pieces = [text]
        for cut in self._cut:
            pieces = [small for i, piece in enumerate(pieces) for small in cut(piece, begins and i == 0) if small]
        ids: list[int] = []
        for piece in pieces:
            if piece not in self._known:
                self._known[piece] = self._encode(piece)
            ids += self._known[piece]
        return ids

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of `ids`."""
        shown = [i for i in ids if i in self._pieces and not (skip_special_tokens and i in self._special)]
        pieces = [self._pieces[i] for i in shown]
        for step in self._decode:
            pieces = step(pieces)
        return ("" if self._decode else " ").join(pieces)


# ---- tokens that stand in a text as they are ------------------------------------------------------


def finder(added: list[Part], normalized: bool) -> re.Pattern[str] | None:
    """What finds the added tokens in a text before it is normalised, or after; the longest first."""
    found = [token for token in added if token["normalized"] is normalized]
    for flag in ("lstrip", "rstrip", "single_word"):
        if any(token[flag] for token in found):
            refuse(flag, ["false"])
    longest = sorted((re.escape(token["content"]) for token in found), key=len, reverse=True)
    return re.compile("|".join(longest)) if found else None


def apart(text: str, marks: re.Pattern[str] | None, begins: bool) -> Iterator[tuple[str, bool, bool]]:
    """What `marks` finds and what stands between: each piece, whether it was found, whether the text begins with it."""
    at = 0
    for match in marks.finditer(text) if marks else ():
        if at < match.start():
            yield text[at : match.start()], False, begins and at == 0
        yield match[0], True, False
        at = match.end()
    if at < len(text):
        yield text[at:], False, begins and at == 0


# ---- a word's tokens ------------------------------------------------------------------------------


def bpe(model: Part) -> Encode:
    """Letters are joined in pairs, the pair that was learned first first, until none is left that was learned."""
    vocab: dict[str, int] = model["vocab"]
    unknown: str | None = model.get("unk_token")
    whole, fallback, fused = (bool(model.get(key)) for key in ("ignore_merges", "byte_fallback", "fuse_unk"))
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            refuse(key, ["null"])
    pairs = (tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in model["merges"])
    ranks = {pair: rank for rank, pair in enumerate(pairs)}
    never = len(ranks) + 1

    def letters(word: str) -> list[str]:
        found: list[str] = []
        for letter in word:
            in_bytes = [f"<0x{byte:02X}>" for byte in letter.encode()]
            if letter in vocab:
                found.append(letter)
            elif fallback and all(one in vocab for one in in_bytes):
                found += in_bytes
            elif unknown is None:
                raise no_token(letter)
            elif not (fused and found[-1:] == [unknown]):
                found.append(unknown)
        return found

    def encode(word: str) -> list[int]:
        if whole and word in vocab:
            return [vocab[word]]
        parts = letters(word)
        while len(parts) > 1:
            rank, at = min((ranks.get(pair, never), i) for i, pair in enumerate(pairwise(parts)))
            if rank == never:
                break
            parts[at : at + 2] = ["".join(parts[at : at + 2])]
        return [vocab[part] for part in parts]

    return encode


def word_level(model: Part) -> Encode:
    """A word is a token."""
    vocab: dict[str, int] = model["vocab"]
    unknown = vocab.get(model.get("unk_token", ""))

    def encode(word: str) -> list[int]:
        found = vocab.get(word, unknown)
        if found is None:
            raise no_token(word)
        return [found]

    return encode


def no_token(piece: str) -> UserError:
    return UserError(N_("This model has no token for “%(piece)s”. Leave it out, or write it another way."), piece=piece)


def template(part: Part) -> Callable[[list[int]], list[int]]:
    """Special tokens before and behind a text."""
    special = part["special_tokens"]

    def around(ids: list[int]) -> list[int]:
        pieces = [
            ids if "Sequence" in piece else special[piece["SpecialToken"]["id"]]["ids"] for piece in part["single"]
        ]
        return [i for piece in pieces for i in piece]

    return around


MODELS: dict[str, Callable[[Part], Encode]] = {"BPE": bpe, "WordLevel": word_level}
AROUND: dict[str, Callable[[Part], Callable[[list[int]], list[int]]]] = {
    "TemplateProcessing": template,
    "ByteLevel": lambda part: lambda ids: ids,
}
