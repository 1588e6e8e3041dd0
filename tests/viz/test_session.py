"""The live page without a browser: the same input gives the same answer, and errors lose nothing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from microgpt.record import Recording
from microgpt.trace import from_json
from microgpt.viz import views
from microgpt.viz.browser import receive
from microgpt.viz.pages import LESSONS
from microgpt.viz.render import prose, widget
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings
from microgpt.viz.steps import Picture
from microgpt.viz.views import stepper as stepper_view
from microgpt.weights import SHIPPED, shipped

FIELDS = {
    "page": "kv-cache",
    "model": "names",
    "prompt": "emm",
    "temperature": "0",
    "top_k": "0",
    "seed": "42",
    "phase": "7",
    "head": "0",
}


def html(patches: list[dict[str, str]], target: str) -> str:
    return next(p["html"] for p in patches if p.get("target") == target)


@pytest.mark.parametrize("page", [p for p in LESSONS if p.widget == "stepper"], ids=lambda p: p.name)
def test_live_stepper_is_the_built_one_byte_for_byte(page: Any) -> None:
    _, patches = dispatch(None, "run", {**FIELDS, "page": page.name, "model": page.model, "prompt": page.prompt})
    built = widget("stepper", Picture(Recording(shipped(page.model), page.prompt).run()))
    assert html(patches, "#stepper") == built


@pytest.mark.parametrize("page", [p for p in LESSONS if p.live == "text"], ids=lambda p: p.name)
def test_live_lesson_is_the_built_one_byte_for_byte(page: Any) -> None:
    _, patches = dispatch(None, "run", {"page": page.name, "model": page.model, "prompt": page.prompt})
    view = views.view(page.widget, Settings(page.model, page.prompt))
    assert html(patches, "#widget") == widget(page.widget, view, page=page)
    assert html(patches, "#prose") == prose(page.widget, view, page=page, live=True)


EXTREMES = {"names": ("a", "z" * 15), "names-deep": ("a", "z" * 15), "stories": ("the", "the " * 23)}


@pytest.mark.parametrize(
    ("page", "model", "prompt"),
    [(p, m, prompt) for p in LESSONS if p.live == "text" for m in p.models for prompt in EXTREMES[m]],
    ids=lambda x: getattr(x, "name", None),
)
def test_every_lesson_takes_the_shortest_and_the_longest_text(page: Any, model: str, prompt: str) -> None:
    state, patches = dispatch(None, "run", {"page": page.name, "model": model, "prompt": prompt.strip()})
    assert state, html(patches, "#prompt-error")
    assert len(html(patches, "#widget")) > 500


@pytest.mark.parametrize("page", [p for p in LESSONS if p.live == "text"], ids=lambda p: p.name)
@pytest.mark.parametrize(("prompt", "says"), [("", "empty"), ("?", "“?”"), ("a " * 60, "tokens long")])
def test_every_lesson_answers_bad_input_with_a_sentence(page: Any, prompt: str, says: str) -> None:
    text = prompt if page.model == "stories" else prompt.replace(" ", "")
    text = text.replace("a", "the") if page.model == "stories" else text
    state, patches = dispatch(None, "run", {"page": page.name, "model": page.model, "prompt": text})
    assert state is None
    assert [p["target"] for p in patches] == ["#prompt-error"]
    assert says in re.sub("<[^>]*>", "", patches[0]["html"])


def test_dispatch_is_pure() -> None:
    """The same state and event give the same answer, whatever came between."""
    state, first = dispatch(None, "next", FIELDS)
    after, second = dispatch(state, "next", FIELDS)
    dispatch(after, "next", FIELDS)
    dispatch(None, "run", {**FIELDS, "prompt": "zoe"})
    stepper_view._kept.clear()
    assert dispatch(state, "next", FIELDS) == (after, second)
    assert dispatch(None, "next", FIELDS) == (state, first)


@pytest.mark.parametrize(("model", "prompt"), [("names", "a"), ("stories", "the next day")])
def test_token_by_token_gives_what_a_whole_rendering_gives(model: str, prompt: str) -> None:
    """Each appended piece stands, byte for byte, in the stepper rendered at once."""
    fields = {**FIELDS, "model": model, "prompt": prompt}
    state, _ = dispatch(None, "next", fields)
    appended = 0
    for _ in range(5):
        n = state["n"] if state else 0
        state, patches = dispatch(state, "next", fields)
        if state is None or state["n"] == n:
            break
        made = Recording(shipped(model), prompt)
        while len(made.cache) < state["n"]:
            made.step()
        at_once = widget("stepper", Picture(made.trace, selected=n))
        for patch in patches:
            if patch["target"] in ("#tokens", "#rows", "#steps", "#nav", "#stepper"):
                assert patch["html"] in at_once
                appended += patch["how"] == "append"
    assert appended >= 3


def test_one_token_at_a_time_ends_where_a_run_ends() -> None:
    state, _ = dispatch(None, "next", FIELDS)
    for _ in range(20):
        state, patches = dispatch(state, "next", FIELDS)
    ran, _ = dispatch(None, "run", FIELDS)
    assert state == ran
    assert "stop" in html(patches, "#prompt-error") or "full" in html(patches, "#prompt-error")


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("prompt", "", "empty"), ("prompt", "   ", "empty"), ("prompt", "emma7", "“7” (number 5"),
        ("prompt", "a" * 40, "41 tokens"),
        ("temperature", "-1", "-1"), ("temperature", "nan", "nan"), ("temperature", "warm", "warm"),
        ("top_k", "-2", "-2"), ("top_k", "1.5", "1.5"), ("seed", "x", "“x”"), ("model", "gpt-5", "gpt-5"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("hook", ["run", "next"])
def test_bad_input_gets_a_sentence_and_the_picture_stays(hook: str, field: str, value: str, says: str) -> None:
    state, _ = dispatch(None, "next", FIELDS)
    after, patches = dispatch(state, hook, {**FIELDS, field: value})
    assert after == state
    assert [p["target"] for p in patches] == ["#prompt-error"]
    assert says in re.sub("<[^>]*>", "", patches[0]["html"])
    assert "Traceback" not in patches[0]["html"]


def test_markup_in_a_prompt_stays_text() -> None:
    _, patches = dispatch(None, "run", {**FIELDS, "prompt": "<img>"})
    assert "<img" not in patches[0]["html"]


def test_layer_head_and_stage_stay_as_chosen() -> None:
    _, patches = dispatch(None, "run", {**FIELDS, "head": "2", "phase": "4"})
    text = html(patches, "#stepper")
    assert 'name="head" value="2" checked' in text
    assert 'name="phase" value="4" checked' in text


def test_seed_temperature_and_top_k_decide() -> None:
    def drawn(**fields: str) -> str:
        return html(dispatch(None, "run", {**FIELDS, "prompt": "a", **fields})[1], "#stepper")

    assert drawn(temperature="1", seed="1") == drawn(temperature="1", seed="1")
    assert len({drawn(temperature="1", seed=str(seed)) for seed in range(6)}) > 1
    assert len({drawn(temperature="1", top_k="1", seed=str(seed)) for seed in range(6)}) == 1


def test_change_of_model_brings_its_own_prompt() -> None:
    state, patches = dispatch(None, "model", {**FIELDS, "model": "stories"})
    assert state and state["settings"]["prompt"] == "The next day is bright"
    assert "The next day is bright" in html(patches, "#prompt")


@pytest.mark.parametrize("model", SHIPPED)
def test_every_model_can_be_chosen(model: str) -> None:
    state, patches = dispatch(None, "model", {**FIELDS, "model": model})
    assert state and state["n"] > 3
    assert html(patches, "#prompt-error") == ""


def test_saved_trace_loads_back() -> None:
    state, _ = dispatch(None, "next", FIELDS)
    same, patches = dispatch(state, "trace", FIELDS)
    assert same == state
    trace = from_json(patches[0]["text"])
    assert trace.about["tokens"] == ["<s>", "e", "m", "m"]


def test_the_door_speaks_json() -> None:
    answer = json.loads(receive(json.dumps({"id": 1, "state": None, "hook": "next", "fields": FIELDS})))
    assert answer["state"]["n"] == 4
    assert {p["target"] for p in answer["patches"]} >= {"#stepper", "#prose"}


@pytest.mark.parametrize(("form", "name"), [("svg", "-step2-layer0-head1-phase4.svg"), ("moving", "-moving.svg")])
def test_the_page_offers_what_it_shows_as_a_figure(form: str, name: str) -> None:
    fields = {"page": "kv-cache", "lang": "es", "step": "2", "phase": "4", "layer": "0", "head": "1", "format": form}
    _, patches = dispatch(None, "figure", fields)
    assert patches[0]["type"] == "image/svg+xml"
    assert patches[0]["file"].startswith("kv-cache")
    assert patches[0]["file"].endswith(".svg")
    assert "Por qu\u00e9" in patches[0]["text"]  # in the page's language
    assert name[-4:] == patches[0]["file"][-4:]


def test_a_figure_in_pixels_is_the_same_drawing_with_another_name() -> None:
    fields = {"page": "kv-cache", "step": "2", "format": "svg"}
    still = dispatch(None, "figure", fields)[1][0]
    pixels = dispatch(None, "figure", {**fields, "format": "png"})[1][0]
    assert pixels["text"] == still["text"]
    assert (pixels["type"], pixels["file"]) == ("image/png", still["file"].replace(".svg", ".png"))


def test_a_figure_shows_the_run_on_show_and_not_what_is_being_typed() -> None:
    fields = {"page": "kv-cache", "model": "names", "prompt": "anna", "temperature": "0", "top_k": "0", "seed": "1"}
    state, _ = dispatch(None, "run", fields)
    shown = dispatch(state, "figure", {**fields, "prompt": "not run yet", "format": "svg"})[1][0]["text"]
    assert shown == dispatch(None, "figure", {**fields, "format": "svg"})[1][0]["text"]


@pytest.mark.parametrize(
    ("page", "hook", "fields", "says"),
    [
        ("kv-cache", "no such", {}, "no such"),
        ("next-token", "next", {}, "next"),  # a button of other pages
        ("glossary", "run", {}, "run"),  # a page without a widget
        ("index", "model", {}, "model"),
        ("nowhere", "run", {}, "nowhere"),
        ("kv-cache", "run", {"prompt": None}, "empty"),
        ("kv-cache", "run", {"prompt": 7}, "empty"),
        ("next-token", "model", {"model": True}, "“”"),
        ("memory", "calculate", {"preset": ["Llama-3-8B"]}, "“”"),
        ("kv-cache", "run", {"lang": {}, "prompt": ""}, "empty"),
    ],
)
def test_a_message_that_no_page_sends_gets_a_sentence(page: str, hook: str, fields: Any, says: str) -> None:
    state, _ = dispatch(None, "next", FIELDS)
    after, patches = dispatch(state, hook, {**FIELDS, "page": page, **fields})
    assert after == state
    assert [p["target"] for p in patches] == ["#prompt-error"]
    assert says in re.sub("<[^>]*>", "", patches[0]["html"])


def test_a_field_that_is_not_sent_is_empty() -> None:
    for name in ("page", "model", "prompt"):
        fields = {key: value for key, value in FIELDS.items() if key != name}
        state, patches = dispatch(None, "run", fields)
        assert state is None and [p["target"] for p in patches] == ["#prompt-error"]
