"""What every host is asked: the code that it is given, and whether a reader can step through what it makes of it."""

import subprocess
from pathlib import Path

from playwright.sync_api import FrameLocator, expect
from playwright.sync_api import Page as Tab

from microgpt.apps.embed_builder.embed_codes import Frame, codes
from microgpt.apps.embed_builder.embed_codes import address as address_of
from microgpt.course import page

ROOT = Path(__file__).resolve().parents[2]
NODE = ROOT / ".hosts" / "node_modules"
# what a host could trip over; the page lets pass what it does not know
HOSTILE = "\"quoted\" 'too' <b> & &amp; * _ ` [x](y) {{ z }} $m$ \u202e"
TITLE = page("kv-cache").title


def frame(site: str, **chosen: str) -> Frame:
    asked = {"step": "1", "phase": "4", **chosen}
    return Frame(
        address_of(site, "kv-cache", asked), address_of(site, "kv-cache", asked, alone=False), TITLE, "750", "450"
    )


def code(slug: str, shown: Frame) -> str:
    return codes(shown)[slug]


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def assert_steps_inside(tab: Tab, shown: Frame) -> FrameLocator:
    """The frame has its address, its title and a size; in it the step of the address is on show, and others can be."""
    element = tab.locator("iframe")
    expect(element).to_have_attribute("src", shown.url)
    expect(element).to_have_attribute("title", shown.title)
    element.scroll_into_view_if_needed()
    box = element.bounding_box()
    assert box and box["width"] > 400 and box["height"] > 300
    inner = tab.frame_locator("iframe")
    for step in (1, 4, 2):
        if step != 1:
            inner.locator(f"#tokens .R{step} span").first.click()
        expect(inner.locator(f"[name=step][value='{step}']")).to_be_checked()
        expect(inner.locator(f".step.S{step} .narration")).to_be_visible()
        expect(inner.locator(f".step.S{step} .narration")).to_contain_text(f"Step {step + 1}:")
    expect(inner.locator(".step.S4 .narration")).to_be_hidden()
    expect(inner.locator("[name=phase][value='4']")).to_be_checked()
    return inner
