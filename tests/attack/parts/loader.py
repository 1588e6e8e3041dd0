"""Python's files come damaged, late or not at all, in three engines: the page says so in a line, or Python starts; the
page steps all the while, and once the fault is gone a press heals."""

from collections.abc import Iterator, Sequence

from tests.attack.part import Order, Part, Seen, some
from tests.attack.served import HARMLESS, KINDS, fetched, served, site_in, slug
from tests.attack.tabs import Wait, engines, pressed, readable, stepping, tried
from tests.browser.live import LINE, open_live
from tools.browsers import Page

STEPS = 4  # of the prompt, which a first press runs
SHARE = {"chromium": 2 / 5, "firefox": 1 / 6, "webkit": 1 / 12}  # of all cases: the start of Python costs that much


def prepare(order: Order) -> None:
    site_in(order)


def named(scale: float, order: Order) -> list[str]:
    files = fetched(site_in(order))
    all_of_it = [f"{f}: {k}" for f in files for k in KINDS]
    return [f"{engine}: {one}" for engine in engines() for one in some(all_of_it, scale * SHARE[engine])]


def attack(names: Sequence[str], order: Order) -> Iterator[Seen]:
    faults = {slug(name): (kind, file) for name in names for _, file, kind in [name.split(": ")]}

    def trial(page: Page, name: str) -> Wait:
        _, file, kind = name.split(": ")
        open_live(page, site.page(slug(name)))
        answer = yield from pressed(page, "next")
        yield from stepping(page)
        if answer:
            assert kind in HARMLESS, "Python has started, with such a file"
            assert answer["state"]["n"] == STEPS
            return "started"
        line = page.run(LINE)
        assert kind not in HARMLESS, f"Python did not start: {line}"
        assert not (wrong := readable(line)), wrong
        site.heal(slug(name))
        answer = yield from pressed(page, "next")
        assert answer, f"not healed: {page.run(LINE)}"
        assert answer["state"]["n"] == STEPS
        return "said in a line, and healed by a press"

    with served(site_in(order), lambda case: faults.get(case, ("", ""))) as site:
        yield from tried(names, trial)


PART = Part(
    tried="each file of Python's start missing, damaged, late, endless or another one in its place, in each engine",
    cases=named,
    attack=attack,
    prepare=prepare,
    at_once=30,
    patience=300,
)
