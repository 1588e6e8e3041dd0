"""Training: microgpt's published numbers come out again; the same run gives the same bytes; mistakes get a sentence."""

import os
import re
import subprocess
import sys
from itertools import count, islice
from pathlib import Path
from random import Random

import numpy as np
import pytest

from microgpt import train as train_module
from microgpt.config import Config, split
from microgpt.data.sentences import COSAS, PEOPLE, PERSONAS, sentences
from microgpt.decode import generate
from microgpt.errors import UserError
from microgpt.recipes import N_NAMES, first_thousand, prepare
from microgpt.tokenizer import START
from microgpt.train import loss_and_grads, main, samples, train
from microgpt.weights import load, shipped
from tests.support.given.published import LOSSES, NAMES
from tests.support.sampled import sampled

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def few_names(tmp_path: Path) -> Path:
    path = tmp_path / "few.txt"
    path.write_text("emma\n\n  olivia  \nabcdefghijklmnopqrstuvwxyz\nava\n", "utf-8")
    return path


def test_the_published_losses_and_names_come_out(
    names_txt: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "names.npz"
    assert main(["names", "--data", str(names_txt), "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[:13]] == LOSSES
    assert lines[14:34] == NAMES
    ours, theirs = load(out).params, shipped("names").params
    for name, array in theirs.items():  # another processor may add up in another order, and round to a neighbour
        np.testing.assert_allclose(ours[name], array, rtol=2**-23, atol=1e-9)


@pytest.mark.parametrize("name", sampled(["names", "stories"], ["names"], "the same loop over other texts"))
def test_training_twice_gives_the_same_bytes(few_names: Path, tmp_path: Path, name: str) -> None:
    for out in ("one.npz", "two.npz"):
        arguments = [name, "--data", str(few_names), "--steps", "12", "--out", str(tmp_path / out)]
        finished = subprocess.run(
            [sys.executable, "-m", "microgpt.train", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert len(finished.stdout.splitlines()) == 12 + 1 + 20 + 1
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_a_model_learns_its_text_by_heart() -> None:
    run = prepare("stories", None, 150)
    text = next(iter(run.texts))
    losses = list(train(run.config, run.vector, [text] * 150, 150, 0.01))
    assert losses[0] > 4 and losses[-1] < 0.05
    params = split(run.vector, run.config)
    assert list(generate(params, run.config, text[:1], 24, stop=text[-1])) == list(text[1:])


def test_decay_pulls_every_weight_towards_zero_by_rate_times_decay() -> None:
    run, other = prepare("stories", None, 1), prepare("stories", None, 1)
    before, text = run.vector.copy(), next(iter(run.texts))
    list(train(run.config, run.vector, [text], 1, 0.01))
    list(train(other.config, other.vector, [text], 1, 0.01, decay=0.5))
    np.testing.assert_allclose(other.vector - run.vector, -0.01 * 0.5 * before, rtol=0, atol=1e-15)


def test_ten_steps_of_adam_equal_the_textbook_form() -> None:
    run = prepare("stories", None, 10)
    texts = list(islice(run.texts, 10))
    vector = run.vector.copy()
    losses = list(train(run.config, run.vector, texts, 10, 0.01))
    m, v = np.zeros_like(vector), np.zeros_like(vector)
    for step, text in enumerate(texts):
        g = np.full_like(vector, np.nan)
        loss = loss_and_grads(split(vector, run.config), run.config, text, split(g, run.config))
        assert abs(loss - losses[step]) < 1e-9
        m, v = 0.85 * m + 0.15 * g, 0.99 * v + 0.01 * g**2
        m_hat, v_hat = m / (1 - 0.85 ** (step + 1)), v / (1 - 0.99 ** (step + 1))
        vector = vector - 0.01 * (1 - step / 10) * m_hat / (np.sqrt(v_hat) + 1e-8)
    np.testing.assert_allclose(run.vector, vector, rtol=0, atol=1e-9)


def test_names_are_cut_to_the_context_as_in_microgpt(few_names: Path) -> None:
    texts = list(islice(prepare("names", few_names).texts, 8))
    assert texts[:4] == texts[4:]  # round and round
    assert sorted(map(len, texts[:4])) == [5, 6, 8, 17]
    assert all(text[0] == 26 for text in texts) and sum(text[-1] == 26 for text in texts[:4]) == 3


def test_samples_go_on_with_the_generator_that_drew_the_weights(few_names: Path) -> None:
    run, again = prepare("names", few_names), prepare("names", few_names)
    assert samples(run, 3) == samples(again, 3) != samples(run, 3)


# ---- the stories -------------------------------------------------------------------------------------


def test_stories_are_deterministic_plain_and_of_middle_length() -> None:
    first = list(islice(sentences(7), 3000))
    assert first == list(islice(sentences(7), 3000)) != list(islice(sentences(8), 3000))
    vocabulary = {word for sentence in first for word in sentence.split()}
    assert 90 <= len(vocabulary) <= 160
    assert all(sentence == sentence.lower() and sentence.endswith(" .") for sentence in first)
    assert all(6 <= len(sentence.split()) <= 14 for sentence in first)
    assert any(sentence.startswith("the next day is bright and ") for sentence in first)


def test_stories_hold_what_attention_must_look_back_for() -> None:
    """She or he, her or his, as the person before; the same thing again at the end."""
    pronouns = {who: {she, her} for who, she, her in PEOPLE}
    words_that_agree = set.union(*pronouns.values())
    for sentence in islice(sentences(3), 3000):
        words = sentence.split()
        people = [word for word in words if word in pronouns]
        used = words_that_agree & set(words)
        assert not used or used <= pronouns[people[0]]
        if "likes" in words:
            assert words.count(words[-2]) == 2
        if "rains" in words or "snows" in words:
            assert ("umbrella" in words) == ("rains" in words)
        assert not re.search(r"\ba [aeiou]", sentence)


def test_cuentos_agree_in_gender_and_name_the_same_thing_again() -> None:
    feminine = {"cansada", "contenta", "quieta", "ella"}
    masculine = {"cansado", "contento", "quieto", "él"}
    things = {what: one for one, _, what, _ in COSAS}
    for sentence in islice(sentences(3, "es"), 3000):
        words = sentence.split()
        assert sentence == sentence.lower() and sentence.endswith(" .") and len(words) <= 14
        people = [ending for who, _, ending in PERSONAS if who.split()[1] in words]
        found = {"a": feminine, "o": masculine}
        if "día" not in words:  # which may be quiet too
            assert all(word in found[people[0]] for word in words if word in feminine | masculine)
        if "gusta" in words:
            assert words.count(words[-2]) == 2 and words[words.index(words[-2]) - 1] == things[words[-2]]
            colour = words[words.index(words[-2]) + 1]
            assert colour in ("azul", "verde") or (colour[-1] == "a") == (things[words[-2]] == "una")
        assert ("paraguas" in words) == bool({"llueve"} & set(words))


@pytest.mark.parametrize("name", ["stories", "cuentos"])
def test_the_shipped_vocabulary_is_that_of_the_grammar(name: str) -> None:
    assert shipped(name).tokenizer.vocabulary == prepare(name, None).tokenizer.vocabulary


@pytest.mark.parametrize(
    ("name", "lang", "prompt"),
    [("stories", "en", "The next day is bright"), ("cuentos", "es", "El nuevo día es claro")],
)
def test_a_sentence_begun_is_ended_as_the_grammar_would(name: str, lang: str, prompt: str) -> None:
    model = shipped(name)
    ids = model.tokenizer.encode(prompt)
    made = list(generate(model.params, model.config, ids, model.config.n_ctx, stop=model.tokenizer.start))
    assert made[-1] == model.tokenizer.start and model.tokenizer.vocabulary[made[-2]] == "."
    assert len(ids) + len(made) <= 16
    language = set(islice(sentences(5, lang), 50_000))
    assert " ".join(model.tokenizer.vocabulary[i] for i in [*ids, *made] if i != model.tokenizer.start) in language


@pytest.mark.parametrize(
    ("prompt", "agrees"),
    [
        ("por la tarde la mujer está", "cansada"),
        ("por la tarde el hombre está", "cansado"),
        ("el niño tiene una pelota roja y a", "él"),
        ("la niña ve un libro verde y a", "ella"),
        ("llueve , así que el hombre toma su", "paraguas"),
        ("the girl has a red", "she"),
        ("the boy has a red", "he"),
        ("it rains , so the boy takes", "his"),
        ("it rains , so the woman takes her", "umbrella"),
        ("when it snows , the man wants his", "coat"),
        ("in the evening the woman is tired and", "she"),
        ("in the night the man is still and", "he"),
    ],
)
def test_both_have_learned_to_agree(prompt: str, agrees: str) -> None:
    model = shipped("stories" if prompt.startswith(("the", "it", "when", "in")) else "cuentos")
    ids = model.tokenizer.encode(prompt)
    made = list(generate(model.params, model.config, ids, 10, stop=model.tokenizer.start))
    assert agrees in model.tokenizer.decode(made).rstrip(".").split()


# ---- mistakes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["gpt5"], "no model “gpt5”. Choose one of: names, names-deep, stories"),
        (["names"], "give it with --data FILE"),
        (["names", "--data", "/no/such/file"], "/no/such/file cannot be read (No such file or directory)"),
        (["names", "--data", "."], "cannot be read (Is a directory)"),
        (["names", "--data", sys.executable], "cannot be read (not UTF-8)"),
        (["names", "--data", os.devnull], "cannot be read (it is a pipe or a device, not a file)"),
        (["stories", "--steps", "0"], "--steps is 0; it must be 1 or more"),
        (["stories", "--steps", "-5"], "--steps is -5; it must be 1 or more"),
        (["stories", "--steps", "1", "--out", "/no/such/folder/x.npz"], "cannot be written"),
        (["stories", "--steps", "1", "--out", "."], "cannot be written"),
    ],
)
def test_a_mistake_gets_one_sentence(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert sentence in captured.err and captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_bad_name_is_found_before_anything_is_trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, out = tmp_path / "names.txt", tmp_path / "names.npz"
    data.write_text("emma\n" * 3000 + "zoë\n", "utf-8")
    assert main(["names", "--data", str(data), "--steps", "1", "--out", str(out)]) == 1
    said = capsys.readouterr()
    assert f"{data}, line 3001: “zoë” has the character “ë”; a name is made of a to z." in said.err
    assert said.out == ""
    assert not out.exists()


def test_a_mark_at_the_start_of_the_data_is_let_pass(few_names: Path) -> None:
    plain = list(islice(prepare("names", few_names).texts, 8))
    few_names.write_text(few_names.read_text("utf-8"), "utf-8-sig")
    assert list(islice(prepare("names", few_names).texts, 8)) == plain


def test_an_interrupted_training_saves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*arguments: object) -> list[float]:
        raise KeyboardInterrupt

    monkeypatch.setattr(train_module, "train", interrupted)
    assert main(["stories", "--out", str(tmp_path / "x.npz")]) == 130
    assert "nothing was saved" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_long_training_shows_a_bar_on_a_terminal(
    few_names: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("tqdm.std.time", count(1000, 0.25).__next__)  # the bar waits half a second
    steps = 40
    assert main(["names-deep", "--data", str(few_names), "--steps", str(steps), "--out", str(tmp_path / "a.npz")]) == 0
    assert re.search(rf"\d+%.*\d+/{steps} \[.*step/s\]", capsys.readouterr().err)


def test_training_works_without_a_progress_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert main(["stories", "--steps", "2", "--out", str(tmp_path / "x.npz")]) == 0
    assert load(tmp_path / "x.npz").tokenizer.vocabulary[-1] == START
    assert capsys.readouterr().err == ""


def test_the_model_of_that_name_is_what_is_trained(few_names: Path) -> None:
    assert prepare("names", few_names).config == Config() == shipped("names").config
    assert prepare("names-deep", few_names).config == shipped("names-deep").config
    assert prepare("stories", None).config == shipped("stories").config
    with pytest.raises(UserError):
        prepare("", None)


def test_the_names_are_the_first_thousand_of_the_shuffled_list(names_txt: Path) -> None:
    names = [line.strip() for line in names_txt.read_text("utf-8").splitlines() if line.strip()]
    assert len(names) == N_NAMES
    Random(42).shuffle(names)
    run = first_thousand()
    ours = [run.tokenizer.decode(ids) for ids, _ in zip(run.texts, range(1000), strict=False)]
    assert ours == names[:1000]
