"""A lesson of one's own: what is in it, that nothing leads out of it, and a sentence for what cannot be baked."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import build
from microgpt.course import LESSONS
from microgpt.errors import UserError
from microgpt.viz import views
from microgpt.viz.controls import View
from microgpt.viz.rendering.assets import STILL, Assets, self_contained
from microgpt.viz.rendering.policy import hash_source
from microgpt.viz.rendering.render import Site, render_baked
from microgpt.viz.rendering.style import read_site
from microgpt.viz.request import request
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import LANGUAGES
from tests.support.markup import inward
from tests.tools.built import leads, tree
from tools import build_lesson
from tools.output.folder import MANIFEST

ROOT = Path(__file__).resolve().parents[2]
OWN = ["--prompt", "The next day", "--model", "stories", "--step", "2", "--layer", "1", "--head", "3", "--phase", "4"]


def baked(out: Path, *options: str) -> Path:
    assert build.main([*OWN, *options, "--out", str(out)]) == 0
    return out


def seen(html: str) -> str:
    """The page without what it carries for Python."""
    return re.sub(r'<script type="text/plain".*?</script>', "", html, flags=re.S)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return baked(tmp_path_factory.mktemp("a") / "lesson")


@pytest.fixture(scope="module")
def inline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return baked(tmp_path_factory.mktemp("b") / "lesson", "--single-file")


@pytest.fixture
def without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is packed for the browser: that takes longer than all the rest."""
    monkeypatch.setattr(build_lesson, "pack_beside", lambda *_: "runtime-0")
    monkeypatch.setattr(build_lesson, "runtime", lambda *_: {"runtime.json": b'{"files": []}'})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--model", "gpt-9"], "does not know the model “gpt-9”; it has names, names-deep, stories."),
        (["--prompt", "emm@"], "does not know the character “@” (number 4 of the text)"),
        (["--prompt", "emm", "--model", "stories"], "does not know the word “emm”"),
        (["--widget", "nix"], "There is no widget “nix”; there is stepper, next-token"),
        (["--step", "99"], "step is 99; this page has 0 to"),
        (["--step", "-1"], "step is -1; this page has 0 to"),
        (["--layer", "7", "--model", "stories"], "layer is 7; this page has 0 to 1."),
        (["--step", "2", "--widget", "memory"], "This page has no “step” to choose"),
        (["--prompt", "emma", "--lang", "xx"], "language is “xx”; give one of en, es"),
    ],
)
def test_what_cannot_be_baked_gets_one_sentence(
    options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build.main([*options, "--out", str(tmp_path / "lesson")]) == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_page_that_does_not_know_the_model_says_which_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    page = LESSONS[0]._replace(models=("stories",))
    monkeypatch.setattr("microgpt.viz.request.lesson_named", lambda widget, model: page)
    with pytest.raises(UserError, match="does not know the model “names”; it has stories"):
        request(page.name, "names")


def test_the_folder_holds_both_forms_and_what_they_load(directory: Path) -> None:
    runtime = next(directory.glob("runtime-*")).name
    files = {name.replace(runtime, "runtime") for name in tree(directory)}
    assert {"index.html", "embed.html", "style.css", "boot.js", "host.js", "icon.svg"} <= files
    assert "runtime/runtime.json" in files
    for form in ("index.html", "embed.html"):
        html = (directory / form).read_text("utf-8")
        assert f'data-runtime="{runtime}/"' in html
        assert [target for target in leads(html) if not (directory / target).is_file()] == []


def test_it_begins_with_the_authors_text_and_choices(directory: Path) -> None:
    for form in ("index.html", "embed.html"):
        html = (directory / form).read_text("utf-8")
        assert 'value="The next day"' in html
        assert "<option selected>stories</option>" in html
        for name, value in (("step", 2), ("layer", 1), ("head", 3), ("phase", 4)):
            chosen = [tag for tag in re.findall(rf'<input[^>]*name="{name}"[^>]*>', html) if " checked" in tag]
            assert len(chosen) == 1 and f'value="{value}"' in chosen[0]
        assert ('id="prose"' in html) == (form == "index.html")


@pytest.mark.slow("bakes the course")
def test_one_file_refers_to_nothing_but_itself(inline: Path) -> None:
    assert set(tree(inline)) == {"index.html", "embed.html", MANIFEST}
    for path in inline.glob("*.html"):
        assert path.stat().st_size <= 7_000_000  # with all licences, the lens and the encoders of films
        page = inward(seen(path.read_text("utf-8")))
        assert leads(page) == []
        for text in ("Mozilla Public License Version 2.0", "2010-2014 Emscripten", "NumPy Developers", "Rich Felker"):
            assert text in page[page.index('<pre class="notices"') :], (
                "all licences of what it carries can be read in it"
            )
        assert {url for url in re.findall(r"https?://[^\s\"'<>)]+", page) if "w3.org" not in url} <= set(
            re.findall(r"https?://[^\s\"'<>)]+", page[page.index('<pre class="notices"') :])
        )


@pytest.mark.slow("bakes the course")
def test_no_lesson_leads_out_of_its_file() -> None:
    assert [
        f"{page.name}, {lang}, {form}: {found}"
        for page in LESSONS[:: 1 if os.environ.get("EVERYTHING") else 5]
        for lang in (LANGUAGES if os.environ.get("EVERYTHING") else ["en"])
        for form, html in build_lesson.both_forms(
            request(page.name, page.model, page.prompt, lang=lang),
            views.of(page),
            Site(),
            "",
            self_contained(read_site),
        ).items()
        if (found := leads(html))
    ] == []


@pytest.mark.slow("bakes the course")
def test_the_policy_names_each_text_and_allows_no_other(inline: Path) -> None:
    html = seen((inline / "index.html").read_text("utf-8"))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy
    rules = dict(rule.split(" ", 1) for rule in policy[1].replace("&#39;", "'").split("; "))
    scripts = [hash_source(text) for text in re.findall(r"<script[^>]*>(.*?)</script>", html, re.S)]
    styles = [hash_source(text) for text in re.findall(r"<style[^>]*>(.*?)</style>", html, re.S)]
    assert rules["script-src"].split() == ["'wasm-unsafe-eval'", *scripts] and len(scripts) == 2
    assert rules["style-src"].split() == styles and len(styles) == 2  # of the site, and of the lesson
    assert rules["default-src"] == rules["base-uri"] == rules["connect-src"] == "'none'"
    assert rules["worker-src"] == "blob:"
    assert not re.search(r"unsafe-inline|'self'|http", policy[1])


@pytest.mark.thorough("of what is built that is said by two builds of the site")
def test_two_bakes_are_the_same_bytes(inline: Path, directory: Path, tmp_path: Path) -> None:
    """In another process, time zone, locale, hash seed and folder."""
    environment = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    for old, form in ((inline, "inline"), (directory, "directory")):
        command = [sys.executable, str(ROOT / "build.py"), *OWN, "--assets", form, "--out", str(tmp_path / form)]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
        assert tree(tmp_path / form) == tree(old)


@pytest.mark.parametrize("assets", [self_contained(read_site), STILL], ids=["whole", "beside"])
def test_without_python_nothing_asks_for_it(assets: Assets) -> None:
    asked = request("why-q")
    html = build_lesson.both_forms(asked, views.of(asked.page), Site(), "", assets)["embed.html"]
    assert "<html data-no-python " in html
    assert "data-module" not in html and "wasm-unsafe-eval" not in html


@pytest.mark.parametrize(
    ("name", "text"), [("style.css", "a</style>"), ("host.js", "'</script>'"), ("host.js", "<!--")]
)
def test_what_would_end_its_element_does_not_go_into_a_page(name: str, text: str) -> None:
    with pytest.raises(ValueError, match="would end the"):
        self_contained(lambda asked: text if asked == name else read_site(asked))


@pytest.mark.parametrize("assets", build_lesson.ASSETS)
def test_nothing_is_computed_or_rendered_twice(
    without_python: None, assets: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    viewed, drawn, view, render = list[str](), list[bool](), views.view, render_baked

    def seen(widget: str, settings: Settings) -> View:
        viewed.append(widget)
        return view(widget, settings)

    def rendered(*args: Any) -> str:
        drawn.append(args[3])
        return render(*args)

    monkeypatch.setattr(views, "view", seen)
    monkeypatch.setattr(build_lesson, "render_baked", rendered)
    build_lesson.build_lesson(request("memory"), assets, lambda line: None, tmp_path / "out")
    assert viewed == ["memory"] and drawn == [False, True]
