"""The live page without a browser: the same input gives the same answer, and errors lose nothing."""

import json
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.course import LESSONS
from microgpt.course import page as page_named
from microgpt.decode import HOTTEST, MOST_WHOLE, check_sampling
from microgpt.errors import UserError
from microgpt.record import Recording
from microgpt.trace import from_json
from microgpt.viz import views
from microgpt.viz.browser import receive
from microgpt.viz.controls import is_number
from microgpt.viz.drawing.phases import PHASES
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.rendering.render import prose, widget
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings, parse
from microgpt.weights import shipped
from tests.support.answers import stands, to_the_end
from tests.support.examples import examples
from tests.support.pages import by_name
from tests.support.sampled import sampled

RUN = {"page": "kv-cache", "model": "names", "prompt": "emm", "temperature": "0", "top_k": "0", "seed": "42"}
FIELDS = {**RUN, "phase": "7", "head": "0"}
PRESSED = [page for page in LESSONS if page.live in ("text", "steps")]
LIVE = [page for page in LESSONS if page.live == "text"]
STEPPER = page_named("kv-cache")
MACHINES = [page for page in LESSONS if page.widget == "kv_cache"]
ENDED = 'The model chose <bdi class="tok">&lt;s&gt;</bdi>: the name is complete.'


def html(patches: list[dict[str, str]], target: str) -> str:
    return next(p["html"] for p in patches if p.get("target") == target)


def refused(patches: list[dict[str, str]]) -> str:
    """The sentence of an answer that changes nothing else; nothing of an answer that does."""
    if [p.get("target") for p in patches] != ["#prompt-error"]:
        return ""
    return re.sub("<[^>]*>", "", patches[0]["html"])


def finished(patches: list[dict[str, str]]) -> str:
    """What is said where a text goes no further: that the model has chosen the end, or that the context is full."""
    said = re.search("The model chose <bdi[^.]*is\\scomplete", "".join(p.get("html", "") for p in patches))
    return said[0] if said else refused(patches)


def pressed_or_not(text: str) -> str:
    return text.replace(" checked", "")


def recorded(model: str, prompt: str, n: int) -> Recording:
    """A run up to n tokens."""
    made = Recording(shipped(model), prompt)
    while len(made.cache) < n:
        made.step()
    return made


@pytest.mark.parametrize("page", sampled(MACHINES, MACHINES[:1], "the same with words"), ids=by_name)
def test_a_run_is_shown_as_it_is_computed_and_ends_as_the_built_page_byte_for_byte(page: Any) -> None:
    fields = {**FIELDS, "page": page.name, "model": page.model, "prompt": page.prompt, "layer": "0"}
    state, answers = to_the_end(None, "run", fields)
    trace = Recording(shipped(page.model), page.prompt).run()
    shown = Picture(trace, layer=0, head=0, phase=len(PHASES))
    assert state == {"settings": {name: trace.about[name] for name in Settings._fields}, "n": shown.n}
    tokens = [stands(answers[: i + 1]).count('name="step"') for i in range(len(answers))]
    assert tokens == list(range(trace.about["n_prompt"], shown.n + 1))  # the prompt, then one more with each answer
    assert stands(answers) == widget("kv_cache", shown, page=STEPPER)
    assert [["#prose" in [p.get("target") for p in patches] for patches in answers].index(True)] == [len(answers) - 1]
    assert html(answers[-1], "#prose") == prose("kv_cache", shown, page=page, live=True)


def test_a_run_keeps_what_it_began_with() -> None:
    """Each of its answers is asked for with the fields of the press, which may have been a choice of another model."""
    other = {**FIELDS, "model": "names", "prompt": "zoe", "head": "2"}
    _, answers = to_the_end(None, "model", {**FIELDS, "model": "stories"}, other)
    shown = Picture(Recording(shipped("stories"), "The next day is bright").run(), layer=0, head=0, phase=len(PHASES))
    assert len(answers) > 5 and stands(answers) == widget("kv_cache", shown, page=STEPPER)
    _, answers = to_the_end(None, "run", {**FIELDS, "prompt": "a"}, other)
    assert sum(p.get("target") == "#stepper" for patches in answers[1:] for p in patches) > 0  # a scale is stretched
    shown = Picture(Recording(shipped("names"), "a").run(), head=0, phase=len(PHASES))
    assert stands(answers) == widget("kv_cache", shown, page=STEPPER)


