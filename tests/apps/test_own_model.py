"""The page for a model of one's own, before there is one: it opens on the picture that will come, from a real run."""

from pathlib import Path

import numpy as np
import pytest

from microgpt.apps.own_model.app import EXAMPLE, EXAMPLE_PROMPT, N_ADDED
from microgpt.config import n_params
from microgpt.course import page
from microgpt.record import Recording
from microgpt.viz.text.language import LANGUAGES
from microgpt.weights import shipped
from tests.support.checkpoints import made
from tests.support.given.own_model import ask, files_of
from tests.support.pages import find, numbers, text, tree_of, view_of

PAGE = page("own-model")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_visitor_sees_the_picture_before_the_control(lang: str) -> None:
    seen = [e.get("id") or e.get("type") for e in tree_of(PAGE, lang).iter()]
    assert seen.index("stepper") < seen.index("file")
    (examples,) = find(tree_of(PAGE, lang), "examples")
    assert not [e for e in examples.iter() if "data-hook" in e.attrib or "js-only" in e.get("class", "")]


def test_what_is_drawn_is_the_run_of_that_model() -> None:
    recording = Recording(shipped(EXAMPLE), EXAMPLE_PROMPT, max_new=N_ADDED)
    trace = recording.run()
    n = len(recording.cache)
    assert len(find(tree_of(PAGE), "T")) == n == recording.n_prompt + N_ADDED
    step = find(tree_of(PAGE), "step", f"S{n - 1}")[0]
    for index, one in enumerate(view_of(PAGE).example.open_heads):
        (meets,) = find(step, "meets", f"O{index}")
        said = [numbers(e)[0] for e in find(meets, "weight")]
        assert np.abs(np.array(said) - trace["attn_weights", n - 1, one.layer][one.head, 0]).max() <= 0.005 + 1e-9
    assert f"{n_params(shipped(EXAMPLE).config):,}" in text(find(tree_of(PAGE), "sum")[0])


def test_it_opens_on_the_first_token_of_the_model_s_own() -> None:
    checked = [e.get("value") for e in tree_of(PAGE).iter("input") if e.get("name") == "step" and "checked" in e.attrib]
    assert [int(value or "") for value in checked] == [len(find(tree_of(PAGE), "T")) - N_ADDED]


@pytest.mark.parametrize("kind", ["llama", "wide"])
def test_what_was_chosen_in_the_example_is_in_the_way_of_no_model(kind: str, tmp_path: Path) -> None:
    """The first answer takes the place of the example; it shows the prompt's last step, whatever was on show before."""
    files = files_of(made(tmp_path, kind))
    state, plain, _ = ask(files, "show")
    left = {"step": "2", "head": view_of(PAGE).example.open_heads[-1].value, "phase": "7"}
    again, found, _ = ask(files, "show", None, **left)
    assert again == state and f'value="{state["n"] - 1}" id="step-{state["n"] - 1}" checked' in found["#widget"]
    assert set(found) == set(plain)
    assert "<span>" not in found["#own"]  # what is said of the example
