"""What can be chosen on a rendered page: its named controls, read from its HTML, and what an address may ask of them.

The rules are those of site/host.js, which sets the controls. Knows no page and no widget.
"""

import math
from collections.abc import Mapping
from html.parser import HTMLParser

from microgpt.errors import N_, UserError
from microgpt.viz.controls import is_number


class Control:
    """A control, or all radio buttons of one name."""

    def __init__(self, kind: str) -> None:
        self.kind = kind  # choice, number or text
        self.values: list[str] = []  # of a choice; of a number the least and the most, where they are given
        self.default = ""


class Reader(HTMLParser):
    """Collects the controls of a page by their names."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Control] = {}
        self.select: Control | None = None
        self.option: list[str] | None = None  # the text of the option that is open
        self.value: str | None = None  # what it stands for, if not for its text
        self.selected = False  # whether the page begins with it

    def control(self, name: str, kind: str) -> Control:
        return self.found.setdefault(name, Control(kind))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {key: value or "" for key, value in attrs}
        name, kind, value = has.get("name", ""), has.get("type", ""), has.get("value", "")
        if tag == "option" and self.select:
            self.option, self.value = [], has.get("value")
            self.selected = "selected" in has or not self.select.values
        elif tag == "select" and name:
            self.select = self.control(name, "choice")
        elif tag == "textarea" and name:
            self.control(name, "text")
        elif tag == "input" and name and kind != "hidden":
            choice = kind in ("radio", "checkbox")
            control = self.control(name, "choice" if choice else "number" if kind == "number" else "text")
            if choice:
                if (case := has.get("value", "on")) not in control.values:  # two may be of one state
                    control.values.append(case)
            elif control.kind == "number":
                control.values = [has[key] for key in ("min", "max") if has.get(key)]
            if "checked" in has or not choice:
                control.default = value

    def handle_data(self, data: str) -> None:
        if self.option is not None:
            self.option.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "option" and self.select and self.option is not None:
            value = " ".join("".join(self.option).split()) if self.value is None else self.value
            self.select.values.append(value)
            self.select.default = value if self.selected else self.select.default
            self.option = None
        elif tag == "select":
            self.select = None


def controls(html: str) -> dict[str, Control]:
    """Name -> control."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader.found


def can_be(control: Control, value: str) -> bool:
    """Whether it can be set to that: to one of its values, or a number between them."""
    if control.kind == "choice":
        return value in control.values
    least, most = float(control.values[0]), float(control.values[-1])
    return least <= float(value) <= (most if len(control.values) > 1 else math.inf)


def differing(html: str, asked: Mapping[str, str]) -> dict[str, str]:
    """Of what is asked, that which the page does not show by itself. Raises UserError for what it cannot show."""
    known, chosen = controls(html), {}
    for name, value in asked.items():
        control = known.get(name)
        if control is None:
            raise UserError(N_("This page has no “%(name)s” to choose; leave it out."), name=name[:40])
        if control.kind == "number" and not is_number(value):
            raise UserError(N_("%(name)s is “%(value)s”; give a number."), name=name, value=value[:40])
        if control.values and not can_be(control, value):
            first, last = control.values[0], control.values[-1]
            raise UserError(
                N_("%(name)s is %(value)s; this page has %(first)s to %(last)s."),
                name=name,
                value=value[:40],
                first=first,
                last=last,
            )
        if value != control.default:
            chosen[name] = value
    return chosen
