"""What the reader can choose, and how it is read from the controls of a page. Knows no page."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from microgpt.errors import N_, UserError


class Settings(NamedTuple):
    """A run of a model on a text: everything that decides it."""

    model: str
    prompt: str
    temperature: float = 0.0
    top_k: int = 0
    seed: int = 42


def parse(fields: Mapping[str, str]) -> Settings:
    """The settings that the page's controls spell out; a control that the page does not have has its default."""
    default = Settings("", "")
    return Settings(
        model=fields.get("model", ""),
        prompt=fields.get("prompt", ""),
        temperature=parse_number(
            fields.get("temperature", str(default.temperature)),
            float,
            N_("The temperature is “%(text)s”; give a number."),
        ),
        top_k=parse_number(
            fields.get("top_k", str(default.top_k)),
            int,
            N_("Top-k is “%(text)s”; give a whole number, 0 for all tokens."),
        ),
        seed=parse_number(
            fields.get("seed", str(default.seed)), int, N_("The seed is “%(text)s”; give a whole number.")
        ),
    )


def parse_number(text: str, kind: Callable[[str], Any], message: str, **fields: object) -> Any:
    """A number typed by a reader. Raises UserError with `message`, which has a %(text)s, and the `fields`."""
    try:
        if is_number(text):
            return kind(text)
    except ValueError:
        pass
    raise UserError(message, text=text[:40], **fields)


def is_number(text: str) -> bool:
    """Whether a page's control for numbers takes it: Python's int and float take more, such as 1_000 and nan."""
    return bool(re.fullmatch(r"-?([0-9]+|[0-9]*\.[0-9]+)([eE][-+]?[0-9]+)?", text)) and math.isfinite(float(text))


def radio(fields: Mapping[str, str], name: str, first: int, last: int, default: int = 0) -> int:
    """The number of the radio button that is pressed; of those that a picture does not have, the next that it has."""
    text = fields.get(name, "")
    return min(max(first, int(text)), last) if re.fullmatch("[0-9]{1,9}", text) else default
