"""A checkpoint's own tokenizer, from its tokenizer.json, behind the same few methods as ours.

The tokenizers library does the work. Which special tokens a text gets, the file itself says. Knows vocabularies; knows
no model.
"""

from __future__ import annotations

import codecs
import os
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from microgpt.checkpoint_config import Facts
from microgpt.errors import N_, UserError
from microgpt.files import read_text
from microgpt.tokenizer_limits import LARGEST, TOKEN, check_growth, check_library, growth, parsed


class CheckpointTokenizer:
    """`vocabulary` is what each id reads like: " day", or "<0xE2>" for bytes that are no whole character."""

    joiner = ""

    def __init__(self, library: Any, about: dict[str, Any], vocab_size: int, start: int, stops: frozenset[int]) -> None:
        self._library, self._size = library, vocab_size
        self.stops = stops
        self.start = start if start >= 0 else min(stops, default=-1)
        kinds = set(types_in(about.get("decoder")))
        if about.get("decoder") is None:
            self.joiner = " "  # as the library joins them then
        added = {token["content"] for token in about.get("added_tokens") or []}  # their ids, the library counts itself
        self.vocabulary = [f"<{i}>" for i in range(vocab_size)]  # a model may have more rows than its tokenizer uses
        known = library.get_vocab(with_added_tokens=True)
        for piece, i in sorted(known.items(), key=lambda one: one[0] in added):  # an added one hides what has its id
            if i < vocab_size:
                self.vocabulary[i] = piece if piece in added else readable(piece, kinds)

    def split(self, text: str) -> list[str]:
        return [self.vocabulary[i] for i in self._encode(text, special=False)]

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, with the special tokens that this tokenizer adds."""
        return self._encode(text, special=True)

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._library.decode(list(ids), skip_special_tokens=True))

    def _encode(self, text: str, special: bool) -> list[int]:
        ids = [int(i) for i in self._library.encode(text, add_special_tokens=special).ids]
        if max(ids, default=0) >= self._size:
            raise UserError(
                N_("The tokenizer gives the token %(id)s, but the model knows %(size)s. They do not belong together."),
                id=max(ids), size=self._size,
            )  # fmt: skip
        return ids


def read_tokenizer(folder: Path, facts: Facts) -> CheckpointTokenizer:
    """The tokenizer of tokenizer.json."""
    path = folder / "tokenizer.json"
    try:
        import tokenizers
    except ImportError:
        raise UserError(N_("To read %(path)s, install tokenizers: pip install '.[checkpoints]'"), path=path) from None
    try:
        text = read_text(path, LARGEST)
        about = parsed(text)
        library = Library(tokenizers, text, about)
    except FileNotFoundError:
        raise UserError(
            N_(
                "%(folder)s has no tokenizer.json. Fetch it too, or make it: load the tokenizer with transformers and "
                "save it with save_pretrained."
            ),
            folder=folder,
        ) from None
    except UserError:
        raise
    except (OSError, ValueError, TypeError, LookupError, Failed) as error:
        raise UserError(
            N_("%(path)s cannot be read (%(why)s). Fetch it anew."), path=path, why=shortly(error)
        ) from None
    return CheckpointTokenizer(library, about, facts.config.vocab_size, facts.start, facts.stops)


class Failed(Exception):
    """The library did not do what it was asked to."""


class Library:
    """The tokenizers library. What it cannot do becomes a sentence, and so does what is more than memory holds."""

    def __init__(self, tokenizers: Any, text: str, about: dict[str, Any]) -> None:
        check_library(about)
        self._tokenizer = asked(tokenizers.Tokenizer.from_str, text)
        if getattr(self._tokenizer.model, "dropout", None) is not None:
            self._tokenizer.model.dropout = None  # for training: it leaves out merges by chance
        asked(self._tokenizer.no_truncation)
        asked(self._tokenizer.no_padding)
        self._there = growth(about.get("normalizer"), about.get("pre_tokenizer"))
        self._back = growth(about.get("decoder"))

    def get_vocab(self, with_added_tokens: bool) -> dict[str, int]:
        found: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=with_added_tokens)
        return found

    def encode(self, text: str, add_special_tokens: bool) -> Any:
        text = text.encode("utf-8", "replace").decode()  # halves of characters, which the library does not take
        check_growth(len(text), self._there)
        try:
            return asked(self._tokenizer.encode, text, add_special_tokens=add_special_tokens)
        except Failed as error:
            raise UserError(
                N_("The tokenizer fails on this text (%(why)s). Change the text, or fetch tokenizer.json anew."),
                why=shortly(error),
            ) from None

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        check_growth(TOKEN * len(ids), self._back)
        try:
            return str(asked(self._tokenizer.decode, ids, skip_special_tokens=skip_special_tokens))
        except Failed as error:
            raise UserError(
                N_("The tokenizer fails to read its tokens (%(why)s). Fetch tokenizer.json anew."), why=shortly(error)
            ) from None


def asked(call: Callable[..., Any], *values: Any, **named: Any) -> Any:
    """What the library answers. Raises Failed for all that it raises; where it panics, that is no Exception."""
    try:
        with quiet():
            return call(*values, **named)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise Failed(str(error) or type(error).__name__) from None


@contextmanager
def quiet() -> Iterator[None]:
    """Without the report of a panic, which the library writes past Python."""
    try:
        shown = os.dup(2)
    except OSError:  # there is nowhere to write to
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(shown, 2)
        os.close(shown)


def shortly(error: Exception) -> str:
    return textwrap.shorten(str(error), 100)


# ---- how a piece reads ----------------------------------------------------------------------------


def types_in(part: Any) -> list[str]:
    """The type of a part of tokenizer.json, and of the parts inside it."""
    if not isinstance(part, dict):
        return []
    return [str(part.get("type")), *(kind for inner in part.get("decoders") or [] for kind in types_in(inner))]


def readable(piece: str, kinds: set[str]) -> str:
    """A piece as it reads in a text: byte-level ones ("Ġday") and those of SentencePiece ("▁day") are " day"."""
    if "ByteLevel" in kinds:
        known = all(letter in BYTES for letter in piece)
        return bytes(BYTES[letter] for letter in piece).decode("utf-8", "show bytes") if known else piece
    return piece.replace("▁", " ") if kinds & {"Metaspace", "Replace"} else piece


def show_bytes(error: UnicodeError) -> tuple[str, int]:
    """What stands for bytes that are no character: <0xE2>."""
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"<0x{byte:02X}>" for byte in error.object[error.start : error.end]), error.end


codecs.register_error("show bytes", show_bytes)

# Byte-level tokenizers write each byte as one letter that can be seen; those that cannot get letters from 256 on.
VISIBLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
HIDDEN = [byte for byte in range(256) if byte not in VISIBLE]
BYTES = {chr(byte): byte for byte in VISIBLE} | {chr(256 + i): byte for i, byte in enumerate(HIDDEN)}
