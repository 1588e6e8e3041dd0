"""A tokenizer.json read in plain Python, where the tokenizers library is not: in a browser.

`Plain` has the three methods of the library's Tokenizer that checkpoint_tokenizer.py calls, and gives the same ids, for
all characters that are the same to both (characters.py). It knows byte-pair encoding and plain lists of words, behind
the steps that GPT-2, SmolLM2, Llama 2 and 3, Mistral and Qwen take (cutting.py, joining.py); what it does not know it
refuses by name. `dropout` is for training: it is left out. Knows no model and no file.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from microgpt.added import Added, check_id
from microgpt.cutting import CUTS, NORMALIZERS, Part, one_of, refuse, setting, steps
from microgpt.errors import N_, UserError
from microgpt.joining import DECODERS
from microgpt.matching import allow
from microgpt.tokenizer_limits import check_made, check_part, check_steps, check_text, check_tokens, parsed

Encode = Callable[[str], list[int]]


class Encoded(NamedTuple):
    """As the library answers."""

    ids: list[int]


class Plain:
    """What tokenizer.json describes. Raises UserError for a file that it cannot read or follow."""

    def __init__(self, text: str) -> None:
        try:
            allow()
            about = parsed(text)
            model = about["model"]
            model.setdefault("type", "BPE" if "merges" in model else "WordLevel")
            check_first(work(about, "normalizer"), work(about, "pre_tokenizer"))
            self._normalizers = [one_of(NORMALIZERS, part) for part in work(about, "normalizer")]
            self._cuts = [one_of(CUTS, part) for part in work(about, "pre_tokenizer")]
            self._around = [one_of(AROUND, part) for part in work(about, "post_processor")]
            self._decoders = [one_of(DECODERS, part) for part in work(about, "decoder")]
            self.about = {name: about.get(name) for name in ("decoder", "added_tokens")}  # in its own words
            self._joiner = " " if about.get("decoder") is None else ""
            self._encode: Encode = one_of(MODELS, model)
            self._vocab: dict[str, int] = model["vocab"]
            self._added = Added(about.get("added_tokens") or [], self._vocab, self._normalize)
            self._pieces = {i: piece for piece, i in self._vocab.items()} | self._added.read
        except UserError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise UserError(
                N_("tokenizer.json cannot be read (%(why)s). Fetch it anew."),
                why=textwrap.shorten(f"{type(error).__name__}: {error}", 100),
            ) from None

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        return {**self._vocab, **self._added.ids} if with_added_tokens else dict(self._vocab)

    def encode(self, text: str, add_special_tokens: bool = True) -> Encoded:
        """The ids of `text`; if asked, with those that the file puts around a text."""
        ids: list[int] = []
        allow()
        check_text(text)
        text = text.encode("utf-8", "replace").decode()  # halves of characters, which no file can hold
        for raw, known, first in self._added.raw(text, True):
            if known is not None:
                ids.append(known)
                continue
            for part, found, begins in self._added.normal(self._normalize(raw), first):
                ids += self._words(part, begins) if found is None else [found]
        for around in self._around if add_special_tokens else ():
            ids = around(ids)
            check_made(len(ids))
        return Encoded(ids)

    def _normalize(self, text: str) -> str:
        for step in self._normalizers:
            text = step(text)
            check_made(len(text))
        return text

    def _words(self, text: str, begins: bool) -> list[int]:
        pieces = [(text, begins)]
        for cut in self._cuts:
            pieces = [small for piece, first in pieces for small in cut(piece, first) if small[0]]
            check_made(sum(len(piece) for piece, _ in pieces))
        return [i for piece, _ in pieces for i in self._encode(piece)]

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of `ids`."""
        allow()
        pieces = [self._pieces[i] for i in ids if i in self._pieces]
        if skip_special_tokens:
            pieces = [piece for piece in pieces if piece not in self._added.special]
        for step in self._decoders:
            pieces = step(pieces)
            check_made(sum(map(len, pieces)))
        return self._joiner.join(pieces)


def work(about: Part, name: str) -> list[Part]:
    """The steps of one part of the work."""
    check_part(about, name)
    found = steps(about.get(name))
    check_steps(len(found))
    return found


def check_first(normalizers: list[Part], cuts: list[Part]) -> None:
    """Raise UserError where it is not clear which piece begins the text: of what was replaced, it may be several."""
    for n, cut in enumerate(cuts):
        for part in [*normalizers, *cuts[:n]] if cut.get("prepend_scheme") == "first" else ():
            if part["type"] != "NFC":
                refuse(
                    f"{part['type']} + prepend_scheme: first", ["prepend_scheme: first", "NFC + prepend_scheme: first"]
                )


# ---- a word's tokens ------------------------------------------------------------------------------


