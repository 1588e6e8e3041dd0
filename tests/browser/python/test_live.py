"""With Python up: the live trace is the built one, the live picture is the built picture, and errors lose nothing."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from microgpt.course import page as page_named
from microgpt.record import Recording
from microgpt.trace import from_json
from microgpt.viz.drawing.phases import PHASES
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.page import Page as SitePage
from microgpt.viz.rendering.render import widget
from microgpt.weights import shipped
from tests.browser.live import STATE, press
from tests.support.answers import stands
from tests.support.sampled import sampled
from tools.browsers import Page

STEPPERS = [page_named("kv-cache"), page_named("kv-cache-words")]
MODELS = pytest.mark.parametrize(
    "site_page", sampled(STEPPERS, STEPPERS[:1], "the same with another model"), ids=[page.model for page in STEPPERS]
)


def choose(page: Page, **fields: str) -> None:
    """Set the form's fields without starting anything."""
    for name, value in fields.items():
        one = f"[name={name}][value={value!r}]" if name == "temperature" else f"#live [name={name}]"
        page.run(f"""(Object.assign(document.querySelector(`{one}`), {{ value: {value!r}, checked: true }}), 0)""")


@MODELS
def test_the_live_picture_is_the_built_one_byte_for_byte(page: Page, site_page: SitePage) -> None:
    choose(page, model=site_page.model, prompt=site_page.prompt, temperature="0", top_k="0", seed="42")
    page.run("document.querySelectorAll('[name=layer],[name=head]').forEach((e) => e.value === '0' && e.click())")
    first = page.run("window.answers.length")
    page.run("""(() => { const tokens = document.querySelector("#widget"); window.seen = [];
      new MutationObserver(() => { const n = document.querySelectorAll("#tokens input").length;
        if (seen.at(-1) !== n) seen.push(n); }).observe(tokens, { childList: true, subtree: true }); })()""")
    press(page, "run")
    answers = [json.loads(text)["patches"] for text in page.run(f"window.answers.slice({first})")]
    made = Recording(shipped(site_page.model), site_page.prompt).run()
    shown = Picture(made, layer=0, head=0, phase=len(PHASES))
    assert stands(answers) == widget("kv_cache", shown, page=STEPPERS[0])
    counts = list(range(shown.about["n_prompt"], shown.n + 1))
    assert page.run("window.seen") == counts  # as it is computed, a token with each answer


@MODELS
def test_the_live_trace_is_the_built_one(page: Page, site: Path, site_page: SitePage) -> None:
    choose(page, model=site_page.model, prompt=site_page.prompt, temperature="0", top_k="0", seed="42")
    press(page, "run")
    page.run("(HTMLAnchorElement.prototype.click = () => {}, 0)")  # a download would leave the page
    answer = press(page, "trace")
    live = from_json(answer["patches"][0]["text"])
    built = from_json((site / "trace" / f"{site_page.name}.json").read_text("utf-8"))
    assert live.about == built.about
    assert len(live.events) == len(built.events) > 100
    for a, b in zip(live, built, strict=True):
        assert (a.name, a.pos, a.layer) == (b.name, b.pos, b.layer)
        assert np.abs(np.asarray(a.value) - np.asarray(b.value)).max() <= 1e-12


@pytest.mark.thorough("what each answer brings is put together in tests/viz/test_session.py")
def test_token_by_token_makes_the_same_page_as_all_at_once(page: Page) -> None:
    """What is appended, step by step, ends as the document that one rendering gives."""
    tidy = 'document.querySelector("#stepper").outerHTML.replaceAll(/ checked=""/g, "").replaceAll(/\\s+/g, " ")'
    choose(page, model="names", prompt="a", temperature="0", top_k="0", seed="1")
    first = page.run("window.answers.length")
    answer = press(page, "next")
    while True:
        before = answer["state"]["n"]
        answer = press(page, "next")
        if answer["state"]["n"] == before:
            break
    grown = [text for text in page.run(f"window.answers.slice({first})") if '"how": "append"' in text]
    assert len(grown) >= 2  # the other steps stretch a scale, and all is drawn anew
    assert page.run("document.querySelector('#after [data-hook=past]').textContent")  # the way past the end
    appended = page.run(tidy)
    press(page, "run")
    assert page.run(tidy) == appended


def test_a_live_step_leaves_the_switches_as_they_are(page: Page) -> None:
    """So that one that has the focus keeps it."""
    choose(page, model="names", prompt="em", temperature="0", top_k="0", seed="42")
    press(page, "next")
    page.run("(window.switches = [...document.querySelectorAll('[name=once], .play input, .hold-all input')], 0)")
    press(page, "next")
    assert page.run("switches.map((e) => e.isConnected)") == [True] * 3


