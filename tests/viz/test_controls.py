"""What a view says can be set is what its page has, by name, value and default: no page is read to learn it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.apps.embed_builder.app import controls_of
from microgpt.course import LESSONS
from microgpt.errors import UserError
from microgpt.viz import views
from microgpt.viz.controls import Choice, Field, differing, on_show
from microgpt.viz.page import Page
from microgpt.viz.rendering.render import render_embed
from microgpt.weights import OWN_MODEL
from tests.support.controls import controls
from tests.support.pages import by_name
from tests.support.sampled import sampled


@pytest.mark.parametrize("page", sampled(LESSONS, LESSONS[2::4], "controls of other lessons"), ids=by_name)
def test_what_is_declared_is_what_the_page_has(page: Page) -> None:
    view = views.of(page)
    drawn = controls(render_embed(page, view))
    del drawn["lang"]  # the page in another language is another page
    said = {one.name: one for one in controls_of(page, view)}
    unseen = {name for name, one in said.items() if isinstance(one, Choice) and len(one.values) == 1} - drawn.keys()
    assert said.keys() - unseen == drawn.keys()  # of one value there is nothing to choose
    for name, control in drawn.items():
        declared = said[name]
        assert control.default == declared.default, name
        if isinstance(declared, Choice):
            order = sorted if name == "lens" else list  # what is asked stands where its number does
            values = [one for one in control.values if (name, one) != ("model", OWN_MODEL)]  # no address can bring it
            assert (control.kind, order(values)) == ("choice", order(map(str, declared.values))), name
        elif declared.least is None:
            assert (control.kind, control.values) == ("text", []), name
        else:
            most = [] if math.isinf(declared.most) else [str(declared.most)]
            assert (control.kind, control.values) == ("number", [str(declared.least), *most]), name


@given(st.data())
def test_what_is_asked_is_on_show_and_nothing_else_changes(data: st.DataObject) -> None:
    page = data.draw(st.sampled_from([one for one in LESSONS if one.widget in ("why_q", "memory", "kv_cache")]))
    view = views.of(page)
    choice = data.draw(st.sampled_from(view.choices))
    value = data.draw(st.sampled_from(list(choice.values)))
    assert on_show(view, {choice.name: value}) == {**on_show(view), choice.name: value}
    assert on_show(view, {choice.name: f" {value} "})[choice.name] == value  # as it is typed
    assert differing(controls_of(page, view), {choice.name: str(value)}) == (
        {} if value == choice.at else {choice.name: str(value)}
    )


@given(st.text(), st.integers(0, 9), st.integers(10, 99))
def test_what_does_not_fit_is_one_sentence_that_names_it(text: str, least: int, most: int) -> None:
    known = (Choice("old", range(3)), Field("n", str(least), least, most), Field("free"))
    for name in ("old", "n"):
        try:
            found = differing(known, {name: text})
        except UserError as error:
            assert text[:40] in error.fields.values() and error.fields["name"] == name
        else:
            assert name == "old" and text in "012" or least <= float(text) <= most
            assert found.get(name, known[name == "n"].default) == text
    assert differing(known, {"free": text}) == ({"free": text} if text else {})
