"""The page for teachers: the view of a lesson goes into the code, and the code into the preview."""

from html import unescape

import pytest

from microgpt.apps.embed_builder.embed_codes import HOSTS
from microgpt.viz.session import dispatch
from tests.browser.conftest import Open
from tests.browser.live import STATE
from tools.browsers import UNFOLD

CODE = "document.querySelector('#code-{}').textContent"
LINK = "document.querySelector('a[data-view^=embed_page]')"
SET = """((name, value) => {
  const e = document.querySelector(`[name=${name}]`);
  e[e.type === "checkbox" ? "checked" : "value"] = value;
  e.dispatchEvent(new Event("change", { bubbles: true }));
})"""
PREVIEW = "document.querySelector('#preview iframe').src"
LOADED = """(({ src, contentDocument: inside }) => inside?.URL === src && inside.readyState === "complete")
(document.querySelector('#preview iframe'))"""


def test_embed_this_view_leads_to_its_code_and_what_is_chosen_then_is_at_once_in_both(
    new_tab: Open, address: str
) -> None:
    page = new_tab(f"{address}kv-cache-words.html?theme=dark")
    for name, value in {"step": 2, "layer": 1, "phase": 4}.items():
        page.run(f"(document.querySelector('[name={name}][value=\"{value}\"]').click(), 0)")
    page.run(UNFOLD)
    page.run(f"({LINK}.focus(), 0)")
    page.open(page.run(f"{LINK}.href"))
    page.wait(f'{STATE} === "ready"')
    query = "step=2&layer=1&phase=4&theme=dark"
    assert page.run(CODE.format("link")) == f"kv-cache-words.html?{query}"
    assert page.run(PREVIEW) == f"{address}embed/kv-cache-words.html?{query}"
    _, patches = dispatch(None, "embed", {"page": "embed-builder", "embed_page": "kv-cache-words", "other": query})
    html = {one["target"]: one["html"] for one in patches}
    for host in HOSTS:
        code = unescape(html[f"#code-{host.slug}"].strip().removeprefix("<span>").removesuffix("</span>"))
        assert page.run(CODE.format(host.slug)).strip() == code
    for name, chosen, query in (  # no button is pressed: a choice is sent by its own control
        ("step", "3", "step=3&layer=1&phase=4&theme=dark"),
        ("play", "true", "step=3&layer=1&phase=4&play=1&theme=dark"),
        ("theme", "'light'", "step=3&layer=1&phase=4&play=1&theme=light"),
    ):
        page.run(f"({SET}('{name}', {chosen}), 0)")
        page.wait(f"{PREVIEW} === '{address}embed/kv-cache-words.html?{query}'")
        assert page.run(CODE.format("link")).strip() == f"kv-cache-words.html?{query}"
        page.wait(LOADED)  # Firefox tells of a load that is broken off through a service worker as an error
    page.run(f"({SET}('embed_size', '320x480'), 0)")
    page.wait("document.querySelector('#preview iframe').width === '320'")
    assert 'width="320"' in page.run(CODE.format("html"))
    assert not page.errors


@pytest.mark.thorough("the same way with another page; its words: tests/apps/test_embed_builder.py")
def test_a_choice_that_only_its_own_page_knows_goes_along(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}es/memory.html")
    page.run("(document.querySelector('[name=known][value=\"2\"]').click(), 0)")
    page.run(UNFOLD)
    page.run(f"({LINK}.focus(), 0)")
    page.open(page.run(f"{LINK}.href"))
    page.wait(f'{STATE} === "ready"')
    assert page.run("document.querySelector('[name=other]').value") == "known=2"
    assert page.run(PREVIEW) == f"{address}es/embed/memory.html?known=2"
    page.run(f"({SET}('other', 'known=99'), 0)")  # in one go: a driver that empties a field first has it sent
    page.wait("document.querySelector('#prompt-error').textContent.includes('99')")
    assert page.run(PREVIEW) == f"{address}es/embed/memory.html?known=2"  # the last good one stays
    page.run(f"({SET}('other', ''), 0)")
    page.wait(f"{PREVIEW} === '{address}es/embed/memory.html'")
    page.run(f"({SET}('embed_page', 'kv-cache-words'), 0)")
    page.wait(f"{PREVIEW} === '{address}es/embed/kv-cache-words.html'")


def test_every_code_can_be_read_and_the_preview_steps(new_tab: Open, engine: str, address: str) -> None:
    if engine != "chromium":
        pytest.skip("only Chromium's driver looks into a page whose scripts are off, and into its frame")
    page = new_tab(f"{address}embed-builder.html", javascript=False)
    for i, host in enumerate(HOSTS):
        page.click(f".cases .c-{i} + .face")
        assert page.tab.locator(f"#code-{host.slug}").is_visible()  # type: ignore[attr-defined]
    preview = page.tab.frame_locator("#preview iframe")  # type: ignore[attr-defined]
    preview.locator("#tokens .R1 span").first.click()
    assert "Step 2:" in preview.locator(".step.S1 .narration").inner_text()
    assert not page.errors


BOX = "(({ left, top, right, bottom }) => ({ left, top, right, bottom }))"


def test_every_choice_is_sent_by_its_own_control_below_or_beside_preview_and_code(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}embed-builder.html")
    assert page.run("[...document.querySelectorAll('.live [name]')].filter((e) => !e.dataset.hook).length") == 0
    found = ("#preview iframe", ".paste", ".builder .live")
    preview, code, choices = (
        page.run(f"{BOX}(document.querySelector('{one}').getBoundingClientRect())") for one in found
    )
    assert preview["bottom"] <= code["top"]
    assert choices["top"] >= code["bottom"] or choices["right"] <= preview["left"]