def test_a_run_stops_for_what_is_pressed_and_one_token_goes_on_from_there() -> None:
    state, first = dispatch(None, "run", FIELDS)
    state, second = dispatch(state, "on", FIELDS)
    assert state and {"again": "on"} in second
    n = state["n"]
    after, patches = dispatch(state, "next", FIELDS)
    assert after and after["n"] == n + 1 and "chosen" not in after
    assert {"again": "prose"} in patches
    after, whole = to_the_end(state, "next", FIELDS)
    made = recorded("names", "emm", after["n"])
    there = pressed_or_not(widget("kv_cache", Picture(made.trace, head=0, phase=len(PHASES)), page=STEPPER))
    assert pressed_or_not(stands([first, second, *whole])) == there


def test_an_end_that_the_model_has_chosen_is_said_calmly_and_can_be_gone_past() -> None:
    """A prompt that is a whole name: the likeliest token that does not end it makes a longer one. So does that of the
    page as it was built, of which Python has heard nothing."""
    whole = {**FIELDS, "prompt": "anna"}
    state, answers = to_the_end(None, "run", whole)
    after = 'data-hook="past"'
    # in the picture, and after its tokens
    assert stands(answers).count(ENDED) == 2 and stands(answers).count(after) == 1
    again, patches = dispatch(state, "next", whole)
    assert (again, html(patches, "#prompt-error")) == (state, "")
    assert html(patches, "#stepper") == stands(answers)  # the step that has chosen it
    made = recorded("names", "anna", 5)
    order = np.argsort(-made.trace["logits", 4][0])
    assert order[0] == made.model.tokenizer.start
    longer = "anna" + made.model.tokenizer.vocabulary[order[1]]
    for begun in (state, None):
        _, patches = dispatch(begun, "past", whole)
        assert f'value="{longer}"' in html(patches, "#prompt")
        assert html(patches, "#stepper").count('name="step"') == 6
    _, patches = dispatch(None, "next", FIELDS)
    assert ENDED not in html(patches, "#stepper") and after not in html(patches, "#stepper")
    state, answers = to_the_end(None, "run", {**FIELDS, "prompt": "ma"})
    assert after in html(answers[-1], "#after")


def test_the_temperature_that_reshapes_the_guesses_is_that_of_the_next_run() -> None:
    _, answers = to_the_end(None, "run", {**FIELDS, "temperature": "0.5"})
    assert re.findall('name="temperature" value="([^"]*)" checked', stands(answers)) == ["0.5"]
    shown = Picture(Recording(shipped("names"), "emm", 0.7).run())
    assert shown.temperatures == ("0", "0.25", "0.5", "0.7", "1", "1.5", "2") and shown.temperature == "0.7"


@pytest.mark.parametrize("page", LIVE, ids=lambda p: p.name)
def test_live_lesson_is_the_built_one_byte_for_byte(page: Any) -> None:
    _, patches = dispatch(None, "run", {"page": page.name, "model": page.model, "prompt": page.prompt})
    view = views.view(page.widget, Settings(page.model, page.prompt))
    assert html(patches, "#widget") == widget(page.widget, view, page=page)
    assert html(patches, "#prose") == prose(page.widget, view, page=page, live=True)


EXTREMES = {"names": ("a", "z" * 15), "names-deep": ("a", "z" * 15), "stories": ("the", "the " * 23)}
EXTREMES["stories-mla"] = EXTREMES["stories"]


BY_NIGHT = pytest.mark.thorough("by day one text of two lessons in three, of the model that it is built of")


