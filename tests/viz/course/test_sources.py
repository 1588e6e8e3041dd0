"""What lessons rest on: each source once, with an address that stays; and no other link leads out of the site."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from microgpt.course import LESSONS, page
from microgpt.viz.page import Page
from microgpt.viz.rendering.render import render_embed, render_page
from microgpt.viz.text.sources import SOURCES, WORK
from tests.support.answers import to_the_end
from tests.support.markup import inward
from tests.support.pages import by_name, find, folded, parse, tree_of, view_of
from tests.support.sampled import sampled

ROOT = Path(__file__).resolve().parents[3]
HOSTS = {"arxiv.org", "github.com", "gist.github.com", "huggingface.co", "www.nvidia.com", "www.usenix.org"}
NAMES = [lesson.name for lesson in LESSONS]


def test_each_source_stands_once_and_some_lesson_names_it() -> None:
    addresses = [source.address for source in SOURCES.values()]
    assert len({*addresses}) == len(addresses)
    for address in addresses:
        url = urlsplit(address)
        assert (url.scheme, url.query, url.fragment) == ("https", "", "") and url.netloc in HOSTS
        assert url.netloc != "arxiv.org" or re.fullmatch(r"/abs/\d{4}\.\d{4,5}", url.path)
    assert {key for lesson in LESSONS for key in lesson.sources} == {*SOURCES}


@pytest.mark.parametrize("lesson", sampled(LESSONS, LESSONS[::6], "the same list of other lessons"), ids=by_name)
def test_a_lesson_ends_with_what_it_rests_on(lesson: Page) -> None:
    (section,) = find(tree_of(lesson), "rests")
    lines = [folded(line) for line in section.iter("li")]
    named = [SOURCES[key] for key in lesson.sources]
    assert len(named) >= 2
    assert lines == [f"{s.title} {s.authors}, {s.year}, {s.kind}" for s in named]
    assert [a.get("href") for a in section.iter("a")] == [s.address for s in named]


def test_another_link_outward_is_found() -> None:
    for wrong in ('<a href="https://arxiv.org/abs/1706.03762">', '<img class="source" src="https://arxiv.org/x.png">'):
        assert "https:" in inward(wrong)
    assert "https:" not in inward(render_page(page("attention"), view_of("attention")))


def test_a_frame_has_none_and_no_line_at_its_top_and_a_live_step_keeps_them() -> None:
    for lesson in LESSONS[:: 1 if os.environ.get("EVERYTHING") else 6]:
        tree = parse(render_embed(lesson, view_of(lesson)))
        assert not find(tree, "sources") and not find(tree, "crumb"), lesson.name
    fields = {"page": "kv-cache", "model": "names", "prompt": "emm", "temperature": "1", "top_k": "0", "seed": "0"}
    for hook in ("run", "next"):
        _, answers = to_the_end(None, hook, fields)
        (prose,) = (p["html"] for patches in answers for p in patches if p.get("target") == "#prose")
        assert all(SOURCES[key].address in prose for key in page("kv-cache").sources)


def test_this_work_is_cited_as_its_file_says() -> None:
    cff = (ROOT / "CITATION.cff").read_text("utf-8")
    names = ("title", "name", "version", "license")
    said = {name: re.findall(rf'^\W*{name}: "?([^"\n]*)"?$', cff, re.M) for name in names}
    assert [*said.values()] == [[one] for one in WORK.values()]
    front = folded(tree_of("index"))
    said_so = f"version {WORK['version']}", f"the {WORK['licence']} licence"
    words = (WORK["title"], WORK["authors"], *said_so, "Andrej Karpathy")
    assert [one for one in words if one not in front] == []
