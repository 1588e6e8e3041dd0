"""The stepper's view is the picture of a recording; live, a text grows token by token.

Each answer has what is new alone. What is not looked at first, prose and ledgers, comes in an answer of its own.

A recording is remembered between two answers to save time; without it, it is run again from the start, so an
answer depends on the state and the fields alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import getsource
from textwrap import dedent

from microgpt.cache import KVLayer
from microgpt.decode import decode_step, likeliest
from microgpt.errors import N_, UserError
from microgpt.model import attn_scores, mix, softmax
from microgpt.record import Recording
from microgpt.trace import to_json
from microgpt.viz.controls import on_show
from microgpt.viz.drawing.phases import stage
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.lesson import page_named
from microgpt.viz.patches import Patch, State, again, ahead, file, optional, patch
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings, parse, radio, settings_of
from microgpt.weights import Model

STEP = (KVLayer.append, attn_scores, softmax, mix, decode_step)  # what the machine can be opened to


def view(settings: Settings) -> Picture:
    """The text to its end."""
    return Picture(settings.trace())


def code_of_step() -> str:
    """Those functions as they stand in the package; "" in the browser, where no page is made that would show them."""
    try:
        return "\n\n".join(dedent(getsource(part)).strip() for part in STEP)
    except OSError:
        return ""


def of_large(model: Model, picture: Picture) -> Picture:
    """The text that a large model has run: its own picture."""
    return picture


def run(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """The reader's text to its end, from the start: its prompt, then what follows token by token (`go_on`)."""
    settings = parse(fields)
    recording = recording_after(settings, 0)
    recording.run_prompt()
    chosen = {name: fields[name] for name in CHOSEN if name in fields}
    shown = picture(recording, fields, selected=-1)
    return going_on(remember(settings, recording), chosen, recording, shown, [redraw(shown, fields)], fields)


