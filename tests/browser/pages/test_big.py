"""A large model's page steps, opens heads and shows its numbers without JavaScript, as wide as the screen at most."""

import pytest

from microgpt.viz.large.picture import picture_of_model
from tests.browser.conftest import Open
from tests.browser.reading import SEEN, settle
from tests.support.large import PROMPT, large
from tests.support.sampled import sampled
from tools.checkpoint import build_checkpoint

SHOWN = """[...document.querySelectorAll(".stage .O")].filter((e) => e.getClientRects().length)
  .map((e) => [...e.classList].filter((c) => /^O\\d/.test(c)).join(" "))"""


PEEKS = """[...document.querySelectorAll(".peek")].flatMap((one, at) =>
  getComputedStyle(one.querySelector(".says")).visibility === "visible" &&
  one.querySelector("svg").getBoundingClientRect().width > 2 * one.getBoundingClientRect().width ? [at] : [])"""


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("big") / "lesson"
    build_checkpoint(large("smollm", n_embd=48, n_mlp=32), PROMPT, print, out, new=2)
    return (out / "index.html").as_uri()


def test_a_press_on_the_overview_opens_that_head(new_tab: Open, engine: str, lesson: str) -> None:
    page = new_tab(javascript=engine != "chromium")  # other drivers look into no page whose scripts are off
    page.open(lesson)
    opened = picture_of_model(large("smollm", n_embd=48, n_mlp=32), PROMPT, 2).open_heads
    for index in (5, 0):
        page.click(f".all-heads .pick-{index}")
        shown = page.run(SHOWN)
        assert shown and all(f"O{index}" in where.split() for where in shown)
        title = page.run('document.querySelector(".cache-title").innerText')
        assert f"layer {opened[index].layer}, head {opened[index].head}" in str(title)
    peeks = page.run('[...document.querySelectorAll(".peek input")].map((one) => one.value)')
    for at in (3, 0):  # of one that is not open, its weights: the picture grows, one sentence is seen
        page.click(f'.peek:has([value="{peeks[at]}"])')
        assert page.run(PEEKS) == [at]


# of each cell of K and V: the classes of the strips that are seen, and how far they reach beyond their row
STRIPS = """[...document.querySelectorAll(".row :is(.c-k, .c-v)")].map((cell) => {
  const seen = [...cell.children].filter((e) => e.getClientRects().length);
  const bottom = (e) => e.getBoundingClientRect().bottom;
  return [seen.map((e) => [...e.classList]), Math.max(...seen.map(bottom)) - bottom(cell)];
})"""


@pytest.mark.parametrize(
    "shared", sampled([False, True], {True}, "each head has its own"), ids=["a checkpoint", "heads that share"]
)
def test_a_row_shows_k_and_v_of_the_open_head_alone(new_tab: Open, lesson: str, address: str, shared: bool) -> None:
    page = new_tab(f"{address}own-model.html" if shared else lesson, width=1440, reduced=True)
    heads = page.run('document.querySelectorAll(".opens input").length')
    cells = page.run('document.querySelectorAll(".row").length') * 2
    assert heads >= 6
    first = page.run('[...document.querySelectorAll(".opens input")].findIndex((one) => one.checked)')
    for index in (None, *range(heads)):  # as it opens, and each head
        if index is not None:
            page.click(f".opens label:has(.o-{index}) .face")
        strips = page.run(STRIPS)
        assert len(strips) == cells and all(len(seen) == 1 for seen, _ in strips), index
        assert all(f"of-O{first if index is None else index}" in seen[0] for seen, _ in strips), index
        assert max(beyond for _, beyond in strips) < 1


@pytest.mark.parametrize("width", sampled([390, 1440], {390}, "there is more room"))
def test_it_steps_and_fits(new_tab: Open, lesson: str, width: int) -> None:
    page = new_tab(lesson, width=width)
    for i in (13, 0, 6):
        page.click(f"#tokens .R{i} span")
        seen = settle(page.run)
        assert (seen["rows"], seen["fresh"], seen["meets"]) == (i + 1, [i], [i + 1])
    page.click(".legend .toggle:has(.all-numbers) .face")
    lists = page.run('[...document.querySelectorAll(".numbers div")].filter((e) => e.getClientRects().length).length')
    assert lists == 5
    assert page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert page.run(SEEN)["rows"] == 7
    assert page.errors == []
