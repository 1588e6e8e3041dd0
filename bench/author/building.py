"""Building the site, with all in the cache that builds keep there, and building it again after one changed template.

A build is a process of its own; its yardstick is what Jinja takes to make Python of each template once, which every
build does. Before templates were compiled once for all languages, and views computed once, a build took OLD times as
long as that (the median of seven rounds, in processor time); the goal is SHARE of it. The second is measured as
`build.py --serve` does it, in a copy of the sources: from the change of a template that many pages show to the last
file in place, by the build that waits for it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.measure import Result, at_most, interleave, ratios, timed
from build import ROOT, SOURCES
from microgpt.viz.rendering.render import as_python
from tools.output.sources import our_files
from tools.output.templates import templates
from tools.watch import Watch

OLD, SHARE = 7.1, 0.6
SECONDS = 3.0  # for a changed template
ROUNDS = 5
TEMPLATE = "microgpt/course/kv_cache/widget.html"


def measure() -> list[Result]:
    with copied() as root:
        return [whole(root), again(root)]


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the sources, with the site built beside them."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        for name in SOURCES:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
            copy(ROOT / name, root / name)
        yield root


def command(root: Path) -> list[str]:
    return [sys.executable, str(root / "build.py"), "--out", str(root.parent / "site")]


def whole(root: Path) -> Result:
    texts = templates(our_files())

    def build() -> float:
        return timed(lambda: subprocess.run(command(root), check=True, capture_output=True))

    def compile_all() -> float:
        return timed(lambda: [as_python.__wrapped__(name, text) for name, text in texts.items()])

    took = interleave(ROUNDS, {"build": build, "templates": compile_all})
    found, scale = ratios(took["build"], took["templates"]), {name: median(of) for name, of in took.items()}
    return at_most(
        "a build with all in its cache", found, OLD * SHARE, "Jinja compiles each template once",
        f"{scale['build']:.1f} s, {scale['templates']:.1f} s", ".1f",
    )  # fmt: skip


def again(root: Path) -> Result:
    """Between two changes there is time for the next build to get ready."""
    template, took = root / TEMPLATE, []
    text, places = template.read_text("utf-8"), [root / name for name in SOURCES]
    with Watch([*command(root), "--when-told"], places) as watch:
        for number in range(ROUNDS):
            time.sleep(4 * SECONDS)
            before, start = watch.built, time.perf_counter()
            template.write_text(f"{text}\n<!-- {number} -->\n", "utf-8")
            while watch.built == before:
                time.sleep(0.01)
            took.append(time.perf_counter() - start)
    return at_most("a build after one changed template, s", took, SECONDS, "", "from the change to the files", ".1f")