@pytest.mark.parametrize(
    ("page", "model", "prompt"),
    [
        pytest.param(p, m, prompt, marks=() if m == p.model and (at + longest) % 3 == 0 else BY_NIGHT)
        for at, p in enumerate(LIVE) for m in p.models for longest, prompt in enumerate(EXTREMES[m])
    ],
    ids=lambda x: getattr(x, "name", None),
)  # fmt: skip
def test_every_lesson_takes_the_shortest_and_the_longest_text(page: Any, model: str, prompt: str) -> None:
    state, patches = dispatch(None, "run", {"page": page.name, "model": model, "prompt": prompt.strip()})
    assert state, html(patches, "#prompt-error")
    if prompt == EXTREMES[model][0]:
        assert html(patches, "#widget") == widget(
            page.widget, views.view(page.widget, Settings(model, prompt)), page=page
        )
    asked = re.findall(r'<fieldset class="ask">(.*?)</fieldset>', html(patches, "#prose"), re.S)
    assert asked
    for question in asked:  # of the answers, no two are the same, and one is right
        options = re.findall(r'<label class="(\w+)">.*?class="face">(.*?)</span> <span class="verdict"', question, re.S)
        assert [kind for kind, _ in options].count("right") == 1
        assert len({text for _, text in options}) == len(options) > 1, question


@pytest.mark.parametrize("page", sampled(LIVE, LIVE[::5], "the same sentences"), ids=by_name)
def test_every_lesson_answers_bad_input_with_a_sentence(page: Any) -> None:
    long = "the " * 60 if page.model.startswith("stories") else "a" * 60
    for prompt, says in (("", "empty"), ("?", "“?”"), (long, "tokens long")):
        state, patches = dispatch(None, "run", {"page": page.name, "model": page.model, "prompt": prompt})
        assert state is None and says in refused(patches)


def test_dispatch_is_pure() -> None:
    """The same state and event give the same answer, whatever came between."""
    state, first = dispatch(None, "next", FIELDS)
    after, second = dispatch(state, "next", FIELDS)
    dispatch(after, "next", FIELDS)
    dispatch(None, "run", {**FIELDS, "prompt": "zoe"})  # of recordings, one is kept: it is this one now
    assert dispatch(state, "next", FIELDS) == (after, second)
    assert dispatch(None, "next", FIELDS) == (state, first)


TEXTS = [("names", "emm"), ("names", "a"), ("stories", "the next day")]


@pytest.mark.parametrize(("model", "prompt"), sampled(TEXTS, TEXTS[:1], "with words, and from the first token"))
def test_after_each_token_stands_what_a_whole_rendering_gives_until_a_run_ends(model: str, prompt: str) -> None:
    """Byte for byte, but for what is pressed."""
    fields = {**FIELDS, "model": model, "prompt": prompt}
    (state, answers), n, appended = to_the_end(None, "next", fields), 0, 0
    while state["n"] > n:
        n, made = state["n"], recorded(model, prompt, state["n"])
        assert pressed_or_not(stands(answers)) == pressed_or_not(
            widget("kv_cache", Picture(made.trace, head=0, phase=len(PHASES)), page=STEPPER)
        )
        state, more = to_the_end(state, "next", fields)
        answers += more
        appended += sum(patch.get("how") == "append" for patches in more for patch in patches)
    assert appended >= 3  # a step that stretches a scale is drawn anew
    assert state == to_the_end(None, "run", fields)[0]
    assert "complete" in finished(more[0]) or "full" in finished(more[0])


@pytest.mark.parametrize(("name", "characters", "elements"), [("names", 22_000, 680), ("stories", 41_000, 1_450)])
def test_a_token_is_a_small_answer(name: str, characters: int, elements: int) -> None:
    """What a page must read, style and lay out within a frame."""
    page = next(p for p in LESSONS if p.widget == "kv_cache" and p.model == name)
    fields = {**FIELDS, "page": page.name, "model": name, "prompt": page.prompt, "temperature": "1"}
    seen = 0
    for seed in range(examples(8)):
        state, patches = dispatch(None, "next", {**fields, "seed": str(seed)})
        while state and not finished(patches):
            state, patches = dispatch(state, "next", {**fields, "seed": str(seed)})
            if {"again": "prose"} in patches:
                answer = "".join(p.get("html", "") for p in patches)
                assert len(answer) <= characters and len(re.findall("<[a-z]", answer)) <= elements
                seen += 1
    assert seen >= 5


