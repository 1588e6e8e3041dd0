"""What can be set on a page, said once by the view that has it: templates draw it, an address, a figure and a notebook
name it. What site/host.js does with an address in the browser is done with these here. Knows no HTML.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from microgpt.errors import N_, UserError

Value: TypeAlias = int | str


class Choice(NamedTuple):
    """One of several: a group of radio buttons, a list, or a check box, which has one value and begins with none."""

    name: str  # as in an address: ?old=3
    values: Sequence[Value]
    at: Value = 0  # what is on show at first
    in_figure: bool = True  # it changes the figure of the widget

    @property
    def default(self) -> str:
        return str(self.at)


class Field(NamedTuple):
    """What is typed: a number from `least` to `most`, or a text."""

    name: str
    default: str = ""
    least: int | None = None  # of a text, None
    most: float = math.inf


Control: TypeAlias = Choice | Field
AnyControl = TypeVar("AnyControl", Choice, Choice | Field)

THEME = Choice("theme", ("auto", "light", "dark"), "auto")  # of every page
TRANSPORT = tuple(Choice(name, ("1",), "") for name in ("play", "slow", "hall"))  # of every page with cases in time
FORMAT = Choice("format", ("svg", "png", "moving", "gif", "webm"), "svg")  # of a figure to save


class View(Protocol):
    """What a page shows. Its templates know what else is in it; that of a lesson has the `trace` of its run."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What can be on show, in the order of the page; the first is what a moving figure goes through."""


def fields_of(view: object) -> tuple[Control, ...]:
    """What else can be set in a widget: most have nothing but choices."""
    found: tuple[Control, ...] = getattr(view, "fields", ())
    return found


def on_show(view: View, asked: Mapping[str, object] | None = None) -> dict[str, Value]:
    """Name of each choice -> the value that is on show when `asked` is chosen.

    Raises UserError for a name or a value that the page does not have.
    """
    known = [one for one in (*view.choices, *fields_of(view)) if isinstance(one, Choice)]
    return values_of(known, asked or {})


def figure_values(view: View, asked: Mapping[str, object] | None = None) -> dict[str, Value]:
    """The same for a figure, which shows less than the page."""
    return values_of([choice for choice in view.choices if choice.in_figure], asked or {})


def values_of(choices: Sequence[Choice], asked: Mapping[str, object]) -> dict[str, Value]:
    found = {choice.name: choice.at for choice in choices}
    for name, value in asked.items():
        choice = control_named(name, choices)
        found[name] = {str(one): one for one in choice.values}[check_value(choice, str(value).strip())]
    return found


def differing(controls: Iterable[Control], asked: Mapping[str, str]) -> dict[str, str]:
    """Of what is asked, that which the page does not show by itself. Raises UserError for what it cannot show."""
    known = tuple(controls)
    chosen = {name: check_value(control_named(name, known), value) for name, value in asked.items()}
    return {name: value for name, value in chosen.items() if value != control_named(name, known).default}


def control_named(name: str, controls: Iterable[AnyControl]) -> AnyControl:
    """The control of that name; of two, the first."""
    for control in controls:
        if control.name == name:
            return control
    raise UserError("This page has no “%(name)s” to choose; leave it out.", name=str(name)[:40])


def check_value(control: Control, value: str) -> str:
    """`value`, if the control can be set to it."""
    if isinstance(control, Choice):
        known = [str(one) for one in control.values]
        fits, first, last = value in known, known[0], known[-1]
    elif control.least is None:
        return value
    elif not is_number(value):
        raise UserError("%(name)s is “%(value)s”; give a number.", name=control.name, value=value[:40])
    else:
        fits, first, last = control.least <= float(value) <= control.most, str(control.least), f"{control.most:.0f}"
    if not fits:
        sentence = N_("%(name)s is %(value)s; this page has %(first)s to %(last)s.")
        raise UserError(sentence, name=control.name, value=value[:40], first=first, last=last)
    return value


def is_number(text: str) -> bool:
    """Whether a page's control for numbers takes it: Python's int and float take more, such as 1_000 and nan."""
    return bool(re.fullmatch(r"-?([0-9]+|[0-9]*\.[0-9]+)([eE][-+]?[0-9]+)?", text)) and math.isfinite(float(text))
