"""The tokenizers library, kept within limits: what it cannot do, or what would take all of memory, is a sentence."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from microgpt.errors import UserError
from microgpt.tokenizers.limits import TOKEN, check_growth, check_library, most_growth


class Failed(Exception):
    """The library did not do what it was asked to."""


class Library:
    """The tokenizers library. What it cannot do becomes a sentence, and so does what is more than memory holds."""

    def __init__(self, tokenizers: Any, text: str, about: dict[str, Any]) -> None:
        check_library(about)
        self._tokenizer = ask(tokenizers.Tokenizer.from_str, text)
        if getattr(self._tokenizer.model, "dropout", None) is not None:
            self._tokenizer.model.dropout = None  # for training: it leaves out merges by chance
        ask(self._tokenizer.no_truncation)
        ask(self._tokenizer.no_padding)
        self._there = most_growth(about.get("normalizer"), about.get("pre_tokenizer"))
        self._back = most_growth(about.get("decoder"))

    def get_vocab(self, with_added_tokens: bool) -> dict[str, int]:
        found: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=with_added_tokens)
        return found

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        text = text.encode("utf-8", "replace").decode()  # halves of characters, which the library does not take
        check_growth(len(text), self._there)
        try:
            return list(ask(self._tokenizer.encode, text, add_special_tokens=add_special_tokens).ids)
        except Failed as error:
            raise UserError(
                "The tokenizer fails on this text (%(why)s). Change the text, or fetch tokenizer.json anew.",
                why=shortly(error),
            ) from None

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        check_growth(TOKEN * len(ids), self._back)
        try:
            return str(ask(self._tokenizer.decode, ids, skip_special_tokens=skip_special_tokens))
        except Failed as error:
            raise UserError(
                "The tokenizer fails to read its tokens (%(why)s). Fetch tokenizer.json anew.", why=shortly(error)
            ) from None


def ask(call: Callable[..., Any], *values: Any, **named: Any) -> Any:
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
