"""What of a view is on show in a figure, by the names and values of the page's radio buttons. Knows no SVG."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from microgpt.errors import N_, UserError
from microgpt.viz.drawing.phases import PHASES


class Offer(NamedTuple):
    """One thing that can be chosen: up to `last`, and which is on show at first."""

    at: int
    last: int
    first: int = 0


CASES = {  # widget -> the name of its choice, and the list of what there is to choose
    "loop": ("pass", "passes"), "inside": ("token", "journeys"), "compare": ("step", "steps"), "why_q": ("old", "olds"),
    "old_rows": ("experiment", "experiments"), "training": ("pass-head", "heads"), "prefill": ("way", "ways"),
    "memory": ("known", "known"), "heads": ("way", "ways"),
}  # fmt: skip
FIGURES = {"stepper", *CASES}  # the widgets that have a figure


def offers(widget: str, view: Any) -> dict[str, Offer]:
    """Everything that the figure of a widget lets choose; the first is what a moving figure goes through."""
    if widget == "stepper":
        c = view.config
        found = {"step": Offer(view.at, view.n - 1), "layer": Offer(view.layer, c.n_layer - 1)}
        return found | {"head": Offer(view.head, c.n_head - 1), "phase": Offer(view.phase, len(PHASES), 1)}
    name, where = CASES[widget]
    at = view.first_change if widget == "old_rows" else getattr(view, "at", 0)
    return {name: Offer(at, len(getattr(view, where)) - 1)}


def chosen(widget: str, view: Any, asked: Mapping[str, object]) -> dict[str, int]:
    """The value of every choice. Raises UserError for a name or a value that the page does not have."""
    known = offers(widget, view)
    found = {name: offer.at for name, offer in known.items()}
    for name, value in asked.items():
        if name not in known:
            raise UserError(N_("This page has no “%(name)s” to choose; leave it out."), name=str(name)[:40])
        offer, text = known[name], str(value).strip()
        if not re.fullmatch("[0-9]{1,9}", text) or not offer.first <= int(text) <= offer.last:
            raise UserError(
                N_("%(name)s is %(value)s; this page has %(first)s to %(last)s."),
                name=name, value=text[:40], first=offer.first, last=offer.last,
            )  # fmt: skip
        found[name] = int(text)
    return found


def of(pieces: Iterable[Any], layer: int, head: int) -> Any:
    """That of a view's pieces which belongs to a layer and a head; `where` says to which a piece belongs."""
    for piece in pieces:
        where, found = (piece.where, piece) if hasattr(piece, "where") else piece
        classes = where.split()
        if f"L{layer}" in classes and (f"H{head}" in classes or "H" not in classes):
            return found
    raise LookupError(f"no piece of layer {layer}, head {head}")
