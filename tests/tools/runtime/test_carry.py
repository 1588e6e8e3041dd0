"""What a lesson in one file takes along suffices for all that can be pressed on it, and comes through HTML as it is."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.course import LESSONS
from microgpt.course import page as page_named
from microgpt.viz.page import Page
from microgpt.viz.rendering.assets import encode_text
from microgpt.viz.request import Request, request
from tests.support.pages import by_name
from tools.runtime.bundle import files_for, gzip, runtime
from tools.runtime.exercise import answers_of, initial_fields
from tools.runtime.packing import MORE
from tools.runtime.usage import EXERCISE, run_in_pyodide

WITH_LIBRARIES = {"fewer-heads", "full-cache", "fewer-bits", "latent-row", "no-cache"}  # numpy.random or numpy.linalg


def asked(page: Page, lang: str = "en") -> Request:
    return request(page.name, page.model, page.prompt, lang=lang)


CARRIED = [*((page, "en") for page in LESSONS), (LESSONS[0], "es"), (page_named("latent-row"), "es")]


@pytest.mark.thorough("packs the browser's Python and runs it, once a lesson; by day a browser opens one in one file")
@pytest.mark.parametrize(("page", "lang"), CARRIED, ids=by_name)
def test_a_lesson_runs_on_the_little_that_it_carries(page: Page, lang: str, tmp_path: Path) -> None:
    """Every hook, every model that it offers, and what is wrong: the same answers as here."""
    fields = {**initial_fields(page, lang), "course": "none"}
    code = f"{EXERCISE.read_text('utf-8')}said = answers_of({fields})\n"
    there = run_in_pyodide(tmp_path, code, wanted=files_for(asked(page, lang)))["answers"]
    here = answers_of(fields)
    assert len(here) >= 6
    assert there == here
    more = len(gzip(next(tmp_path.glob(f"*/{MORE}")).read_bytes()))
    assert more < (1_600_000 if page.name in WITH_LIBRARIES else 620_000) + 210_000 * (lang != "en")


def test_what_no_lesson_asks_for_stays_at_home() -> None:
    wanted = files_for(asked(LESSONS[0]))
    for name in (
        "microgpt/viz/notebook/__init__.py",
        "microgpt/checkpoints/loading.py",
        "microgpt/train.py",
        "microgpt/serving/engine.py",
        "microgpt/apps/index/app.py",
        "microgpt/data/stories-mla.npz",
        "microgpt_templates/apps_index_page_html.py",
        "microgpt_templates/course_shared_prefixes_prose_html.py",
        "locale/es/LC_MESSAGES/messages.mo",
        "numpy/random/mtrand.so",
        "numpy/linalg/_umath_linalg.so",
    ):
        assert not wanted(name), name
    for name in ("numpy/linalg/_linalg.py", "microgpt/data/names-deep.npz"):
        assert wanted(name), name
    assert files_for(asked(LESSONS[0], "es"))("locale/es/LC_MESSAGES/messages.mo")


@pytest.mark.slow("packs the browser's Python")
def test_what_others_have_written_gets_all() -> None:
    kept = runtime()[MORE]
    for name in (b"microgpt.checkpoints.loading", b"microgpt/data/stories-mla.npz", b"numpy/random/mtrand"):
        assert name in kept


class Script(HTMLParser):
    text = ""

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.binary())
def test_bytes_come_through_html_as_seven_bits_a_character(data: bytes) -> None:
    page = f"<script>{encode_text(data)}</script>".encode()
    read = Script()
    read.feed(page.decode().replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd"))  # as HTML is read
    bits = "".join(f"{ord(character) & 127:07b}" for character in read.text)
    assert bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) - 7, 8)) == data


def test_random_bytes_become_a_sixth_longer() -> None:
    """A seventh, and of three characters in 128 one byte more."""
    data = bytes(range(256)) * 7
    assert len(encode_text(data).encode()) / len(data) == pytest.approx(8 / 7 * (1 + 3 / 128), rel=0.02)
