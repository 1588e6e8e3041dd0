"""python -m bench [--microgpt PATH] [--only NAME ... [--write]]: measure, print the table, write bench/README.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from playwright.sync_api import Playwright, sync_playwright

from bench import batch, caches, checkpoints, hooks, original, recording, serving, table
from bench.author import building
from bench.browser import earlier, embeds, learning, motion, own, pages, start, steps
from bench.browser.watch import address, built_site
from bench.measure import Result
from microgpt.errors import UserError
from tools.browsers import which

README = Path(__file__).parent / "README.md"


class Bench:
    """The measures, and what several of them share: the built site and a browser, made when first needed."""

    def __init__(self, microgpt: Path | None, stack: ExitStack) -> None:
        self.microgpt, self.stack = microgpt, stack

    @cached_property
    def site(self) -> Path:
        return self.stack.enter_context(built_site())

    @cached_property
    def playwright(self) -> Playwright:
        return self.stack.enter_context(sync_playwright())

    def original(self) -> list[Result]:
        return original.measure(self.microgpt)

    def hooks(self) -> list[Result]:
        return hooks.measure()

    def checkpoints(self) -> list[Result]:
        return checkpoints.measure()

    def recording(self) -> list[Result]:
        return recording.measure()

    def caches(self) -> list[Result]:
        return caches.measure()

    def batch(self) -> list[Result]:
        return batch.measure()

    def serving(self) -> list[Result]:
        return serving.measure()

    def building(self) -> list[Result]:
        return building.measure()

    def start(self) -> list[Result]:
        return start.measure(self.playwright, self.site)

    def steps(self) -> list[Result]:
        url = self.stack.enter_context(address(self.site))
        return steps.measure(self.playwright, url) + earlier.measure(self.playwright, url)

    def motion(self) -> list[Result]:
        return motion.measure(self.playwright, self.site)

    def learning(self) -> list[Result]:
        return learning.measure(self.playwright, self.stack.enter_context(address(self.site)))

    def own(self) -> list[Result]:
        return own.measure(self.playwright, self.stack.enter_context(address(self.site)))

    def embeds(self) -> list[Result]:
        return embeds.measure(self.playwright, self.site)

    def pages(self) -> list[Result]:
        return pages.measure(self.playwright, self.site)


TITLES = {
    "original": "Training and sampling",
    "hooks": "Hooks",
    "checkpoints": "GPT-2's shape",
    "recording": "Recording a model of transformers",
    "caches": "Other caches",
    "batch": "Texts side by side",
    "serving": "Many requests",
    "building": "Building the site",
    "start": "Live start",
    "steps": "A step on the page",
    "motion": "The machine in motion",
    "learning": "Training in the page",
    "own": "A checkpoint in the page",
    "embeds": "Ten embeds on a page",
    "pages": "The pages",
}
NEEDS_CHROMIUM = ("start", "steps", "motion", "learning", "own", "embeds", "pages")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure speed and size; takes minutes.")
    parser.add_argument("--microgpt", type=Path, metavar="PATH", help="Karpathy's microgpt.py, to compare with")
    parser.add_argument("--only", choices=list(TITLES), nargs="+", metavar="NAME", help=", ".join(TITLES))
    parser.add_argument("--write", action="store_true", help="with --only: these parts of the table are written anew")
    options = parser.parse_args(argv)
    if options.microgpt and not options.microgpt.is_file():
        parser.error(f"there is no file {options.microgpt}")
    sections: dict[str, list[Result]] = {}
    try:
        with ExitStack() as stack:
            bench = Bench(options.microgpt, stack)
            for name in options.only or TITLES:
                print(f"bench: {TITLES[name].lower()}", file=sys.stderr, flush=True)
                sections[TITLES[name]] = one(name, getattr(bench, name))
                print(table.section(TITLES[name], sections[TITLES[name]]), flush=True)
    except UserError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    before = README.read_text("utf-8") if README.exists() else ""
    for line in table.worse(table.told(before), [result for results in sections.values() for result in results]):
        print(f"worse than in {README.name}: {line}", flush=True)
    if options.write or not options.only:
        README.write_text(table.page(before, sections, list(TITLES.values())), "utf-8")
        print(f"wrote {README.name} in bench/", file=sys.stderr)
    return 0


def one(name: str, measure: Callable[[], list[Result]]) -> list[Result]:
    if name in NEEDS_CHROMIUM and which("chromium") is None:
        return [Result(TITLES[name], "not measured: Chromium is not installed")]
    return measure()


if __name__ == "__main__":
    sys.exit(main())
