"""A tokenizer.json read in plain Python, where the tokenizers library is not: in a browser.

`PlainTokenizer` has the three methods that checkpoint_tokenizer.py calls, as library.py has them, and gives the same
ids, for all characters that are the same to both (oniguruma/unicode_classes.py). It knows byte-pair encoding and plain
lists of words, behind the steps that GPT-2, SmolLM2, Llama 2 and 3, Mistral and Qwen take; what it does not know it
refuses by name. `dropout` is for training: it is left out. Knows no model and no file.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from microgpt.errors import UserError
from microgpt.tokenizers.added_tokens import Added, check_id
from microgpt.tokenizers.decoders import DECODERS
from microgpt.tokenizers.limits import check_made, check_part, check_steps, check_text, parse_object
from microgpt.tokenizers.models import MODELS, Encode
from microgpt.tokenizers.normalizers import NORMALIZERS
from microgpt.tokenizers.oniguruma.matching import allow
from microgpt.tokenizers.parts import Part, one_of, refuse, steps
from microgpt.tokenizers.pre_tokenizers import PRE_TOKENIZERS as PRE_TOKENIZERS


class PlainTokenizer:
    """What tokenizer.json describes. Raises UserError for a file that it cannot read or follow."""

    def __init__(self, text: str) -> None:
        try:
            allow()
            about = parse_object(text)
            model = about["model"]
            model.setdefault("type", "BPE" if "merges" in model else "WordLevel")
            check_first(work_steps(about, "normalizer"), work_steps(about, "pre_tokenizer"))
            self._normalizers = [one_of(NORMALIZERS, part) for part in work_steps(about, "normalizer")]
            self._pre_tokenizers = [one_of(PRE_TOKENIZERS, part) for part in work_steps(about, "pre_tokenizer")]
            self._around = [one_of(AROUND, part) for part in work_steps(about, "post_processor")]
            self._decoders = [one_of(DECODERS, part) for part in work_steps(about, "decoder")]
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
                "tokenizer.json cannot be read (%(why)s). Fetch it anew.",
                why=textwrap.shorten(f"{type(error).__name__}: {error}", 100),
            ) from None

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        return {**self._vocab, **self._added.ids} if with_added_tokens else dict(self._vocab)

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
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
        return ids

    def _normalize(self, text: str) -> str:
        for step in self._normalizers:
            text = step(text)
            check_made(len(text))
        return text

    def _words(self, text: str, begins: bool) -> list[int]:
        pieces = [(text, begins)]
        for pre_tokenize in self._pre_tokenizers:
            pieces = [small for piece, first in pieces for small in pre_tokenize(piece, first) if small[0]]
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


def work_steps(about: Part, name: str) -> list[Part]:
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


AROUND: dict[str, Callable[[Part], Callable[[list[int]], list[int]]]] = {
    "TemplateProcessing": template,
    "ByteLevel": lambda part: lambda ids: ids,
}
