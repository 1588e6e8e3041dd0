"""Build the site: microgpt/ + templates/ + site/ -> dist/. The only module that writes its files.

    python build.py [--out DIR] [--serve [PORT]] [--check]     --serve: and again after each change of its sources
    python build.py --prompt "The next day" --model stories --out DIR [--single-file]     one lesson of your own
    python build.py --lesson FOLDER --out DIR              one that is not of the course: docs/own-widget.md
    python build.py --prompt "The next day" --model path/to/SmolLM2-135M --out DIR        one of a checkpoint on disk
    python build.py --trace trace.json --out DIR           one of what `microgpt record` has written

The same input gives the same bytes; but the last digits of the numbers in trace/*.json depend on the processor, whose
linear algebra may add in another order (no figure on a page does: test_build.py). Everything is built beside DIR, and
takes its place at the end, so a failure leaves DIR as it was. A folder that holds anything but what a build has
written, which is listed in DIR/microgpt-kv-sha256.txt, is not built into. It never trains a model.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from traceback import format_exc

from jinja2 import TemplateError

from microgpt.checkpoints.folder import load_checkpoint
from microgpt.course import PAGES
from microgpt.errors import UserError
from microgpt.trace import to_json
from microgpt.viz import views
from microgpt.viz.large.checks import trace_in
from microgpt.viz.large.heads import parse_numbers
from microgpt.viz.lesson import add
from microgpt.viz.notebook import is_folder
from microgpt.viz.rendering.assets import BESIDE, STYLE, frame_assets
from microgpt.viz.rendering.render import Site, compile_template, render_embed, render_page
from microgpt.viz.rendering.style import own_style, read_site
from microgpt.viz.request import START_CHOICES, request
from microgpt.viz.text.formats import size_text
from microgpt.viz.text.language import LANGUAGES, folder, language
from tools.build_lesson import ASSETS, build_lesson, write
from tools.checkpoint import Look, build_checkpoint, build_trace
from tools.editor.script import EDITOR, editor_script
from tools.output.compare import compare
from tools.output.folder import Write, replace
from tools.output.licences import notices
from tools.output.sources import our_files, site_files
from tools.output.templates import templates
from tools.runtime.bytecode import get_ready
from tools.runtime.fetch import default_cache, fetch_runtime
from tools.runtime.npm import Unavailable
from tools.runtime.packing import pack_runtime
from tools.runtime.pins import CORE
from tools.server import refusal, serve
from tools.watch import Watch, why

ROOT = Path(__file__).resolve().parent
DTYPES = ("float32", "float64")
SOURCES = ("microgpt", "templates", "site", "locale", "tools", "build.py", "NOTICES", "LICENSE")  # of all that is built
CHECKPOINT_OPTIONS = ("layers", "heads", "new", "dtype")  # what only a lesson from a checkpoint has


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    options = arguments(words)
    if options.when_told:
        options.serve = None
    if options.serve is not None and (taken := refusal(options.serve)):
        print(taken, file=sys.stderr)
        return 1
    try:
        out, write = plan(options)
        check_apart(out, options)
        if options.check:
            return check(out, write)
        if options.when_told and not wait_for_change():
            return 0
        # also for what changes while it is built
        command = [sys.executable, str(ROOT / "build.py"), *words, "--when-told"]
        watch = None if options.serve is None else Watch(command, sources(options))
        build(out, write=write)
    except UserError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    except TemplateError:
        print(f"build.py: {why(format_exc(), sources(options))} Nothing was changed.", file=sys.stderr)
        return 1
    except OSError as error:
        where = "choose another --out, or another folder as MICROGPT_CACHE"
        print(f"build.py: a file cannot be read or written ({error}). Nothing was changed; {where}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("build.py: stopped. Nothing was changed.", file=sys.stderr)
        return 130
    if watch is None:
        return 0
    gc.enable()
    with watch:
        return serve(out, options.serve, lambda: watch.built)


def sources(options: argparse.Namespace) -> list[Path]:
    """The files and folders that all is built from."""
    own = [Path(options.lesson).resolve()] if options.lesson else []
    return [ROOT / name for name in SOURCES] + own


def check_apart(out: Path, options: argparse.Namespace) -> None:
    """Raise UserError for a place in a folder of sources: the next build would take along what this one writes."""
    for source in sources(options):
        if Path(os.path.realpath(out)).is_relative_to(os.path.realpath(source)):
            raise UserError(
                "--out is “%(out)s”, inside of “%(source)s”, whose files go along into what is built. Choose a place "
                "outside of it.",
                out=out, source=source,
            )  # fmt: skip


def wait_for_change() -> bool:
    """Whether the process that waits for it asks for the build; until then all is done that takes no page's files."""
    with suppress(Exception):  # it will be met again, and said
        for page in PAGES:
            views.of(page)
        for name, text in templates(our_files()).items():
            compile_template(name, text)
        get_ready({name: path for name, path in fetch_runtime(default_cache()).items() if name in CORE})
    return bool(sys.stdin.readline())


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to (default: dist, or my-lesson)")
    parser.add_argument("--serve", type=int, nargs="?", const=8000, metavar="PORT", help="build, then serve it")
    parser.add_argument("--base-url", default="", metavar="URL", help="where the site will be")
    parser.add_argument("--check", action="store_true", help="only tell whether DIR is what would be built")
    own = parser.add_argument_group("one lesson of your own, in place of the site")
    own.add_argument("--widget", default="", metavar="NAME", help="a widget or a page of the course (default: stepper)")
    own.add_argument("--lesson", metavar="FOLDER", help="a lesson of your own: docs/own-widget.md")
    own.add_argument("--model", default="", help="the model that it runs: a shipped one, or the folder of a checkpoint")
    own.add_argument("--prompt", default="", help="the text that it runs on")
    for name in START_CHOICES:
        own.add_argument(f"--{name}", type=int, metavar="N", help=f"the {name} that is shown first")
    own.add_argument("--lang", default="", help="its language (default: en)")
    own.add_argument("--assets", choices=ASSETS, help="style and Python beside it (directory), or in it (inline)")
    own.add_argument("--single-file", action="store_const", dest="assets", const="inline", help="--assets inline")
    large = parser.add_argument_group("a lesson from a checkpoint, besides")
    large.add_argument("--trace", type=Path, metavar="FILE", help="in place of a model: what `microgpt record` wrote")
    large.add_argument("--layers", metavar="0,5,11", help="the layers that are open (default: first, middle, last)")
    large.add_argument("--heads", metavar="0,3", help="the heads that are open in each (default: near, between, far)")
    large.add_argument("--new", type=int, metavar="N", help="how many tokens the model adds (default: 8, if they fit)")
    large.add_argument("--dtype", choices=DTYPES, help="what it computes in (default: float32)")
    parser.add_argument("--when-told", action="store_true", help=argparse.SUPPRESS)  # see tools/watch.py
    return parser.parse_args(argv)