def test_the_prose_follows_a_token_and_is_that_of_the_whole_text() -> None:
    """It has more letters than the token, and need not be drawn for each of several that are pressed quickly."""
    state, patches = dispatch(None, "next", FIELDS)
    while "#stepper" in [p.get("target") for p in patches]:  # the prompt, and a token that stretches a scale
        state, patches = dispatch(state, "next", FIELDS)
    assert "#prose" not in [p.get("target") for p in patches] and {"again": "prose"} in patches
    again, patches = dispatch(state, "prose", FIELDS)
    assert state and again == {"settings": state["settings"], "n": state["n"]}
    assert state["said"] == state["n"] - 1 and [p.get("target") for p in patches].count("#ledgers") == 1
    made = recorded("names", "emm", state["n"])
    page = next(p for p in LESSONS if p.name == "kv-cache")
    shown = Picture(made.trace, selected=state["n"] - 1, head=0, phase=len(PHASES))
    assert html(patches, "#prose") == prose("kv_cache", shown, page=page, live=True)
    assert {"ahead": "next"} in patches
    while not made.has_ended:
        state, patches = dispatch(state, "next", FIELDS)
        made.step()
    assert {"ahead": "next"} not in dispatch(state, "prose", FIELDS)[1]  # nothing comes next
    assert [p["target"] for p in dispatch(None, "prose", FIELDS)[1]] == ["#prompt-error"]


BAD = [
        ("prompt", "", "empty"), ("prompt", "   ", "empty"), ("prompt", "emma7", "“7” (number 5"),
        ("prompt", "<img>", "“&lt;”"), ("prompt", "a" * 40, "41 tokens"),
        ("temperature", "-1", "-1"), ("temperature", "nan", "nan"), ("temperature", "warm", "warm"),
        ("temperature", "1e999", "1e999"), ("temperature", "1001", f"to {HOTTEST}"), ("temperature", "1e308", "1e+308"),
        ("temperature", "1.2345678901234567e20", "1.2345678901234567e+20"), ("temperature", "٣", "“٣”"),
        ("temperature", "1_0", "“1_0”"), ("temperature", "", "“”"),
        ("top_k", "-2", "-2"), ("top_k", "1.5", "1.5"), ("seed", "x", "“x”"), ("model", "gpt-5", "gpt-5"),
        ("top_k", "1000000000000000001", f"to {MOST_WHOLE}"), ("top_k", "1e3", "“1e3”"), ("top_k", "+1", "“+1”"),
        ("seed", "9007199254740993", f"from 0 to {MOST_WHOLE}"), ("seed", "-1", f"from 0 to {MOST_WHOLE}"),
        ("seed", "٤٢", "“٤٢”"), ("seed", "4_2", "“4_2”"), ("seed", " 42", "“ 42”"), ("seed", "9" * 5000, "99999"),
]  # fmt: skip


@pytest.mark.parametrize("hook", ["run", "next"])
def test_bad_input_gets_a_sentence_and_the_picture_stays(hook: str) -> None:
    state, _ = dispatch(None, "next", FIELDS)
    answers = [(one, *dispatch(state, hook, {**FIELDS, one[0]: one[1]})) for one in BAD]
    assert [one for one, after, _ in answers if after != state] == []
    said = [(one, refused(patches)) for one, _, patches in answers]
    assert [(one, text) for one, text in said if one[2] not in text or "Traceback" in text] == []


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
    for model, prompt in (("names", "emm"), ("names-deep", "emm"), ("stories", "The next day is bright")):
        state, patches = dispatch(None, "model", {**FIELDS, "model": model})
        assert state and state["n"] > 3 and state["settings"]["prompt"] == prompt
        assert prompt in html(patches, "#prompt") and html(patches, "#prompt-error") == ""


