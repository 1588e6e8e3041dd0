"""python -m bench [--only NAME ... [--write]]: measure, print the table, write bench/README.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path

from playwright.sync_api import Playwright, sync_playwright

from bench import gpt2, hooks, pages, said, start, steps, table
from bench.measure import Result
from build import build
from microgpt.errors import UserError
from tools.browsers import which

README = Path(__file__).parent / "README.md"
TITLES = {
    "hooks": "Hooks",
    "gpt2": "GPT-2's shape",
    "said": "What pages say of time",
    "start": "Live start",
    "steps": "A step on the page",
    "pages": "The pages",
}
IN_BROWSER = {"start": start.measure, "steps": steps.measure, "pages": pages.measure}


def measures(stack: ExitStack) -> dict[str, Callable[[], list[Result]]]:
    """Name -> what measures it. The site is built, and the browsers' driver started, when the first asks for them."""

    @cache
    def share() -> tuple[Playwright, Path]:
        site = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "site"
        build(site)
        return stack.enter_context(sync_playwright()), site

    def in_browser(name: str) -> list[Result]:
        if which("chromium") is None:
            return [Result(TITLES[name], "not measured: Chromium is not installed")]
        return IN_BROWSER[name](*share())

    own: dict[str, Callable[[], list[Result]]] = {"hooks": hooks.measure, "gpt2": gpt2.measure, "said": said.measure}
    return own | {name: partial(in_browser, name) for name in IN_BROWSER}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure speed and size; takes minutes.")
    parser.add_argument("--only", choices=list(TITLES), nargs="+", metavar="NAME", help=", ".join(TITLES))
    parser.add_argument("--write", action="store_true", help="with --only: these parts of the table are written anew")
    options = parser.parse_args(argv)
    sections: dict[str, list[Result]] = {}
    try:
        with ExitStack() as stack:
            by_name = measures(stack)
            for name in options.only or TITLES:
                print(f"bench: {TITLES[name].lower()}", file=sys.stderr, flush=True)
                sections[TITLES[name]] = by_name[name]()
                print(table.section(TITLES[name], sections[TITLES[name]]), flush=True)
    except UserError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    before = README.read_text("utf-8") if README.exists() else ""
    for line in table.worse(table.values_in(before), [result for results in sections.values() for result in results]):
        print(f"worse than in {README.name}: {line}", flush=True)
    if options.write or not options.only:
        README.write_text(table.page(before, sections, list(TITLES.values())), "utf-8")
        print(f"wrote {README.name} in bench/", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
