"""What the reader can choose, and how it is read from the controls of a page. Knows no page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from microgpt.decode import HOTTEST, MOST_WHOLE, encode_prompt
from microgpt.errors import N_, UserError
from microgpt.record import Recording
from microgpt.trace import Trace
from microgpt.viz.controls import Field, is_number
from microgpt.weights import KEPT, OWN_MODEL, SHIPPED, Model, shipped


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
AS_NUMBER: dict[str, tuple[Callable[[str], Any], str]] = {
    "temperature": (float, N_("The temperature is “%(text)s”; give a number.")),
    "top_k": (int, N_("Top-k is “%(text)s”; give a whole number, 0 for all tokens.")),
    "seed": (int, N_("The seed is “%(text)s”; give a whole number.")),
}


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
    numbers = [parse_number(fields.get(field.name, field.default), *AS_NUMBER[field.name]) for field in SAMPLING]
    return Settings(fields.get("model", ""), fields.get("prompt", ""), *numbers)


def model(name: str) -> Model:
    return KEPT[name] if name in KEPT else shipped_once(name)


shipped_once = lru_cache(maxsize=len(SHIPPED))(shipped)
DRAWN = {  # the most that the lessons draw
    "n_layer": 4, "n_head": 4, "head_dim": 8, "n_embd": 64, "n_mlp": 128, "n_ctx": 24, "vocab_size": 1000,
    "window": 0, "mask_block": 1, "kv_lora_rank": 0, "q_lora_rank": 0,
}  # fmt: skip
LONGEST_TOKEN = 60  # letters


def keep_own(own: Model, name: str = OWN_MODEL) -> None:
    """Let a model of the reader's run under that name, until there is another. Raises UserError for one that no lesson
    could draw, or that does not know its own prompt: it may come from a file of anyone's."""
    for key, most in DRAWN.items():
        if getattr(own.config, key) > most:
            sentence = N_("“%(name)s” has %(value)s for %(key)s; the lessons draw models with at most %(most)s.")
            raise UserError(sentence, name=own.name, key=key, value=getattr(own.config, key), most=most)
    if max(map(len, own.tokenizer.vocabulary)) > LONGEST_TOKEN:
        raise UserError("“%(name)s” has a token of more than %(most)s letters.", name=own.name, most=LONGEST_TOKEN)
    encode_prompt(own.tokenizer, own.config, own.prompt)
    KEPT[name] = replace(own, name=Path(name).stem)
    ran.cache_clear()


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