def test_saved_trace_loads_back() -> None:
    state, _ = dispatch(None, "next", FIELDS)
    same, patches = dispatch(state, "trace", FIELDS)
    assert same == state
    trace = from_json(patches[0]["text"])
    assert trace.about["tokens"] == ["<s>", "e", "m", "m"]


def test_the_page_offers_what_it_shows_as_a_figure_in_pixels_too() -> None:
    fields = {"page": "kv-cache", "lang": "es", "step": "2", "phase": "4", "layer": "0", "head": "1"}
    still, moves, pixels = (
        dispatch(None, "figure", {**fields, "format": form})[1][0] for form in ("svg", "moving", "png")
    )
    assert still["type"] == moves["type"] == "image/svg+xml" and moves["file"] == "kv-cache-moving.svg"
    assert "Por qu\u00e9" in still["text"] and "Por qu\u00e9" in moves["text"]  # in the page's language
    assert pixels == {**still, "type": "image/png", "file": still["file"].replace(".svg", ".png")}


def test_a_figure_shows_the_run_on_show_and_not_what_is_being_typed() -> None:
    fields = {"page": "kv-cache", "model": "names", "prompt": "anna", "temperature": "0", "top_k": "0", "seed": "1"}
    state, _ = dispatch(None, "run", fields)
    shown = dispatch(state, "figure", {**fields, "prompt": "not run yet", "format": "svg"})[1][0]["text"]
    assert shown == dispatch(None, "figure", {**fields, "format": "svg"})[1][0]["text"]


# ---- numbers go to the page and come back ----------------------------------------------------------

NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.floats().map(repr),
    st.sampled_from(
        ["-0", "1e-320", "5e-324", "0.1", ".5", "5.", "1e3", str(MOST_WHOLE), str(MOST_WHOLE + 1), f"{HOTTEST}"]
    ),
    st.text("0123456789.-+eE_ ٣nax", max_size=12),
)


def through_a_page(text: str) -> Any:
    """What Python gets back of a JSON text that JavaScript has read, where each number is a float64, and written."""

    def written(number: str) -> float | int:
        found = float(number)
        return int(Decimal(repr(found))) if found.is_integer() and abs(found) < 1e21 else found

    return json.loads(text, parse_int=written, parse_float=written)


@given(temperature=NUMBERS, top_k=NUMBERS, seed=NUMBERS)
def test_settings_that_are_taken_come_back_from_a_page_as_they_were(temperature: str, top_k: str, seed: str) -> None:
    """Else the next token would begin the text anew, each time."""
    asked = {"model": "names", "prompt": "a", "temperature": temperature, "top_k": top_k, "seed": seed}
    for one in ("temperature", "top_k", "seed"):  # one by one, so that a good one is not lost for a bad one
        fields = {**{k: v for k, v in FIELDS.items() if k in asked}, one: asked[one]}
        try:
            settings = parse(fields)
            check_sampling(settings.temperature, settings.top_k, settings.seed)
        except UserError as error:
            assert len(str(error)) < 150
            continue
        assert through_a_page(json.dumps(settings._asdict(), allow_nan=False)) == settings._asdict()


def test_with_every_number_that_is_taken_one_token_goes_on() -> None:
    heats = [("temperature", heat) for heat in ("1e-320", "-0", str(HOTTEST), ".1")]
    for field, value in [("seed", str(MOST_WHOLE)), ("seed", "-0"), ("top_k", str(MOST_WHOLE)), *heats]:
        fields, state = {**FIELDS, "prompt": "a", field: value}, None
        for n in (2, 3):
            state = through_a_page(receive(json.dumps({"state": state, "hook": "next", "fields": fields})))["state"]
            assert state["n"] == n, (field, value)


@pytest.mark.parametrize("page", sampled(PRESSED, [*PRESSED[::4], page_named("training")], "states alike"), ids=by_name)
def test_what_a_page_keeps_between_two_presses_survives_the_page(page: Any) -> None:
    fields = {**FIELDS, "page": page.name, "model": page.model, "prompt": page.prompt}
    for hook in {"kv_cache": ["run", "next"], "training": ["train", "pause"]}.get(page.widget, ["run"]):
        answer = receive(json.dumps({"state": None, "hook": hook, "fields": fields}))
        assert through_a_page(answer)["state"] == json.loads(answer)["state"]