def plan(options: argparse.Namespace) -> tuple[Path, Write]:
    """Where to, and what writes it: the site, or one lesson as soon as anything of it is named."""
    start = {name: getattr(options, name) for name in START_CHOICES}
    if options.lesson == "":
        raise UserError("--lesson names no folder; give that of the lesson.")
    if options.lesson and options.widget:
        raise UserError("--lesson brings its own widget; leave --widget out.")
    if options.lesson:
        options.widget = add(options.lesson).name
    named = [options.widget, options.model, options.prompt, options.lang, options.assets]
    lesson = any(named) or set(start.values()) != {None}
    try:
        options.prompt.encode()
    except UnicodeEncodeError:
        raise UserError("The prompt holds bytes that are not UTF-8; give it as text.") from None
    if lesson and options.base_url:
        raise UserError("--base-url is for the site; leave it out of a lesson.")
    if options.trace:
        for name in ("widget", "lesson", "model", "prompt", "new", "dtype"):
            if getattr(options, name) not in (None, ""):
                raise UserError(
                    "--%(name)s is for a model that is run; leave it out of a lesson from --trace.", name=name
                )
    if options.trace or is_folder(options.model):
        return options.out or ROOT / "my-lesson", partial(write_large, options, start)
    for name in CHECKPOINT_OPTIONS:
        if getattr(options, name) is not None:
            raise UserError("--%(name)s is for a checkpoint; give its folder as --model.", name=name)
    if not lesson:
        return options.out or ROOT / "dist", partial(write_site, address=check_address(options.base_url))
    asked = request(options.widget or "stepper", options.model, options.prompt, start, options.lang or "en")
    return options.out or ROOT / "my-lesson", partial(build_lesson, asked, options.assets or ASSETS[0], say)