def test_bad_input_gets_a_sentence_under_the_field_and_the_picture_stays(page: Page) -> None:
    good = {"model": "names", "prompt": "emm", "temperature": "0", "top_k": "0", "seed": "42"}
    choose(page, **good)
    press(page, "run")
    picture = page.run('document.querySelector("#stepper").outerHTML')
    for name, value, says in (("prompt", "emm@", "“@” (number 4"), ("prompt", "<img src=x onerror=alert(1)>", "“<”")):
        choose(page, **good | {name: value})
        answer = press(page, "run")
        assert [patch["target"] for patch in answer["patches"]] == ["#prompt-error"]
        assert says in page.run('document.querySelector("#prompt-error").textContent')
        assert page.run('document.querySelector("#stepper").outerHTML') == picture
        assert page.run('document.querySelectorAll("main img").length') == 0
    choose(page, **good)
    press(page, "run")
    assert page.run('document.querySelector("#prompt-error").textContent') == ""


def test_what_is_quoted_stands_by_itself_whatever_its_direction(page: Page) -> None:
    choose(page, model="names", prompt="שלום")
    press(page, "run")
    assert page.run('document.querySelector("#prompt-error bdi").textContent').strip("“”") in "שלום"
    assert page.run('document.querySelectorAll("#prompt-error bdi").length') == page.run(
        'document.querySelector("#prompt-error").textContent.split("“").length - 1'
    )


def test_enter_in_the_prompt_runs_it(page: Page) -> None:
    choose(page, model="names", temperature="0")
    page.fill("#prompt", "zo")
    count = page.run("window.answers.length")
    page.press("Enter")
    page.wait(f'window.answers.length > {count} && {STATE} === "ready"')
    assert page.run('document.querySelectorAll("#tokens .prompt").length') == 2


POSTED = """(() => { const post = Worker.prototype.postMessage; window.posted = [];
  Worker.prototype.postMessage = function (data, ...rest) {
    if (data.message) posted.push(JSON.parse(data.message));
    return post.call(this, data, ...rest);
  }; })()"""


def test_what_is_likely_to_be_pressed_has_been_asked_for(page: Page) -> None:
    """The answer to the next press is there before it; another press, or another choice, is asked for itself."""
    choose(page, model="names", prompt="al", temperature="0", top_k="0", seed="42")
    page.run(POSTED)
    asked = "window.posted.map(({ hook }) => hook).join()"
    n = press(page, "next")["state"]["n"]
    page.wait(f"{asked} === 'next,prose,next'")
    for i in (1, 2):
        page.run("posted.length = 0")
        page.pause(0.2)
        assert press(page, "next")["state"]["n"] == n + i
        page.wait(f"{asked} === 'prose,next'")
    page.run("posted.length = 0")
    page.pause(0.2)
    choose(page, temperature="1")
    press(page, "next")
    page.wait(f"{asked} === 'next,prose,next'")
    assert page.run("posted[0].fields.temperature") == "1"
    page.run("posted.length = 0")
    assert press(page, "run")["state"]["settings"]["temperature"] == 1
    assert page.run("posted[0].hook") == "run"


PLACES = """JSON.stringify([...document.querySelectorAll(
  ".row:nth-child(-n + 4) :is(.c-pos, .c-k, .c-v), .tray, .legend")].map((e) => {
    const { x, y, width, height } = e.getBoundingClientRect();
    return [x, y - document.querySelector(".stage").getBoundingClientRect().y, width, height];
  }))"""


def test_a_new_row_moves_nothing_that_lies_there_while_there_is_room(page: Page) -> None:
    """There is room by fours: the fifth row asks for more, the sixth and the seventh lie down in it."""
    choose(page, model="names", prompt="mar", temperature="0", top_k="0", seed="42")
    seen = []
    for n in (4, 5, 6, 7):
        assert press(page, "next")["state"]["n"] == n
        page.pause(0.3)
        seen.append(np.array(json.loads(page.run(PLACES))))
    assert len(seen[0]) == 4 * 3 + 2 + 1
    assert [float(np.abs(b - a).max()) < 1 for a, b in pairwise(seen)] == [False, True, True]  # pixels


def test_a_press_while_it_is_being_asked_for_is_that_press(page: Page) -> None:
    choose(page, model="names", prompt="k", temperature="0", top_k="0", seed="42")
    n = press(page, "next")["state"]["n"]
    count = page.run("window.answers.length")
    page.run("""(() => { const next = document.querySelector("button[data-hook=next]"); let pressed = 0;
      new MutationObserver(() => pressed++ < 2 && next.click()).observe(document.querySelector("#prose"),
        { childList: true }); next.click(); })()""")
    page.wait(f'window.answers.length >= {count + 6} && {STATE} === "ready"')
    states = [json.loads(text)["state"]["n"] for text in page.run(f"window.answers.slice({count})")]
    assert states[-1] == n + 3 and states == sorted(states)
    assert page.run('document.querySelectorAll("#tokens input").length') == n + 3


def test_a_change_of_model_brings_its_own_text(page: Page) -> None:
    choose(page, model="names", prompt="emm")
    press(page, "next")
    count = page.run("window.answers.length")
    page.run("""(() => { const s = document.querySelector("#live select"); s.value = "stories";
      s.dispatchEvent(new Event("change", { bubbles: true })); })()""")
    page.wait(f'window.answers.length > {count} && {STATE} === "ready"')
    assert page.run('document.querySelector("#prompt").value') == "The next day is bright"
    assert page.run('document.querySelectorAll("[name=layer]").length') == 2
