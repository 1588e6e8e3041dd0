"""The stepper's view is the picture of a recording; live, a text grows token by token.

A recording is remembered between two answers to save time; without it, it is run again from the start, so an
answer depends on the state and the fields alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from microgpt.errors import N_, UserError
from microgpt.record import Recording
from microgpt.trace import to_json
from microgpt.viz.controls import on_show
from microgpt.viz.drawing.heat import Scale
from microgpt.viz.drawing.phases import PHASES
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.drawing.thumbs import HEIGHT, Cell, heat_row
from microgpt.viz.lesson import page_named
from microgpt.viz.patches import Patch, State, again, file, optional, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings, parse, radio, settings_of


def view(settings: Settings) -> Picture:
    """The text to its end."""
    return Picture(settings.trace())


def thumb(view: Picture) -> Iterable[Cell]:
    """The piles of K and V after the last step, and the places where no q lies."""
    step = HEIGHT // view.n
    for i in range(view.n):
        y, kept = (view.n - 1 - i) * step, view.row(i)
        yield "none", 0, y, 88, step - 2
        for owner, strips, x in (("k", kept.k, 108), ("v", kept.v, 216)):
            yield from heat_row(owner, view.of_clearest(strips), x, y, 88, step - 2)


def run(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """The reader's text to its end, from the start."""
    settings = parse(fields)
    recording = recorded(settings, 0)
    recording.run()
    shown = picture(recording, fields, selected=-1)
    return remember(settings, recording), [drawn_anew(shown), prose(shown, fields)]


def next_token(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """One more token; after a change of the settings, the prompt first."""
    settings = parse(fields)
    state = begun(state)
    if state is None or state["settings"] != settings._asdict():
        recording = recorded(settings, 0)
        recording.run_prompt()
        shown = picture(recording, fields, selected=recording.n_prompt - 1)
        return remember(settings, recording), [drawn_anew(shown), again("prose")]
    recording = recorded(settings, state["n"])
    if recording.ended:
        raise UserError(ended_sentence(recording), n_ctx=recording.model.config.n_ctx)
    before = scales(recording)
    recording.step()
    shown = picture(recording, fields, selected=state["n"])
    stretched = scales(recording) != before  # every cell means another number now
    return remember(settings, recording), [*([drawn_anew(shown)] if stretched else one_more(shown)), again("prose")]


def say(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The prose of what stands: it comes after a new token, and of several that are pressed quickly after the last."""
    state = begun(state)
    settings = settings_of(state)
    if state is None or settings is None:
        return state, []
    recording = recorded(settings, state["n"])
    return state, [prose(picture(recording, fields, selected=state["n"] - 1), fields)]


def begun(state: State | None) -> State | None:
    """The state of a stepper; that of another page has no place in a text."""
    return state if state and "n" in state else None


def save_trace(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The trace of what is on the page, as a file."""
    state = begun(state)
    settings = settings_of(state) or parse(fields)
    recording = recorded(settings, state["n"] if state else 0)
    if not state:
        recording.run()
    return state, [file(f"trace-{settings.model}.json", to_json(recording.trace), "application/json")]


HOOKS = {"run": run, "next": next_token, "prose": say, "trace": save_trace}


# ---- recordings -----------------------------------------------------------------------------------

_kept: dict[Settings, Recording] = {}


def recorded(settings: Settings, n: int) -> Recording:
    """A recording that has run exactly n steps: the kept one if it has, else a new one."""
    kept = _kept.pop(settings, None)
    if kept is None or len(kept.cache) != n:
        kept = settings.recording()
        while len(kept.cache) < n:
            kept.step()
    _kept.clear()
    _kept[settings] = kept
    return kept


def remember(settings: Settings, recording: Recording) -> State:
    return {"settings": settings._asdict(), "n": len(recording.cache)}


def scales(recording: Recording) -> tuple[Scale, Scale]:
    """Those of the rows and of x, as far as the recording has run."""
    shown = Picture(recording.trace)
    return shown.scale, shown.x_scale


def ended_sentence(recording: Recording) -> str:
    if len(recording.cache) == recording.model.config.n_ctx:
        return N_("The context is full: this model sees at most %(n_ctx)s tokens. Start again with a shorter prompt.")
    return N_("The model has chosen to stop here. Change the prompt, the seed or the temperature to go on.")


# ---- patches --------------------------------------------------------------------------------------


def picture(recording: Recording, fields: Mapping[str, str], selected: int) -> Picture:
    """The picture of a recording with the layer, head and stage that the page shows."""
    config, last = recording.model.config, len(PHASES)
    layer, head = radio(fields, "layer", 0, config.n_layer - 1, -1), radio(fields, "head", 0, config.n_head - 1, -1)
    return Picture(recording.trace, selected, layer, head, radio(fields, "phase", 1, last, last))


def drawn_anew(shown: Picture) -> Patch:
    return patch("#stepper", render.widget("stepper", shown), "outer")


def one_more(shown: Picture, asked: Mapping[str, object] | None = None) -> list[Patch]:
    """The newest step alone: a token, a row, what belongs to the step; nothing that stands is drawn again."""
    i, at = shown.n - 1, on_show(shown, asked)

    def part(name: str) -> str:
        return render.render(f"lessons/stepper/_{name}.html", view=shown, at=at, i=i)

    return [
        patch("#tokens", part("token"), "append"),
        patch("#rows", part("row"), "append"),
        patch("#steps", part("step"), "append"),
        patch("#ledgers", part("ledger"), "append"),
        patch("#nav", part("nav"), "outer"),
    ]


def prose(shown: Picture, fields: Mapping[str, str]) -> Patch:
    return optional(patch("#prose", render.prose("stepper", shown, page_named(fields["page"]), live=True)))
