"""The code for a course: whatever stands in it, each host gets exactly the address; wrong choices get a sentence."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import html5lib
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microgpt.apps.embed_builder.app import NAMED
from microgpt.apps.embed_builder.embed_codes import HOSTS, Frame, address, codes, site_address
from microgpt.course import LESSONS, page
from microgpt.course.kv_cache import lesson as stepper
from microgpt.errors import UserError
from microgpt.viz import views
from microgpt.viz.rendering.render import render_embed, render_page
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import language
from microgpt.viz.text.place import ROOT
from tests.support.controls import controls
from tests.support.pages import find, parse, text, tree_of
from tests.support.sampled import sampled

SITE = "https://example.org/course/"
BUILDER = page("embed-builder")
HOSTILE = "\"'`&<b></iframe>&amp;=#?%\\ \u202e\n```\n:::\n"
texts = st.text(st.characters(exclude_categories=("Cs", "Cc")))
choices = st.dictionaries(texts, texts)


def frame(chosen: dict[str, str], title: str = "A title", width: str = "750") -> Frame:
    return Frame(address(SITE, "inside", chosen), address(SITE, "inside", chosen, alone=False), title, width, "450")


def only_iframe(text: str) -> dict[str, str]:
    found = [e for e in html5lib.parse(text, namespaceHTMLElements=False).find("body").iter()][1:]
    assert [e.tag for e in found] == ["iframe"]
    return dict(found[0].attrib)


@given(choices)
@example({"prompt": HOSTILE, HOSTILE: "é 🐍"})
def test_the_address_says_what_was_chosen_and_holds_no_markup(chosen: dict[str, str]) -> None:
    url = address(SITE, "inside", chosen, "es")
    assert dict(parse_qsl(urlsplit(url).query, keep_blank_values=True)) == chosen
    assert url.startswith(SITE + "es/embed/inside.html")
    assert re.fullmatch(r"[\w.~%:/?&=-]+", url, re.A)


@given(choices, texts)
@example({"prompt": HOSTILE}, HOSTILE)
@example({"amp": "", "lt": "1"}, '" onload="x')
def test_html_gives_exactly_the_address_and_the_title_back(chosen: dict[str, str], title: str) -> None:
    shown = frame(chosen, title)
    code = codes(shown)
    raw = {"html": "", "moodle": "", "canvas": "", "mkdocs": "", "sphinx": ".. raw:: html\n\n   "}
    fenced = {"jupyter-book-1": "```{raw} html\n", "quarto": "```{=html}\n"}
    bodies = [code[slug].removeprefix(start) for slug, start in raw.items()]
    bodies += [code[slug].removeprefix(start).removesuffix("\n```") for slug, start in fenced.items()]
    for body in bodies:
        assert "\n" not in body and body.startswith("<iframe ")  # one line: no Markdown, no indent ends it
        found = only_iframe(body)
        assert (found["src"], found["title"]) == (shown.url, " ".join(title.split()))
        assert (found["width"], found["height"], found["loading"]) == ("750", "450", "lazy")
        assert "fullscreen" in found["allow"]
    slide = only_iframe(code["reveal"].removeprefix("<section>").removesuffix("</section>"))
    assert slide["data-src"] == shown.url and "src" not in slide
    assert code["link"] == shown.link


@given(choices, texts)
@example({"prompt": HOSTILE}, HOSTILE)
def test_the_other_forms_keep_the_address(chosen: dict[str, str], title: str) -> None:
    shown = frame(chosen, title, "100%")
    code = codes(shown)
    first, width, name, end = code["myst"].split("\n")
    assert (first, width, end) == (f":::{{iframe}} {shown.url}", ":width: 100%", ":::")
    assert name.removeprefix(":title:").strip() == " ".join(title.split())
    called: dict[str, Any] = {}
    cell = code["jupyter"].replace("from IPython.display import IFrame\n", "")
    exec(cell, {"IFrame": lambda src, **options: called.update(src=src, **options)})
    assert (called["src"], called["width"], called["height"]) == (shown.url, "100%", 450)
    found = only_iframe(f"<iframe {' '.join(called['extras'])}></iframe>")
    assert found["title"] == " ".join(title.split())


SAME_SITE = [
    "https://example.org/course",
    "https://example.org/course/",
    "  https://example.org/course/kv-cache.html#x",
    "https://example.org/course/embed/kv-cache.html?step=3",
    "HTTPS://example.org/course/es/embed/inside.html",
    "https://example.org/course/es/",
    "https://example.org/course/embed-builder.html?embed_page=inside",
]


def test_the_address_of_any_page_names_the_site() -> None:
    assert [typed for typed in SAME_SITE if site_address(typed) != SITE] == []


@given(st.text())
@example("javascript:alert(1)//https://x/")
@example('https://x/"><script>')
@example("https://x/\u202e")
@example("https://x\udc80/\udc80")
def test_no_address_breaks_out(typed: str) -> None:
    try:
        site = site_address(typed)
    except UserError as error:
        assert "https://example.org/course/" in str(error)
        return
    assert site == "" or re.fullmatch(r"https?://[\w.-]+(:\d+)?/([\w.~%-]+/)*", site)


FIELDS = {"page": "embed-builder", "lang": "en", "embed_page": "kv-cache-words"}


def answer(**fields: str) -> dict[str, str]:
    _, patches = dispatch(None, "embed", {**FIELDS, **fields})
    return {one["target"]: one["html"] for one in patches}


def url_of(patches: dict[str, str]) -> str:
    return only_iframe(unescape(patches["#code-html"].removeprefix("<span>").removesuffix("</span>")))["src"]


def test_the_built_page_is_what_python_answers_for_its_first_choice() -> None:
    for lang in ("en", "es"):
        with language(lang):
            built = render_page(BUILDER, views.of(BUILDER))
        patches = answer(embed_page="kv-cache", lang=lang, embed_lang=lang)
        assert patches.keys() == {"#preview", "#prompt-error", *(f"#code-{host.slug}" for host in HOSTS)}
        for target, html in patches.items():
            assert f'id="{target[1:]}"' in built
            assert html in built


DIFFERS: list[tuple[dict[str, str], str]] = [
    ({}, ""),
    ({"step": "5", "layer": "0", "head": "0", "phase": "0"}, ""),  # all of it as on the page
    ({"step": "4", "layer": "1", "phase": "3"}, "step=4&layer=1&phase=3"),
    ({"prompt": "The next day is bright"}, ""),
    ({"prompt": "the sun", "step": "1"}, "prompt=the%20sun&step=1"),
    ({"model": "names"}, "model=names&prompt=emm"),
    ({"theme": "dark", "play": "1"}, "play=1&theme=dark"),
    ({"lock": "2-4"}, "lock=2-4"),
    ({"other": "?seed=7&temperature=0.5&ask-size=1"}, "seed=7&temperature=0.5"),
    ({"step": "3", "other": "step=4&head=2"}, "step=3&head=2"),
    ({"embed_page": "memory", "other": "known=2"}, "known=2"),
]


def test_the_code_names_only_what_differs() -> None:
    assert [(fields, urlsplit(url_of(answer(**fields))).query) for fields, _ in DIFFERS] == DIFFERS


def test_the_code_has_the_language_the_size_and_the_site() -> None:
    patches = answer(embed_lang="es", embed_size="full", address="https://example.org/course/index.html")
    assert url_of(patches) == SITE + "es/embed/kv-cache-words.html"
    preview = only_iframe(patches["#preview"])
    assert (preview["src"], preview["width"]) == ("es/embed/kv-cache-words.html", "100%")
    assert preview["title"] == "La misma caché, con palabras: dos capas, y cabezas que comparten"
    assert only_iframe(answer(lang="es")["#preview"])["src"] == "../embed/kv-cache-words.html"


WRONG: list[tuple[dict[str, str], str]] = [
    ({"step": "99"}, "step is 99; this page has 0 to 11."),
    ({"phase": "x"}, "phase is x; this page has 0 to 7."),
    ({"prompt": '"'}, "does not know the word"),
    ({"model": "gpt"}, "does not know the model “gpt”"),
    ({"lock": "4"}, "no range"),
    ({"lock": "5-4"}, "no range"),
    ({"lock": "88-99"}, "step is 88"),
    ({"embed_page": "memory", "layer": "1"}, "no “layer”"),
    ({"embed_page": "glossary"}, "There is no page “glossary”."),
    ({"embed_size": "9x9"}, "size is “9x9”"),
    ({"embed_lang": "xx"}, "language is “xx”"),
    ({"address": "example"}, "The address of the site is “example”"),
    ({"other": "temperature=warm"}, "warm"),
    ({"embed_page": "memory", "other": "batch=many"}, "batch is “many”; give a number."),
    ({"embed_page": "memory", "other": "batch=0"}, "batch is 0; this page has 1 to 1000000000."),
    ({"embed_page": "memory", "other": "batch=1e309"}, "batch is “1e309”; give a number."),
    ({"embed_page": "memory", "other": "batch=٣"}, "batch is “٣”; give a number."),
    ({"other": "seed=1_000"}, "The seed is “1_000”"),
    ({"other": "top_k=1000000000000000001"}, "from 0 (all tokens) to 9007199254740991"),
    ({"lock": f"{'9' * 5000}-{'9' * 5000}"}, "no range"),
    ({"lock": "٣-٤"}, "no range"),
    ({"other": "<b>=1"}, "no “<b>”"),
    ({"theme": "blue"}, "theme is blue"),
]


def test_a_wrong_choice_gets_one_sentence() -> None:
    for fields, says in WRONG:
        patches = answer(**fields)
        assert patches.keys() == {"#prompt-error"}, fields
        assert says in text(parse(patches["#prompt-error"])), fields


@pytest.mark.parametrize("lesson", sampled(LESSONS, LESSONS[::6], "codes for other lessons"), ids=lambda one: one.name)
def test_every_lesson_can_be_embedded_and_links_to_here(lesson: Any) -> None:
    patches = answer(embed_page=lesson.name)
    assert url_of(patches) == f"embed/{lesson.name}.html"
    link = next(e for e in find(tree_of(lesson), "share")[0].iter("a") if e.get("data-view"))
    asked = f"embed_page={lesson.name}"
    assert (link.get("data-view"), link.get("href")) == (asked, f"embed-builder.html?{asked}")


def test_what_has_a_field_of_its_own_has_the_name_of_a_control_of_a_page() -> None:
    """Otherwise a link to this page could not fill it in."""
    pages = [render_embed(lesson, views.of(lesson)) for lesson in LESSONS if lesson.widget == "kv_cache"]
    builder = render_page(BUILDER, views.of(BUILDER))
    for name in NAMED:
        assert f'name="{name}"' in builder
        assert name == "lock" or any(f'name="{name}"' in one for one in pages)


def test_the_built_form_asks_for_what_it_shows_first() -> None:
    built = render_page(BUILDER, views.of(BUILDER))
    found = controls(built)
    assert found["embed_page"].values == [lesson.name for lesson in LESSONS]
    assert (found["step"].kind, found["play"].values, found["play"].default) == ("number", ["1"], "")
    fields = {name: control.default for name, control in found.items()}
    assert answer(**{**fields, "theme": "", "lang": "en"})["#preview"] in built


def test_the_step_of_an_address_is_the_position_of_its_token() -> None:
    """Readers count steps from 1 and positions from 0; the examples of the documentation say both."""
    text = (ROOT / "docs" / "embedding.md").read_text("utf-8")
    said = re.search(r"step (\d+) of the lesson `kv-cache`: the third token, which is at position (\d+)\.", text)
    assert said
    number, position = map(int, said.groups())
    here = page("kv-cache")
    step = stepper.view(Settings(here.model, here.prompt)).step(position)
    assert (step.i, step.number) == (position, number) == (2, 3)
    assert set(re.findall(r"/kv-cache\.html\?step=(\d+)[\"\n`]", text)) == {str(position)}


def test_every_address_in_the_documentation_is_one_that_its_page_takes() -> None:
    text = (ROOT / "docs" / "embedding.md").read_text("utf-8")
    found = re.findall(rf"{SITE}(es/)?(embed/)?([\w-]+)\.html\?([\w=&-]+)", unescape(text))
    assert len(found) >= 9
    for lang, _, name, query in found:
        if name == "workbench":  # which the form does not offer
            _, patches = dispatch(
                None, "start", {"page": name, "model": "names", "prompt": "emm"} | dict(parse_qsl(query))
            )
            assert {one["target"]: one["html"] for one in patches}["#prompt-error"] == ""
            continue
        fields = {"embed_page": name, "embed_lang": lang.strip("/") or "en", "other": query}
        assert urlsplit(url_of(answer(**fields))).query == query
