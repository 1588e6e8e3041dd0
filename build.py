"""Build the site: microgpt/ + templates/ + site/ -> dist/. The only module that writes its files.

    python build.py [--out DIR] [--serve [PORT]] [--check]

The same input gives the same bytes. Everything is built in a folder beside DIR and moved into place at
the end, so a failure leaves the old DIR as it was. It never trains a model.
"""

from __future__ import annotations

import argparse
import filecmp
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

from microgpt.errors import UserError
from microgpt.trace import to_json
from microgpt.viz import views
from microgpt.viz.language import LANGUAGES, folder, language
from microgpt.viz.pages import PAGES
from microgpt.viz.phases import PHASES
from microgpt.viz.render import Site, render, render_embed, render_page
from microgpt.weights import SHIPPED, shipped
from tools.packing import pack_runtime
from tools.runtime import default_cache, fetch_runtime
from tools.server import serve

ROOT = Path(__file__).resolve().parent
CASES = 32  # the most cases that one choice on a page may have
OWN = ("microgpt", "templates", "locale")  # what of the repository runs in the browser


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="DIR", help="where to (default: dist)")
    parser.add_argument("--serve", type=int, nargs="?", const=8000, metavar="PORT", help="build, then serve it")
    parser.add_argument("--base-url", default="", metavar="URL", help="where the site will be")
    parser.add_argument("--check", action="store_true", help="only tell whether DIR is what would be built")
    options = parser.parse_args(argv)
    try:
        address = checked_address(options.base_url)
        if options.check:
            return check(options.out, address)
        build(options.out, address)
    except UserError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    return 0 if options.serve is None else serve(options.out, options.serve)


def build(out: Path, address: str = "") -> None:
    """Build the whole site into `out`, which is replaced only by a whole one."""
    refuse_foreign(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        fresh = Path(folder) / "site"
        write_site(fresh, address)
        if out.exists():
            out.rename(Path(folder) / "old")
        fresh.rename(out)
    size = sum(path.stat().st_size for path in files_under(out))
    say(f"done: {out} ({size / 1e6:.1f} MB)")


def check(out: Path, address: str = "") -> int:
    """0 when `out` is byte for byte what would be built; else 1, naming the files that differ."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "site"
        write_site(fresh, address)
        names = {str(p.relative_to(base)) for base in (fresh, out) for p in files_under(base)}
        wrong = [n for n in sorted(names) if not same(fresh / n, out / n)]
    for name in wrong:
        print(f"differs: {name}")
    print(f"{out} is {'not ' if wrong else ''}what would be built.")
    return 1 if wrong else 0


def refuse_foreign(out: Path) -> None:
    """A folder that is not a site of ours is never replaced."""
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or any(out.glob("runtime*")))):
        raise UserError("%(out)s exists and is not a site that build.py made. Choose another --out.", out=out)


def checked_address(text: str) -> str:
    """The address of a site, with a slash at its end; "" when none is given."""
    if text and not re.fullmatch(r"https?://[^\s/?#;,'\"]+(/[^\s?#]*)?", text):
        raise UserError("--base-url is “%(text)s”; give an address such as https://example.org/course/.", text=text)
    return text and text.rstrip("/") + "/"


def write_site(out: Path, address: str) -> None:
    """Every file of the site, into the new folder `out`."""
    out.mkdir(parents=True)
    say("runtime: fetching what is not in the cache")
    cache = default_cache()
    fetched = fetch_runtime(cache)
    say("runtime: compiling and packing (the first time takes a while)")
    site = Site(pack_runtime(fetched, out, own_files(), cache), address)
    for page in PAGES:
        view = views.of(page)
        if page.widget and (trace := getattr(view, "trace", None)):
            write(out / "trace" / f"{page.name}.json", to_json(trace))
        for lang in LANGUAGES:
            with language(lang):
                write(out / folder(lang) / f"{page.name}.html", render_page(page, view, site))
                if page.widget:
                    write(out / folder(lang) / "embed" / f"{page.name}.html", render_embed(page, view, site))
        say(f"page: {page.name}")
    say("style, bridge, notices")
    write(out / "style.css", style())
    for path in files_under(ROOT / "site"):
        if path.suffix != ".css":
            to = out / path.relative_to(ROOT / "site")
            to.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, to)
    write(out / "NOTICES.txt", notices())


def style() -> str:
    """All of site/css in the order of its file names, then the rules that only differ by a number."""
    configs = [shipped(name).config for name in SHIPPED]
    states = render(
        "states.css",
        steps=max(c.n_ctx for c in configs),
        layers=max(c.n_layer for c in configs),
        heads=max(c.n_head for c in configs),
        phases=len(PHASES),
        cases=CASES,
    )
    return "".join(path.read_text("utf-8") for path in sorted((ROOT / "site" / "css").glob("*.css"))) + states


def own_files() -> dict[str, bytes]:
    """Archive path -> bytes of our own Python, templates and weights, for the browser."""
    paths = [p for folder in OWN for p in files_under(ROOT / folder) if "__pycache__" not in p.parts]
    return {str(p.relative_to(ROOT).as_posix()): p.read_bytes() for p in paths if p.suffix != ".po"}


def notices() -> str:
    """The licences of everything in the folder."""
    parts = [(ROOT / "NOTICES").read_text("utf-8"), (ROOT / "LICENSE").read_text("utf-8")]
    for package in ("jinja2", "markupsafe"):
        licences = [f for f in distribution(package).files or [] if "licenses/" in str(f)]
        parts += [f"{package}\n\n{Path(str(f.locate())).read_text('utf-8')}" for f in sorted(licences, key=str)]
    return "\n\n----\n\n".join(part.strip() for part in parts) + "\n"


def files_under(folder: Path) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.is_file())


def same(a: Path, b: Path) -> bool:
    return a.exists() and b.exists() and filecmp.cmp(a, b, shallow=False)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))  # not write_text: no platform's line endings


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
