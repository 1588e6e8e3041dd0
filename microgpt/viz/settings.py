"""What the reader can choose, and how it is read from the controls of a page. Knows no page."""

from __future__ import annotations

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


def parse_number(text: str, kind: Callable[[str], Any], message: str) -> Any:
    """A number typed by a reader. Raises UserError with `message`, which has a %(text)s."""
    try:
        return kind(text)
    except ValueError:
        raise UserError(message, text=text[:40]) from None
