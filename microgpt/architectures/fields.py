"""The fields of a config.json. What is wrong with one is said in a sentence that names it.

Knows how a field is written, and of the names the model's type alone.
"""

from __future__ import annotations

import json
from typing import Any

from microgpt.errors import N_, UserError
from microgpt.files import parse_json
from microgpt.weights import LARGEST_NUMBER, SMALLEST_NUMBER

LARGEST = {  # beyond these, a number is a typing error
    "num_hidden_layers": 2_000,
    "n_layer": 2_000,
    "vocab_size": 1_000_000,
    "max_position_embeddings": 100_000_000,  # Llama 4 Scout has a tenth
}
LARGEST_OTHER = 10_000_000


class Fields(dict[str, Any]):
    """A config.json that has been read, or an object inside it. What asks for a field takes a default, which stands
    where the field is absent or null, and raises UserError for a value that it cannot be."""

    @property
    def kind(self) -> str:
        """The model type, guessed where the file does not say it."""
        return str(self.get("model_type", "gpt2" if "n_embd" in self else "llama"))

    def integer(self, name: str, default: int | None = None, least: int = 1) -> int:
        """A whole number. Raises UserError where there is neither it nor a default."""
        value, largest = self.get(name), LARGEST.get(name, LARGEST_OTHER)
        if value is None and default is not None:
            return default
        if value is None:
            raise UserError("The config has no “%(name)s”. Add it, or paste the whole config.json.", name=name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= largest:
            sentence = N_("“%(name)s” is %(value)s; it must be a whole number from %(least)s to %(largest)s.")
            raise UserError(sentence, name=name, value=json_start(value), least=least, largest=format(largest, ","))
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A number above 0, of a size that can be counted with."""
        value = default if self.get(name) is None else self[name]
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not SMALLEST_NUMBER <= value <= LARGEST_NUMBER
        ):
            sentence = N_("“%(name)s” is %(value)s; it must be a number from %(least)s to %(most)s.")
            raise UserError(sentence, name=name, value=json_start(value), least=SMALLEST_NUMBER, most=LARGEST_NUMBER)
        return float(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """A yes or no."""
        value = self.get(name)
        if value is not None and not isinstance(value, bool):
            raise UserError("“%(name)s” is %(value)s; it must be true or false.", name=name, value=json_start(value))
        return default if value is None else value

    def one_of(self, known: dict[str, str], name: str, default: str) -> str:
        """What `known` says of a field's value."""
        value = default if self.get(name) is None else self[name]
        if not isinstance(value, str) or value not in known:
            sentence = N_("“%(name)s” is %(value)s, which cannot be run here. What can: %(known)s.")
            raise UserError(sentence, name=name, value=json_start(value), known=", ".join(known))
        return known[value]

    def token_ids(self, name: str, vocab_size: int, absent: int | None = None) -> frozenset[int]:
        """Token ids: the field is one, or a list, or null. Those that the model does not have are left out."""
        value = self.get(name, absent)
        found = value if isinstance(value, list) else [] if value is None else [value]
        if not all(isinstance(i, int) and not isinstance(i, bool) for i in found):
            raise UserError(
                "“%(name)s” is %(value)s; it must be a token's id or a list of some.",
                name=name,
                value=json_start(value),
            )
        return frozenset(i for i in found if 0 <= i < vocab_size)


def fields_of(text: str) -> Fields:
    """The object that the text of a config.json is. Raises UserError for what is none."""
    try:
        fields = parse_json(text)
    except ValueError as error:
        why = str(error)[:80]
        raise UserError("This is not JSON (%(why)s). Paste the whole config.json.", why=why) from None
    if not isinstance(fields, dict):
        raise UserError("A config.json is one object in braces; this is something else. Paste the whole file.")
    return Fields(fields)


def json_start(value: object) -> str:
    """A value as the file has it, its first letters."""
    return json.dumps(value)[:40]