def test_a_recording_says_what_is_wrong_with_a_setting_of_any_kind() -> None:
    wrong: dict[str, list[Any]] = {
        "seed": [MOST_WHOLE + 1, -1, 1.0, "x", None, 10**5000],
        "top_k": [MOST_WHOLE + 1, 1.5, "3", None],
        "temperature": ["warm", None, 10**5000, float("nan"), 1e308],
    }
    for name, value in ((name, value) for name, values in wrong.items() for value in values):
        with pytest.raises(UserError, match="from 0 .*to"):
            Recording(shipped("names"), "a", **{name: value})


def test_numpy_numbers_are_settings_too_and_minus_zero_is_zero() -> None:
    numbers: Any = {"temperature": np.float64(-0.0), "top_k": np.int64(3), "seed": np.int64(7)}
    made = Recording(shipped("names"), "a", **numbers).run()
    assert json.dumps([made.about[name] for name in ("temperature", "top_k", "seed")]) == "[0.0, 3, 7]"


@pytest.mark.parametrize("hook", ["run", "next", "figure"])
@pytest.mark.parametrize("name", ["layer", "head", "phase", "step"])
def test_a_choice_that_the_picture_does_not_have_is_said_or_the_next_taken(hook: str, name: str) -> None:
    values = ("", "x", "-1", "99", "1.5", "٣", "9" * 5000, "nan", "0000000009999")
    for value in values[:: 1 if hook == "figure" else 3]:  # what is drawn whole takes its time
        _, patches = dispatch(None, hook, {**FIELDS, name: value})
        if hook == "figure" and patches[0].get("target") == "#prompt-error":
            assert "this page has" in patches[0]["html"], value
        elif hook != "figure" and name != "step":
            found = re.findall(rf'name="{name}"[^>]* checked', html(patches, "#stepper"))
            assert len(found) == (0 if name == "layer" else 1), value  # it has one layer


def test_a_number_is_what_a_control_of_a_page_takes() -> None:
    wrong = ["5.", "+5", " 5", "1_000", "٣", "nan", "inf", "1e309", "0x10", "", "-", "e5", "1e"]
    right = ["0", "-0", ".5", "1e3", "1E-9", "-1.5e+300", "9" * 30]
    assert [*filter(is_number, [*wrong, *right])] == right


@pytest.mark.parametrize(
    ("page", "hook", "fields", "says"),
    [
        ("kv-cache", "no such", {}, "no such"),
        ("next-token", "next", {}, "next"),  # a button of other pages
        ("glossary", "run", {}, "run"),  # a page without a widget
        ("index", "model", {}, "model"),
        ("nowhere", "run", {}, "nowhere"),
        ("kv-cache", "run", {"prompt": None}, "empty"),  # as if it were not sent
        ("kv-cache", "model", {"model": None}, "“”"),
        ("kv-cache", "run", {"page": None}, "“”"),
        ("kv-cache", "run", {"prompt": 7}, "empty"),
        ("memory", "calculate", {"preset": ["Llama-3-8B"]}, "“”"),
        ("kv-cache", "run", {"lang": {}, "prompt": ""}, "empty"),
    ],
)
def test_a_message_that_no_page_sends_gets_a_sentence(page: str, hook: str, fields: Any, says: str) -> None:
    state, _ = dispatch(None, "next", FIELDS)
    after, patches = dispatch(state, hook, {**FIELDS, "page": page, **fields})
    assert after == state and says in refused(patches)


def test_a_state_without_a_place_in_the_text_is_none() -> None:
    """As the page of a lesson without steps keeps it."""
    known, _ = dispatch(None, "next", FIELDS)
    assert known is not None
    for hook in ("next", "trace", "run"):
        assert dispatch({"settings": known["settings"]}, hook, FIELDS)[1] == dispatch(None, hook, FIELDS)[1]
