"""Every page, its style and its pictures hold the rules of the W3C's validator: as built, baked, in a notebook, and
after Python's answers (tests/viz/test_markup.py has what is quicker to tell)."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import html5lib
import pytest

from microgpt.course import LESSONS
from microgpt.viz import show, views
from microgpt.viz.figures import figure_file
from microgpt.viz.rendering.assets import self_contained
from microgpt.viz.rendering.render import HERE, render_baked
from microgpt.viz.rendering.style import read_site
from tests.browser.validator import JAR, missing
from tests.support.markup import PRESSED, pressed

EVERYTHING = bool(os.environ.get("EVERYTHING"))
ANSWERED = {"next-token", "memory"}  # a text and a form; test_markup.py looks at each
ALIKE = ("chat-turn.html", "model-that-talks-numbers.html")  # the same page with another text, of a megabyte together
QUICK = ("-Xss2m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # half the work, for a program that runs for seconds
# What its checker of CSS does not know yet, or takes for something else: each is valid by the specification named.
FALSE_ALARMS = [
    r"CSS: Unrecognized at-rule “@property”",  # css-properties-values-api-1
    r"CSS: “vector-effect”: Property “vector-effect” doesn't exist\.",  # SVG 2, 8.12
    r"CSS: “container”: Property “container” doesn't exist\.",  # css-conditional-5, 5
    r"CSS: Unrecognized at-rule “@container”",  # css-conditional-5, 6
    r"Bad value “isolate” for attribute “unicode-bidi” on element “(text|tspan)”\.",  # css-writing-modes-3, 2.2
    r"CSS: “container-type”: Property “container-type” doesn't exist\.",  # css-conditional-5, 5.1
    r"CSS: “mask”: .*",  # css-masking-1, 7: an image without a layer's place
    r"CSS: “transition”: “--(t|seen|go|from)” is not a “transition” value\.",  # css-properties-values-api-1
    r"CSS: “color”: “calc\(var\(--\w+\) \* 100%\)” is not a “\*invalid\*” value\.",  # css-color-5: of color-mix
    # a var() that stands for the number or length that @property declares, in calc(), clamp(), mod(): css-values-4, 10;
    # lengths of a container (cqw), of which it does not know that they are lengths: css-conditional-5, 7
    r"CSS: “(--\w+|opacity|scale|left|height|translate)”: Invalid type: “.*var\(--\w+\).*”\.",
    r"CSS: “(--\w+|width)”: Unknown dimension\.",
    r"CSS: “transform”: “min\(var\(--\w+\), var\(--\w+\)\)” is not a “transform” value\.",
    r"CSS: “(--\w+|translate|width|max-width|margin|margin-left|left|right|top|font|font-size|transition)”: "
    r"(The types are incompatible|Parse Error|One operand must be a number)\.",
]


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """What a build of the site does not write."""
    for page in LESSONS if EVERYTHING else LESSONS[::16]:  # what is around a widget; the widgets stand in embed/ too
        text = render_baked(page, views.of(page), HERE, True, "notices", assets=self_contained(read_site))
        (tmp_path / f"baked-{page.name}.html").write_text(text, "utf-8")
    for page in LESSONS:
        (tmp_path / f"{page.name}.svg").write_text(figure_file({"page": page.name})["text"], "utf-8")
    for name, hooks in (one for one in PRESSED if EVERYTHING or one[0] in ANSWERED):
        *_, tree = pressed(name, hooks)
        text = html5lib.serialize(tree, omit_optional_tags=False, quote_attr_values="always")
        (tmp_path / f"live-{name}-{hooks[0]}.html").write_text(f"<!doctype html>{text}", "utf-8")
    output = f"<!doctype html><html lang=en><head><title>A notebook</title></head><body>{show('emma')._repr_html_()}"
    (tmp_path / "notebook.html").write_text(output, "utf-8")
    (frame,) = html5lib.parse(output, namespaceHTMLElements=False).iter("iframe")
    (tmp_path / "notebook-frame.html").write_text(frame.get("srcdoc"), "utf-8")
    return tmp_path


@pytest.mark.timeout(600)
def test_the_validator_finds_no_error(site: Path, others: Path) -> None:
    if why := missing():
        if os.environ.get("CI") and shutil.which("java"):
            pytest.fail(why)
        pytest.skip(why)
    command = ["java", *QUICK, "-Xmx1g", "-jar", str(JAR), "--stdout", "--exit-zero-always", "--errors-only"]
    command += ["--format", "json", "--also-check-css", "--also-check-svg", "--skip-non-html", str(others)]
    # a frame and a translation have the elements of their page: some of them stand for the rest
    frames = sorted((site / "embed").iterdir())[::4]  # test_markup.py looks at each
    pages = [path for path in site.glob("*.*") if path.name not in ALIKE]
    spanish = [site / "es" / f"{name}.html" for name in ("index", "memory")]
    command += [str(site)] if EVERYTHING else map(str, [*pages, *frames, *spanish])
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    found = [one for one in json.loads(done.stdout)["messages"] if one["type"] != "info"]
    left = [
        f"{one.get('url', '')}:{one.get('lastLine')}: {one['message']} {one.get('extract', '')}"
        for one in found
        if not any(re.fullmatch(alarm, one["message"]) for alarm in FALSE_ALARMS)
    ]
    assert not left, "\n".join(left)
    for alarm in FALSE_ALARMS:  # one that is gone goes from the list too; and all this says that style was looked at
        assert any(re.fullmatch(alarm, one["message"]) for one in found), alarm
