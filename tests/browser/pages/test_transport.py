"""What plays and steps: keys from anywhere but fields, play to the end, a rail, the same picture on the way back; and
the picture alone in a hall. Each lesson is loaded once for what holds of all, with scripts off."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab

from microgpt.course import LESSONS
from tests.browser.conftest import Open
from tools.browsers import Page

AT = 'Number(document.querySelector("[name=step]:checked").value)'
PLAYS = 'document.querySelector("[name=play]").checked'
HALL = 'document.querySelector("#hall").checked'


@pytest.fixture(scope="module")
def still(chromium: Browser) -> Iterator[Tab]:
    """A tab without scripts and without motion."""
    context = chromium.new_context(java_script_enabled=False, reduced_motion="reduce")
    yield context.new_page()
    context.close()


def at_key(page: Page, *keys: str) -> int:
    for key in keys:
        page.press(key)
    return int(page.run(AT))


def test_keys_step_from_anywhere_but_in_fields(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}pages.html?step=3", width=1440)
    last = page.run('document.querySelectorAll("[name=step]").length') - 1
    assert [at_key(page, key) for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "Home", "End", "ArrowRight")] == [
        *(4, 5, 4, 0, last, last)
    ]
    page.run('document.querySelector("#step-2").focus()')  # its own arrow keys step, and once
    assert at_key(page, "Home", "ArrowRight") == 1
    page.run('(document.querySelector("#prompt") ?? document.querySelector("select")).focus()')
    assert at_key(page, "ArrowLeft", "End", "f") == 1 and not page.run(HALL)
    page.run("document.activeElement.blur()")
    assert at_key(page, "PageDown") == 1  # it scrolls
    page.press("f")
    assert page.run(HALL) and at_key(page, "PageDown", "PageDown", "PageUp") == 2
    page.press("Escape")
    page.wait(f"!{HALL}")
    page.press("?")
    assert page.run('document.querySelector("#keys").matches(":popover-open")')
    page.open(f"{address}prefill-and-decode.html")  # a key that the transport in view has no use for is not another's
    page.run('document.querySelector("#tokens-0").click()')
    page.run('document.querySelector("#way-1").checked = true')
    page.press("ArrowLeft")
    assert page.run('document.querySelector("#way-1").checked') and page.run("scrollY") == 0
    assert not page.errors


def test_play_goes_to_the_end_and_begins_anew_and_holds(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}pages.html?step=11", width=1440)
    page.run('document.querySelector(".timed").style.setProperty("--pace", ".05")')
    last = page.run('document.querySelectorAll("[name=step]").length') - 1
    page.press(" ")
    page.wait(f"{AT} === {last} && !{PLAYS}")
    page.press(" ")
    page.wait(f"{AT} > 2 && {AT} < {last}")
    page.press(" ")
    held = page.run(AT)
    page.pause(0.2)  # four times the pace
    assert not page.run(PLAYS) and page.run(AT) == held < last
    page.open(f"{address}pages.html?step=12&play=1#hall")
    assert page.run(HALL) and page.run(PLAYS) and page.run(AT) == 13
    assert not page.errors


READ = '[...document.querySelectorAll(".prose p > .to:first-of-type:not([for|=ask])")]'


@pytest.mark.parametrize("name", ["many-at-once", "fewer-heads", "with-and-without"])
def test_text_that_is_read_sets_the_picture_until_the_reader_does(new_tab: Open, address: str, name: str) -> None:
    page = new_tab(f"{address}{name}.html", width=1440)
    for i in [*range(page.run(f"{READ}.length")), 0]:
        page.run(f"(document.querySelector('#' + {READ}[{i}].htmlFor).checked = false)")
        page.run(f'{READ}[{i}].scrollIntoView({{ block: "center" }})')
        page.wait(f"{READ}[{i}].control.checked")
    last = f"{READ}.at(-1)"
    other = f"[...document.getElementsByName({last}.control.name)].find((e) => e !== {last}.control)"
    page.run(f"{other}.click()")
    page.run(f'{last}.scrollIntoView({{ block: "center" }})')
    page.run("new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(f))))")
    assert page.run(f"{other}.checked") and not page.errors


# where everything of the picture is, and how it looks
SEEN = """JSON.stringify([...document.querySelectorAll("#widget *")].map((e) => { const { x, y, width, height } =
  e.getBoundingClientRect(), { visibility, opacity, color, backgroundColor } = getComputedStyle(e);
  return [x, y, width, height, visibility, opacity, color, backgroundColor]; }))"""


def test_a_rail_is_scrubbed_and_the_way_back_is_the_same(chromium: Browser, still: Tab, address: str) -> None:
    still.set_viewport_size({"width": 1440, "height": 900})
    still.goto(f"{address}pages.html")
    seen = []
    for step in (3, 5, 3):
        still.locator(f".rail label:has(#step-{step})").click()
        seen.append(still.evaluate(SEEN))
    assert seen[0] == seen[2] != seen[1]
    still.locator(".ways .button:visible").last.click()  # next, and nothing but labels
    assert still.evaluate(AT) == 4
    tab = chromium.new_page(viewport={"width": 1440, "height": 900})
    tab.goto(f"{address}pages.html")
    places = [tab.locator(f".rail label:has(#step-{i})").bounding_box() for i in (2, 9, 4)]
    assert all(places)
    for i, place in enumerate(places):
        assert place
        tab.mouse.move(place["x"] + 9, place["y"] + 9)
        tab.mouse.down() if not i else None
        assert i == 0 or tab.evaluate(AT) == (2, 9, 4)[i]
    # on the rail of the machine a pointer that rests is looked at, until a key is pressed
    tab.goto(f"{address}kv-cache.html")
    stage = 'getComputedStyle(document.querySelector(".stage")).getPropertyValue("--to")'
    tab.hover(".k3-1")
    assert tab.evaluate(stage) == "2.25"
    tab.keyboard.press("5")
    assert tab.evaluate(stage) == "5"
    tab.close()


# of what is seen of the widget alone: whether it ends within the window, in the last case
FITS = """[...document.querySelectorAll("#widget  .pick label:last-of-type [type=radio]")]
  .filter((e) => e.checkVisibility()).concat(document.querySelector("#widget [type=radio]:checked")).map((e) => {
    e.checked = true;
    const seen = [...document.querySelectorAll("#widget > * > *")].filter((one) => one.getClientRects().length);
    return Math.round(Math.max(...seen.map((one) => one.getBoundingClientRect().bottom)) - innerHeight); })
  .concat(document.documentElement.scrollWidth - innerWidth)"""
MOST_HIGH = 820  # of a figure in a window of 900
# Each part of the text, scrolled so that its middle is in the middle of the window: what is not seen of its own figure;
# of the first figure at least one of its choices, or a board of it, is in view.
SCENES = """(most) => [...document.querySelectorAll(".prose:not(:has(> .scene)), .scene")].flatMap((part, i) => {
  const figure = part.querySelector(":scope > .figure"), { top, height } = part.getBoundingClientRect();
  if (i && !figure) return [];
  scrollTo(0, scrollY + top + height / 2 - innerHeight / 2);
  const within = ({ y, bottom }) => y >= 0 && bottom <= innerHeight;
  const whole = (e) => e.checkVisibility() && within(e.getBoundingClientRect());
  const picks = () => [...document.querySelectorAll("#widget :is(.pick, .nav, .rail)")].some(whole);
  const seen = () => scrollBy(0, -innerHeight / 2) || document.elementFromPoint(1000, 450)?.closest(".board");
  const fits = figure ? whole(figure) && figure.clientHeight <= most : picks() || seen();
  return fits ? [] : [`${part.querySelector("h2")?.textContent}: ${figure?.clientHeight ?? "no choice in view"}`];
})"""


def test_each_part_of_a_text_has_its_figure_in_view_and_in_a_hall_it_is_whole(still: Tab, address: str) -> None:
    wrong = []
    every = bool(os.environ.get("EVERYTHING"))
    for i, lesson in enumerate(LESSONS if every else LESSONS[::2]):
        still.set_viewport_size({"width": 1440, "height": 900})
        still.goto(f"{address}{lesson.name}.html")
        wrong += [f"{lesson.name}: {told}" for told in still.evaluate(SCENES, MOST_HIGH)]
        still.evaluate("scrollTo(0, 0)")
        still.evaluate('document.querySelector("#hall").checked = true')
        walls = ((1280, 720), (1440, 900), (3840, 2160))  # of all but the tightest a sample by day
        for width, height in walls if every or i % 5 == 0 else walls[:1]:
            still.set_viewport_size({"width": width, "height": height})
            ends = still.evaluate(FITS)
            over = max(ends)
            if min(ends[:-1]) < -0.6 * height:
                wrong.append(f"{lesson.name}: there is hardly a picture in {width} x {height}")
            if over > 0:
                wrong.append(f"{lesson.name}: {over} px do not fit into {width} x {height}")
    assert not wrong, "\n".join(wrong)
