"""A page that may run scripts and nothing else: every button, the Enter key and the address are heard all the same.

The sandbox is the one of a frame, here by a header over the whole page, so that all three engines can be driven in it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from microgpt.course import LESSONS
from tests.browser.conftest import Open
from tests.browser.hosts import sandboxed
from tests.browser.live import STATE, soon
from tools.browsers import UNFOLD, PlaywrightPage
from tools.server import serving

ROOT = Path(__file__).resolve().parents[3]
FORMS = [
    *[f"embed/{page.name}.html" for page in LESSONS if page.live],
    "look-inside.html",
    "own-model.html",
    "embed-builder.html",
]
# a form of each kind; of the others only their texts differ
KINDS = ["embed/memory.html", "embed/training.html", "look-inside.html"]
OWN = pytest.mark.engines("forms without permission are the engine's own", "webkit")
ALL = pytest.mark.thorough("the same form with other texts")
HEARD = f"!!{STATE}"  # the bridge has been asked for something
FIELDS = "form.live input:not([type=file], [type=checkbox], [type=radio])"


@pytest.fixture
def boxed(site: Path) -> Iterator[str]:
    """The address of the site in that sandbox."""
    with serving(site, sandboxed(site)) as address:
        yield address


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(KINDS[0], marks=OWN),
        *KINDS[1:],
        *[pytest.param(name, marks=ALL) for name in FORMS if name not in KINDS],
    ],
)
def test_a_press_enter_and_the_address_are_heard_without_the_permission_to_send_forms(
    new_tab: Open, engine: str, boxed: str, name: str
) -> None:
    if engine == "webkit" and not name.startswith("embed/"):
        pytest.skip("in a page without an origin 'self' is nothing to WebKit: only what is made for frames has scripts")
    page = new_tab(boxed + name)
    page.run(UNFOLD)
    fields = page.run(
        f"[...document.querySelectorAll('{FIELDS}')].filter((e) => e.checkVisibility()).map((e) => e.name)"
    )
    page.click("form.live button")
    page.wait(HEARD, seconds=10)
    for field in fields[-1:]:
        page.open(boxed + name)
        page.run(UNFOLD)
        page.click(f'form.live [name="{field}"]')
        page.press("Enter")
        page.wait(HEARD, seconds=10)
    for field in [field for field in fields if field in ("prompt", "batch")]:
        page.open(f"{boxed}{name}?{field}=7")
        page.wait(HEARD, seconds=10)
    assert not [error for error in page.errors if engine != "webkit" or "securitypolicyviolation" not in error]


PERMISSIONS = {  # what a frame has beside scripts -> what works in it, by engine; docs/embedding.md says the same
    "allow-scripts": {"Python"},
    "allow-scripts allow-downloads": {"Python", "Save"},
    "allow-scripts allow-popups": {"Python", "Open in the course"},
}


@pytest.mark.thorough("the plain frame is in test_frames.py; what is let through besides is the browser's")
@pytest.mark.parametrize("allowed", PERMISSIONS)
def test_each_permission_gives_what_the_documentation_says(
    new_tab: Open, engine: str, site: Path, tmp_path: Path, allowed: str
) -> None:
    if engine == "webkit":
        pytest.skip("WebKit's driver tells of no downloads")
    page = new_tab()
    assert isinstance(page, PlaywrightPage)
    works = set[str]()
    must = PERMISSIONS[allowed] - ({"Save"} if engine == "firefox" else set())  # whose driver tells of none
    page.tab.on("download", lambda _: works.add("Save"))
    page.tab.context.on("page", lambda _: works.add("Open in the course"))
    with serving(site) as address, serving(tmp_path) as host:
        frame = f'<iframe width="900" height="900" sandbox="{allowed}" src="{address}embed/kv-cache.html"></iframe>'
        (tmp_path / "host.html").write_text(f'<!doctype html><title>host</title><link rel="icon" href="data:,">{frame}')
        page.open(host + "host.html")
        inner = page.tab.frames[-1]
        inner.locator('button[data-hook="figure"]').click()
        inner.locator('[data-boot][data-state="ready"]').wait_for(timeout=60000, state="attached")
        works.add("Python")
        inner.locator(".share a[data-view]").click()
        page.pause(1.5)  # for what must not be
        soon(page, lambda: works == must)
    assert works == must
    text = (ROOT / "docs" / "embedding.md").read_text("utf-8")
    more = allowed.removeprefix("allow-scripts").strip()
    assert not more or any(f"| `{more}` | *{name}*" in text for name in PERMISSIONS[allowed])
