"""Data of a reader's own: whatever is accepted is learned, and comes back out of its file; what cannot work is said; in
slices it is the same training; and every lesson runs with the model, or says why it does not."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt import Recording, UserError, load, save, shipped, show
from microgpt.apps.train_your_own import app
from microgpt.apps.train_your_own.cities import CITIES
from microgpt.checkpoints.ours import KEY, file_bytes, read_model
from microgpt.checkpoints.safetensors import META
from microgpt.course import LESSONS
from microgpt.course.guess_and_check.lesson import draft_for
from microgpt.course.latent_row.taught import latent_model, learn_from, texts_of
from microgpt.decode import recompute
from microgpt.experiments.gradient import losses
from microgpt.experiments.trainer import Trainer
from microgpt.recipes import LONGEST_DATA, MOST_TOKENS, SIZES, Recipe, model_so_far, own_run, own_texts
from microgpt.viz.drawing import timing
from microgpt.viz.patches import Patch
from microgpt.viz.session import dispatch
from microgpt.viz.settings import keep_own
from microgpt.weights import KEPT, OWN_MODEL, TRAINED, Model
from tests.support.examples import examples
from tests.support.sampled import sampled

LIST = "\n".join(CITIES["en"].split())
GREEK = "Άννα Γιώργος Δήμητρα Ελένη Ζωή Θωμάς Ιωάννα Κώστας Λένα Μαρία Νίκος Ξένια Παύλος Ρένα Σοφία".split()
TEXT = "The cat sits. The dog runs. A cat runs! Is the dog here? The bird sings. A dog sits."
WORDS = st.text(st.characters(categories=["L", "M", "N"]), min_size=1, max_size=12)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    KEPT.clear()
    app.RUNS.clear()


def mean_loss(run: Recipe, data: str, kind: str) -> float:
    model = model_so_far(run)
    ids = [
        [*model.tokenizer.encode(model.tokenizer.joiner.join(one)), model.tokenizer.start]
        for one in own_texts(data, kind)
    ]
    return float(np.concatenate([losses(model.params, model.config, one) for one in ids]).mean())


def trained(data: str, kind: str = "letters", size: str = "small", steps: int = 20) -> Model:
    trainer = Trainer(own_run(data, kind, size))
    trainer.advance(steps)
    return model_so_far(trainer.run)


def read(data: bytes, name: str = "own.safetensors") -> Model:
    return read_model(lambda start, stop: data[start:stop], len(data), name)


@given(
    st.lists(WORDS, min_size=5, max_size=30, unique=True),
    st.sampled_from(["letters", "words"]),
    st.sampled_from([*SIZES]),
)
@settings(max_examples=examples(30))
def test_what_is_accepted_is_learned_and_comes_back(words: list[str], kind: str, size: str) -> None:
    data = "\n".join(words)
    try:
        trainer = Trainer(own_run(data, kind, size))
    except UserError:
        return
    before = mean_loss(trainer.run, data, kind)
    trainer.advance(60)
    assert mean_loss(trainer.run, data, kind) < before
    model = model_so_far(trainer.run)
    back = read(file_bytes(model))
    assert (back.name, back.config, back.prompt) == (model.name, model.config, model.prompt)
    assert back.tokenizer.vocabulary == model.tokenizer.vocabulary
    ids = model.tokenizer.encode(model.prompt)
    assert len(ids) > 1
    logits = [recompute(one.params, one.config, ids).tobytes() for one in (model, back)]
    assert logits[0] == logits[1]
    keep_own(back)  # every lesson can draw it


BAD = {
    "": "nothing to learn yet",
    " \n \n": "nothing to learn yet",
    "anna\nbob": "There are 2 different words; give at least 5, one a line.",
    "anna\n" * 40: "There are 1 different words",
    "\n".join(["anna", "bob", "carl", "dora", "e" * 24]): "“eeeeeeeeeeee…” has 24 letters; a word here has at most 23",
    "\n".join(chr(0x4E00 + i) + chr(0x4E01 + i) for i in range(MOST_TOKENS + 1)): "502 different letters",
    "PK\x03\x04\x00\x00": r"This is no text: it has the character \x03 in it.",
    "a" * (LONGEST_DATA + 1): "200,001 characters; at most 200,000",
}


@pytest.mark.parametrize(("data", "said"), BAD.items(), ids=range(len(BAD)))
def test_what_cannot_work_is_said(data: str, said: str) -> None:
    _, patches = dispatch(None, "train", {"page": "train-your-own", "data": data, "kind": "letters", "size": "small"})
    assert [one["target"] for one in patches] == ["#prompt-error"]
    with pytest.raises(UserError) as found:
        own_run(data)
    assert said in str(found.value)


def test_a_text_is_learned_sentence_by_sentence_and_a_list_at_its_commas() -> None:
    assert own_texts(TEXT, "words")[:2] == [["the", "cat", "sits", "."], ["the", "dog", "runs", "."]]
    assert own_texts("Ana, Luis;Eva\nJosé María\tPía", "letters")[3] == list("José María")
    assert [len(one) for one in own_texts("one " * 30 + ". a. b. c. d.", "words")][:2] == [23, 8]
    with pytest.raises(UserError, match="4 different sentences"):
        own_run("One. Two. Three. Four. Four.", "words")


def press(state: Any, hook: str, **fields: str) -> tuple[Any, list[Patch]]:
    usual = {"page": "train-your-own", "data": LIST, "kind": "letters", "size": "small", "model": OWN_MODEL}
    return dispatch(state, hook, usual | fields)


def test_in_slices_stopped_and_gone_on_it_is_the_same_training(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(0, app.SLICE_SECONDS / 5)  # as many slices on a fast machine as on a slow one
    monkeypatch.setattr(timing, "clock", ticks.__next__)
    run = app.Training(LIST, "letters", "small")
    run.go_on(run.steps)
    state, answers = None, 0
    while True:
        state, patches = press(state, "train")
        answers += 1
        if answers == 3:
            assert press(state, "stop")[0] == state
        if answers == 6:  # the worker has ended, and another one goes on from the page's state
            app.RUNS.clear()
        if not any("again" in one for one in patches):
            break
    (mine,) = app.RUNS
    assert answers > 8 and mine.trainer.losses == run.trainer.losses and mine.stages == run.stages
    assert mine.trainer.run.vector.tobytes() == run.trainer.run.vector.tobytes()
    _, patches = press(state, "train")
    assert "All 1000 steps are done" in patches[0]["html"]


OWN = [("\n".join(GREEK), "letters", "small"), (TEXT, "words", "medium"), (CITIES["es"], "letters", "medium")]


@pytest.mark.parametrize(("data", "kind", "size"), sampled(OWN, OWN[:2], "the same of letters in two layers"))
def test_every_lesson_runs_with_it_or_says_how_large_it_must_be(data: str, kind: str, size: str) -> None:
    model = trained("\n".join(data.split()) if kind == "letters" else data, kind, size)
    some = [one for one in LESSONS if one.live in ("text", "steps")]
    if size == "small" and not os.environ.get("EVERYTHING"):  # by day those that it is too small for, and one more
        some = [one for one in some if one.own_layers > 1] + some[:1]
    for page in some:
        fields = {"page": page.name, "lang": "en", "model": OWN_MODEL, "prompt": page.prompt}
        KEPT.clear()
        _, patches = dispatch(None, "model", fields)
        assert "keeps no model of yours" in patches[0]["html"], page.name
        keep_own(model)
        state, patches = dispatch(None, "model", fields)
        if state is None:
            needs = f"needs a model of {page.own_layers} layers or more; yours has {model.config.n_layer}."
            assert model.config.n_layer < page.own_layers and needs in patches[0]["html"], page.name
        else:
            assert len({"#widget", "#stepper", "#prompt"} & {one.get("target") for one in patches}) == 2, page.name
            assert state["settings"]["model"] == OWN_MODEL and state["settings"]["prompt"] == model.prompt


@pytest.mark.thorough("trains three models; by day the lesson on latent rows runs with a reader's model")
def test_a_model_with_latent_rows_learns_from_what_a_readers_model_writes() -> None:
    """What that writes is likelier to it than to one that knows how often each letter comes."""
    keep_own(model := trained("\n".join(GREEK), size="medium", steps=300))
    made, again = latent_model(OWN_MODEL), learn_from(model)
    assert made is latent_model(OWN_MODEL) and made.config.kv_lora_rank and made.tokenizer is model.tokenizer
    assert all((made.params[name] == array).all() for name, array in again.params.items())
    texts = list(texts_of(model))
    found = np.bincount([i for ids in texts for i in ids[1:]])
    shares = found[found > 0] / found.sum()
    assert np.mean(np.concatenate([losses(made.params, made.config, ids) for ids in texts])) < -shares @ np.log(shares)
    assert latent_model("cuentos-mla").tokenizer.vocabulary == shipped("cuentos").tokenizer.vocabulary


def test_the_draft_of_a_readers_model_is_its_first_layer() -> None:
    """What that hands on to the second goes to the output head."""
    keep_own(trained("\n".join(GREEK), size="medium"))
    model = shipped(OWN_MODEL)
    draft, trace = draft_for(model), Recording(model, GREEK[0]).run()
    logits = recompute(draft.params, draft.config, model.tokenizer.encode(GREEK[0]))
    handed_on = trace["resid_pre", len(GREEK[0]), 1][0]
    assert draft.config.n_layer == 1 and np.allclose(logits, model.params["lm_head"] @ handed_on, atol=1e-12)
    assert draft_for(shipped("names-deep")).name == "names"


def test_a_file_is_opened_by_the_command_and_from_python(tmp_path: Path) -> None:
    model, path = trained("\n".join(GREEK)), tmp_path / "greek.safetensors"
    save(path, model)
    back = load(path)
    assert back.name == "greek" and back.prompt == "Άνν"
    arguments = ["trace", "--model", str(path), back.prompt]
    found = subprocess.run([sys.executable, "-m", "microgpt", *arguments], capture_output=True, text=True, check=True)
    assert json.loads(found.stdout)["about"]["tokens"] == Recording(model, "Άνν").run().about["tokens"]
    shown = show("Άνν", model=path, widget="loop")
    assert shown.trace.about["model"] == "greek"
    for missing in (tmp_path / "none.safetensors", tmp_path / "x"):
        with pytest.raises(UserError, match="There is no"):
            show("a", model=missing)


def test_what_is_opened_in_a_page_is_checked_as_any_file() -> None:
    data = file_bytes(trained("\n".join(GREEK)))
    length = int.from_bytes(data[:8], "little")
    for at in [*range(0, 8 + length, 7), len(data) - 1]:
        for cut in (data[:at], data[:at] + b"\xff" + data[at + 1 :]):
            try:
                keep_own(read(cut))
            except UserError:
                pass
    about = json.loads(data[8 : 8 + length])
    told = json.loads(about[META][KEY])
    for change, said in (
        ({"prompt": "xyz"}, "does not know the character"),
        ({"prompt": 5}, "damaged"),
        ({"vocabulary": [*told["vocabulary"], told["vocabulary"][0]]}, "vocab_size"),
        ({"vocabulary": ["\ud800", *told["vocabulary"][1:]]}, "damaged"),
        ({"config": told["config"] | {"n_ctx": 10**9}}, "wpe has shape"),
    ):
        about[META][KEY] = json.dumps(told | change)
        text = json.dumps(about).encode()
        with pytest.raises(UserError, match=said):
            keep_own(read(len(text).to_bytes(8, "little") + text + data[8 + length :]))
    for name in TRAINED:
        if name != "stories-mla":
            assert read(file_bytes(shipped(name))).params.keys() == shipped(name).params.keys()
    with pytest.raises(UserError, match="was not made here"):
        read(b"\x02\0\0\0\0\0\0\0{}")