def bpe(model: Part) -> Encode:
    """Letters are joined in pairs, the pair that was learned first first, until none is left that was learned."""
    vocab = vocabulary(model)
    unknown = model.get("unk_token") if model.get("unk_token") in vocab else None
    whole, fallback, fused = (
        model.get(key) is not None and setting(model, key, bool)
        for key in ("ignore_merges", "byte_fallback", "fuse_unk")
    )
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            refuse(key, ["null"])
    ranks = {pair: rank for rank, pair in enumerate(merges(model["merges"], vocab))}

    def letters(word: str) -> list[str]:
        found: list[str] = []
        waiting: list[str] = []  # what is unknown comes before the next letter that is known, even if bytes come first
        for letter in word:
            in_bytes = [f"<0x{byte:02X}>" for byte in letter.encode()]
            if letter in vocab:
                found += [*waiting, letter]
                waiting = []
            elif fallback and all(one in vocab for one in in_bytes):
                found += in_bytes
            elif unknown is None:
                raise no_token(letter)
            else:
                found += [] if fused else waiting
                waiting = [unknown]
        return found + waiting

    def encode(word: str) -> list[int]:
        if whole and word in vocab:
            return [vocab[word]]
        return [vocab[part] for part in join(letters(word), ranks)]

    return encode


def join(parts: list[str], ranks: dict[tuple[str, str], int]) -> list[str]:
    """Parts, joined in pairs. A word may be long: so the pairs wait in a heap, and parts know their neighbours."""
    before, behind = [*range(-1, len(parts) - 1)], [*range(1, len(parts) + 1)]
    waiting = [(ranks[pair], i, pair) for i, pair in enumerate(pairwise(parts)) if pair in ranks]
    heapify(waiting)
    while waiting:
        _, i, pair = heappop(waiting)
        other = behind[i]
        if other == len(parts) or (parts[i], parts[other]) != pair:
            continue  # one of the two was joined meanwhile
        parts[i], parts[other] = "".join(pair), ""
        behind[i] = behind[other]
        if behind[i] < len(parts):
            before[behind[i]] = i
        for at in (before[i], i):
            if at >= 0 and behind[at] < len(parts) and (pair := (parts[at], parts[behind[at]])) in ranks:
                heappush(waiting, (ranks[pair], at, pair))
    return [part for part in parts if part]


def merges(listed: list[str | list[str]], vocab: dict[str, int]) -> Iterator[tuple[str, str]]:
    """The pairs of tokens that are joined, in their order; older files have a space between the two."""
    for pair in listed:
        if isinstance(pair, str) and pair.startswith("#version"):
            continue
        first, second = pair.split(" ") if isinstance(pair, str) else pair
        if not (first in vocab and second in vocab and first + second in vocab):
            missing = next(token for token in (first, second, first + second) if token not in vocab)
            raise UserError(
                N_("tokenizer.json joins “%(first)s” and “%(second)s”, but its vocabulary has no “%(missing)s”. "
                   "Fetch it anew."),
                first=first[:40], second=second[:40], missing=missing[:40],
            )  # fmt: skip
        yield first, second


def word_level(model: Part) -> Encode:
    """A word is a token."""
    vocab = vocabulary(model)
    unknown = vocab.get(model.get("unk_token", ""))

    def encode(word: str) -> list[int]:
        found = vocab.get(word, unknown)
        if found is None:
            raise no_token(word)
        return [found]

    return encode


def vocabulary(model: Part) -> dict[str, int]:
    """Token -> id, one of each."""
    vocab: dict[str, int] = model["vocab"]
    tokens: dict[int, str] = {}
    check_tokens(vocab)
    "".join(vocab).encode()  # raises for half a character
    for token, i in vocab.items():
        check_id(token, i)
        if tokens.setdefault(i, token) is not token:
            raise UserError(
                N_("tokenizer.json gives the id %(id)s to two tokens, “%(first)s” and “%(second)s”. Fetch it anew."),
                id=i, first=tokens[i][:40], second=token[:40],
            )  # fmt: skip
    return vocab


def no_token(piece: str) -> UserError:
    return UserError(
        N_("This model has no token for “%(piece)s”. Leave it out, or write it another way."), piece=piece[:40]
    )


def template(part: Part) -> Callable[[list[int]], list[int]]:
    """Special tokens before and behind a text."""
    pieces: list[list[int] | None] = []  # None: the text
    for piece in part["single"]:
        if "Sequence" in piece:
            if piece["Sequence"]["id"] != "A":
                refuse(f"${piece['Sequence']['id']}", ["$A"])  # the second of two texts
            pieces.append(None)
            continue
        token = piece["SpecialToken"]["id"]
        pieces.append([*part["special_tokens"][token]["ids"]])
        for i in pieces[-1] or ():
            check_id(token, i)
    if pieces.count(None) != 1:
        refuse(f"$A × {pieces.count(None)}", ["$A × 1"])
    return lambda ids: [i for piece in pieces for i in (ids if piece is None else piece)]


MODELS: dict[str, Callable[[Part], Encode]] = {"BPE": bpe, "WordLevel": word_level}
AROUND: dict[str, Callable[[Part], Callable[[list[int]], list[int]]]] = {
    "TemplateProcessing": template,
    "ByteLevel": lambda part: lambda ids: ids,
}