def write_large(options: argparse.Namespace, start: dict[str, int | None], out: Path) -> None:
    """One lesson from the trace or the checkpoint that the options name, into the new folder `out`."""
    layers, heads = parse_numbers("layers", options.layers), parse_numbers("heads", options.heads)
    look = Look(layers, heads, start, options.lang or "en", options.assets or ASSETS[0])
    if options.trace:
        return build_trace(trace_in(options.trace), say, out, look)
    if not options.prompt:
        raise UserError("A lesson from a checkpoint needs a text; give --prompt.")
    model = load_checkpoint(Path(options.model), "float64" if options.dtype == "float64" else "float32")
    build_checkpoint(model, options.prompt, say, out, look, options.widget or "stepper", options.new)


def build(out: Path, address: str = "", write: Write | None = None) -> None:
    """Write the whole site, or what `write` writes, into `out`: all of it, or nothing. A link to a folder stays one."""
    replace(out, write or partial(write_site, address=address))
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    say(f"done: {out} ({size_text(size)})")


def check(out: Path, write: Write) -> int:
    """0 when `out` is what would be built, see compare.py; else 1. Names the files that differ or are missing."""
    if not out.is_dir():
        raise UserError("There is no folder %(out)s to check; name it with --out.", out=out)
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "site"
        write(fresh)
        wrong, besides = compare(fresh, out)
    for line in [*wrong, *besides]:
        print(line)
    print(f"{out} is {'not ' if wrong else ''}what would be built.")
    return 1 if wrong else 0


def check_address(text: str) -> str:
    """The address of a site, with a slash at its end; "" when none is given."""
    if text and not re.fullmatch(r"https?://[^\s/?#;,'\"]+(/[^\s?#]*)?", text):
        raise UserError("--base-url is “%(text)s”; give an address such as https://example.org/course/.", text=text)
    return text and text.rstrip("/") + "/"


def write_site(out: Path, address: str = "") -> None:
    """Every file of the site, into the new folder `out`."""
    out.mkdir(parents=True)
    say("runtime: fetching what is not in the cache")
    cache = default_cache()
    fetched = fetch_runtime(cache)
    say("runtime: compiling and packing (the first time takes a while)")
    editor = write_editor(out, cache) if any(page.editor for page in PAGES) else ""
    site = Site(pack_runtime(fetched, out, our_files(), cache), address, editor)
    in_frame = frame_assets(read_site)
    for page in PAGES:
        rules = own_style(page)
        for lang in LANGUAGES:
            with language(lang):
                shown = page.in_language(lang)
                view, name = views.of(shown), f"{page.name}.html"
                if page.widget and (trace := getattr(view, "trace", None)) and (lang == "en" or shown.trace):
                    write(out / "trace" / f"{shown.trace_name}.json", to_json(trace))
                write(out / folder(lang) / name, render_page(shown, view, site, BESIDE.with_rules(rules)))
                if page.widget or page.framed:
                    alone = render_embed(shown, view, site, in_frame.with_rules(rules))
                    write(out / folder(lang) / "embed" / name, alone)
        say(f"page: {page.name}")
    say("style, bridge, notices")
    write(out / STYLE, read_site(STYLE))
    for name, path in site_files().items():
        (out / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(path, out / name)
    write(out / "NOTICES.txt", notices(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()))


def write_editor(out: Path, cache: Path) -> str:
    """The name of the editor's script, which is then in `out`; "" where it cannot be made, and that is said."""
    try:
        script = editor_script(cache)
    except Unavailable as why_not:
        say(f"editor: left out, a plain field takes its place ({why_not})")
        return ""
    (out / EDITOR).write_bytes(script)
    return EDITOR


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    gc.disable()  # a build ends before there is much to collect; it would look through all views again and again
    sys.exit(main())