def go_on(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The next token of a text that runs to its end; the step on show stays the last of the prompt: nothing flickers.

    The fields are those of the press that began it, but its settings, and what it has on show, are kept in the state.
    """
    state = begun(state)
    settings = settings_of(state)
    if state is None or settings is None:
        return state, []
    recording, chosen = recording_after(settings, state["n"]), state.get("chosen", {})
    pieces: list[Patch] = []
    if not recording.has_ended:
        shown, stretched = one_step(recording, {**fields, **chosen}, selected=-1)
        pieces = [redraw(shown, fields)] if stretched else one_more(shown)
    else:
        shown = picture(recording, {**fields, **chosen}, selected=-1)
    return going_on(remember(settings, recording), chosen, recording, shown, pieces, fields)


def going_on(
    state: State, chosen: State, recording: Recording, shown: Picture, pieces: list[Patch], fields: Mapping[str, str]
) -> tuple[State, list[Patch]]:
    """The answer of a run: `pieces`, and the prose once, at its end."""
    if recording.has_ended:
        return state, [*pieces, prose(shown, fields)]
    return {**state, "chosen": chosen}, [*pieces, again("on")]


def next_token(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """One more token; after a change of the settings, the prompt first. What is said of it comes afterwards (`say`).

    Where the model has chosen the end, the step that did so, which says it.
    """
    settings = parse(fields)
    state = begun(state)
    if state is None or state["settings"] != settings._asdict():
        recording = recording_after(settings, 0)
        recording.run_prompt()
        shown = picture(recording, fields, selected=recording.n_prompt - 1)
        return remember(settings, recording), [redraw(shown, fields), again("prose")]
    recording = recording_after(settings, state["n"])
    if recording.has_ended:
        check_room(recording)
        return state, [redraw(picture(recording, fields, selected=state["n"] - 1), fields)]
    shown, stretched = one_step(recording, fields, selected=state["n"])
    if stretched:
        return remember(settings, recording), [redraw(shown, fields), again("prose")]
    said = state.get("said", state["n"])
    return {**remember(settings, recording), "said": said}, [*one_more(shown, late=False), again("prose")]


def say(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The prose of what stands, and the ledgers and lines of the steps that have none yet: they come after a new token,
    and of several that are pressed quickly after the last."""
    state = begun(state)
    settings = settings_of(state)
    if state is None or settings is None:
        return state, []
    recording = recording_after(settings, state["n"])
    shown = picture(recording, fields, selected=state["n"] - 1)
    late = range(state.get("said", shown.n), shown.n)
    said = [patch(target, pieces_of(shown, name, late), "append") for target, name in LATE.items() if late]
    likely = [] if recording.has_ended else [ahead("next")]
    return remember(settings, recording), [*said, prose(shown, fields), *likely]


def go_past(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """A text that the model has ended, with the likeliest token that is no end: a longer prompt, run to its end."""
    state, _, recording = on_page(state, fields)
    if not recording.has_ended:
        return next_token(state, fields)
    check_room(recording)
    prompt = recording.model.tokenizer.decode([*recording.ids[: len(recording.cache)], second(recording)])
    state, patches = run(None, {**fields, "prompt": prompt})
    return state, [*patches, patch("#prompt", render.render("live/prompt.html", prompt=prompt), "outer")]


def begun(state: State | None) -> State | None:
    """The state of a stepper; that of another page has no place in a text."""
    return state if state and "n" in state else None


def save_trace(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, list[Patch]]:
    """The trace of what is on the page, as a file."""
    state, settings, recording = on_page(state, fields)
    saved = file(f"trace-{settings.model}.json", to_json(recording.trace), "application/json")
    return state, [saved, *([again("prose")] if state and "said" in state else [])]


HOOKS = {"run": run, "on": go_on, "next": next_token, "past": go_past, "prose": say, "trace": save_trace}
LATE = {"#lines": "lines", "#ledgers": "ledger"}  # of a step, what is asked for and opened later than it is seen
CHOSEN = ("layer", "head", "phase")  # what a picture that is drawn anew while a text runs must keep


# ---- recordings -----------------------------------------------------------------------------------

_kept: dict[Settings, Recording] = {}


def recording_after(settings: Settings, n: int) -> Recording:
    """A recording that has run exactly n steps: the kept one if it has, else a new one."""
    kept = _kept.pop(settings, None)
    if kept is None or len(kept.cache) != n:
        kept = settings.recording()
        while len(kept.cache) < n:
            kept.step()
    _kept.clear()
    _kept[settings] = kept
    return kept


def on_page(state: State | None, fields: Mapping[str, str]) -> tuple[State | None, Settings, Recording]:
    """The text that is on show; of a page as it was built, to its end."""
    state = begun(state)
    settings = settings_of(state) or parse(fields)
    recording = recording_after(settings, state["n"] if state else 0)
    if not state:
        recording.run()
    return state, settings, recording


def remember(settings: Settings, recording: Recording) -> State:
    return {"settings": settings._asdict(), "n": len(recording.cache)}


def one_step(recording: Recording, fields: Mapping[str, str], selected: int) -> tuple[Picture, bool]:
    """Run a step; the picture of the recording then, and whether what stands is no longer so: a scale is longer, and
    every cell means another number, or the cache holds other rows."""
    before = Picture(recording.trace)
    scales = before.scale, before.x_scale
    recording.step()
    shown = picture(recording, fields, selected)
    return shown, scales != (shown.scale, shown.x_scale) or bool(shown.differing_rows(shown.n - 1))


def check_room(recording: Recording) -> None:
    """Raises UserError where the context is full."""
    if len(recording.cache) == (n_ctx := recording.model.config.n_ctx):
        raise UserError(
            N_("The context is full: this model sees at most %(n_ctx)s tokens. Start again with a shorter prompt."),
            n_ctx=n_ctx,
        )


def second(recording: Recording) -> int:
    """The likeliest next token that does not end the text."""
    logits = recording.trace["logits", len(recording.cache) - 1][0]
    return next(token for token in likeliest(logits, len(logits)) if token not in recording.stops)


# ---- patches --------------------------------------------------------------------------------------


def picture(recording: Recording, fields: Mapping[str, str], selected: int) -> Picture:
    """The picture of a recording with the layer, head and stage that the page shows."""
    config = recording.model.config
    layer, head = radio(fields, "layer", 0, config.n_layer - 1, -1), radio(fields, "head", 0, config.n_head - 1, -1)
    return Picture(recording.trace, selected, layer, head, stage(fields))


def redraw(shown: Picture, fields: Mapping[str, str]) -> Patch:
    return patch("#stepper", render.widget("kv_cache", shown, page_named(fields["page"])), "outer")


def one_more(shown: Picture, asked: Mapping[str, object] | None = None, late: bool = True) -> list[Patch]:
    """The newest step alone: a token, a row, what belongs to the step; nothing that stands is drawn again."""
    i, at = shown.n - 1, on_show(shown, asked)
    pieces = {"#tokens": "token", "#rows": "row", "#steps": "step", **(LATE if late else {})}
    appended = [patch(target, piece(shown, name, i, at), "append") for target, name in pieces.items()]
    after = optional(patch("#after", render.render("token_row/after.html", view=shown)))
    ends = [after] if shown.step(i).stops or shown.n == shown.config.n_ctx else []
    return [*appended, patch("#nav", piece(shown, "nav", i, at), "outer"), *ends]


def piece(shown: Picture, name: str, i: int, at: Mapping[str, object]) -> str:
    """A piece of step i."""
    return render.render(f"course/kv_cache/_{name}.html", view=shown, at=at, i=i)


def pieces_of(shown: Picture, name: str, steps: Iterable[int]) -> str:
    """The pieces of these steps."""
    at = on_show(shown)
    return "".join(piece(shown, name, i, at) for i in steps)


def prose(shown: Picture, fields: Mapping[str, str]) -> Patch:
    return optional(patch("#prose", render.prose("kv_cache", shown, page_named(fields["page"]), live=True)))
