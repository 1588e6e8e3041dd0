"""What can be chosen on a rendered page: its named controls, read from its HTML. Knows no page and no widget."""

from html.parser import HTMLParser


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
