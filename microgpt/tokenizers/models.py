"""The models of a tokenizer: how a word becomes tokens, by byte-pair encoding or as one word of a list.

Knows words and a vocabulary; does not know how the text was cut into words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise

from microgpt.errors import N_, UserError
from microgpt.tokenizers.added_tokens import check_id
from microgpt.tokenizers.limits import check_tokens
from microgpt.tokenizers.parts import Part, refuse, setting

Encode = Callable[[str], list[int]]


def bpe(model: Part) -> Encode:
    """Byte-pair encoding: of a word's letters, merge the adjacent pair of lowest rank, until no pair has a rank."""
    vocab = vocabulary(model)
    unknown = model.get("unk_token") if model.get("unk_token") in vocab else None
    ignore_merges, byte_fallback, fuse_unk = (
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
            elif byte_fallback and all(one in vocab for one in in_bytes):
                found += in_bytes
            elif unknown is None:
                raise no_token(letter)
            else:
                found += [] if fuse_unk else waiting
                waiting = [unknown]
        return found + waiting

    def encode(word: str) -> list[int]:
        if ignore_merges and word in vocab:
            return [vocab[word]]
        return [vocab[part] for part in merge(letters(word), ranks)]

    return encode


def merge(parts: list[str], ranks: dict[tuple[str, str], int]) -> list[str]:
    """The parts after all merges. A word may be long: so the pairs wait in a heap, and parts know their neighbours."""
    before, behind = [*range(-1, len(parts) - 1)], [*range(1, len(parts) + 1)]
    waiting = [(ranks[pair], i, pair) for i, pair in enumerate(pairwise(parts)) if pair in ranks]
    heapify(waiting)
    while waiting:
        _, i, pair = heappop(waiting)
        other = behind[i]
        if other == len(parts) or (parts[i], parts[other]) != pair:
            continue  # one of the two was merged meanwhile
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
            sentence = N_(
                "tokenizer.json joins “%(first)s” and “%(second)s”, but its vocabulary has no “%(missing)s”. "
                "Fetch it anew."
            )
            raise UserError(sentence, first=first[:40], second=second[:40], missing=missing[:40])
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
            sentence = N_(
                "tokenizer.json gives the id %(id)s to two tokens, “%(first)s” and “%(second)s”. Fetch it anew."
            )
            raise UserError(sentence, id=i, first=tokens[i][:40], second=token[:40])
    return vocab


def no_token(piece: str) -> UserError:
    return UserError(
        "This model has no token for “%(piece)s”. Leave it out, or write it another way.", piece=piece[:40]
    )


MODELS: dict[str, Callable[[Part], Encode]] = {"BPE": bpe, "WordLevel": word_level}
