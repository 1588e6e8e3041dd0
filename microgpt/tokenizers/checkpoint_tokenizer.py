"""A checkpoint's own tokenizer behind the same few methods as ours, whether the library does the work or plain Python.

Which special tokens a text gets, the file itself says. Knows vocabularies; knows no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microgpt.errors import UserError
from microgpt.tokenizers.byte_alphabet import readable


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
        ids: list[int] = self._library.encode(text, add_special_tokens=special)
        if max(ids, default=0) >= self._size:
            raise UserError(
                "The tokenizer gives the token %(id)s, but the model knows %(size)s. They do not belong together.",
                id=max(ids),
                size=self._size,
            )
        return ids


def types_in(part: Any) -> list[str]:
    """The type of a part of tokenizer.json, and of the parts inside it."""
    if not isinstance(part, dict):
        return []
    return [str(part.get("type")), *(kind for inner in part.get("decoders") or [] for kind in types_in(inner))]
