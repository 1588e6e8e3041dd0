"""What the live page does: dispatch(state, hook, fields) -> (state, patches).

`state` is plain JSON that the caller keeps and hands back; `fields` are the named controls of the page;
a patch says which element gets which HTML. The same input always gives the same answer (recordings are
remembered only to save time), so all behaviour is tested in CPython. Knows no browser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from microgpt.errors import N_, UserError
from microgpt.record import Recording
from microgpt.trace import to_json
from microgpt.viz import render
from microgpt.viz.pages import prompt_for
from microgpt.viz.steps import Picture
from microgpt.weights import Model, shipped

Patch = dict[str, str]
State = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What the reader can choose. Together with a number of steps it is the whole state."""

    model: str
    prompt: str
    temperature: float
    top_k: int
    seed: int


def dispatch(state: State | None, hook: str, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """Answer one event of the page. What the reader got wrong is said in a sentence; the picture stays."""
    try:
        state, patches = HOOKS[hook](state, fields)
        return state, [*patches, patch("#prompt-error", "")]
    except UserError as error:
        return state, [patch("#prompt-error", render.render("widgets/_sentence.html", text=render.sentence(error)))]


def run(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """The reader's text to its end, from the start."""
    settings = parse(fields)
    recording = recorded(settings, 0)
    recording.run()
    return remember(settings, recording), whole(recording, fields, selected=-1)


def next_token(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """One more token; after a change of the settings, the prompt first."""
    settings = parse(fields)
    if state is None or state["settings"] != asdict(settings):
        recording = recorded(settings, 0)
        recording.run_prompt()
        return remember(settings, recording), whole(recording, fields, selected=recording.n_prompt - 1)
    recording = recorded(settings, state["n"])
    if recording.ended:
        raise UserError(ended_sentence(recording), n_ctx=recording.model.config.n_ctx)
    scale = Picture(recording.trace).limit
    recording.step()
    if Picture(recording.trace).limit != scale:  # every colour means another number now
        return remember(settings, recording), whole(recording, fields, selected=state["n"])
    return remember(settings, recording), one_more(recording, fields)


def change_model(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """Another model, with the prompt of its own page."""
    prompt = prompt_for(fields["model"])
    shown = {**fields, "prompt": prompt, "layer": "0", "head": "0"}
    state, patches = run(None, shown)
    return state, [*patches, patch("#prompt", render.render("widgets/_prompt.html", prompt=prompt), "outer")]


def save_trace(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The trace of what is on the page, as a file."""
    settings = Settings(**state["settings"]) if state else parse(fields)
    recording = recorded(settings, state["n"] if state else 0)
    if not state:
        recording.run()
    return state, [
        {"file": f"trace-{settings.model}.json", "text": to_json(recording.trace), "type": "application/json"}
    ]


HOOKS: dict[str, Callable[[State | None, Mapping[str, str]], tuple[State | None, list[Patch]]]] = {
    "run": run,
    "next": next_token,
    "model": change_model,
    "trace": save_trace,
}


# ---- recordings -------------------------------------------------------------------------------------


@lru_cache
def model(name: str) -> Model:
    return shipped(name)


_kept: dict[Settings, Recording] = {}


def recorded(settings: Settings, n: int) -> Recording:
    """A recording that has run exactly n steps: the kept one if it has, else a new one."""
    kept = _kept.pop(settings, None)
    if kept is None or len(kept.cache) != n:
        s = settings
        kept = Recording(model(s.model), s.prompt, s.temperature, s.top_k, s.seed)
        while len(kept.cache) < n:
            kept.step()
    _kept.clear()
    _kept[settings] = kept
    return kept


def remember(settings: Settings, recording: Recording) -> State:
    return {"settings": asdict(settings), "n": len(recording.cache)}


def ended_sentence(recording: Recording) -> str:
    if len(recording.cache) == recording.model.config.n_ctx:
        return N_("The context is full: this model sees at most %(n_ctx)s tokens. Start again with a shorter prompt.")
    return N_("The model has chosen to stop here. Change the prompt, the seed or the temperature to go on.")


def parse(fields: Mapping[str, str]) -> Settings:
    """The settings that the page's controls spell out."""
    return Settings(
        model=fields["model"],
        prompt=fields["prompt"],
        temperature=parse_number(fields["temperature"], float, N_("The temperature is “%(text)s”; give a number.")),
        top_k=parse_number(fields["top_k"], int, N_("Top-k is “%(text)s”; give a whole number, 0 for all tokens.")),
        seed=parse_number(fields["seed"], int, N_("The seed is “%(text)s”; give a whole number.")),
    )


def parse_number(text: str, kind: Callable[[str], Any], message: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise UserError(message, text=text[:40]) from None


# ---- patches ----------------------------------------------------------------------------------------


def patch(target: str, html: str, how: str = "inner") -> Patch:
    """how: inner (replace what is inside), outer (replace the element), append (add at the end)."""
    return {"target": target, "html": html, "how": how}


def picture(recording: Recording, fields: Mapping[str, str], selected: int) -> Picture:
    """The picture of a recording with the layer, head and stage that the page shows."""
    layer, head, phase = (int(fields.get(name, default)) for name, default in (("layer", 0), ("head", 0), ("phase", 7)))
    return Picture(recording.trace, selected, layer, head, phase)


def whole(recording: Recording, fields: Mapping[str, str], selected: int) -> list[Patch]:
    shown = picture(recording, fields, selected)
    return [patch("#stepper", render.stepper(shown), "outer"), why(shown)]


def one_more(recording: Recording, fields: Mapping[str, str]) -> list[Patch]:
    """The newest step alone: a token, a row, what belongs to the step; nothing that stands is drawn again."""
    i = len(recording.cache) - 1
    shown = picture(recording, fields, selected=i)

    def part(name: str) -> str:
        return render.render(f"widgets/_{name}.html", picture=shown, i=i)

    return [
        patch("#tokens", part("token"), "append"),
        patch("#rows", part("row"), "append"),
        patch("#steps", part("step"), "append"),
        patch("#nav", part("nav"), "outer"),
        why(shown),
    ]


def why(shown: Picture) -> Patch:
    return patch("#why", render.render("pages/_why.html", picture=shown, live=True), "outer")
