"""What the reader can choose, and how it is read from the controls of a page. Knows no page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from functools import lru_cache
from typing import Any, NamedTuple

from microgpt.decode import HOTTEST, MOST_WHOLE
from microgpt.errors import N_, UserError
from microgpt.record import Recording
from microgpt.trace import Trace
from microgpt.viz.controls import Field, is_number
from microgpt.weights import SHIPPED, Model, shipped


class Settings(NamedTuple):
    """A run of a model on a text: everything that decides it."""

    model: str
    prompt: str
    temperature: float = 0.0
    top_k: int = 0
    seed: int = 42

    def recording(self) -> Recording:
        """The run, not yet begun. Raises UserError for what its model cannot use."""
        return Recording(model(self.model), self.prompt, self.temperature, self.top_k, self.seed)

    def run(self) -> Recording:
        """The run, come to its end, for nobody to go on with; kept, since a page and its figure ask for the same."""
        return ran(self)

    def trace(self) -> Trace:
        """What the run tells; what is written into its `about` changes no other page's."""
        trace = copy(self.run().trace)
        trace.about = deepcopy(trace.about)
        return trace


DEFAULTS = Settings("", "")
SAMPLING = (
    Field("temperature", str(DEFAULTS.temperature), 0, HOTTEST),
    Field("top_k", str(DEFAULTS.top_k), 0, MOST_WHOLE),
    Field("seed", str(DEFAULTS.seed), 0, MOST_WHOLE),
)


@lru_cache(maxsize=2)
def ran(settings: Settings) -> Recording:
    recording = settings.recording()
    recording.run()
    return recording


def settings_of(state: Mapping[str, Any] | None) -> Settings | None:
    """The run that the state of a page names. Raises UserError for a state that no page has."""
    if not state or "settings" not in state:
        return None
    try:
        return Settings(**state["settings"])
    except TypeError:
        raise UserError("This page is no longer in order. Reload it, and try again.") from None


def parse(fields: Mapping[str, str]) -> Settings:
    """The settings that the page's controls spell out; a control that the page does not have has its default."""
    return Settings(
        model=fields.get("model", ""),
        prompt=fields.get("prompt", ""),
        temperature=parse_number(
            fields.get("temperature", str(DEFAULTS.temperature)),
            float,
            N_("The temperature is “%(text)s”; give a number."),
        ),
        top_k=parse_number(
            fields.get("top_k", str(DEFAULTS.top_k)),
            int,
            N_("Top-k is “%(text)s”; give a whole number, 0 for all tokens."),
        ),
        seed=parse_number(
            fields.get("seed", str(DEFAULTS.seed)), int, N_("The seed is “%(text)s”; give a whole number.")
        ),
    )


@lru_cache(maxsize=len(SHIPPED))
def model(name: str) -> Model:
    return shipped(name)


def parse_number(text: str, kind: Callable[[str], Any], message: str, **fields: object) -> Any:
    """A number typed by a reader. Raises UserError with `message`, which has a %(text)s, and the `fields`."""
    try:
        if is_number(text):
            return kind(text)
    except ValueError:
        pass
    raise UserError(message, text=text[:40], **fields)


def radio(fields: Mapping[str, str], name: str, first: int, last: int, default: int = 0) -> int:
    """The number of the radio button that is pressed; of those that a picture does not have, the next that it has."""
    text = fields.get(name, "")
    return min(max(first, int(text)), last) if re.fullmatch("[0-9]{1,9}", text) else default
